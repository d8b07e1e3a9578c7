/* logic.c - see logic.h. */
#include "game/logic.h"
#include "base/mem.h"
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool logic_refuse(const struct compiler *c, uint32_t node, const char *format, ...)
{
    char what[ERR_MESSAGE_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return place_refuse(c->at, c->tree->nodes[node].line, c->e, "%s", what);
}

/* --- lists of variables and objects ---------------------------------------------- */

/* The dash that ends the group of entries from `item` on, or 0. */
static uint32_t find_dash(const struct compiler *c, uint32_t item)
{
    while (item && !list_is(c->tree, item, "-"))
        item = c->tree->nodes[item].next;
    return item;
}

bool logic_typed_list(const struct compiler *c, uint32_t item, logic_entry *each,
                      void *arg)
{
    const struct list_node *nodes = c->tree->nodes;
    while (item) {
        uint32_t dash = find_dash(c, item);
        uint32_t type = dash ? nodes[dash].next : 0;
        if (dash && !type)
            return logic_refuse(c, dash, "a type is missing behind the dash");
        if (type && !nodes[type].word)
            return logic_refuse(c, type, "(%.40s ...) as a type is not supported",
                                list_head(c->tree, type));
        for (; item && item != dash; item = nodes[item].next) {
            if (!nodes[item].word)
                return logic_refuse(c, item, "a name is expected, not a list");
            if (!each(arg, item, type))
                return false;
        }
        item = type ? nodes[type].next : 0;
    }
    return true;
}

uint16_t logic_type(const struct compiler *c, uint32_t node)
{
    if (!node)
        return 0;
    const struct list_node *n = &c->tree->nodes[node];
    uint32_t type = names_find(&c->vocabulary->types, n->word, n->count);
    return type == NAMES_NONE ? LOGIC_NO_TYPE : (uint16_t)type;
}

struct variables {
    struct compiler *compiler;
    uint64_t binds;
    uint16_t first; /* of the new ones in `visible` */
};

static bool add_variable(void *arg, uint32_t entry, uint32_t type)
{
    struct variables *v = arg;
    struct compiler *c = v->compiler;
    const char *name = c->tree->nodes[entry].word;
    if (name[0] != '?')
        return logic_refuse(c, entry, "%.40s is not a variable", name);
    for (uint16_t i = v->first; i < c->visible_count; i++)
        if (strcmp(c->visible[i].name, name) == 0)
            return logic_refuse(c, entry, "the variable %.40s is named twice", name);
    if (c->frame->count == LOGIC_MAX_SLOTS)
        return logic_refuse(c, entry, "more than %d variables", LOGIC_MAX_SLOTS);
    uint16_t slot = c->frame->count++;
    c->frame->types[slot] = logic_type(c, type);
    c->visible[c->visible_count].name = name;
    c->visible[c->visible_count++].slot = slot;
    v->binds |= (uint64_t)1 << slot;
    return true;
}

bool logic_variables(struct compiler *c, uint32_t list, uint64_t *binds)
{
    struct variables v = { .compiler = c, .first = c->visible_count };
    if (c->tree->nodes[list].word)
        return logic_refuse(c, list, "a list of variables is expected");
    bool ok = logic_typed_list(c, c->tree->nodes[list].first, add_variable, &v);
    *binds = v.binds;
    return ok;
}

/* --- atoms ------------------------------------------------------------------------ */

static bool compile_variable(struct compiler *c, uint32_t node, uint16_t *term,
                             uint64_t *uses)
{
    const char *name = c->tree->nodes[node].word;
    for (uint16_t i = c->visible_count; i > 0; i--) {
        if (strcmp(c->visible[i - 1].name, name) != 0)
            continue;
        *term = c->visible[i - 1].slot;
        *uses |= (uint64_t)1 << *term;
        return true;
    }
    return logic_refuse(c, node, "the variable %.40s is not declared", name);
}

static bool compile_term(struct compiler *c, uint32_t node, uint16_t *term,
                         uint64_t *uses)
{
    const struct list_node *n = &c->tree->nodes[node];
    if (!n->word)
        return logic_refuse(c, node, "a name is expected, not a list");
    if (n->word[0] == '?')
        return compile_variable(c, node, term, uses);
    uint32_t number = names_add(c->constants, n->word, n->count);
    if (number == NAMES_NONE)
        return logic_refuse(c, node, "too many different names");
    *term = (uint16_t)(LOGIC_CONSTANT | number);
    return true;
}

bool logic_count(const struct compiler *c, uint32_t list, uint32_t count)
{
    if (c->tree->nodes[list].count == count + 1)
        return true;
    return logic_refuse(c, list, "(%.40s ...) takes %u, not %u", list_head(c->tree, list),
                        count, c->tree->nodes[list].count - 1);
}

static bool compile_terms(struct compiler *c, uint32_t list, struct atom *atom,
                          uint64_t *uses)
{
    uint32_t item = c->tree->nodes[c->tree->nodes[list].first].next;
    for (; item; item = c->tree->nodes[item].next)
        if (!compile_term(c, item, &atom->terms[atom->count++], uses))
            return false;
    return true;
}

bool logic_atom(struct compiler *c, uint32_t node, struct atom *atom, uint64_t *uses)
{
    const struct vocabulary *v = c->vocabulary;
    const char *head = list_head(c->tree, node);
    uint32_t predicate = names_find(&v->predicates, head, strlen(head));
    if (!*head)
        return logic_refuse(c, node, "a predicate is expected at %.40s",
                            list_show(c->tree, node));
    if (predicate == NAMES_NONE)
        return logic_refuse(c, node, "the predicate %.40s is not declared", head);
    *atom = (struct atom){ .predicate = (uint16_t)predicate };
    *uses = 0;
    return logic_count(c, node, v->arities[predicate]) &&
           compile_terms(c, node, atom, uses);
}

/* --- conditions ------------------------------------------------------------------- */

static struct condition *new_condition(struct compiler *c, enum condition_kind kind,
                                       uint32_t room)
{
    struct condition *made = arena_new(c->arena, 1, sizeof *made);
    made->kind = kind;
    made->parts = arena_new(c->arena, room, sizeof(struct condition *));
    return made;
}

static bool add_part(struct condition *to, struct condition *part)
{
    if (!part)
        return false;
    to->parts[to->count++] = part;
    to->uses |= part->uses;
    return true;
}

static struct condition *compile_atom(struct compiler *c, uint32_t node, bool is_negated)
{
    struct condition *made = new_condition(c, CONDITION_ATOM, 0);
    made->is_negated = is_negated;
    return logic_atom(c, node, &made->atom, &made->uses) ? made : NULL;
}

static struct condition *compile_equal(struct compiler *c, uint32_t node, bool is_negated)
{
    struct condition *made = new_condition(c, CONDITION_EQUAL, 0);
    made->is_negated = is_negated;
    bool ok = logic_count(c, node, 2) && compile_terms(c, node, &made->atom, &made->uses);
    return ok ? made : NULL;
}

/* `and` and `or`, whichever the negation made of it. */
static struct condition *compile_parts(struct compiler *c, uint32_t node, bool is_and,
                                       bool is_negated)
{
    const struct list_node *nodes = c->tree->nodes;
    enum condition_kind kind = is_and != is_negated ? CONDITION_AND : CONDITION_OR;
    struct condition *made = new_condition(c, kind, nodes[node].count);
    for (uint32_t i = nodes[nodes[node].first].next; i; i = nodes[i].next)
        if (!add_part(made, logic_condition(c, i, is_negated)))
            return NULL;
    return made;
}

static struct condition *compile_imply(struct compiler *c, uint32_t node, bool is_negated)
{
    if (!logic_count(c, node, 2))
        return NULL;
    const struct list_node *nodes = c->tree->nodes;
    uint32_t cause = nodes[nodes[node].first].next;
    struct condition *made =
        new_condition(c, is_negated ? CONDITION_AND : CONDITION_OR, 2);
    if (!add_part(made, logic_condition(c, cause, !is_negated)) ||
        !add_part(made, logic_condition(c, nodes[cause].next, is_negated)))
        return NULL;
    return made;
}

static struct condition *compile_quantified(struct compiler *c, uint32_t node,
                                            bool is_exists, bool is_negated)
{
    if (!logic_count(c, node, 2))
        return NULL;
    const struct list_node *nodes = c->tree->nodes;
    uint32_t variables = nodes[nodes[node].first].next;
    uint16_t visible = c->visible_count;
    enum condition_kind kind =
        is_exists != is_negated ? CONDITION_EXISTS : CONDITION_FORALL;
    struct condition *made = new_condition(c, kind, 1);
    if (!logic_variables(c, variables, &made->binds) ||
        !add_part(made, logic_condition(c, nodes[variables].next, is_negated)))
        return NULL;
    c->visible_count = visible;
    made->uses &= ~made->binds;
    return made;
}

struct condition *logic_condition(struct compiler *c, uint32_t node, bool is_negated)
{
    const struct list_node *n = &c->tree->nodes[node];
    const char *head = list_head(c->tree, node);
    if (!n->word && n->count == 0)
        return new_condition(c, is_negated ? CONDITION_OR : CONDITION_AND, 0);
    if (strcmp(head, "and") == 0 || strcmp(head, "or") == 0)
        return compile_parts(c, node, head[0] == 'a', is_negated);
    if (strcmp(head, "exists") == 0 || strcmp(head, "forall") == 0)
        return compile_quantified(c, node, head[0] == 'e', is_negated);
    if (strcmp(head, "imply") == 0)
        return compile_imply(c, node, is_negated);
    if (strcmp(head, "=") == 0)
        return compile_equal(c, node, is_negated);
    if (strcmp(head, "not") != 0)
        return compile_atom(c, node, is_negated);
    if (!logic_count(c, node, 1))
        return NULL;
    return logic_condition(c, c->tree->nodes[n->first].next, !is_negated);
}

/* --- plans ------------------------------------------------------------------------ */

struct planner {
    const struct vocabulary *vocabulary;
    struct condition **parts; /* not placed yet, in their order; NULL when placed */
    uint32_t count, room;
    uint64_t bound, binds;
    struct plan plan;
};

static void collect_part(struct planner *p, struct condition *part)
{
    if (p->count == p->room) {
        p->room = p->room ? p->room * 2 : 16;
        p->parts = mem_grow(p->parts, p->room * sizeof(struct condition *));
    }
    p->parts[p->count++] = part;
}

/* Only at the outermost level may an `exists` not be opened: there each way to
 * satisfy it would count as one more way to bind the parameters. */
static void collect(struct planner *p, struct condition *c, bool may_open)
{
    if (c->kind == CONDITION_AND) {
        for (uint32_t i = 0; i < c->count; i++)
            collect(p, c->parts[i], may_open);
    } else if (c->kind == CONDITION_EXISTS && may_open) {
        p->binds |= c->binds;
        collect(p, c->parts[0], true);
    } else {
        collect_part(p, c);
    }
}

static void add_step(struct planner *p, enum step_kind kind, struct condition *c,
                     uint16_t slot)
{
    p->plan.steps[p->plan.count++] =
        (struct plan_step){ .kind = kind, .condition = c, .slot = slot };
}

static void place_tests(struct planner *p)
{
    for (uint32_t i = 0; i < p->count; i++) {
        struct condition *c = p->parts[i];
        if (!c || (c->uses & ~p->bound))
            continue;
        add_step(p, STEP_TEST, c, 0);
        p->parts[i] = NULL;
    }
}

/* The more terms are known, the fewer facts fit; of equals those that change come
 * first, since they say where the game stands: who is where and holds what. */
static int score_atom(const struct planner *p, const struct condition *c)
{
    int known = 0;
    for (unsigned i = 0; i < c->atom.count; i++) {
        uint16_t term = c->atom.terms[i];
        known += !logic_is_slot(term) || (p->bound >> term & 1);
    }
    return known * 2 + p->vocabulary->is_changeable[c->atom.predicate];
}

static bool place_match(struct planner *p)
{
    uint32_t best = 0;
    int best_score = -1;
    for (uint32_t i = 0; i < p->count; i++) {
        struct condition *c = p->parts[i];
        if (!c || c->kind != CONDITION_ATOM || c->is_negated)
            continue;
        int score = score_atom(p, c);
        if (score > best_score) {
            best_score = score;
            best = i;
        }
    }
    if (best_score < 0)
        return false;
    add_step(p, STEP_MATCH, p->parts[best], 0);
    p->bound |= p->parts[best]->uses;
    p->parts[best] = NULL;
    return true;
}

static bool place_each(struct planner *p)
{
    uint64_t free = p->binds & ~p->bound;
    if (!free)
        return false;
    uint16_t slot = (uint16_t)__builtin_ctzll(free);
    add_step(p, STEP_EACH, NULL, slot);
    p->bound |= (uint64_t)1 << slot;
    return true;
}

static struct plan make_plan(struct arena *a, struct planner *p)
{
    uint32_t slots = (uint32_t)__builtin_popcountll(p->binds);
    p->plan.steps = arena_new(a, p->count + slots, sizeof *p->plan.steps);
    do
        place_tests(p);
    while (place_match(p) || place_each(p));
    mem_free(p->parts);
    return p->plan;
}

struct plan logic_plan(struct arena *a, const struct vocabulary *v, uint64_t bound,
                       uint64_t binds, struct condition *condition)
{
    struct planner p = { .vocabulary = v, .bound = bound, .binds = binds };
    collect(&p, condition, false);
    return make_plan(a, &p);
}

void logic_plan_inside(struct arena *a, const struct vocabulary *v,
                       struct condition *condition)
{
    for (uint32_t i = 0; i < condition->count; i++)
        logic_plan_inside(a, v, condition->parts[i]);
    if (condition->kind != CONDITION_EXISTS)
        return;
    struct planner p = { .vocabulary = v, .bound = condition->uses };
    collect(&p, condition, true);
    condition->plan = make_plan(a, &p);
}
