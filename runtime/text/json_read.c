/* json_read.c - the reader of json.h: recursive descent over valid UTF-8. */
#include "base/buf.h"
#include "base/utf8.h"
#include "text/json.h"
#include "text/json_scan.h"
#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where a string stands decides which quote can end it. */
enum place { PLACE_TOP, PLACE_KEY, PLACE_MEMBER, PLACE_ITEM };

struct reader {
    const char *text, *p, *end;
    struct value_doc *doc;
    struct json_rules rules;
    unsigned depth, objects, arrays; /* open containers, in all and by kind */
    unsigned repaired;
    struct buf scratch;                       /* the string being unescaped */
    bool has_odd_escape, has_doubtful_escape; /* in that string */
    enum json_fault fault;
    const char *why;
};

static bool fail(struct reader *r, enum json_fault fault, const char *why)
{
    r->fault = fault;
    r->why = why;
    return false;
}

static bool fail_memory(struct reader *r)
{
    return fail(r, JSON_FAULT_LIMIT, "the document needs too much memory");
}

/* True, and noted, when the rules allow this repair. */
static bool repair(struct reader *r, enum json_repair what)
{
    if (!(r->rules.repairs & what))
        return false;
    r->repaired |= what;
    return true;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

static const char *blanks_end(const char *p, const char *end)
{
    while (p < end && is_blank(*p))
        p++;
    return p;
}

/* The byte at p behind blanks, or 0 at the end. */
static char peek(struct reader *r)
{
    r->p = blanks_end(r->p, r->end);
    return r->p < r->end ? *r->p : '\0';
}

/* --- strings -------------------------------------------------------------------- */

static const char *plain_end(const char *p, const char *end, char quote)
{
    return p + scan_plain(p, (size_t)(end - p), quote);
}

static bool starts_value(char c)
{
    return c && strchr("\"'{[-0123456789tfnTFN", c);
}

/* What the quote at q is, when inner quotes may be bare. */
enum quote { QUOTE_END, QUOTE_INNER, QUOTE_ODD };

static enum quote quote_at(const struct reader *r, const char *q, enum place place)
{
    const char *next = blanks_end(q + 1, r->end);
    if (next == r->end || place == PLACE_TOP || place == PLACE_KEY)
        return QUOTE_END;
    if (*next == ':') /* the end of a name: the quote before the comma is missing */
        return QUOTE_ODD;
    if (*next == '}' || *next == ']')
        return QUOTE_END;
    if (*next != ',')
        return QUOTE_INNER;
    next = blanks_end(next + 1, r->end);
    if (next == r->end || *next == '}' || *next == ']')
        return QUOTE_END;
    bool is_next =
        place == PLACE_ITEM ? starts_value(*next) : *next == '"' || *next == '\'';
    return is_next ? QUOTE_END : QUOTE_INNER;
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Four hex digits at p, or -1. */
static int32_t hex_four(const struct reader *r, const char *p)
{
    int32_t code = 0;
    if (r->end - p < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        int digit = hex_value(p[i]);
        if (digit < 0)
            return -1;
        code = code * 16 + digit;
    }
    return code;
}

/* p is at the first digit of \uXXXX; a pair is one code point. */
static bool read_code(struct reader *r)
{
    int32_t code = hex_four(r, r->p);
    if (code < 0)
        return fail(r, r->end - r->p < 4 ? JSON_FAULT_END : JSON_FAULT_SYNTAX,
                    "\\u must be followed by four hex digits");
    r->p += 4;
    if (code >= 0xD800 && code < 0xDC00 && r->end - r->p >= 6 && r->p[0] == '\\' &&
        r->p[1] == 'u') {
        int32_t low = hex_four(r, r->p + 2);
        if (low >= 0xDC00 && low < 0xE000) {
            r->p += 6;
            code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
        }
    }
    buf_add_code(&r->scratch, (uint32_t)code);
    return true;
}

/* p is at a backslash. */
static bool read_escape(struct reader *r, char quote)
{
    static const char from[] = "\"\\/bfnrt";
    static const char to[] = "\"\\/\b\f\n\r\t";
    if (r->end - r->p < 2)
        return fail(r, JSON_FAULT_END, "the text ends inside a string");
    char c = r->p[1];
    const char *known = c ? strchr(from, c) : NULL;
    if (known || (c == '\'' && quote == '\'')) {
        bool is_before_word = r->end - r->p > 2 && r->p[2] >= 'a' && r->p[2] <= 'z';
        r->has_doubtful_escape |= is_before_word && c >= 'a' && c <= 'z';
        buf_add_char(&r->scratch, known ? to[known - from] : c);
        r->p += 2;
        return true;
    }
    if (c == 'u') {
        r->p += 2;
        return read_code(r);
    }
    if ((unsigned char)c < 0x20 || !repair(r, JSON_FIX_ESCAPE))
        return fail(r, JSON_FAULT_SYNTAX, "unknown escape in a string");
    r->has_odd_escape = true;
    buf_add_char(&r->scratch, *r->p++);
    return true;
}

/* At a quote like the opening one. */
static bool read_quote(struct reader *r, enum place place, bool *done)
{
    enum quote quote =
        r->rules.repairs & JSON_FIX_QUOTE ? quote_at(r, r->p, place) : QUOTE_END;
    if (quote == QUOTE_ODD)
        return fail(r, JSON_FAULT_SYNTAX, "a string that does not end before a ':'");
    *done = quote == QUOTE_END;
    if (!*done) {
        r->repaired |= JSON_FIX_QUOTE;
        buf_add_char(&r->scratch, *r->p);
    }
    r->p++;
    return true;
}

/* One step behind a plain run: an escape, a quote or a raw control character. */
static bool read_special(struct reader *r, char quote, enum place place, bool *done)
{
    if (r->p == r->end)
        return fail(r, JSON_FAULT_END, "the text ends inside a string");
    if (*r->p == '\\')
        return read_escape(r, quote);
    if (*r->p == quote)
        return read_quote(r, place, done);
    if (!is_blank(*r->p) || !repair(r, JSON_FIX_CONTROL))
        return fail(r, JSON_FAULT_SYNTAX,
                    "control characters in a string must be escaped");
    return buf_add_char(&r->scratch, *r->p++);
}

static bool read_slow_string(struct reader *r, char quote, enum place place)
{
    bool done = false;
    buf_clear(&r->scratch);
    r->has_odd_escape = r->has_doubtful_escape = false;
    while (!done) {
        const char *run = plain_end(r->p, r->end, quote);
        buf_add(&r->scratch, r->p, (size_t)(run - r->p));
        r->p = run;
        if (!read_special(r, quote, place, &done))
            return false;
    }
    if (r->has_odd_escape && r->has_doubtful_escape) /* C:\path\new: is that a newline? */
        return fail(r, JSON_FAULT_SYNTAX, "a backslash that may be meant literally");
    return true;
}

/* p is at the opening quote; *text belongs to the doc. */
static bool read_string(struct reader *r, enum place place, const char **text,
                        uint32_t *n)
{
    char quote = *r->p++;
    const char *run = plain_end(r->p, r->end, quote);
    if (run < r->end && *run == quote && !(r->rules.repairs & JSON_FIX_QUOTE)) {
        *n = (uint32_t)(run - r->p);
        *text = value_copy(r->doc, r->p, *n);
        r->p = run + 1;
    } else {
        if (!read_slow_string(r, quote, place))
            return false;
        *n = (uint32_t)r->scratch.len;
        *text = value_copy(r->doc, buf_text(&r->scratch), *n);
    }
    return *text ? true : fail_memory(r);
}

static bool is_quote(struct reader *r, char c)
{
    return c == '"' || (c == '\'' && repair(r, JSON_FIX_SINGLE));
}

/* --- numbers and words ---------------------------------------------------------- */

static const char *digits_end(const char *p, const char *end)
{
    while (p < end && *p >= '0' && *p <= '9')
        p++;
    return p;
}

/* End of the number that starts at p (behind its sign), NULL when there is none. */
static const char *number_end(const char *p, const char *end, bool *is_integer)
{
    const char *q = digits_end(p, end);
    if (q == p)
        return NULL;
    if (*p == '0')
        q = p + 1;
    *is_integer = true;
    if (q < end && *q == '.') {
        *is_integer = false;
        const char *fraction = q + 1;
        q = digits_end(fraction, end);
        if (q == fraction)
            return NULL;
    }
    if (q < end && (*q == 'e' || *q == 'E')) {
        *is_integer = false;
        q++;
        if (q < end && (*q == '+' || *q == '-'))
            q++;
        const char *exponent = q;
        q = digits_end(exponent, end);
        if (q == exponent)
            return NULL;
    }
    return q;
}

/* False when the digits p..q do not fit. */
static bool to_int64(const char *p, const char *q, bool is_negative, int64_t *out)
{
    int64_t sum = 0;
    for (; p < q; p++) {
        int digit = is_negative ? '0' - *p : *p - '0';
        if (__builtin_mul_overflow(sum, 10, &sum) ||
            __builtin_add_overflow(sum, digit, &sum))
            return false;
    }
    *out = sum;
    return true;
}

static bool read_double(struct reader *r, const char *text, struct value *out)
{
    out->kind = VALUE_DOUBLE;
    out->number = strtod(text, NULL);
    if (isinf(out->number) && !r->rules.allow_nan)
        return fail(r, JSON_FAULT_SYNTAX, "the number is too large");
    return true;
}

static bool is_exact(const char *digits, double d)
{
    char text[DBL_MAX_10_EXP + 8];
    return isfinite(d) && snprintf(text, sizeof text, "%.0f", d) > 0 &&
           strcmp(text, digits) == 0;
}

/* An integer outside int64; the digits belong to the doc. */
static bool read_big(struct reader *r, const char *digits, size_t n, struct value *out)
{
    if (r->rules.big == JSON_BIG_TEXT) {
        *out = (struct value){ .kind = VALUE_BIG, .count = (uint32_t)n, .text = digits };
        return true;
    }
    if (!read_double(r, digits, out))
        return false;
    if (r->rules.big == JSON_BIG_EXACT && !is_exact(digits, out->number))
        return fail(r, JSON_FAULT_SYNTAX, "the number is too large");
    return true;
}

static bool store_number(struct reader *r, const char *start, const char *q,
                         bool is_integer, struct value *out)
{
    bool is_negative = *start == '-';
    if (is_integer && to_int64(start + is_negative, q, is_negative, &out->integer)) {
        out->kind = VALUE_INTEGER;
        return true;
    }
    char small[64];
    size_t n = (size_t)(q - start);
    if (!is_integer && n < sizeof small) {
        memcpy(small, start, n);
        small[n] = '\0';
        return read_double(r, small, out);
    }
    const char *text = value_copy(r->doc, start, n);
    if (!text)
        return fail_memory(r);
    return is_integer ? read_big(r, text, n, out) : read_double(r, text, out);
}

struct word {
    const char *text;
    unsigned repair; /* 0: always known */
    bool needs_nan;
    struct value value;
};

static bool read_word(struct reader *r, struct value *out)
{
    static const struct word words[] = {
        { "true", 0, false, { .kind = VALUE_BOOL, .boolean = true } },
        { "false", 0, false, { .kind = VALUE_BOOL } },
        { "null", 0, false, { .kind = VALUE_NULL } },
        { "NaN", 0, true, { .kind = VALUE_DOUBLE, .number = NAN } },
        { "Infinity", 0, true, { .kind = VALUE_DOUBLE, .number = INFINITY } },
        { "-Infinity", 0, true, { .kind = VALUE_DOUBLE, .number = -INFINITY } },
        { "True", JSON_FIX_LITERAL, false, { .kind = VALUE_BOOL, .boolean = true } },
        { "False", JSON_FIX_LITERAL, false, { .kind = VALUE_BOOL } },
        { "None", JSON_FIX_LITERAL, false, { .kind = VALUE_NULL } },
    };
    size_t left = (size_t)(r->end - r->p);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t n = strlen(words[i].text);
        if (memcmp(r->p, words[i].text, left < n ? left : n) != 0)
            continue;
        if (left < n)
            return fail(r, JSON_FAULT_END, "the text ends inside a value");
        if (words[i].needs_nan && !r->rules.allow_nan)
            return fail(r, JSON_FAULT_SYNTAX, "NaN and Infinity are not JSON");
        if (words[i].repair && !repair(r, words[i].repair))
            break;
        *out = words[i].value;
        r->p += n;
        return true;
    }
    return fail(r, JSON_FAULT_SYNTAX, "expected a value");
}

static bool read_number(struct reader *r, struct value *out)
{
    bool is_integer;
    const char *first = r->p + (*r->p == '-');
    if (first < r->end && *first == 'I')
        return read_word(r, out);
    const char *q = number_end(first, r->end, &is_integer);
    if (!q)
        return fail(r, JSON_FAULT_SYNTAX, "malformed number");
    if (!store_number(r, r->p, q, is_integer, out))
        return false;
    r->p = q;
    return true;
}

/* --- containers ----------------------------------------------------------------- */

static bool read_value(struct reader *r, enum place place, struct value *out);

enum next { NEXT_ENTRY, NEXT_CLOSED, NEXT_FAILED };

/* At a closing bracket, present or (by repair) missing? */
static enum next look_for_end(struct reader *r, bool is_object)
{
    char c = peek(r);
    if (r->p == r->end) {
        if (repair(r, JSON_FIX_END))
            return NEXT_CLOSED;
        fail(r, JSON_FAULT_END,
             is_object ? "the text ends inside an object"
                       : "the text ends inside an array");
        return NEXT_FAILED;
    }
    if (c == (is_object ? '}' : ']')) {
        r->p++;
        return NEXT_CLOSED;
    }
    bool is_outer = (c == '}' && r->objects) || (c == ']' && r->arrays);
    return is_outer && repair(r, JSON_FIX_BRACKET) ? NEXT_CLOSED : NEXT_ENTRY;
}

static enum next look_for_next(struct reader *r, bool is_object, bool is_first)
{
    enum next next = look_for_end(r, is_object);
    if (next != NEXT_ENTRY || is_first)
        return next;
    if (*r->p != ',') {
        fail(r, JSON_FAULT_SYNTAX,
             is_object ? "expected ',' or '}'" : "expected ',' or ']'");
        return NEXT_FAILED;
    }
    r->p++;
    if (!(r->rules.repairs & JSON_FIX_COMMA))
        return NEXT_ENTRY;
    next = look_for_end(r, is_object);
    if (next == NEXT_CLOSED)
        r->repaired |= JSON_FIX_COMMA;
    return next;
}

static bool read_name(struct reader *r, struct value_entry *entry)
{
    char c = peek(r);
    if (r->p == r->end)
        return fail(r, JSON_FAULT_END, "the text ends inside an object");
    if (!is_quote(r, c))
        return fail(r, JSON_FAULT_SYNTAX, "expected a name in double quotes");
    if (!read_string(r, PLACE_KEY, &entry->key, &entry->key_length))
        return false;
    if (peek(r) != ':')
        return fail(r, r->p == r->end ? JSON_FAULT_END : JSON_FAULT_SYNTAX,
                    "expected ':' after a name");
    r->p++;
    return true;
}

static bool read_entry(struct reader *r, bool is_object)
{
    struct value_entry entry = { 0 };
    if (is_object && !read_name(r, &entry))
        return false;
    if (!read_value(r, is_object ? PLACE_MEMBER : PLACE_ITEM, &entry.value))
        return false;
    return value_push(r->doc, &entry) ? true : fail_memory(r);
}

static bool read_container(struct reader *r, bool is_object, struct value *out)
{
    size_t mark = r->doc->height;
    unsigned *open = is_object ? &r->objects : &r->arrays;
    if (r->depth == r->rules.depth)
        return fail(r, JSON_FAULT_DEPTH, "nesting too deep");
    r->p++;
    r->depth++;
    enum next next = look_for_next(r, is_object, true);
    while (next == NEXT_ENTRY) {
        ++*open;
        if (!read_entry(r, is_object))
            return false;
        --*open;
        next = look_for_next(r, is_object, false);
    }
    r->depth--;
    if (next == NEXT_FAILED)
        return false;
    bool ok = is_object ? value_fold_object(r->doc, mark, out)
                        : value_fold_array(r->doc, mark, out);
    return ok ? true : fail_memory(r);
}

static bool read_value(struct reader *r, enum place place, struct value *out)
{
    char c = peek(r);
    if (r->p == r->end)
        return fail(r, JSON_FAULT_END, "the text ends where a value is expected");
    if (c == '{' || c == '[')
        return read_container(r, c == '{', out);
    if (is_quote(r, c)) {
        out->kind = VALUE_TEXT;
        return read_string(r, place, &out->text, &out->count);
    }
    if (c == '-' || (c >= '0' && c <= '9'))
        return read_number(r, out);
    return read_word(r, out);
}

/* --- entry ---------------------------------------------------------------------- */

void json_place(const char *text, size_t byte, size_t *line, size_t *column)
{
    size_t start = 0;
    *line = 1;
    for (size_t i = 0; i < byte; i++)
        if (text[i] == '\n') {
            ++*line;
            start = i + 1;
        }
    *column = utf8_length(text + start, byte - start) + 1;
}

/* Make the text valid, or say where it is not; `fixed` holds a mended copy. */
static bool check_text(struct reader *r, struct buf *fixed)
{
    size_t n = (size_t)(r->end - r->text);
    if (n > r->rules.size)
        return fail(r, JSON_FAULT_LIMIT, "the text is too long");
    if (r->rules.is_valid_utf8 || utf8_is_valid(r->text, n))
        return true;
    if (!r->rules.fix_utf8) {
        uint32_t code = 0;
        while (code != UTF8_INVALID)
            r->p += utf8_decode(r->p, (size_t)(r->end - r->p), &code);
        r->p--;
        return fail(r, JSON_FAULT_SYNTAX, "invalid UTF-8");
    }
    if (!utf8_fix(fixed, r->text, n))
        return fail(r, JSON_FAULT_LIMIT, "the text is too long");
    r->text = r->p = fixed->ptr;
    r->end = r->text + fixed->len;
    return true;
}

static bool read_root(struct reader *r, bool is_whole, struct value *out)
{
    bool has_bom = r->end - r->p >= 3 && memcmp(r->p, "\xEF\xBB\xBF", 3) == 0;
    if (has_bom && !r->rules.allow_bom)
        return fail(r, JSON_FAULT_SYNTAX, "the text starts with a byte order mark");
    r->p += has_bom ? 3 : 0;
    if (!read_value(r, PLACE_TOP, out))
        return false;
    if (is_whole && (peek(r), r->p != r->end))
        return fail(r, JSON_FAULT_SYNTAX, "unexpected text after the value");
    return true;
}

static struct json_rules complete(const struct json_rules *rules)
{
    struct json_rules all = rules ? *rules : (struct json_rules){ 0 };
    if (!all.depth || all.depth > JSON_MAX_DEPTH)
        all.depth = JSON_MAX_DEPTH;
    if (!all.size || all.size >= UINT32_MAX)
        all.size = all.size ? UINT32_MAX - 1 : JSON_DEFAULT_SIZE;
    return all;
}

static void explain(const struct reader *r, struct err *e)
{
    size_t line, column;
    json_place(r->text, (size_t)(r->p - r->text), &line, &column);
    err_set(e, r->fault == JSON_FAULT_LIMIT ? ERR_LIMIT : ERR_PARSE,
            "line %zu, column %zu: %s", line, column, r->why);
}

static const struct value *read_text(struct reader *r, bool is_whole, struct err *e)
{
    struct buf fixed = { 0 };
    size_t height = r->doc->height;
    struct value *root = value_alloc(r->doc, sizeof *root);
    bool ok = check_text(r, &fixed) && (root || fail_memory(r));
    if (ok) {
        *root = (struct value){ 0 };
        ok = read_root(r, is_whole, root);
    }
    if (!ok)
        explain(r, e);
    r->doc->height = height;
    buf_free(&r->scratch);
    buf_free(&fixed);
    return ok ? root : NULL;
}

static struct reader reader(struct value_doc *d, const char *text, size_t n,
                            const struct json_rules *rules)
{
    struct reader r = { .doc = d, .text = n ? text : "", .rules = complete(rules) };
    r.p = r.text;
    r.end = r.text + n;
    r.scratch.max = r.rules.size; /* unescaping never makes a string longer */
    return r;
}

const struct value *json_read(struct value_doc *d, const char *text, size_t n,
                              const struct json_rules *rules, struct err *e)
{
    struct reader r = reader(d, text, n, rules);
    return read_text(&r, true, e);
}

const struct value *json_read_piece(struct value_doc *d, const char *text, size_t n,
                                    const struct json_rules *rules,
                                    struct json_piece *piece, struct err *e)
{
    struct reader r = reader(d, text, n, rules);
    assert(!r.rules.fix_utf8); /* `used` would count other bytes */
    const struct value *root = read_text(&r, false, e);
    *piece = (struct json_piece){ .used = (size_t)(r.p - r.text),
                                  .fault = r.fault,
                                  .repaired = r.repaired };
    return root;
}
