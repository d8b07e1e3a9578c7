/* skill.c - see skill.h. */
#include "text/skill.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "text/plain.h"
#include <string.h>

#define MARKER_START    "<!-- "
#define APPENDIX_TITLE  "Execution Notes Appendix"
#define APPENDIX_HEADER "## " APPENDIX_TITLE

static const char *const kind_names[SKILL_KIND_COUNT] = {
#define KIND_NAME(id, name) (name),
    SKILL_KINDS(KIND_NAME)
#undef KIND_NAME
};

/* By kind: what starts and what ends a region. */
static const struct span markers[SKILL_KIND_COUNT][2] = {
#define KIND_MARKERS(id, name)                                                           \
    { { "<!-- " #id "_START -->", sizeof("<!-- " #id "_START -->") - 1 },                \
      { "<!-- " #id "_END -->", sizeof("<!-- " #id "_END -->") - 1 } },
    SKILL_KINDS(KIND_MARKERS)
#undef KIND_MARKERS
};

const char *skill_kind_name(enum skill_kind kind)
{
    return kind_names[kind];
}

bool skill_kind_of(struct span name, enum skill_kind *kind)
{
    for (int i = 0; i < SKILL_KIND_COUNT; i++)
        if (span_equals(name, (struct span){ kind_names[i], strlen(kind_names[i]) })) {
            *kind = (enum skill_kind)i;
            return true;
        }
    return false;
}

/* ---- parts ---- */

static bool marker_at(struct span text, size_t at, enum skill_kind *kind, bool *is_end)
{
    for (int i = 0; i < 2 * SKILL_KIND_COUNT; i++)
        if (span_starts(span_from(text, at), markers[i / 2][i % 2])) {
            *kind = (enum skill_kind)(i / 2);
            *is_end = i % 2;
            return true;
        }
    return false;
}

static bool next_marker(struct span text, size_t *at, enum skill_kind *kind, bool *is_end)
{
    for (;; ++*at) {
        *at = plain_find(text, SPAN(MARKER_START), *at);
        if (*at == PLAIN_NONE)
            return false;
        if (marker_at(text, *at, kind, is_end))
            return true;
    }
}

/* The marker that ends a region of this kind, or PLAIN_NONE, which is remembered
 * so that many lone starts do not search the rest again and again. */
static size_t find_end(struct skill_scan *s, enum skill_kind kind, size_t at)
{
    if (s->has_no_end[kind])
        return PLAIN_NONE;
    size_t end = plain_find(s->text, markers[kind][1], at);
    s->has_no_end[kind] = end == PLAIN_NONE;
    return end;
}

bool skill_scan_next(struct skill_scan *s, struct skill_part *part)
{
    enum skill_kind kind;
    bool is_end;
    size_t start = s->at;
    if (!next_marker(s->text, &start, &kind, &is_end))
        return false;
    size_t inside = start + markers[kind][is_end].len;
    size_t end = is_end ? PLAIN_NONE : find_end(s, kind, inside);
    *part = (struct skill_part){ .kind = kind, .start = start };
    if (end == PLAIN_NONE) {
        part->type = is_end ? SKILL_LONE_END : SKILL_LONE_START;
        part->end = inside;
        part->content = span_between(s->text, inside, inside);
    } else {
        part->type = SKILL_REGION;
        part->end = end + markers[kind][1].len;
        part->content = span_between(s->text, inside, end);
    }
    s->at = part->end;
    return true;
}

bool skill_next_region(struct skill_scan *s, struct skill_part *part)
{
    while (skill_scan_next(s, part))
        if (part->type == SKILL_REGION)
            return true;
    return false;
}

size_t skill_bom(struct span text)
{
    return span_starts(text, SPAN("\xEF\xBB\xBF")) ? 3 : 0;
}

/* ---- line breaks ---- */

enum ending { LF, CRLF, MIXED };

static enum ending ending_of(struct span text)
{
    bool has_lf = false;
    bool has_crlf = false;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] != '\n')
            continue;
        bool is_crlf = i > 0 && text.ptr[i - 1] == '\r';
        has_crlf = has_crlf || is_crlf;
        has_lf = has_lf || !is_crlf;
    }
    return !has_crlf ? LF : has_lf ? MIXED : CRLF;
}

const char *skill_line_end(struct span text)
{
    return ending_of(text) == CRLF ? "\r\n" : "\n";
}

bool skill_add_lines(struct buf *out, struct span text, struct span document)
{
    enum ending ending = ending_of(document);
    if (ending == MIXED)
        return span_add(out, text);
    for (size_t i = 0; i < text.len; i++) {
        bool is_crlf = text.ptr[i] == '\r' && i + 1 < text.len && text.ptr[i + 1] == '\n';
        i += is_crlf;
        if (text.ptr[i] == '\n')
            buf_add_text(out, ending == CRLF ? "\r\n" : "\n");
        else
            buf_add_char(out, text.ptr[i]);
    }
    return !out->is_full;
}

/* Bytes of the line break at the start of a text, at its end; 0 when there is none. */
static size_t first_break(struct span text)
{
    return span_starts(text, SPAN("\r\n")) ? 2 : span_starts(text, SPAN("\n")) ? 1 : 0;
}

static size_t last_break(struct span text)
{
    if (text.len == 0 || text.ptr[text.len - 1] != '\n')
        return 0;
    return text.len > 1 && text.ptr[text.len - 2] == '\r' ? 2 : 1;
}

static size_t count_first_breaks(struct span text)
{
    size_t count = 0;
    for (; first_break(text) > 0; count++)
        text = span_from(text, first_break(text));
    return count;
}

static size_t count_last_breaks(struct span text)
{
    size_t count = 0;
    for (; last_break(text) > 0; count++)
        text.len -= last_break(text);
    return count;
}

static void cut_back(struct buf *out, size_t n)
{
    if (n == 0)
        return;
    out->len -= n;
    out->ptr[out->len] = '\0';
}

/* Append what follows a cut: of the line breaks that now meet two are left. */
static void add_after_cut(struct buf *out, struct span text)
{
    size_t before = count_last_breaks(span_of(out));
    size_t after = count_first_breaks(text);
    for (; before > 2; before--)
        cut_back(out, last_break(span_of(out)));
    for (; before + after > 2; after--)
        text = span_from(text, first_break(text));
    span_add(out, text);
}

/* ---- cutting out ---- */

bool skill_clean(struct buf *out, struct span text)
{
    size_t start = out->len;
    for (size_t i = 0; i < text.len; i++) {
        buf_add_char(out, text.ptr[i]);
        if (text.ptr[i] != '>')
            continue;
        for (int m = 0; m < 2 * SKILL_KIND_COUNT; m++) {
            struct span marker = markers[m / 2][m % 2];
            if (out->len - start >= marker.len &&
                memcmp(out->ptr + out->len - marker.len, marker.ptr, marker.len) == 0)
                cut_back(out, marker.len);
        }
    }
    return !out->is_full;
}

/* Append the text without the parts for which `is_cut` holds. */
static bool add_without(struct buf *out, struct span text,
                        bool (*is_cut)(const struct skill_part *part,
                                       enum skill_kind kind),
                        enum skill_kind kind)
{
    struct skill_scan scan = { .text = text };
    struct skill_part part;
    size_t done = 0;
    while (skill_scan_next(&scan, &part)) {
        if (!is_cut(&part, kind))
            continue;
        struct span piece = span_between(text, done, part.start);
        if (done > 0)
            add_after_cut(out, piece);
        else
            span_add(out, piece);
        done = part.end;
    }
    if (done > 0)
        add_after_cut(out, span_from(text, done));
    else
        span_add(out, text);
    return done > 0;
}

static bool is_of_kind(const struct skill_part *part, enum skill_kind kind)
{
    return part->kind == kind;
}

static bool is_empty(const struct skill_part *part, enum skill_kind kind)
{
    struct span content = part->content;
    struct span note;
    if (part->type != SKILL_REGION)
        return false;
    if (part->kind == SKILL_APPENDIX)
        return !skill_next_note(&content, &note);
    return unicode_strip(content).len == 0;
}

/* Take the blanks at the end of `out` back, but nothing before `start`. */
static void strip_end(struct buf *out, size_t start)
{
    if (out->len <= start)
        return;
    struct span own = span_from(span_of(out), start);
    cut_back(out, own.len - unicode_rstrip(own).len);
}

bool skill_drop_region(struct buf *out, struct span text, enum skill_kind kind)
{
    size_t start = out->len;
    if (add_without(out, text, is_of_kind, kind)) {
        strip_end(out, start);
        if (out->len > start)
            buf_add_text(out, skill_line_end(text));
    }
    return !out->is_full;
}

bool skill_essence(struct buf *out, struct span text)
{
    size_t start = out->len;
    add_without(out, text, is_empty, SKILL_KIND_COUNT);
    strip_end(out, start);
    return !out->is_full;
}

/* ---- body and regions ---- */

/* Private-use characters that do not occur in a text, from the lowest on. */
struct marks {
    unsigned char used[0x10000 / 8];
    uint32_t next;
};

enum { MARK_FIRST = 0x100000, MARK_LAST = 0x10FFFD };

static void marks_init(struct marks *m, struct span text)
{
    *m = (struct marks){ .next = MARK_FIRST };
    for (size_t i = 0; i < text.len;) {
        uint32_t code;
        i += utf8_decode(text.ptr + i, text.len - i, &code);
        if (code >= MARK_FIRST && code <= MARK_LAST)
            m->used[(code - MARK_FIRST) / 8] |= (unsigned char)(1 << (code & 7));
    }
}

static bool marks_next(struct marks *m, uint32_t *mark, struct err *e)
{
    while (m->next <= MARK_LAST &&
           (m->used[(m->next - MARK_FIRST) / 8] >> (m->next & 7) & 1))
        m->next++;
    *mark = m->next++;
    return *mark <= MARK_LAST ||
           err_set(e, ERR_LIMIT, "the skill has too many protected regions");
}

bool skill_body(struct buf *out, struct span text, struct err *e)
{
    struct skill_scan scan = { .text = text, .at = skill_bom(text) };
    struct skill_part part;
    struct marks marks;
    size_t done = scan.at;
    marks_init(&marks, text);
    while (skill_next_region(&scan, &part)) {
        uint32_t mark;
        if (!marks_next(&marks, &mark, e))
            return false;
        span_add(out, span_between(text, done, part.start));
        buf_add_code(out, mark);
        done = part.end;
    }
    return span_add(out, span_from(text, done)) ||
           err_set(e, ERR_LIMIT, "the skill is too large");
}

/* The regions of a text beside the characters that stand for them. */
struct placed {
    uint32_t mark;
    struct span text; /* markers included */
    bool is_placed;
};

struct places {
    struct placed *list;
    size_t count, room;
};

static bool places_read(struct places *p, struct span text, struct err *e)
{
    struct skill_scan scan = { .text = text };
    struct skill_part part;
    struct marks marks;
    marks_init(&marks, text);
    while (skill_next_region(&scan, &part)) {
        uint32_t mark;
        if (!marks_next(&marks, &mark, e))
            return false;
        if (p->count == p->room) {
            p->room += p->room / 2 + 4;
            p->list = mem_grow(p->list, p->room * sizeof *p->list);
        }
        p->list[p->count++] =
            (struct placed){ .mark = mark,
                             .text = span_between(text, part.start, part.end) };
    }
    return true;
}

static struct placed *places_find(const struct places *p, uint32_t mark)
{
    size_t low = 0;
    size_t high = p->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (p->list[middle].mark < mark)
            low = middle + 1;
        else
            high = middle;
    }
    return low < p->count && p->list[low].mark == mark ? &p->list[low] : NULL;
}

/* Append a body with its characters replaced; one that comes again goes. */
static void add_placed(struct buf *out, struct places *places, struct span body)
{
    size_t done = 0;
    for (size_t i = 0; i < body.len;) {
        uint32_t code;
        size_t length = utf8_decode(body.ptr + i, body.len - i, &code);
        struct placed *placed = code < MARK_FIRST ? NULL : places_find(places, code);
        if (placed) {
            span_add(out, span_between(body, done, i));
            if (!placed->is_placed)
                span_add(out, placed->text);
            placed->is_placed = true;
            done = i + length;
        }
        i += length;
    }
    span_add(out, span_from(body, done));
}

static void add_region_at_end(struct buf *out, size_t start, const char *line_end,
                              struct span region)
{
    strip_end(out, start);
    buf_add_text(out, line_end);
    buf_add_text(out, line_end);
    span_add(out, region);
    buf_add_text(out, line_end);
}

static void join(struct buf *out, struct span text, struct places *places,
                 struct span body)
{
    struct buf clean = { 0 };
    body = span_from(body, skill_bom(body));
    skill_clean(&clean, body);
    span_add(out, span_between(text, 0, skill_bom(text)));
    size_t start = out->len;
    add_placed(out, places, span_of(&clean));
    for (size_t i = 0; i < places->count; i++)
        if (!places->list[i].is_placed)
            add_region_at_end(out, start, skill_line_end(text), places->list[i].text);
    buf_free(&clean);
}

bool skill_set_body(struct buf *out, struct span text, struct span body, struct err *e)
{
    struct places places = { 0 };
    struct buf own = { 0 };
    bool ok = skill_body(&own, text, e) && places_read(&places, text, e);
    if (ok && span_equals(body, span_of(&own)))
        span_add(out, text);
    else if (ok)
        join(out, text, &places, body);
    buf_free(&own);
    mem_free(places.list);
    if (ok && out->is_full)
        return err_set(e, ERR_LIMIT, "the skill is too large");
    return ok;
}

bool skill_region(struct span text, enum skill_kind kind, struct span *content)
{
    struct skill_scan scan = { .text = text };
    struct skill_part part;
    while (skill_next_region(&scan, &part))
        if (part.kind == kind) {
            *content = unicode_strip(part.content);
            return true;
        }
    return false;
}

bool skill_set_region(struct buf *out, struct span text, enum skill_kind kind,
                      struct span content)
{
    const char *line_end = skill_line_end(text);
    struct buf clean = { 0 };
    struct buf region = { 0 };
    skill_clean(&clean, content);
    content = unicode_strip(span_of(&clean));
    span_add(&region, markers[kind][0]);
    buf_add_text(&region, line_end);
    skill_add_lines(&region, content, text);
    if (content.len > 0)
        buf_add_text(&region, line_end);
    span_add(&region, markers[kind][1]);
    size_t start = out->len + skill_bom(text);
    add_without(out, text, is_of_kind, kind);
    add_region_at_end(out, start, line_end, span_of(&region));
    buf_free(&clean);
    buf_free(&region);
    return !out->is_full;
}

/* ---- notes ---- */

static bool is_heading(struct span line)
{
    size_t n = 0;
    while (n < line.len && line.ptr[n] == '#')
        n++;
    return n > 0 && span_equals(unicode_strip(span_from(line, n)), SPAN(APPENDIX_TITLE));
}

bool skill_next_note(struct span *content, struct span *note)
{
    struct span line;
    while (unicode_next_line(content, &line)) {
        line = unicode_strip(line);
        if (is_heading(line))
            continue;
        if (line.len > 0 && (line.ptr[0] == '-' || line.ptr[0] == '*'))
            line = unicode_strip(span_from(line, 1));
        *note = line;
        if (line.len > 0)
            return true;
    }
    return false;
}

static bool ends_loosely(struct span text)
{
    char last = text.len ? text.ptr[text.len - 1] : '\0';
    return last != '\0' && strchr(" .;:,_-", last);
}

void skill_note(struct buf *note, struct buf *key, struct span text)
{
    struct buf clean = { 0 };
    size_t start = note->len;
    skill_clean(&clean, text);
    unicode_collapse(note, span_of(&clean));
    struct span kept = span_from(span_of(note), start);
    while (ends_loosely(kept))
        kept.len--;
    unicode_casefold(key, kept);
    buf_free(&clean);
}

bool skill_set_notes(struct buf *out, struct span text, const struct span *notes,
                     size_t count)
{
    struct buf content = { 0 };
    buf_add_text(&content, APPENDIX_HEADER);
    for (size_t i = 0; i < count; i++) {
        buf_add_text(&content, "\n- ");
        span_add(&content, notes[i]);
    }
    bool ok = skill_set_region(out, text, SKILL_APPENDIX, span_of(&content));
    buf_free(&content);
    return ok;
}

/* ---- checks ---- */

static bool next_line(struct span text, size_t *at, struct span *line)
{
    if (*at >= text.len)
        return false;
    size_t end = plain_find(text, SPAN("\n"), *at);
    size_t stop = end == PLAIN_NONE ? text.len : end;
    *line = unicode_rstrip(span_between(text, *at, stop));
    *at = end == PLAIN_NONE ? text.len : end + 1;
    return true;
}

static bool opens_front_matter(struct span text, size_t *at)
{
    struct span line;
    *at = skill_bom(text);
    return next_line(text, at, &line) && span_equals(line, SPAN("---"));
}

bool skill_front_matter(struct span text, struct span *yaml, size_t *end)
{
    struct span line;
    if (!opens_front_matter(text, end))
        return false;
    size_t start = *end;
    for (size_t before = start; next_line(text, end, &line); before = *end)
        if (span_equals(line, SPAN("---")) || span_equals(line, SPAN("..."))) {
            *yaml = span_between(text, start, before);
            return true;
        }
    return false;
}

/* A first line `---` is front matter, not a ruler, when `name:` follows. */
static bool has_open_front_matter(struct span text)
{
    struct span yaml;
    struct span line;
    size_t at;
    if (skill_front_matter(text, &yaml, &at) || !opens_front_matter(text, &at) ||
        !next_line(text, &at, &line))
        return false;
    size_t n = 0;
    while (n < line.len &&
           (unicode_is_word((unsigned char)line.ptr[n]) || line.ptr[n] == '-'))
        n++;
    return n > 0 && n < line.len && line.ptr[n] == ':';
}

static unsigned region_problems(struct span text)
{
    struct skill_scan scan = { .text = text };
    struct skill_part part;
    unsigned problems = 0;
    size_t count[SKILL_KIND_COUNT] = { 0 };
    while (skill_scan_next(&scan, &part)) {
        if (part.type != SKILL_REGION)
            problems |= 1u << SKILL_LONE_MARKER;
        else if (++count[part.kind] > 1)
            problems |= 1u << SKILL_REGION_TWICE;
    }
    return problems;
}

static bool is_any_region(const struct skill_part *part, enum skill_kind kind)
{
    return part->type == SKILL_REGION;
}

static bool is_blank(struct span text)
{
    struct buf bare = { 0 };
    add_without(&bare, span_from(text, skill_bom(text)), is_any_region, SKILL_KIND_COUNT);
    bool blank = unicode_strip(span_of(&bare)).len == 0;
    buf_free(&bare);
    return blank;
}

unsigned skill_problems(struct span text)
{
    unsigned problems = region_problems(text);
    if (!utf8_is_valid(text.ptr, text.len))
        problems |= 1u << SKILL_NOT_UTF8;
    if (is_blank(text))
        problems |= 1u << SKILL_BLANK;
    if (has_open_front_matter(text))
        problems |= 1u << SKILL_OPEN_FRONT_MATTER;
    return problems;
}

const char *skill_problem_words(enum skill_problem problem)
{
    static const char *const words[SKILL_PROBLEM_COUNT] = {
#define PROBLEM_WORDS(id, text) (text),
        SKILL_PROBLEMS(PROBLEM_WORDS)
#undef PROBLEM_WORDS
    };
    return words[problem];
}
