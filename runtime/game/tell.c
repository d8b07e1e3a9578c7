/* tell.c - see tell.h. */
#include "game/tell.h"
#include "base/mem.h"
#include <string.h>

void answers_free(struct answers *a)
{
    mem_free(a->list);
    *a = (struct answers){ 0 };
}

static bool refuse(struct teller *t, enum err_kind kind, const char *what,
                   const char *name)
{
    return err_set(t->e, kind, "%s, grammar: %s%s%.*s", t->file, what, *name ? ": " : "",
                   place_clip(name, strlen(name)), name);
}

static bool spend(struct teller *t)
{
    return --*t->work >= 0 || refuse(t, ERR_LIMIT, "a text takes too much work", "");
}

static bool add(struct teller *t, const char *text, size_t n)
{
    return buf_add(t->out, text, n) || refuse(t, ERR_LIMIT, "a text is too long", "");
}

static bool bind(struct teller *t, struct binding b)
{
    if (t->count == TELL_MAX_BINDINGS)
        return refuse(t, ERR_LIMIT, "too many placeholders are bound", "");
    t->bindings[t->count++] = b;
    return true;
}

void tell_bind(struct teller *t, uint32_t action, const uint16_t *objects)
{
    const struct grammar *g = t->world->grammar;
    const struct spoken_action *s = &g->spoken[action];
    t->count = g->domain->actions[action].parameter_count;
    for (uint32_t i = 0; i < t->count; i++)
        t->bindings[i] = (struct binding){ .placeholder = s->placeholders[i],
                                           .variable = s->variables[i],
                                           .object = objects[i] };
}

/* --- queries ---------------------------------------------------------------------- */

struct asking {
    struct teller *t;
    const struct query *query;
    uint32_t base; /* bindings from here on are the query's own */
    bool is_one_enough;
    bool failed; /* a message is set */
};

/* Find the answers for atoms from `index` on. False when the search is to end. */
static bool ask(struct asking *a, uint32_t index);

static bool keep_answer(struct asking *a)
{
    struct answers *to = a->t->answers;
    uint32_t count = a->t->count - a->base;
    if (a->is_one_enough) {
        to->count++;
        return false;
    }
    if (to->count + count > to->room) {
        to->room = (to->count + count) * 2 + 64;
        to->list = mem_grow(to->list, to->room * sizeof *to->list);
    }
    if (count)
        memcpy(to->list + to->count, a->t->bindings + a->base, count * sizeof *to->list);
    to->count += count;
    return true;
}

static const struct binding *find_placeholder(const struct teller *t,
                                              uint16_t placeholder)
{
    for (uint32_t i = t->count; i > 0; i--)
        if (t->bindings[i - 1].placeholder == placeholder)
            return &t->bindings[i - 1];
    return NULL;
}

static bool is_taken(const struct teller *t, uint16_t object)
{
    for (uint32_t i = 0; i < t->count; i++)
        if (t->bindings[i].object == object)
            return true;
    return false;
}

/* A new placeholder never takes an object that another one has. */
static bool fits(struct asking *a, const struct query_atom *atom, uint64_t key)
{
    struct teller *t = a->t;
    const uint16_t *variables = t->world->grammar->placeholder_variables;
    for (unsigned i = 0; i < atom->count; i++) {
        uint16_t placeholder = atom->placeholders[i], object = fact_object(key, i);
        const struct binding *old = find_placeholder(t, placeholder);
        if (old ? old->object != object : is_taken(t, object))
            return false;
        struct binding made = { .placeholder = placeholder,
                                .variable = variables[placeholder],
                                .object = object };
        a->failed = !old && !bind(t, made);
        if (a->failed)
            return false;
    }
    return true;
}

/* Which of the atom's signatures the fact has; signature_count for none. */
static uint32_t rank_of(const struct asking *a, const struct query_atom *atom,
                        uint64_t key)
{
    const struct object *objects = a->t->world->problem.objects;
    uint16_t types[FACT_MAX_ARGS] = { 0 };
    for (unsigned i = 0; i < atom->count; i++)
        types[i] = objects[fact_object(key, i)].type;
    uint32_t rank = 0;
    for (; rank < atom->signature_count; rank++)
        if (memcmp(atom->signatures + (size_t)rank * atom->count, types,
                   atom->count * sizeof *types) == 0)
            break;
    return rank;
}

static const struct facts *facts_of(const struct asking *a, const struct query_atom *atom,
                                    uint16_t *predicate)
{
    const struct world *w = a->t->world;
    *predicate = (uint16_t)(atom->number | (atom->is_not ? WORLD_NOT : 0));
    if (atom->is_not || w->grammar->domain->vocabulary.is_changeable[atom->number])
        return a->t->told;
    return &w->statics;
}

/* The range of facts that agree with the leading placeholders that are bound. */
static uint64_t first_key(const struct asking *a, const struct query_atom *atom,
                          uint16_t predicate, uint64_t *span)
{
    uint16_t objects[FACT_MAX_ARGS];
    unsigned n = 0;
    for (; n < atom->count; n++) {
        const struct binding *b = find_placeholder(a->t, atom->placeholders[n]);
        if (!b)
            break;
        objects[n] = b->object;
    }
    *span = fact_span(n);
    return fact_key(predicate, objects, n);
}

/* One pass over the facts for those of one rank. *next gets the smallest rank above
 * it that was seen. */
static bool ask_rank(struct asking *a, uint32_t index, uint32_t rank, uint32_t *next)
{
    const struct query_atom *atom = &a->query->atoms[index];
    uint16_t predicate = 0;
    const struct facts *facts = facts_of(a, atom, &predicate);
    uint64_t span = 0, first = first_key(a, atom, predicate, &span);
    uint32_t count = a->t->count;
    bool goes_on = true;
    for (uint32_t i = facts_find(facts, first); goes_on && i < facts->count; i++) {
        if (facts->keys[i] - first >= span)
            break;
        a->failed = !spend(a->t);
        uint32_t found = rank_of(a, atom, facts->keys[i]);
        *a->t->work -= found;
        if (found > rank && found < *next)
            *next = found;
        if (!a->failed && found == rank && fits(a, atom, facts->keys[i]))
            goes_on = ask(a, index + 1);
        a->t->count = count;
        goes_on = goes_on && !a->failed;
    }
    return goes_on;
}

static bool ask(struct asking *a, uint32_t index)
{
    if (index == a->query->count)
        return keep_answer(a);
    const struct query_atom *atom = &a->query->atoms[index];
    if (!atom->is_known)
        return true;
    uint32_t rank = 0;
    while (rank < atom->signature_count) {
        uint32_t next = atom->signature_count;
        if (!ask_rank(a, index, rank, &next))
            return false;
        rank = next;
    }
    return true;
}

/* Whether the query has an answer. False and *failed on error. */
static bool has_answer(struct teller *t, const struct query *q, bool *failed)
{
    struct asking a = { .t = t, .query = q, .base = t->count, .is_one_enough = true };
    uint32_t count = t->answers->count;
    ask(&a, 0);
    bool is_found = t->answers->count > count;
    t->answers->count = count;
    *failed = a.failed;
    return is_found;
}

/* --- symbols ---------------------------------------------------------------------- */

static const struct binding *find_variable(const struct teller *t, uint16_t variable)
{
    for (uint32_t i = t->count; i > 0; i--)
        if (t->bindings[i - 1].variable == variable)
            return &t->bindings[i - 1];
    return NULL;
}

/* The text of an operand; NULL for an object without a name. */
static const char *value_of(struct teller *t, const struct operand *o,
                            const struct binding *b)
{
    const struct object *object = &t->world->problem.objects[b->object];
    switch (o->kind) {
    case OPERAND_NAME:
        return t->world->names[b->object];
    case OPERAND_ID:
        return object->name;
    case OPERAND_TYPE:
        return names_text(&t->world->grammar->domain->vocabulary.types, object->type,
                          NULL);
    case OPERAND_INDEFINITE:
        return "a";
    default:
        return "the";
    }
}

static bool tell_operand(struct teller *t, const struct operand *o, bool *is_missing)
{
    if (o->kind == OPERAND_TEXT)
        return add(t, o->text, o->length);
    const struct binding *b = find_variable(t, o->variable);
    if (!b)
        return refuse(t, ERR_DATA, "nothing is bound to the variable",
                      names_text(&t->world->grammar->variables, o->variable, NULL));
    const char *text = value_of(t, o, b);
    *is_missing = !text;
    return !text || add(t, text, strlen(text));
}

/* `a + b or c`: the first alternative that is not empty. An object without a name is
 * empty when it is an alternative of its own, but not the last. */
static bool tell_value(struct teller *t, const struct symbol *s)
{
    size_t start = t->out->len;
    for (const struct operand *o = s->value; o; o = o->next) {
        if (o->is_alternative && t->out->len > start)
            break;
        bool is_alone =
            (o == s->value || o->is_alternative) && o->next && o->next->is_alternative;
        bool is_missing = false;
        if (!tell_operand(t, o, &is_missing))
            return false;
        if (is_missing && !is_alone)
            return refuse(t, ERR_DATA, "an object has no name in", s->text);
    }
    return true;
}

static bool tell_simple(struct teller *t, const struct symbol *s)
{
    return s->kind == SYMBOL_RULE ? tell_rule(t, s->rule) : tell_value(t, s);
}

/* Between the items of a list, of `count` in all, stands the separator of the next. */
static bool tell_separator(struct teller *t, uint32_t next, uint32_t count)
{
    const struct grammar *g = t->world->grammar;
    return tell_rule(t, next + 1 < count ? g->list_separator : g->list_last_separator);
}

/* The symbol once for each answer to its query, which begin at `first`, `size`
 * bindings each. */
static bool tell_answers(struct teller *t, const struct symbol *each, uint32_t first,
                         uint32_t size, bool is_list)
{
    uint32_t total = t->answers->count - first, count = size ? total / size : total;
    uint32_t base = t->count;
    bool ok = true;
    if (count == 0 && is_list)
        return tell_rule(t, t->world->grammar->list_empty);
    for (uint32_t i = 0; i < count && ok; i++) {
        if (is_list && i > 0)
            ok = tell_separator(t, i, count);
        for (uint32_t j = 0; j < size && ok; j++)
            ok = bind(t, t->answers->list[first + i * size + j]);
        ok = ok && tell_simple(t, each->inner);
        t->count = base;
    }
    return ok;
}

/* How many placeholders the query binds anew. */
static uint32_t count_new(const struct teller *t, const struct query *q)
{
    uint16_t seen[QUERY_MAX_ATOMS * QUERY_MAX_ARGS];
    uint32_t count = 0;
    for (uint32_t i = 0; i < q->count; i++)
        for (unsigned j = 0; j < q->atoms[i].count; j++) {
            uint16_t placeholder = q->atoms[i].placeholders[j];
            bool is_new = !find_placeholder(t, placeholder);
            for (uint32_t k = 0; k < count; k++)
                is_new = is_new && seen[k] != placeholder;
            if (is_new)
                seen[count++] = placeholder;
        }
    return count;
}

static bool tell_each(struct teller *t, const struct symbol *each, bool is_list)
{
    if (!each->query)
        return tell_simple(t, each->inner);
    struct asking a = { .t = t, .query = each->query, .base = t->count };
    uint32_t first = t->answers->count, size = count_new(t, each->query);
    a.is_one_enough = size == 0; /* then there is one answer or none */
    ask(&a, 0);
    bool ok = !a.failed && tell_answers(t, each, first, size, is_list);
    t->answers->count = first;
    return ok;
}

bool tell_phrase(struct teller *t, const struct phrase *phrase)
{
    bool ok = true;
    for (const struct symbol *s = phrase->first; s && ok; s = s->next) {
        if (!spend(t))
            return false;
        if (s->kind == SYMBOL_TEXT)
            ok = add(t, s->text, s->length);
        else if (s->kind == SYMBOL_EACH)
            ok = tell_each(t, s, false);
        else if (s->kind == SYMBOL_LIST)
            ok = tell_each(t, s->inner, true);
        else
            ok = tell_simple(t, s);
    }
    return ok;
}

bool tell_rule(struct teller *t, uint32_t rule)
{
    const struct grammar *g = t->world->grammar;
    const char *name = names_text(&g->rule_names, rule, NULL);
    const struct rule *r = &g->rules[rule];
    if (t->depth == TELL_MAX_DEPTH)
        return refuse(t, ERR_LIMIT, "rules refer to each other too deep", name);
    for (uint32_t i = 0; i < r->count; i++) {
        const struct production *p = &r->productions[i];
        bool failed = false;
        bool applies =
            spend(t) && (!p->condition || has_answer(t, p->condition, &failed));
        if (failed || *t->work < 0)
            return false;
        if (!applies)
            continue;
        t->depth++;
        bool ok = tell_phrase(t, &p->body);
        t->depth--;
        return ok;
    }
    return refuse(t, ERR_DATA,
                  r->count ? "no alternative applies of the rule" : "there is no rule",
                  name);
}
