/* reply.c - see reply.h. */
#include "text/reply.h"
#include "base/buf.h"
#include "base/utf8.h"
#include "text/json.h"
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Reading starts anew behind each faulty start; past this much work for each byte the
 * text is no reply but an attack. */
enum { WORK_PER_BYTE = 16, WORK_FREE = 4096 };

enum {
    REPAIRS = JSON_FIX_CONTROL | JSON_FIX_COMMA | JSON_FIX_QUOTE | JSON_FIX_BRACKET |
              JSON_FIX_SINGLE | JSON_FIX_LITERAL | JSON_FIX_ESCAPE
};

/* How much a candidate says; only the highest rank found counts. */
enum rank {
    RANK_EMPTY,  /* {} and arrays without an object: citations, placeholders */
    RANK_OTHER,  /* an object without a wanted key */
    RANK_LIKELY, /* an array of objects; any object when no key is wanted */
    RANK_WANTED,
    RANK_COUNT
};

struct rank_state {
    const struct value *first;
    bool is_repaired, is_ambiguous;
};

/* Everything found since the last closing think tag. */
struct finds {
    struct rank_state ranks[RANK_COUNT];
    size_t count;             /* candidates above RANK_EMPTY */
    bool is_malformed;        /* an object that could not be read */
    bool is_malformed_wanted; /* and it has a wanted key */
    struct err fault;         /* of the first such */
};

struct search {
    const char *text, *p, *end;
    struct value_doc *doc;
    struct reply_rules rules;
    size_t work, work_max;
    struct finds finds;
    enum reply_reason reason; /* FOUND while the walk goes on */
};

/* --- think blocks --------------------------------------------------------------- */

struct tag {
    const char *name; /* NULL: no think tag here */
    bool is_closing;
    const char *end;
};

static struct tag tag_at(const char *p, const char *end)
{
    static const char *const names[] = { "think", "thinking", "thought", "reasoning" };
    struct tag tag = { .is_closing = end - p > 1 && p[1] == '/' };
    const char *word = p + 1 + tag.is_closing;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t n = strlen(names[i]);
        if ((size_t)(end - p) > n + 1 + tag.is_closing &&
            strncasecmp(word, names[i], n) == 0 && word[n] == '>') {
            tag.name = names[i];
            tag.end = word + n + 1;
        }
    }
    return tag;
}

/* The first tag in p..end that closes `name` (any think tag when NULL), or none. */
static struct tag closing_tag(const char *p, const char *end, const char *name)
{
    const char *open = p < end ? memchr(p, '<', (size_t)(end - p)) : NULL;
    while (open) {
        struct tag tag = tag_at(open, end);
        if (tag.name && tag.is_closing && (!name || tag.name == name))
            return tag;
        p = open + 1;
        open = memchr(p, '<', (size_t)(end - p));
    }
    return (struct tag){ 0 };
}

/* p is at '<'. */
static void pass_tag(struct search *s)
{
    struct tag tag = tag_at(s->p, s->end);
    if (!tag.name) {
        s->p++;
        return;
    }
    if (tag.is_closing) { /* its opening tag was in the prompt: all that was thought */
        s->finds = (struct finds){ 0 };
        s->p = tag.end;
        return;
    }
    struct tag close = closing_tag(tag.end, s->end, tag.name);
    if (!close.name && !s->finds.count)
        s->reason = REPLY_TRUNCATED;
    s->p = close.name ? close.end : s->end;
}

/* --- candidates ----------------------------------------------------------------- */

static bool is_same(const struct value *a, const struct value *b)
{
    struct buf texts[2] = { { 0 }, { 0 } };
    const struct value *const both[2] = { a, b };
    bool ok = true;
    for (int i = 0; i < 2; i++) {
        struct json_writer w;
        json_begin(&w, &texts[i], JSON_CANONICAL);
        json_value(&w, both[i]);
        ok = json_end(&w, NULL) && ok;
    }
    ok = ok && texts[0].len == texts[1].len &&
         memcmp(texts[0].ptr, texts[1].ptr, texts[0].len) == 0;
    buf_free(&texts[0]);
    buf_free(&texts[1]);
    return ok;
}

static bool has_wanted(const struct search *s, const struct value *v)
{
    for (size_t i = 0; s->rules.want && s->rules.want[i]; i++)
        if (value_get(v, s->rules.want[i]))
            return true;
    return false;
}

static enum rank rank_of(const struct search *s, const struct value *v)
{
    if (v->kind == VALUE_ARRAY) {
        for (uint32_t i = 0; i < v->count; i++)
            if (v->items[i].kind == VALUE_OBJECT)
                return RANK_LIKELY;
        return RANK_EMPTY;
    }
    if (v->count == 0)
        return RANK_EMPTY;
    return has_wanted(s, v) ? RANK_WANTED : s->rules.want ? RANK_OTHER : RANK_LIKELY;
}

static void add_candidate(struct search *s, const struct value *v, bool is_repaired)
{
    enum rank rank = rank_of(s, v);
    struct rank_state *state = &s->finds.ranks[rank];
    if (state->first && !state->is_ambiguous && is_same(state->first, v)) {
        state->is_repaired = state->is_repaired && is_repaired;
        return;
    }
    s->finds.count += rank > RANK_EMPTY;
    state->is_ambiguous = state->first != NULL;
    if (!state->first) {
        state->first = v;
        state->is_repaired = is_repaired;
    }
}

/* Does the text p..end name a wanted key? */
static bool mentions_wanted(const struct search *s, const char *p, const char *end)
{
    for (size_t i = 0; s->rules.want && s->rules.want[i]; i++) {
        const char *key = s->rules.want[i];
        size_t n = strlen(key);
        for (const char *q = p; (q = memmem(q, (size_t)(end - q), key, n)) != NULL; q++)
            if (q > p && q + n < end && (q[n] == '"' || q[n] == '\'') && q[-1] == q[n])
                return true;
    }
    return false;
}

static void add_malformed(struct search *s, const char *end, const struct err *fault)
{
    if (!s->finds.is_malformed)
        s->finds.fault = *fault;
    s->finds.is_malformed = true;
    if (mentions_wanted(s, s->p, end))
        s->finds.is_malformed_wanted = true;
}

/* --- reading at a bracket ------------------------------------------------------- */

/* The bracket that closes the object at p, by count and with strings, or NULL. */
static const char *object_end(const char *p, const char *end)
{
    size_t depth = 0;
    bool in_string = false;
    for (; p < end; p++) {
        if (in_string && *p == '\\')
            p++;
        else if (*p == '"')
            in_string = !in_string;
        else if (!in_string && *p == '{')
            depth++;
        else if (!in_string && *p == '}' && --depth == 0)
            return p + 1;
    }
    return NULL;
}

static const char *skip_blanks(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t'))
        p++;
    return p;
}

/* Is the bracket at p the first thing in a fence? */
static bool is_fenced(const struct search *s)
{
    const char *q = s->p;
    while (q > s->text && strchr(" \n\r\t", q[-1]))
        q--;
    for (int i = 0;
         i < 10 && q > s->text && ((q[-1] | 0x20) >= 'a' && (q[-1] | 0x20) <= 'z'); i++)
        q--;
    return q - s->text >= 3 && memcmp(q - 3, "```", 3) == 0;
}

static const struct value *read_at(struct search *s, const char *end, unsigned repairs,
                                   struct json_piece *piece, struct err *e)
{
    struct json_rules rules = { .is_valid_utf8 = true,
                                .big = JSON_BIG_DOUBLE,
                                .repairs = repairs };
    const struct value *v =
        json_read_piece(s->doc, s->p, (size_t)(end - s->p), &rules, piece, e);
    s->work += piece->used + 1;
    return v;
}

/* Brackets that are missing before a closing fence are added: the model had ended. */
static const struct value *read_fenced(struct search *s, struct json_piece *piece)
{
    const char *fault = skip_blanks(s->p + piece->used, s->end);
    struct json_piece again;
    if (s->end - fault < 3 || memcmp(fault, "```", 3) != 0 || !is_fenced(s))
        return NULL;
    const struct value *v = read_at(s, fault, REPAIRS | JSON_FIX_END, &again, NULL);
    if (v)
        *piece = again;
    return v;
}

/* Behind the object that could not be read, when its end can be told. */
static void pass_malformed(struct search *s, const struct json_piece *piece,
                           const struct err *fault)
{
    const char *close = object_end(s->p, s->end);
    s->work += (size_t)((close ? close : s->end) - s->p);
    if (close && closing_tag(s->p, close, NULL).name)
        close = NULL;
    add_malformed(s, close ? close : s->p + piece->used, fault);
    s->p = close ? close : s->p + 1;
}

/* The text ends inside the value, and it is no thought. Prose may end in a bracket. */
static bool is_cut(const struct search *s, const struct json_piece *piece)
{
    const char *inner = skip_blanks(s->p + 1, s->end);
    if (*s->p == '[' && (inner == s->end || *inner != '{'))
        return false;
    return piece->fault == JSON_FAULT_END && !closing_tag(s->p, s->end, NULL).name;
}

static void set_place(struct search *s, const struct json_piece *piece, struct err *e)
{
    size_t line, column;
    const char *why = strstr(e->message, ": ");
    char kept[ERR_MESSAGE_MAX];
    json_place(s->text, (size_t)(s->p - s->text) + piece->used, &line, &column);
    snprintf(kept, sizeof kept, "%s", why ? why + 2 : e->message);
    err_set(e, ERR_PARSE, "malformed JSON at line %zu, column %zu: %s", line, column,
            kept);
}

/* p is at a bracket that strict reading refused. */
static void repair(struct search *s, struct json_piece *piece)
{
    struct err fault = { 0 };
    const struct value *v = read_at(s, s->end, REPAIRS, piece, &fault);
    if (!v && piece->fault == JSON_FAULT_SYNTAX)
        v = read_fenced(s, piece);
    bool is_useful = v && (v->kind == VALUE_OBJECT || rank_of(s, v) > RANK_EMPTY) &&
                     !closing_tag(s->p, s->p + piece->used, NULL).name;
    if (is_useful) {
        add_candidate(s, v, true);
        s->p += piece->used;
    } else if (is_cut(s, piece)) {
        s->reason = REPLY_TRUNCATED;
    } else if (*s->p == '[') {
        s->p++;
    } else {
        set_place(s, piece, &fault);
        pass_malformed(s, piece, &fault);
    }
}

static bool is_start(const struct search *s)
{
    const char *next = skip_blanks(s->p + 1, s->end);
    if (*s->p == '[')
        return s->rules.allow_array;
    return next < s->end && (*next == '"' || *next == '\'' || *next == '}');
}

/* p is at '{' or '['. */
static void pass_bracket(struct search *s)
{
    struct json_piece piece;
    if (!is_start(s)) {
        s->p++;
        return;
    }
    const struct value *v = read_at(s, s->end, 0, &piece, NULL);
    if (v) {
        add_candidate(s, v, false);
        s->p += piece.used;
    } else if (piece.fault == JSON_FAULT_DEPTH) {
        s->reason = REPLY_TOO_DEEP;
    } else if (is_cut(s, &piece)) {
        s->reason = REPLY_TRUNCATED;
    } else {
        repair(s, &piece);
    }
}

/* --- the verdict ---------------------------------------------------------------- */

static enum reply_reason judge(const struct search *s, const struct value **result)
{
    const struct finds *f = &s->finds;
    enum rank rank = RANK_WANTED;
    while (rank > RANK_EMPTY && !f->ranks[rank].first)
        rank--;
    const struct rank_state *state = &f->ranks[rank];
    bool is_wanted = rank == RANK_WANTED;
    if (s->reason != REPLY_FOUND)
        return s->reason;
    if (!state->first)
        return f->is_malformed ? REPLY_MALFORMED : REPLY_NONE;
    if (state->is_ambiguous)
        return REPLY_AMBIGUOUS;
    if (f->is_malformed && (!is_wanted || f->is_malformed_wanted))
        return REPLY_MALFORMED;
    if (state->is_repaired && f->count > 1)
        return REPLY_MALFORMED;
    *result = state->first;
    return REPLY_FOUND;
}

static void explain(const struct search *s, enum reply_reason reason, struct err *e)
{
    static const char *const words[] = {
        [REPLY_NONE] = "no JSON object found",
        [REPLY_AMBIGUOUS] = "ambiguous optimizer reply",
        [REPLY_TRUNCATED] = "the reply ends inside its JSON object",
        [REPLY_TOO_DEEP] = "nesting too deep",
    };
    if (reason != REPLY_MALFORMED)
        err_set(e, ERR_PARSE, "%s", words[reason]);
    else if (s->finds.is_malformed)
        err_set(e, ERR_PARSE, "%s", s->finds.fault.message);
    else
        err_set(e, ERR_PARSE, "malformed JSON beside other JSON");
}

static const struct value *search(struct search *s, enum reply_reason *reason,
                                  struct err *e)
{
    const struct value *result = NULL;
    s->work_max = (size_t)(s->end - s->text) * WORK_PER_BYTE + WORK_FREE;
    while (s->p < s->end && s->reason == REPLY_FOUND) {
        if (*s->p == '{' || *s->p == '[')
            pass_bracket(s);
        else if (*s->p == '<')
            pass_tag(s);
        else
            s->p++;
        if (s->work > s->work_max)
            s->reason = REPLY_MALFORMED;
    }
    *reason = judge(s, &result);
    if (*reason != REPLY_FOUND)
        explain(s, *reason, e);
    return result;
}

const struct value *reply_extract(struct value_doc *d, const char *text, size_t n,
                                  const struct reply_rules *rules,
                                  enum reply_reason *reason, struct err *e)
{
    struct buf fixed = { 0 };
    struct search s = { .doc = d, .rules = rules ? *rules : (struct reply_rules){ 0 } };
    const struct value *v = NULL;
    if (utf8_fix(&fixed, text, n)) {
        s.text = s.p = buf_text(&fixed);
        s.end = s.text + fixed.len;
        v = search(&s, reason, e);
    } else {
        *reason = REPLY_MALFORMED;
        err_set(e, ERR_LIMIT, "the reply is too long");
    }
    buf_free(&fixed);
    return v;
}

const char *reply_reason_name(enum reply_reason reason)
{
    static const char *const names[] = {
        [REPLY_FOUND] = "found",         [REPLY_NONE] = "none",
        [REPLY_AMBIGUOUS] = "ambiguous", [REPLY_MALFORMED] = "malformed",
        [REPLY_TRUNCATED] = "truncated", [REPLY_TOO_DEEP] = "too_deep",
    };
    return names[reason];
}
