/* json.h - JSON in and out, by rule.
 *
 * The reader accepts RFC 8259 and nothing else unless a rule says so; it takes linear
 * time and bounded stack. The writer is a push interface on a buf that keeps the
 * first fault: push the whole text, then ask json_end once. Numbers are written as
 * the shortest text that reads back as the same double. */
#pragma once
#include "base/buf.h"
#include "base/err.h"
#include "text/value.h"

enum { JSON_MAX_DEPTH = 200 };

#define JSON_DEFAULT_SIZE ((size_t)256 << 20)

/* Repairs for what models write; never on for data or wire formats. */
enum json_repair {
    JSON_FIX_CONTROL = 1,  /* raw newlines and tabs inside strings stand for themselves */
    JSON_FIX_COMMA = 2,    /* a comma before a closing bracket is dropped */
    JSON_FIX_QUOTE = 4,    /* inner quotes of a value without backslash: those that are
                            * not followed by what may follow the value */
    JSON_FIX_BRACKET = 8,  /* a missing ] before } (or } before ]) is added */
    JSON_FIX_END = 16,     /* brackets missing at the end of the text are added */
    JSON_FIX_SINGLE = 32,  /* 'strings' */
    JSON_FIX_LITERAL = 64, /* True, False, None */
    JSON_FIX_ESCAPE = 128  /* a backslash before a character that needs none stays, unless
                            * the string also has an escape that may be a word: \new */
};

/* What an integer outside int64 becomes. */
enum json_big {
    JSON_BIG_TEXT,  /* VALUE_BIG */
    JSON_BIG_EXACT, /* a double when that is exact, otherwise an error */
    JSON_BIG_DOUBLE /* the nearest double */
};

struct json_rules {
    bool allow_nan;     /* NaN, Infinity, -Infinity */
    bool allow_bom;     /* U+FEFF before the first value */
    bool fix_utf8;      /* invalid bytes become U+FFFD; otherwise they are an error */
    bool is_valid_utf8; /* the caller has looked: do not look again */
    enum json_big big;
    unsigned repairs; /* set of enum json_repair */
    unsigned depth;   /* 0 = JSON_MAX_DEPTH, which is also the highest */
    size_t size;      /* longest text in bytes, 0 = JSON_DEFAULT_SIZE */
};

/* Where the value that begins at text[at] ends: its length and `at` together, 0 when
 * the text (n bytes) ends before that can be told. The value is not read, only its
 * quotes and brackets are: json_read says whether it is one. */
size_t json_extent(const char *text, size_t n, size_t at);

/* Read one value that is the whole text but for blanks. `rules` may be NULL: strict.
 * The result belongs to the doc, which keeps what it had before. NULL on error, with
 * kind parse (limit when the text or the doc is too large) and a message that starts
 * "line 3, column 7: ". A lone surrogate escape becomes U+FFFD; a number too large for a
 * double becomes an infinity only with allow_nan. */
const struct value *json_read(struct value_doc *d, const char *text, size_t n,
                              const struct json_rules *rules, struct err *e);

enum json_fault {
    JSON_FAULT_NONE,
    JSON_FAULT_SYNTAX,
    JSON_FAULT_END, /* the text ends inside a value */
    JSON_FAULT_DEPTH,
    JSON_FAULT_LIMIT
};

struct json_piece {
    size_t used;           /* bytes up to the end of the value, or to the fault */
    enum json_fault fault; /* NONE when a value was read */
    unsigned repaired;     /* set of enum json_repair that was needed */
};

/* Like json_read, but stops behind the first value; what follows is not looked at. */
const struct value *json_read_piece(struct value_doc *d, const char *text, size_t n,
                                    const struct json_rules *rules,
                                    struct json_piece *piece, struct err *e);

/* Line and column (in characters) of a byte, both from 1. */
void json_place(const char *text, size_t byte, size_t *line, size_t *column);

/* --- writing -------------------------------------------------------------------- */

enum json_style {
    JSON_LINE,     /* {"a": 1, "b": [1.0, 2]}: one line of a .jsonl file */
    JSON_INDENT,   /* two blanks a level, no newline at the end: artefact files */
    JSON_CANONICAL /* no blanks, keys sorted by byte whatever the order of the calls
                    * (of equal keys the last value), whole doubles below 2^63 as
                    * integers: the form digests are taken of */
};

struct json_level {
    bool is_object, is_unsorted;
    size_t count;   /* members or items so far */
    size_t start;   /* of this container's content in `out` */
    size_t names;   /* of this container's names in `names` */
    size_t name;    /* of the latest name */
    size_t members; /* canonical: of this container's members in `members` */
};

/* Fields are private. Valid between json_begin and json_end. */
struct json_writer {
    struct buf *out;
    enum json_style style;
    unsigned depth;
    bool has_name, has_failed;
    struct buf names; /* for messages, and for sorting */
    struct json_member *members;
    size_t member_count, member_room;
    struct err fault;
    struct json_level levels[JSON_MAX_DEPTH + 1];
};

/* Start writing one value at the end of `out`, which stays the caller's. */
void json_begin(struct json_writer *w, struct buf *out, enum json_style style);

/* Finish. False with the first fault: kind data, "results[2].hard: NaN cannot be
 * written as JSON" (items counted from 1), or limit. `out` is then unfinished. Must be
 * called once after each json_begin; it frees what the writer holds. */
bool json_end(struct json_writer *w, struct err *e);

void json_object(struct json_writer *w);
void json_object_end(struct json_writer *w);
void json_array(struct json_writer *w);
void json_array_end(struct json_writer *w);

/* The name of the next member; zero-terminated, or n bytes. */
void json_key(struct json_writer *w, const char *name);
void json_key_n(struct json_writer *w, const char *name, size_t n);

/* One value. Text must be valid UTF-8, otherwise the writer fails. */
void json_null(struct json_writer *w);
void json_bool(struct json_writer *w, bool b);
void json_integer(struct json_writer *w, int64_t i);
void json_double(struct json_writer *w, double d);
void json_text(struct json_writer *w, const char *text);
void json_text_n(struct json_writer *w, const char *text, size_t n);
void json_value(struct json_writer *w, const struct value *v);

/* n bytes that are one JSON value already, in the wanted style: taken on trust. */
void json_raw(struct json_writer *w, const char *text, size_t n);

/* Make the writer fail at the value that would come next, for faults the caller sees. */
void json_refuse(struct json_writer *w, const char *what);
bool json_failed(const struct json_writer *w);

/* Append n bytes of text as a JSON string with quotes. Invalid UTF-8 is copied. */
bool json_quote(struct buf *out, const char *text, size_t n);

/* --- numbers -------------------------------------------------------------------- */

enum { JSON_NUMBER_MAX = 32 };

/* The shortest text that reads back as d, written as the reference does: "0.5",
 * "1.0", "1e-05", "1e+16", "-0.0", "nan", "inf", "-inf". Returns its length. */
size_t json_format_double(double d, char text[JSON_NUMBER_MAX]);

/* Round to n digits behind the point (0 to 30), half to even on the exact binary
 * value. NaN and infinities stay. */
double json_round(double d, int n);
