/* query.c - queries and expressions inside phrases, see grammar.h. */
#include "base/mem.h"
#include "game/grammar.h"
#include <stdio.h>
#include <string.h>

struct query_reader {
    struct grammar *g;
    const struct origin *o;
    const char *text, *p, *end;
};

static bool refuse(const struct query_reader *r, const char *what)
{
    size_t n = (size_t)(r->end - r->text);
    return origin_refuse(r->o, "%s at character %zu of %.*s", what,
                         (size_t)(r->p - r->text) + 1, place_clip(r->text, n), r->text);
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_word(char c)
{
    return is_letter(c) || (c >= '0' && c <= '9');
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static void skip_spaces(struct query_reader *r)
{
    while (r->p < r->end && is_space(*r->p))
        r->p++;
}

/* --- queries: pred(name:type, name) & !pred() -------------------------------------- */

static void skip_between(struct query_reader *r)
{
    skip_spaces(r);
    while (r->p < r->end && *r->p == '#') {
        while (r->p < r->end && *r->p != '\n')
            r->p++;
        skip_spaces(r);
    }
}

static bool take(struct query_reader *r, char c)
{
    skip_between(r);
    if (r->p == r->end || *r->p != c)
        return false;
    r->p++;
    return true;
}

/* Letters, digits and the extra characters; the length, 0 for none. */
static size_t take_word(struct query_reader *r, const char *extra)
{
    const char *start = r->p;
    while (r->p < r->end && (is_word(*r->p) || (*r->p && strchr(extra, *r->p))))
        r->p++;
    return (size_t)(r->p - start);
}

static void grow_placeholders(struct grammar *g)
{
    if (g->placeholders.count < g->placeholder_room)
        return;
    g->placeholder_room = g->placeholder_room ? g->placeholder_room * 2 : 32;
    g->placeholder_variables = mem_grow(
        g->placeholder_variables, g->placeholder_room * sizeof *g->placeholder_variables);
}

/* A placeholder is its name and its type together. */
static bool add_placeholder(struct query_reader *r, struct query_atom *atom,
                            const char *name, size_t n, const char *type, size_t type_n)
{
    struct grammar *g = r->g;
    char *both = arena_new(&g->arena, n + type_n + 2, 1);
    memcpy(both, name, n);
    both[n] = ':';
    memcpy(both + n + 1, type, type_n);
    grow_placeholders(g);
    uint32_t variable = names_add(&g->variables, name, n);
    uint32_t number = names_add(&g->placeholders, both, n + 1 + type_n);
    if (variable == NAMES_NONE || number == NAMES_NONE)
        return refuse(r, "too many different names");
    if (atom->count == QUERY_MAX_ARGS)
        return refuse(r, "too many arguments");
    g->placeholder_variables[number] = (uint16_t)variable;
    atom->placeholders[atom->count++] = (uint16_t)number;
    return true;
}

static bool read_placeholder(struct query_reader *r, struct query_atom *atom)
{
    skip_between(r);
    const char *name = r->p, *type = name;
    size_t bare = take_word(r, "/-"), type_n = bare;
    while (r->p < r->end && *r->p == '\'')
        r->p++;
    size_t n = (size_t)(r->p - name);
    if (!bare)
        return refuse(r, "a name is expected");
    if (take(r, ':')) {
        skip_between(r);
        type = r->p;
        type_n = take_word(r, "/-");
        if (!type_n)
            return refuse(r, "a type is expected");
    }
    return add_placeholder(r, atom, name, n, type, type_n);
}

static bool read_arguments(struct query_reader *r, struct query_atom *atom)
{
    if (take(r, ')'))
        return true;
    do {
        if (!read_placeholder(r, atom))
            return false;
    } while (take(r, ','));
    return take(r, ')') || refuse(r, "a closing bracket is expected");
}

static bool read_atom(struct query_reader *r, struct query_atom *atom)
{
    bool is_not = take(r, '!');
    skip_between(r);
    const char *name = r->p;
    size_t n = take_word(r, "/");
    if (!n)
        return refuse(r, "a predicate is expected");
    size_t size = strlen("not_") + n + 1;
    char *predicate = arena_new(&r->g->arena, size, 1);
    snprintf(predicate, size, "%s%.*s", is_not ? "not_" : "", (int)n, name);
    *atom = (struct query_atom){ .predicate = predicate };
    if (!take(r, '('))
        return refuse(r, "an opening bracket is expected");
    return read_arguments(r, atom);
}

/* `atom & atom ...` to the end of the text; the number of atoms, 0 on error. */
static uint32_t read_atoms(struct query_reader *r,
                           struct query_atom atoms[QUERY_MAX_ATOMS])
{
    uint32_t count = 0;
    do {
        if (count == QUERY_MAX_ATOMS)
            return refuse(r, "too many conditions");
        if (!read_atom(r, &atoms[count++]))
            return 0;
    } while (take(r, '&'));
    skip_between(r);
    return r->p == r->end ? count : refuse(r, "nothing more is expected");
}

const struct query *query_read(struct grammar *g, const char *text, size_t n,
                               const struct origin *o)
{
    struct query_reader r = { .g = g, .o = o, .text = text, .p = text, .end = text + n };
    struct query_atom atoms[QUERY_MAX_ATOMS];
    uint32_t count = read_atoms(&r, atoms);
    if (!count)
        return NULL;
    struct query *q = arena_new(&g->arena, 1, sizeof *q);
    q->atoms = arena_new(&g->arena, count, sizeof *q->atoms);
    memcpy(q->atoms, atoms, count * sizeof *atoms);
    q->count = count;
    q->next = g->queries;
    g->queries = q;
    return q;
}

/* --- expressions: v.field + 'text' or v -------------------------------------------- */

static bool is_text(const char *p, size_t n, const char *text)
{
    return strlen(text) == n && memcmp(p, text, n) == 0;
}

static bool read_literal(struct query_reader *r, struct operand *o)
{
    char quote = *r->p++;
    const char *start = r->p;
    while (r->p < r->end && *r->p != quote) {
        if (*r->p == '\\' || *r->p == '\n')
            return refuse(r, "escapes and line breaks in a text are not supported");
        r->p++;
    }
    if (r->p == r->end)
        return refuse(r, "the text has no end");
    o->kind = OPERAND_TEXT;
    o->length = (uint32_t)(r->p - start);
    o->text = arena_copy(&r->g->arena, start, o->length);
    r->p++;
    return true;
}

static bool read_field(struct query_reader *r, struct operand *o)
{
    static const char *const fields[] = {
        [OPERAND_NAME] = "name",         [OPERAND_ID] = "id",
        [OPERAND_TYPE] = "type",         [OPERAND_INDEFINITE] = "indefinite",
        [OPERAND_DEFINITE] = "definite",
    };
    const char *name = r->p;
    size_t n = take_word(r, "");
    for (int kind = OPERAND_NAME; kind <= OPERAND_DEFINITE; kind++) {
        o->kind = (enum operand_kind)kind;
        if (is_text(name, n, fields[kind]))
            return true;
    }
    r->p = name;
    return refuse(r, "one of name, id, type, indefinite and definite is expected");
}

static bool read_variable(struct query_reader *r, struct operand *o)
{
    const char *name = r->p;
    size_t n = take_word(r, "");
    uint32_t number = names_add(&r->g->variables, name, n);
    if (number == NAMES_NONE)
        return refuse(r, "too many different names");
    o->variable = (uint16_t)number;
    o->kind = OPERAND_NAME;
    if (r->p == r->end || *r->p != '.')
        return true;
    r->p++;
    return read_field(r, o);
}

static struct operand *read_operand(struct query_reader *r)
{
    struct operand *o = arena_new(&r->g->arena, 1, sizeof *o);
    skip_spaces(r);
    bool ok;
    if (r->p < r->end && (*r->p == '\'' || *r->p == '"'))
        ok = read_literal(r, o);
    else if (r->p < r->end && is_letter(*r->p))
        ok = read_variable(r, o);
    else
        ok = refuse(r, "a variable or a quoted text is expected");
    return ok ? o : NULL;
}

/* `+` or `or` and the end of the text are all that can follow an operand. */
static bool read_operator(struct query_reader *r, bool *is_or)
{
    const char *start = r->p;
    *is_or = false;
    if (*r->p == '+') {
        r->p++;
        return true;
    }
    *is_or = is_text(start, take_word(r, ""), "or");
    if (*is_or)
        return true;
    r->p = start;
    return refuse(r, "only + and or are supported");
}

const struct operand *expression_read(struct grammar *g, const char *text, size_t n,
                                      const struct origin *o)
{
    struct query_reader r = { .g = g, .o = o, .text = text, .p = text, .end = text + n };
    struct operand *first = read_operand(&r), *last = first;
    skip_spaces(&r);
    while (last && r.p < r.end) {
        bool is_or = false;
        last->next = read_operator(&r, &is_or) ? read_operand(&r) : NULL;
        last = last->next;
        if (last)
            last->is_alternative = is_or;
        skip_spaces(&r);
    }
    return last ? first : NULL;
}
