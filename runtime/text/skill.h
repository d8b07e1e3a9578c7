/* skill.h - the document that is trained: a body and protected regions.
 *
 * A region is what stands between a start marker, as in
 * `<!-- SLOW_UPDATE_START -->`, and the first end marker of its kind behind it,
 * markers included; other markers inside it are text. The body is the document
 * with each region as one private-use character that occurs nowhere else in it.
 * Edits never reach into a region: it is read and written as a whole. A region
 * that is written moves to the end, and of the line breaks that meet where
 * something was taken out two are left. A marker without its partner is a line of
 * the body. A byte order mark stays in front and belongs to nothing.
 *
 * Pure functions on bytes; spans point into the caller's text. Functions that
 * append to `out` return false when it is full. */
#pragma once
#include "text/unicode.h"

struct err;

enum { SKILL_MAX = 16 << 20 }; /* bytes of a document */

#define SKILL_KINDS(X)                                                                   \
    X(SLOW_UPDATE, "slow_update")                                                        \
    X(APPENDIX, "appendix")

enum skill_kind {
#define SKILL_ENUM(id, name) SKILL_##id,
    SKILL_KINDS(SKILL_ENUM)
#undef SKILL_ENUM
        SKILL_KIND_COUNT
};

const char *skill_kind_name(enum skill_kind kind);
bool skill_kind_of(struct span name, enum skill_kind *kind);

/* ---- what a document is made of ---- */

enum skill_part_type { SKILL_REGION, SKILL_LONE_START, SKILL_LONE_END };

/* A region, or a marker without its partner. */
struct skill_part {
    enum skill_part_type type;
    enum skill_kind kind;
    size_t start, end;   /* bytes, markers included */
    struct span content; /* between the markers; empty for a lone one */
};

/* Walk over the parts from left to right. Start with { .text = text }. */
struct skill_scan {
    struct span text;
    size_t at;
    bool has_no_end[SKILL_KIND_COUNT]; /* behind `at` */
};

bool skill_scan_next(struct skill_scan *s, struct skill_part *part);

/* The next part that is a region. */
bool skill_next_region(struct skill_scan *s, struct skill_part *part);

/* Bytes of a byte order mark at the start, 3 or 0. */
size_t skill_bom(struct span text);

/* How lines end: "\r\n" when all of them do, "\n" otherwise. */
const char *skill_line_end(struct span text);

/* Append `text` with its line breaks as `document` has them; unchanged when the
 * document has both. */
bool skill_add_lines(struct buf *out, struct span text, struct span document);

/* Append the text without any marker, those included that appear when others are
 * taken out. */
bool skill_clean(struct buf *out, struct span text);

/* ---- body and regions ---- */

/* Append the body. False with ERR_LIMIT when there are more regions than unused
 * private-use characters. */
bool skill_body(struct buf *out, struct span text, struct err *e);

/* Append the document with another body around its regions: each goes where its
 * character stands, one whose character is gone to the end. Markers in `body` are
 * taken out, but the body of `text` itself gives `text` back. */
bool skill_set_body(struct buf *out, struct span text, struct span body, struct err *e);

/* Content, stripped, of the first region of a kind; false when there is none. */
bool skill_region(struct span text, enum skill_kind kind, struct span *content);

/* Append the document with this one region of its kind, at the end. Markers in the
 * content are taken out. */
bool skill_set_region(struct buf *out, struct span text, enum skill_kind kind,
                      struct span content);

/* Append the document without regions and lone markers of a kind; unchanged when
 * it has none. */
bool skill_drop_region(struct buf *out, struct span text, enum skill_kind kind);

/* Append what two documents share that say the same: the text without empty
 * regions and without blanks at its end. */
bool skill_essence(struct buf *out, struct span text);

/* ---- notes, the lines of the appendix ---- */

/* Take the next note off the content of an appendix: a line without its bullet,
 * blank lines and the heading left out. */
bool skill_next_note(struct span *content, struct span *note);

/* Append a note as it is kept (markers taken out, blanks collapsed), and to `key`
 * what notes share that say the same. An empty key means there is no note. */
void skill_note(struct buf *note, struct buf *key, struct span text);

/* Append the document with an appendix of these notes, at the end. */
bool skill_set_notes(struct buf *out, struct span text, const struct span *notes,
                     size_t count);

/* ---- checks ---- */

/* The YAML between the lines `---` at the start and `---` or `...` behind it; *end
 * is the offset of what follows. False when there is no front matter. */
bool skill_front_matter(struct span text, struct span *yaml, size_t *end);

#define SKILL_PROBLEMS(X)                                                                \
    X(NOT_UTF8, "the skill is not valid UTF-8")                                          \
    X(BLANK, "the skill has no text outside its protected regions")                      \
    X(OPEN_FRONT_MATTER, "the front matter is not closed by a line ---")                 \
    X(LONE_MARKER, "a region marker has no partner")                                     \
    X(REGION_TWICE, "a protected region occurs more than once")

enum skill_problem {
#define SKILL_ENUM(id, words) SKILL_##id,
    SKILL_PROBLEMS(SKILL_ENUM)
#undef SKILL_ENUM
        SKILL_PROBLEM_COUNT
};

/* Bit `1 << problem` for each problem of the document; 0 when it is sound. */
unsigned skill_problems(struct span text);
const char *skill_problem_words(enum skill_problem problem);
