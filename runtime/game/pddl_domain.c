/* pddl_domain.c - reading a domain, see pddl.h. */
#include "base/mem.h"
#include "game/pddl.h"
#include <string.h>

struct sections {
    uint32_t requirements, types, constants, predicates, functions;
};

struct domain_reader {
    struct compiler c;
    struct list_tree tree;
    struct domain *d;
    struct sections sections;
    /* of the action being read */
    struct action *action;
    struct effect effects[PDDL_MAX_EFFECTS];
    struct condition *when;
    uint64_t binds;
};

static const struct list_node *at(const struct domain_reader *r, uint32_t node)
{
    return &r->tree.nodes[node];
}

static uint32_t second(const struct domain_reader *r, uint32_t list)
{
    return at(r, at(r, list)->first)->next;
}

static const char *keep(struct domain_reader *r, uint32_t node)
{
    return arena_copy(&r->d->arena, at(r, node)->word, at(r, node)->count);
}

/* --- types ------------------------------------------------------------------------ */

static bool add_type(void *arg, uint32_t entry, uint32_t type)
{
    struct domain_reader *r = arg;
    struct vocabulary *v = &r->d->vocabulary;
    const struct list_node *n = at(r, entry);
    if (strcmp(n->word, "object") == 0)
        return !type || list_is(&r->tree, type, "object") ||
               logic_refuse(&r->c, entry, "object cannot be a sub-type");
    uint32_t before = v->types.count;
    if (names_add(&v->types, n->word, n->count) < before)
        return logic_refuse(&r->c, entry, "the type %.40s is declared twice", n->word);
    if (v->types.count > PDDL_MAX_TYPES)
        return logic_refuse(&r->c, entry, "more than %d types", PDDL_MAX_TYPES);
    return true;
}

static bool set_parent(void *arg, uint32_t entry, uint32_t type)
{
    struct domain_reader *r = arg;
    uint16_t parent = logic_type(&r->c, type);
    if (parent == LOGIC_NO_TYPE)
        return logic_refuse(&r->c, type, "the type %.40s is not declared",
                            at(r, type)->word);
    r->d->vocabulary.parents[logic_type(&r->c, entry)] = parent;
    return true;
}

static bool check_depth(struct domain_reader *r)
{
    const struct vocabulary *v = &r->d->vocabulary;
    for (uint32_t i = 0; i < v->types.count; i++) {
        uint32_t type = i;
        for (int depth = 0; type; type = v->parents[type])
            if (++depth > PDDL_MAX_TYPE_DEPTH)
                return logic_refuse(&r->c, r->sections.types,
                                    "types are nested too deep, or in a circle");
    }
    return true;
}

static bool read_types(struct domain_reader *r)
{
    struct vocabulary *v = &r->d->vocabulary;
    names_add(&v->types, "object", strlen("object"));
    uint32_t first = r->sections.types ? second(r, r->sections.types) : 0;
    if (!logic_typed_list(&r->c, first, add_type, r))
        return false;
    v->parents = arena_new(&r->d->arena, v->types.count, sizeof *v->parents);
    return logic_typed_list(&r->c, first, set_parent, r) && check_depth(r);
}

/* --- predicates ------------------------------------------------------------------- */

static bool count_argument(void *arg, uint32_t entry, uint32_t type)
{
    (void)entry;
    (void)type;
    ++*(uint8_t *)arg;
    return true;
}

static bool add_predicate(struct domain_reader *r, uint32_t node)
{
    struct vocabulary *v = &r->d->vocabulary;
    const char *name = list_head(&r->tree, node);
    if (!*name || strcmp(name, "=") == 0)
        return logic_refuse(&r->c, node, "%.40s cannot be declared as a predicate",
                            list_show(&r->tree, node));
    uint32_t before = v->predicates.count;
    uint32_t number = names_add(&v->predicates, name, strlen(name));
    if (number < before)
        return logic_refuse(&r->c, node, "the predicate %.40s is declared twice", name);
    if (at(r, node)->count > 200)
        return logic_refuse(&r->c, node, "%.40s has too many arguments", name);
    uint8_t arity = 0;
    if (!logic_typed_list(&r->c, second(r, node), count_argument, &arity))
        return false;
    if (arity > FACT_MAX_ARGS)
        return logic_refuse(&r->c, node, "%.40s has more than %d arguments", name,
                            FACT_MAX_ARGS);
    v->arities[number] = arity;
    return true;
}

static bool read_predicates(struct domain_reader *r)
{
    struct vocabulary *v = &r->d->vocabulary;
    uint32_t section = r->sections.predicates;
    uint32_t count = section ? at(r, section)->count - 1 : 0;
    if (count > PDDL_MAX_PREDICATES)
        return logic_refuse(&r->c, section, "more than %d predicates",
                            PDDL_MAX_PREDICATES);
    v->arities = arena_new(&r->d->arena, count, sizeof *v->arities);
    v->is_changeable = arena_new(&r->d->arena, count, sizeof *v->is_changeable);
    for (uint32_t i = section ? second(r, section) : 0; i; i = at(r, i)->next)
        if (!add_predicate(r, i))
            return false;
    return true;
}

/* --- constants -------------------------------------------------------------------- */

static bool add_constant(void *arg, uint32_t entry, uint32_t type)
{
    struct domain_reader *r = arg;
    uint16_t number = logic_type(&r->c, type);
    if (number == LOGIC_NO_TYPE)
        return logic_refuse(&r->c, type, "the type %.40s is not declared",
                            at(r, type)->word);
    r->d->objects[r->d->object_count++] = (struct object){ .name = keep(r, entry),
                                                           .type = number,
                                                           .line = at(r, entry)->line };
    return true;
}

static bool read_constants(struct domain_reader *r)
{
    uint32_t section = r->sections.constants;
    if (!section)
        return true;
    r->d->objects = arena_new(&r->d->arena, at(r, section)->count, sizeof *r->d->objects);
    return logic_typed_list(&r->c, second(r, section), add_constant, r);
}

/* --- effects ---------------------------------------------------------------------- */

static bool read_effect(struct domain_reader *r, uint32_t node);

static bool add_effect(struct domain_reader *r, uint32_t node, bool is_negated)
{
    struct action *a = r->action;
    if (a->effect_count == PDDL_MAX_EFFECTS)
        return logic_refuse(&r->c, node, "more than %d effects", PDDL_MAX_EFFECTS);
    struct effect *e = &r->effects[a->effect_count++];
    *e = (struct effect){ .when = r->when, .binds = r->binds, .is_negated = is_negated };
    uint64_t uses = 0;
    return logic_atom(&r->c, node, &e->atom, &uses);
}

static bool read_not(struct domain_reader *r, uint32_t node)
{
    return logic_count(&r->c, node, 1) && add_effect(r, second(r, node), true);
}

/* Costs have no influence on play; only their form is checked. */
static bool read_increase(struct domain_reader *r, uint32_t node)
{
    if (!logic_count(&r->c, node, 2))
        return false;
    if (strcmp(list_head(&r->tree, second(r, node)), "total-cost") == 0)
        return true;
    return logic_refuse(&r->c, node, "only (total-cost) can be increased");
}

static bool read_when(struct domain_reader *r, uint32_t node)
{
    if (r->when)
        return logic_refuse(&r->c, node, "when inside when is not supported");
    if (!logic_count(&r->c, node, 2))
        return false;
    uint32_t cause = second(r, node);
    r->when = logic_condition(&r->c, cause, false);
    bool ok = r->when && read_effect(r, at(r, cause)->next);
    r->when = NULL;
    return ok;
}

static bool read_forall(struct domain_reader *r, uint32_t node)
{
    if (r->when)
        return logic_refuse(&r->c, node, "forall inside when is not supported");
    if (!logic_count(&r->c, node, 2))
        return false;
    uint32_t variables = second(r, node);
    uint16_t visible = r->c.visible_count;
    uint64_t outer = r->binds, inner = 0;
    if (!logic_variables(&r->c, variables, &inner))
        return false;
    r->binds |= inner;
    bool ok = read_effect(r, at(r, variables)->next);
    r->binds = outer;
    r->c.visible_count = visible;
    return ok;
}

static bool read_all(struct domain_reader *r, uint32_t node)
{
    for (uint32_t i = second(r, node); i; i = at(r, i)->next)
        if (!read_effect(r, i))
            return false;
    return true;
}

static bool read_effect(struct domain_reader *r, uint32_t node)
{
    static const struct {
        const char *head;
        bool (*read)(struct domain_reader *, uint32_t);
    } forms[] = {
        { "and", read_all },       { "not", read_not },           { "when", read_when },
        { "forall", read_forall }, { "increase", read_increase },
    };
    if (!at(r, node)->word && at(r, node)->count == 0)
        return true;
    const char *head = list_head(&r->tree, node);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (strcmp(head, forms[i].head) == 0)
            return forms[i].read(r, node);
    return add_effect(r, node, false);
}

/* --- actions ---------------------------------------------------------------------- */

static bool add_parameter(void *arg, uint32_t entry, uint32_t type)
{
    struct domain_reader *r = arg;
    struct action *a = r->action;
    uint32_t i = a->parameter_count++;
    a->parameters[i] =
        (struct parameter){ .name = arena_copy(&r->d->arena, at(r, entry)->word + 1,
                                               at(r, entry)->count - 1),
                            .type = type ? keep(r, type) : "object",
                            .slot = (uint16_t)i };
    return true;
}

static bool read_parameters(struct domain_reader *r, uint32_t list)
{
    struct action *a = r->action;
    uint64_t binds = 0;
    if (!list)
        return true;
    if (!logic_variables(&r->c, list, &binds))
        return false;
    if (a->frame.count > PDDL_MAX_PARAMETERS)
        return logic_refuse(&r->c, list, "more than %d parameters", PDDL_MAX_PARAMETERS);
    a->parameters = arena_new(&r->d->arena, a->frame.count, sizeof *a->parameters);
    return logic_typed_list(&r->c, at(r, list)->first, add_parameter, r);
}

struct action_parts {
    uint32_t parameters, precondition, effect;
};

/* `:parameters (..) :precondition (..) :effect (..)` in any order, each at most once. */
static bool find_parts(struct domain_reader *r, uint32_t node, struct action_parts *parts)
{
    for (uint32_t key = at(r, second(r, node))->next; key; key = at(r, key)->next) {
        uint32_t *part = list_is(&r->tree, key, ":parameters")     ? &parts->parameters
                         : list_is(&r->tree, key, ":precondition") ? &parts->precondition
                         : list_is(&r->tree, key, ":effect")       ? &parts->effect
                                                                   : NULL;
        if (!part || *part)
            return logic_refuse(&r->c, key, "%.40s is not supported here",
                                list_show(&r->tree, key));
        *part = at(r, key)->next;
        if (!*part)
            return logic_refuse(&r->c, key, "nothing follows %.40s", at(r, key)->word);
        key = *part;
    }
    return true;
}

static bool read_action_name(struct domain_reader *r, uint32_t node)
{
    const struct domain *d = r->d;
    uint32_t name = second(r, node);
    if (!name || !at(r, name)->word)
        return logic_refuse(&r->c, node, "the name of an action is missing");
    r->action->name = keep(r, name);
    for (uint32_t i = 0; i < d->action_count; i++)
        if (strcmp(d->actions[i].name, r->action->name) == 0)
            return logic_refuse(&r->c, name, "the action %.40s is declared twice",
                                r->action->name);
    return true;
}

/* How many ways there are to satisfy it: the parts of an outermost `or`. */
static uint32_t count_cases(const struct condition *c)
{
    if (c->kind != CONDITION_OR)
        return 1;
    uint32_t count = 0;
    for (uint32_t i = 0; i < c->count; i++)
        count += count_cases(c->parts[i]);
    return count;
}

static bool read_precondition(struct domain_reader *r, uint32_t node)
{
    struct action *a = r->action;
    if (!node)
        return true;
    a->precondition = logic_condition(&r->c, node, false);
    if (!a->precondition)
        return false;
    return count_cases(a->precondition) <= PDDL_MAX_CASES ||
           logic_refuse(&r->c, node, "more than %d alternatives", PDDL_MAX_CASES);
}

/* An action without effects does not exist: its place is taken by the next one. */
static bool read_action(struct domain_reader *r, uint32_t node)
{
    struct domain *d = r->d;
    struct action *a = &d->actions[d->action_count];
    struct action_parts parts = { 0 };
    *a = (struct action){ 0 };
    r->action = a;
    r->c.frame = &a->frame;
    r->c.visible_count = 0;
    if (!read_action_name(r, node) || !find_parts(r, node, &parts) ||
        !read_parameters(r, parts.parameters) ||
        !read_precondition(r, parts.precondition) ||
        (parts.effect && !read_effect(r, parts.effect)))
        return false;
    a->effects = arena_new(&d->arena, a->effect_count, sizeof *a->effects);
    memcpy(a->effects, r->effects, a->effect_count * sizeof *a->effects);
    d->action_count += a->effect_count > 0;
    return true;
}

/* --- cases ------------------------------------------------------------------------ */

static uint32_t count_atoms(const struct condition *c)
{
    uint32_t count = c->kind == CONDITION_ATOM;
    for (uint32_t i = 0; i < c->count && c->kind == CONDITION_AND; i++)
        count += count_atoms(c->parts[i]);
    return count;
}

static void collect_atoms(struct action_case *to, const struct condition *c)
{
    for (uint32_t i = 0; i < c->count && c->kind == CONDITION_AND; i++)
        collect_atoms(to, c->parts[i]);
    if (c->kind == CONDITION_ATOM && c->is_negated)
        to->forbids[to->forbid_count++] = &c->atom;
    else if (c->kind == CONDITION_ATOM)
        to->needs[to->need_count++] = &c->atom;
}

/* Whether some binding may make the two atoms the same. */
static bool may_be_same(const struct atom *a, const struct atom *b)
{
    if (a->predicate != b->predicate)
        return false;
    for (unsigned i = 0; i < a->count; i++)
        if (a->terms[i] >= LOGIC_CONSTANT && b->terms[i] >= LOGIC_CONSTANT &&
            a->terms[i] != b->terms[i])
            return false;
    return true;
}

static bool may_vanish(const struct action *a, const struct action_case *in,
                       const struct effect *e)
{
    const struct atom **list = e->is_negated ? in->forbids : in->needs;
    uint32_t count = e->is_negated ? in->forbid_count : in->need_count;
    for (uint32_t i = 0; i < count; i++)
        if (may_be_same(&e->atom, list[i]))
            return true;
    for (uint32_t i = 0; i < a->effect_count && e->is_negated; i++)
        if (!a->effects[i].is_negated && may_be_same(&e->atom, &a->effects[i].atom))
            return true;
    return e->binds != 0;
}

static bool may_be_void(const struct action *a, const struct action_case *in)
{
    for (uint32_t i = 0; i < a->effect_count; i++)
        if (!may_vanish(a, in, &a->effects[i]))
            return false;
    return true;
}

static void add_cases(struct domain *d, struct action *a, struct condition *c)
{
    if (c->kind == CONDITION_OR) {
        for (uint32_t i = 0; i < c->count; i++)
            add_cases(d, a, c->parts[i]);
        return;
    }
    struct action_case *made = &a->cases[a->case_count++];
    uint64_t binds = 0;
    for (uint32_t i = 0; i < a->parameter_count; i++)
        binds |= (uint64_t)1 << a->parameters[i].slot;
    uint32_t room = count_atoms(c);
    made->needs = arena_new(&d->arena, room, sizeof(struct atom *));
    made->forbids = arena_new(&d->arena, room, sizeof(struct atom *));
    collect_atoms(made, c);
    made->plan = logic_plan(&d->arena, &d->vocabulary, 0, binds, c);
    made->may_be_void = may_be_void(a, made);
}

static void finish_action(struct domain *d, struct action *a)
{
    if (!a->precondition) {
        a->precondition = arena_new(&d->arena, 1, sizeof *a->precondition);
        a->precondition->kind = CONDITION_AND;
    }
    logic_plan_inside(&d->arena, &d->vocabulary, a->precondition);
    for (uint32_t i = 0; i < a->effect_count; i++)
        if (a->effects[i].when)
            logic_plan_inside(&d->arena, &d->vocabulary, a->effects[i].when);
    uint32_t count = count_cases(a->precondition);
    a->cases = arena_new(&d->arena, count, sizeof *a->cases);
    add_cases(d, a, a->precondition);
}

/* Which predicates change decides on the plans, so it comes first. */
static void finish_actions(struct domain *d)
{
    for (uint32_t i = 0; i < d->action_count; i++)
        for (uint32_t j = 0; j < d->actions[i].effect_count; j++)
            d->vocabulary.is_changeable[d->actions[i].effects[j].atom.predicate] = true;
    for (uint32_t i = 0; i < d->action_count; i++)
        finish_action(d, &d->actions[i]);
}

/* --- the whole -------------------------------------------------------------------- */

static uint32_t *section_of(struct domain_reader *r, const char *head)
{
    struct sections *s = &r->sections;
    return strcmp(head, ":requirements") == 0 ? &s->requirements
           : strcmp(head, ":types") == 0      ? &s->types
           : strcmp(head, ":constants") == 0  ? &s->constants
           : strcmp(head, ":predicates") == 0 ? &s->predicates
           : strcmp(head, ":functions") == 0  ? &s->functions
                                              : NULL;
}

static bool note_section(struct domain_reader *r, uint32_t node, uint32_t *actions)
{
    const char *head = list_head(&r->tree, node);
    uint32_t *section = section_of(r, head);
    if (strcmp(head, ":action") == 0)
        return ++*actions <= PDDL_MAX_ACTIONS ||
               logic_refuse(&r->c, node, "more than %d actions", PDDL_MAX_ACTIONS);
    if (!section)
        return logic_refuse(&r->c, node, "the section %.40s is not supported",
                            list_show(&r->tree, node));
    if (*section)
        return logic_refuse(&r->c, node, "there are two sections %.40s", head);
    *section = node;
    return true;
}

/* `(define (domain NAME) ...)`; returns the node behind the name, 0 on error. */
static uint32_t read_head(struct domain_reader *r)
{
    uint32_t head = second(r, LIST_ROOT);
    if (!list_is(&r->tree, at(r, LIST_ROOT)->first, "define") ||
        strcmp(list_head(&r->tree, head), "domain") != 0 || at(r, head)->count != 2 ||
        !at(r, second(r, head))->word) {
        logic_refuse(&r->c, LIST_ROOT, "(define (domain NAME) ...) is expected");
        return 0;
    }
    r->d->name = keep(r, second(r, head));
    return head;
}

static bool read_domain(struct domain_reader *r)
{
    uint32_t head = read_head(r), actions = 0;
    if (!head)
        return false;
    for (uint32_t i = at(r, head)->next; i; i = at(r, i)->next)
        if (!note_section(r, i, &actions))
            return false;
    if (!read_types(r) || !read_predicates(r) || !read_constants(r))
        return false;
    r->d->actions = arena_new(&r->d->arena, actions, sizeof *r->d->actions);
    for (uint32_t i = at(r, head)->next; i; i = at(r, i)->next)
        if (strcmp(list_head(&r->tree, i), ":action") == 0 && !read_action(r, i))
            return false;
    finish_actions(r->d);
    return true;
}

static void domain_release(struct share *share)
{
    struct domain *d = (struct domain *)share;
    names_free(&d->vocabulary.types);
    names_free(&d->vocabulary.predicates);
    names_free(&d->constants);
    arena_free(&d->arena);
    mem_free(d);
}

static struct domain *domain_new(const char *text, size_t n, const char *file,
                                 struct err *e)
{
    struct place place = { .file = file, .part = "pddl_domain" };
    struct domain_reader *r = mem_new(sizeof *r);
    r->d = mem_new(sizeof *r->d);
    r->c = (struct compiler){ .tree = &r->tree,
                              .at = &place,
                              .e = e,
                              .arena = &r->d->arena,
                              .vocabulary = &r->d->vocabulary,
                              .constants = &r->d->constants };
    bool ok = list_read(&r->tree, text, n, &place, e) && read_domain(r);
    struct domain *d = r->d;
    list_free(&r->tree);
    mem_free(r);
    if (ok)
        return d;
    domain_release(&d->share);
    return NULL;
}

struct domain *domain_read(const char *text, size_t n, const char *file,
                           struct game_shared *s, struct err *e)
{
    struct digest key = digest_of(text, n);
    struct share *known = share_find(s, &key, domain_release);
    if (known)
        return (struct domain *)known;
    struct domain *d = domain_new(text, n, file, e);
    if (d)
        share_init(&d->share, s, &key, domain_release);
    return d;
}

size_t domain_size(const struct domain *d)
{
    return sizeof *d + d->arena.size_bytes + names_size(&d->vocabulary.types) +
           names_size(&d->vocabulary.predicates) + names_size(&d->constants);
}
