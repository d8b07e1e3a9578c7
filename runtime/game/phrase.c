/* phrase.c - the text of a template or rule as symbols, see grammar.h.
 *
 * The language is forgiving in one odd way that games depend on: reading stops
 * without a word at the first thing that is no symbol, and what is left is dropped.
 * Only what would be used but cannot be understood is refused. */
#include "game/grammar.h"
#include <string.h>

struct phrase_reader {
    struct grammar *g;
    const struct origin *o;
    const char *p, *end;
    bool failed; /* a message is set */
};

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r') || (c >= 0x1c && c <= 0x1f);
}

static void skip_tabs(struct phrase_reader *r)
{
    while (r->p < r->end && *r->p == '\t')
        r->p++;
}

static bool take(struct phrase_reader *r, char c)
{
    skip_tabs(r);
    if (r->p == r->end || *r->p != c)
        return false;
    r->p++;
    return true;
}

/* The longest piece without any of the characters; NULL when it is empty. */
static const char *take_run(struct phrase_reader *r, const char *without, size_t *n)
{
    const char *start = r->p;
    while (r->p < r->end && !(*r->p && strchr(without, *r->p)))
        r->p++;
    *n = (size_t)(r->p - start);
    return *n ? start : NULL;
}

static struct symbol *new_symbol(struct phrase_reader *r, enum symbol_kind kind,
                                 const char *text, size_t n)
{
    struct symbol *s = arena_new(&r->g->arena, 1, sizeof *s);
    s->kind = kind;
    s->text = text ? arena_copy(&r->g->arena, text, n) : NULL;
    s->length = (uint32_t)n;
    return s;
}

static bool is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           is_space(c) || (c && strchr("_()/!<>-,.", c));
}

/* `#name#` */
static struct symbol *read_rule(struct phrase_reader *r)
{
    if (!take(r, '#'))
        return NULL;
    const char *name = r->p;
    while (r->p < r->end && is_name(*r->p))
        r->p++;
    size_t n = (size_t)(r->p - name);
    if (r->p < r->end && (unsigned char)*r->p >= 0x80)
        r->failed = !origin_refuse(r->o, "the name of a rule must be ASCII");
    if (!n || !take(r, '#') || r->failed)
        return NULL;
    struct symbol *s = new_symbol(r, SYMBOL_RULE, name, n);
    s->rule = grammar_rule(r->g, name, n, r->o);
    r->failed = s->rule == NAMES_NONE;
    return r->failed ? NULL : s;
}

static struct symbol *read_value(struct phrase_reader *r)
{
    size_t n = 0;
    skip_tabs(r);
    const char *text = take_run(r, "|[]{}<>\n", &n);
    return text ? new_symbol(r, SYMBOL_VALUE, text, n) : NULL;
}

/* ` | query`; false when there is a bar but no query behind it. */
static bool read_bar(struct phrase_reader *r, struct symbol *each)
{
    const char *start = r->p;
    while (r->p < r->end && is_space(*r->p))
        r->p++;
    if (r->p == r->end || *r->p != '|') {
        r->p = start;
        return true;
    }
    r->p++;
    while (r->p < r->end && is_space(*r->p))
        r->p++;
    size_t n = 0;
    const char *text = take_run(r, ";|{}[]#\n", &n);
    each->query_text = text ? arena_copy(&r->g->arena, text, n) : NULL;
    return text != NULL;
}

/* What is inside is compiled only when the closing bracket is there. */
static bool compile_each(struct phrase_reader *r, struct symbol *each)
{
    struct symbol *s = each->inner;
    if (s->kind == SYMBOL_VALUE) {
        s->value = expression_read(r->g, s->text, s->length, r->o);
        r->failed = !s->value;
    }
    if (!r->failed && each->query_text) {
        each->query = query_read(r->g, each->query_text, strlen(each->query_text), r->o);
        r->failed = !each->query;
    }
    return !r->failed;
}

/* `{expression}`, `{#rule#}`, `{... | query}` */
static struct symbol *read_each(struct phrase_reader *r)
{
    if (!take(r, '{'))
        return NULL;
    const char *start = r->p;
    struct symbol *each = new_symbol(r, SYMBOL_EACH, NULL, 0);
    each->inner = read_rule(r);
    if (!each->inner && !r->failed) {
        r->p = start;
        each->inner = read_value(r);
    }
    if (!each->inner || !read_bar(r, each) || !take(r, '}'))
        return NULL;
    return compile_each(r, each) ? each : NULL;
}

/* `[{...}]` */
static struct symbol *read_list(struct phrase_reader *r)
{
    if (!take(r, '['))
        return NULL;
    struct symbol *list = new_symbol(r, SYMBOL_LIST, NULL, 0);
    list->inner = read_each(r);
    return list->inner && take(r, ']') ? list : NULL;
}

static struct symbol *read_quoted(struct phrase_reader *r)
{
    if (!take(r, '"'))
        return NULL;
    const char *stop = memchr(r->p, '"', (size_t)(r->end - r->p));
    if (!stop)
        return NULL;
    struct symbol *s = new_symbol(r, SYMBOL_TEXT, r->p, (size_t)(stop - r->p));
    r->p = stop + 1;
    return s;
}

static struct symbol *read_text(struct phrase_reader *r)
{
    size_t n = 0;
    const char *text = take_run(r, ";|\"<>[]#{}", &n);
    return text ? new_symbol(r, SYMBOL_TEXT, text, n) : NULL;
}

static struct symbol *read_symbol(struct phrase_reader *r)
{
    skip_tabs(r);
    if (r->p == r->end)
        return NULL;
    switch (*r->p) {
    case '[':
        return read_list(r);
    case '{':
        return read_each(r);
    case '#':
        return read_rule(r);
    case '"':
        return read_quoted(r);
    default:
        return read_text(r);
    }
}

/* A comment at the very start goes with its line; otherwise leading blanks go. */
static void skip_start(struct phrase_reader *r)
{
    if (r->end - r->p >= 2 && memcmp(r->p, "//", 2) == 0) {
        const char *stop = memchr(r->p, '\n', (size_t)(r->end - r->p));
        r->p = stop ? stop + 1 : r->end;
        return;
    }
    while (r->p < r->end && is_space(*r->p))
        r->p++;
}

bool phrase_read(struct grammar *g, const char *text, size_t n, const struct origin *o,
                 struct phrase *phrase)
{
    struct phrase_reader r = { .g = g, .o = o, .p = text, .end = text + n };
    struct symbol **tail = &phrase->first;
    *tail = NULL;
    skip_start(&r);
    for (struct symbol *s = read_symbol(&r); s; s = read_symbol(&r)) {
        *tail = s;
        tail = &s->next;
    }
    if (!phrase->first)
        phrase->first = new_symbol(&r, SYMBOL_TEXT, "", 0);
    return !r.failed;
}
