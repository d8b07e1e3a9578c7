/* list.c - see list.h. */
#include "game/list.h"
#include "base/mem.h"
#include <string.h>

struct reader {
    struct list_tree *tree;
    const struct place *at;
    struct err *e;
    const char *p, *end;
    uint32_t line;
    uint32_t open[LIST_MAX_DEPTH]; /* lists that are not closed yet */
    uint32_t last[LIST_MAX_DEPTH]; /* the latest item of each */
    uint32_t depth;
};

static bool refuse(struct reader *r, const char *what)
{
    return place_refuse(r->at, r->line, r->e, "%s", what);
}

static uint32_t add_node(struct reader *r, const char *word, uint32_t count)
{
    struct list_tree *t = r->tree;
    if (t->count == t->room) {
        t->room = t->room ? t->room * 2 : 256;
        t->nodes = mem_grow(t->nodes, t->room * sizeof *t->nodes);
    }
    uint32_t node = t->count++;
    t->nodes[node] = (struct list_node){ .word = word, .count = count, .line = r->line };
    if (r->depth) {
        uint32_t last = r->last[r->depth - 1], up = r->open[r->depth - 1];
        *(last ? &t->nodes[last].next : &t->nodes[up].first) = node;
        t->nodes[up].count++;
        r->last[r->depth - 1] = node;
    }
    return node;
}

static bool open_list(struct reader *r)
{
    if (r->depth == LIST_MAX_DEPTH)
        return refuse(r, "brackets are nested too deep");
    uint32_t node = add_node(r, NULL, 0);
    r->open[r->depth] = node;
    r->last[r->depth++] = 0;
    return true;
}

/* The blanks that separate words. */
static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r') || (c >= 0x1c && c <= 0x1f);
}

static bool is_word(char c)
{
    return !is_blank(c) && c != '(' && c != ')' && c != ';';
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* A word ends at a blank, a bracket, a comment or before a `?`. */
static bool read_word(struct reader *r)
{
    if (!r->depth)
        return refuse(r, "an opening bracket is expected");
    char *word = r->tree->words + r->tree->used, *to = word;
    do {
        if ((unsigned char)*r->p < 0x20 || (unsigned char)*r->p >= 0x7f)
            return refuse(r, "a character is not printable ASCII");
        *to++ = lower(*r->p++);
    } while (r->p < r->end && is_word(*r->p) && *r->p != '?');
    *to++ = '\0';
    r->tree->used += (size_t)(to - word);
    add_node(r, word, (uint32_t)(to - word - 1));
    return true;
}

static void skip_comment(struct reader *r)
{
    const char *stop = memchr(r->p, '\n', (size_t)(r->end - r->p));
    r->p = stop ? stop : r->end;
}

static bool read_piece(struct reader *r)
{
    char c = *r->p;
    if (c == ';') {
        skip_comment(r);
        return true;
    }
    if (is_word(c))
        return read_word(r);
    r->p++;
    if (c == '\n')
        r->line++;
    if (c == '(')
        return open_list(r);
    if (c == ')' && !r->depth)
        return refuse(r, "a closing bracket too many");
    if (c == ')')
        r->depth--;
    return true;
}

static bool is_over(const struct reader *r)
{
    return r->tree->count > LIST_ROOT && r->depth == 0;
}

/* Blanks and comments may follow the last bracket, nothing else. */
static bool read_rest(struct reader *r)
{
    while (r->p < r->end) {
        if (*r->p == ';')
            skip_comment(r);
        else if (!is_blank(*r->p))
            return refuse(r, "something follows the last bracket");
        else
            r->line += *r->p++ == '\n';
    }
    return true;
}

bool list_read(struct list_tree *t, const char *text, size_t n, const struct place *at,
               struct err *e)
{
    struct reader r = { .tree = t, .at = at, .e = e, .p = text, .end = text + n };
    /* Each word takes its bytes and a zero; there are at most n words. */
    t->words = mem_new(n * 2 + 1);
    add_node(&r, NULL, 0);
    r.line = 1;
    while (r.p < r.end && !is_over(&r)) {
        if (!read_piece(&r))
            return false;
        if (t->count > LIST_MAX_NODES)
            return refuse(&r, "the text is too long");
    }
    if (t->count <= LIST_ROOT)
        return refuse(&r, "the text is empty");
    if (r.depth)
        return refuse(&r, "a closing bracket is missing at the end");
    return read_rest(&r);
}

void list_free(struct list_tree *t)
{
    mem_free(t->nodes);
    mem_free(t->words);
    *t = (struct list_tree){ 0 };
}

bool list_is(const struct list_tree *t, uint32_t node, const char *word)
{
    return node && t->nodes[node].word && strcmp(t->nodes[node].word, word) == 0;
}

const char *list_head(const struct list_tree *t, uint32_t node)
{
    uint32_t first = node ? t->nodes[node].first : 0;
    return first && t->nodes[first].word ? t->nodes[first].word : "";
}

const char *list_show(const struct list_tree *t, uint32_t node)
{
    if (!node)
        return "nothing";
    if (t->nodes[node].word)
        return t->nodes[node].word;
    return *list_head(t, node) ? list_head(t, node) : "()";
}
