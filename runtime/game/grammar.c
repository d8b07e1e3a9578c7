/* grammar.c - reading a grammar file, see grammar.h. */
#include "game/grammar.h"
#include "base/mem.h"
#include "text/json.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct grammar_reader {
    struct grammar *g;
    struct origin o;
    const char *p, *end;
    struct value_doc doc;
};

bool origin_refuse(const struct origin *o, const char *format, ...)
{
    char what[ERR_MESSAGE_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    if (!o->owner)
        return place_refuse(o->at, o->line, o->e, "%s", what);
    return place_refuse(o->at, o->line, o->e, "%.*s: %s",
                        place_clip(o->owner, strlen(o->owner)), o->owner, what);
}

/* --- rules ------------------------------------------------------------------------ */

uint32_t grammar_rule(struct grammar *g, const char *name, size_t n,
                      const struct origin *o)
{
    uint32_t number = names_add(&g->rule_names, name, n);
    if (number == NAMES_NONE) {
        origin_refuse(o, "too many rules");
        return number;
    }
    if (number < g->rule_room)
        return number;
    uint32_t room = number * 2 + 64;
    g->rules = mem_grow(g->rules, room * sizeof *g->rules);
    memset(g->rules + g->rule_room, 0, (room - g->rule_room) * sizeof *g->rules);
    g->rule_room = room;
    return number;
}

static bool read_condition(struct grammar_reader *r, const struct value *v,
                           struct production *p)
{
    p->condition_text = "";
    if (!v)
        return true;
    if (v->kind != VALUE_TEXT)
        return origin_refuse(&r->o, "condition is not a text");
    if (v->count == 0)
        return true;
    p->condition_text = arena_copy(&r->g->arena, v->text, v->count);
    p->condition = query_read(r->g, v->text, v->count, &r->o);
    return p->condition != NULL;
}

static bool check_keys(struct grammar_reader *r, const struct value *v)
{
    for (uint32_t i = 0; i < v->count; i++) {
        const char *key = v->entries[i].key;
        if (strcmp(key, "rhs") != 0 && strcmp(key, "condition") != 0 &&
            strcmp(key, "weight") != 0)
            return origin_refuse(&r->o, "\"%.*s\" is not supported",
                                 place_clip(key, strlen(key)), key);
    }
    return true;
}

static bool read_production(struct grammar_reader *r, const struct value *v,
                            struct production *p)
{
    if (v->kind != VALUE_OBJECT)
        return origin_refuse(&r->o, "an alternative is not an object");
    const struct value *rhs = value_get(v, "rhs");
    if (!value_is(rhs, VALUE_TEXT))
        return origin_refuse(&r->o, "an alternative has no text \"rhs\"");
    return check_keys(r, v) && read_condition(r, value_get(v, "condition"), p) &&
           phrase_read(r->g, rhs->text, rhs->count, &r->o, &p->body);
}

static bool read_rule(struct grammar_reader *r, const struct value_entry *entry)
{
    const struct value *list = &entry->value;
    r->o.owner = entry->key;
    if (list->kind != VALUE_ARRAY)
        return origin_refuse(&r->o, "a rule is a list of alternatives");
    uint32_t number = grammar_rule(r->g, entry->key, entry->key_length, &r->o);
    if (number == NAMES_NONE)
        return false;
    struct production *made = arena_new(&r->g->arena, list->count, sizeof *made);
    for (uint32_t i = 0; i < list->count; i++)
        if (!read_production(r, &list->items[i], &made[i]))
            return false;
    r->g->rules[number] = (struct rule){ .productions = made, .count = list->count };
    r->o.owner = NULL;
    return true;
}

/* Lines that start with `#` are comments; they stay as empty lines. */
static char *without_comments(const char *text, size_t n)
{
    char *copy = mem_copy(text, n);
    bool is_start = true, is_comment = false;
    for (size_t i = 0; i < n; i++) {
        char c = copy[i];
        if (c == '\n') {
            is_start = true;
            is_comment = false;
            continue;
        }
        is_comment = is_comment || (is_start && c == '#');
        is_start = is_start && (c == ' ' || (c >= '\t' && c <= '\r'));
        if (is_comment)
            copy[i] = ' ';
    }
    return copy;
}

static bool read_block(struct grammar_reader *r, const char *text, size_t n)
{
    char *clean = without_comments(text, n);
    struct err fault = { 0 };
    const struct value *rules = json_read(&r->doc, clean, n, NULL, &fault);
    mem_free(clean);
    bool ok = rules && rules->kind == VALUE_OBJECT;
    if (!rules)
        origin_refuse(&r->o, "the block is not JSON: %s", fault.message);
    else if (!ok)
        origin_refuse(&r->o, "the block is not a JSON object");
    for (uint32_t i = 0; ok && i < rules->count; i++)
        ok = read_rule(r, &rules->entries[i]);
    value_doc_clear(&r->doc);
    return ok;
}

/* --- the file --------------------------------------------------------------------- */

static void skip_between(struct grammar_reader *r)
{
    for (; r->p < r->end; r->p++) {
        if (*r->p == '#') {
            while (r->p < r->end && *r->p != '\n')
                r->p++;
            if (r->p == r->end)
                return;
        }
        if (*r->p == '\n')
            r->o.line++;
        else if (*r->p != ' ' && !(*r->p >= '\t' && *r->p <= '\r'))
            return;
    }
}

static bool take(struct grammar_reader *r, const char *token)
{
    size_t n = strlen(token);
    skip_between(r);
    if ((size_t)(r->end - r->p) < n || memcmp(r->p, token, n) != 0)
        return false;
    r->p += n;
    return true;
}

static bool expect(struct grammar_reader *r, const char *token)
{
    return take(r, token) || origin_refuse(&r->o, "%s is expected", token);
}

static bool is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '_' || c == '/' || c == '-';
}

/* A name of the file; NULL with a message when there is none. */
static const char *read_name(struct grammar_reader *r, size_t *n)
{
    skip_between(r);
    const char *start = r->p;
    while (r->p < r->end && is_name(*r->p))
        r->p++;
    *n = (size_t)(r->p - start);
    if (!*n)
        origin_refuse(&r->o, "a name is expected");
    return *n ? start : NULL;
}

/* The bytes between here and the closing quotes. The line goes on to the end. */
static const char *read_until(struct grammar_reader *r, const char *quotes, size_t *n)
{
    size_t left = (size_t)(r->end - r->p), length = strlen(quotes);
    const char *start = r->p, *stop = memmem(start, left, quotes, length);
    if (!stop) {
        origin_refuse(&r->o, "the closing %s is missing", quotes);
        return NULL;
    }
    *n = (size_t)(stop - start);
    r->p = stop + length;
    return start;
}

static void count_lines(struct grammar_reader *r, const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        r->o.line += text[i] == '\n';
}

/* `:: """ ... """;` */
static const char *read_long(struct grammar_reader *r, size_t *n)
{
    bool ok = expect(r, "::") && expect(r, "\"\"\"");
    const char *text = ok ? read_until(r, "\"\"\"", n) : NULL;
    return text && expect(r, ";") ? text : NULL;
}

static bool read_grammar_block(struct grammar_reader *r)
{
    size_t n = 0;
    const char *text = read_long(r, &n);
    if (!text || !read_block(r, text, n))
        return false;
    count_lines(r, text, n);
    return true;
}

static bool skip_pddl(struct grammar_reader *r)
{
    size_t n = 0;
    const char *text = read_long(r, &n);
    if (text)
        count_lines(r, text, n);
    return text != NULL;
}

/* `:: "...";`, kept and read as a phrase. */
static bool read_phrase(struct grammar_reader *r, const char **kept,
                        struct phrase *phrase)
{
    size_t n = 0;
    if (*kept)
        return origin_refuse(&r->o, "template or feedback stands twice");
    const char *text =
        expect(r, "::") && expect(r, "\"") ? read_until(r, "\"", &n) : NULL;
    if (!text || !phrase_read(r->g, text, n, &r->o, phrase))
        return false;
    count_lines(r, text, n);
    *kept = arena_copy(&r->g->arena, text, n);
    return expect(r, ";");
}

static bool read_part(struct grammar_reader *r, struct grammar_action *a)
{
    if (take(r, "template"))
        return read_phrase(r, &a->template_text, &a->template);
    if (take(r, "feedback"))
        return read_phrase(r, &a->feedback_text, &a->feedback);
    if (take(r, "grammar"))
        return read_grammar_block(r);
    if (take(r, "pddl"))
        return skip_pddl(r);
    return origin_refuse(&r->o, "template, feedback, grammar, pddl or } is expected");
}

/* Make the action known under its lower-cased name. */
static bool add_action(struct grammar_reader *r, struct grammar_action *a)
{
    struct grammar *g = r->g;
    size_t n = strlen(a->name);
    char *key = arena_copy(&g->arena, a->name, n);
    for (size_t i = 0; i < n; i++)
        if (key[i] >= 'A' && key[i] <= 'Z')
            key[i] = (char)(key[i] - 'A' + 'a');
    uint32_t before = g->action_names.count;
    uint32_t number = names_add(&g->action_names, key, n);
    if (number != before)
        return origin_refuse(&r->o, number < before ? "the action is declared twice"
                                                    : "too many actions");
    if (number == g->action_room) {
        g->action_room = g->action_room ? g->action_room * 2 : 32;
        g->actions =
            mem_grow(g->actions, g->action_room * sizeof(struct grammar_action *));
    }
    g->actions[number] = a;
    return true;
}

static bool read_action(struct grammar_reader *r)
{
    size_t n = 0;
    const char *name = read_name(r, &n);
    if (!name)
        return false;
    struct grammar_action *a = arena_new(&r->g->arena, 1, sizeof *a);
    a->name = arena_copy(&r->g->arena, name, n);
    r->o.owner = a->name;
    if (!expect(r, "{"))
        return false;
    while (!take(r, "}")) {
        r->o.owner = a->name;
        if (!read_part(r, a))
            return false;
    }
    if (!a->template_text || !a->feedback_text)
        return origin_refuse(&r->o, "the action has no template or no feedback");
    bool ok = add_action(r, a);
    r->o.owner = NULL;
    return ok;
}

static bool read_file(struct grammar_reader *r)
{
    for (skip_between(r); r->p < r->end; skip_between(r)) {
        if (take(r, "grammar")  ? !read_grammar_block(r)
            : take(r, "action") ? !read_action(r)
                                : !origin_refuse(&r->o, "grammar or action is expected"))
            return false;
    }
    return true;
}

/* --- together with a domain --------------------------------------------------------- */

/* Append the signature unless it is there. False when there are too many. */
static bool add_signature(uint16_t *list, uint32_t *count, const uint16_t *types,
                          unsigned n)
{
    for (uint32_t i = 0; i < *count; i++)
        if (memcmp(list + (size_t)i * n, types, n * sizeof *types) == 0)
            return true;
    if (*count == QUERY_MAX_SIGNATURES)
        return false;
    memcpy(list + (size_t)*count * n, types, n * sizeof *types);
    ++*count;
    return true;
}

/* All signatures below the first one of the list, breadth first: each of an earlier
 * one's types in turn gives way to its sub-types. */
static bool expand_signatures(const struct vocabulary *v, uint16_t *list, uint32_t *count,
                              unsigned n)
{
    for (uint32_t i = 0; i < *count; i++)
        for (unsigned arg = 0; arg < n; arg++)
            for (uint32_t sub = 1; sub < v->types.count; sub++) {
                uint16_t types[FACT_MAX_ARGS];
                memcpy(types, list + (size_t)i * n, n * sizeof *types);
                if (v->parents[sub] != types[arg])
                    continue;
                types[arg] = (uint16_t)sub;
                if (!add_signature(list, count, types, n))
                    return false;
            }
    return true;
}

static bool bind_signatures(struct grammar *g, struct query_atom *atom,
                            const struct origin *o)
{
    const struct vocabulary *v = &g->domain->vocabulary;
    uint16_t list[QUERY_MAX_SIGNATURES * FACT_MAX_ARGS];
    uint32_t count = 1;
    for (unsigned i = 0; i < atom->count; i++) {
        const char *both = names_text(&g->placeholders, atom->placeholders[i], NULL);
        const char *type = strchr(both, ':') + 1;
        uint32_t number = names_find(&v->types, type, strlen(type));
        if (number == NAMES_NONE)
            return true; /* nothing is of an unknown type */
        list[i] = (uint16_t)number;
    }
    if (!expand_signatures(v, list, &count, atom->count) ||
        g->signature_count + count > GRAMMAR_MAX_SIGNATURES)
        return origin_refuse(o, "%.60s stands for too many combinations of types",
                             atom->predicate);
    size_t size = (size_t)count * atom->count;
    atom->signatures = arena_new(&g->arena, size, sizeof *list);
    memcpy(atom->signatures, list, size * sizeof *list);
    atom->signature_count = count;
    g->signature_count += count;
    atom->is_known = true;
    return true;
}

/* A declared predicate goes before the negation of another. */
static bool bind_atom(struct grammar *g, struct query_atom *atom, const struct origin *o)
{
    const struct vocabulary *v = &g->domain->vocabulary;
    const char *name = atom->predicate;
    uint32_t number = names_find(&v->predicates, name, strlen(name));
    if (number == NAMES_NONE && strncmp(name, "not_", 4) == 0) {
        number = names_find(&v->predicates, name + 4, strlen(name + 4));
        atom->is_not = true;
        if (number != NAMES_NONE && !v->is_changeable[number])
            return true; /* nothing ever makes it false */
    }
    if (number == NAMES_NONE || v->arities[number] != atom->count)
        return true;
    atom->number = (uint16_t)number;
    return bind_signatures(g, atom, o);
}

static uint16_t known(const struct names *names, const char *text)
{
    uint32_t number = names_find(names, text, strlen(text));
    return number == NAMES_NONE ? GRAMMAR_NONE : (uint16_t)number;
}

static bool bind_action(struct grammar *g, uint32_t index, const struct origin *o)
{
    const struct action *a = &g->domain->actions[index];
    struct spoken_action *s = &g->spoken[index];
    uint32_t number = names_find(&g->action_names, a->name, strlen(a->name));
    if (number == NAMES_NONE)
        return origin_refuse(o, "the action %.60s of the domain has no template",
                             a->name);
    s->action = g->actions[number];
    s->placeholders = arena_new(&g->arena, a->parameter_count, sizeof *s->placeholders);
    s->variables = arena_new(&g->arena, a->parameter_count, sizeof *s->variables);
    for (uint32_t i = 0; i < a->parameter_count; i++) {
        const struct parameter *p = &a->parameters[i];
        size_t size = strlen(p->name) + strlen(p->type) + 2;
        char *both = arena_new(&g->arena, size, 1);
        snprintf(both, size, "%s:%s", p->name, p->type);
        s->placeholders[i] = known(&g->placeholders, both);
        s->variables[i] = known(&g->variables, p->name);
    }
    return true;
}

static bool bind_domain(struct grammar *g, struct domain *d, const struct origin *o)
{
    g->domain = d;
    share_use(&d->share);
    for (struct query *q = g->queries; q; q = q->next)
        for (uint32_t i = 0; i < q->count; i++)
            if (!bind_atom(g, &q->atoms[i], o))
                return false;
    g->spoken = arena_new(&g->arena, d->action_count, sizeof *g->spoken);
    for (uint32_t i = 0; i < d->action_count; i++)
        if (!bind_action(g, i, o))
            return false;
    return true;
}

/* The rules that are used by their names. */
static bool bind_rules(struct grammar *g, const struct origin *o)
{
    struct {
        const char *name;
        uint32_t *number;
    } used[] = {
        { "intro", &g->intro },
        { "list_empty", &g->list_empty },
        { "list_separator", &g->list_separator },
        { "list_last_separator", &g->list_last_separator },
    };
    for (size_t i = 0; i < sizeof used / sizeof *used; i++) {
        *used[i].number = grammar_rule(g, used[i].name, strlen(used[i].name), o);
        if (*used[i].number == NAMES_NONE)
            return false;
    }
    return true;
}

/* --- the whole -------------------------------------------------------------------- */

static void grammar_release(struct share *share)
{
    struct grammar *g = (struct grammar *)share;
    if (g->domain)
        share_drop(&g->domain->share);
    names_free(&g->rule_names);
    names_free(&g->action_names);
    names_free(&g->variables);
    names_free(&g->placeholders);
    mem_free(g->rules);
    mem_free(g->actions);
    mem_free(g->placeholder_variables);
    arena_free(&g->arena);
    mem_free(g);
}

static struct grammar *grammar_new(const char *text, size_t n, struct domain *d,
                                   const char *file, struct err *e)
{
    struct place place = { .file = file, .part = "grammar" };
    struct grammar_reader r = { .p = text, .end = text + n };
    r.o = (struct origin){ .at = &place, .line = 1, .e = e };
    r.g = mem_new(sizeof *r.g);
    bool ok = read_file(&r);
    r.o.line = 0;
    ok = ok && bind_rules(r.g, &r.o) && (!d || bind_domain(r.g, d, &r.o));
    value_doc_free(&r.doc);
    if (ok)
        return r.g;
    grammar_release(&r.g->share);
    return NULL;
}

static struct digest key_of(const char *text, size_t n, const struct domain *d)
{
    struct digest_stream *s = digest_stream_new();
    if (d)
        digest_stream_add(s, &d->share.key, sizeof d->share.key);
    digest_stream_add(s, text, n);
    return digest_stream_final(s);
}

struct grammar *grammar_read(const char *text, size_t n, struct domain *d,
                             const char *file, struct game_shared *s, struct err *e)
{
    struct digest key = key_of(text, n, d);
    struct share *known_already = share_find(s, &key, grammar_release);
    if (known_already)
        return (struct grammar *)known_already;
    struct grammar *g = grammar_new(text, n, d, file, e);
    if (g)
        share_init(&g->share, s, &key, grammar_release);
    return g;
}

size_t grammar_size(const struct grammar *g)
{
    return sizeof *g + g->arena.size_bytes + names_size(&g->rule_names) +
           names_size(&g->action_names) + names_size(&g->variables) +
           names_size(&g->placeholders) + g->rule_room * sizeof *g->rules +
           g->action_room * sizeof(struct grammar_action *) +
           g->placeholder_room * sizeof *g->placeholder_variables;
}
