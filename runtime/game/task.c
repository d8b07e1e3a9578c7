/* task.c - see task.h. */
#include "game/task.h"
#include "base/mem.h"
#include <string.h>

enum { BUILD_MAX_WORK = 20000000 };

struct builder {
    struct task *t;
    struct game *g;
    const struct domain *d;
    struct err *e;
    long work;
    bool *is_relevant; /* by predicate */
    bool *is_useful;   /* by action */
    struct changes changes;
    /* of the action being looked at */
    const struct action *action;
    const struct action_case *in;
    struct facts reached; /* facts that are new, while looking for them */
    bool failed;          /* a message is set */
};

/* --- what matters ------------------------------------------------------------------ */

static bool note_predicates(struct builder *b, const struct condition *c)
{
    bool is_new = false;
    if (c->kind == CONDITION_ATOM && b->d->vocabulary.is_changeable[c->atom.predicate]) {
        is_new = !b->is_relevant[c->atom.predicate];
        b->is_relevant[c->atom.predicate] = true;
    }
    for (uint32_t i = 0; i < c->count; i++)
        is_new |= note_predicates(b, c->parts[i]);
    return is_new;
}

static bool changes_relevant(const struct builder *b, const struct action *a)
{
    for (uint32_t i = 0; i < a->effect_count; i++)
        if (b->is_relevant[a->effects[i].atom.predicate])
            return true;
    return false;
}

static bool note_action(struct builder *b, uint32_t number)
{
    const struct action *a = &b->d->actions[number];
    if (!changes_relevant(b, a))
        return false;
    bool is_new = !b->is_useful[number];
    b->is_useful[number] = true;
    is_new |= note_predicates(b, a->precondition);
    for (uint32_t i = 0; i < a->effect_count; i++)
        if (a->effects[i].when && b->is_relevant[a->effects[i].atom.predicate])
            is_new |= note_predicates(b, a->effects[i].when);
    return is_new;
}

/* Backwards from the goal. */
static void find_relevant(struct builder *b)
{
    b->is_relevant = arena_new(&b->t->arena, b->d->vocabulary.predicates.count, 1);
    b->is_useful = arena_new(&b->t->arena, b->d->action_count, 1);
    note_predicates(b, b->g->world->problem.goal);
    bool is_new = true;
    while (is_new) {
        is_new = false;
        for (uint32_t i = 0; i < b->d->action_count; i++)
            is_new |= note_action(b, i);
    }
}

/* --- searching the actions as if nothing were ever removed -----------------------------
 */

static bool search_actions(struct builder *b, scene_found *found)
{
    for (uint32_t i = 0; i < b->d->action_count; i++) {
        if (!b->is_useful[i])
            continue;
        b->action = &b->d->actions[i];
        for (uint32_t j = 0; j < b->action->case_count; j++) {
            struct scene s;
            b->in = &b->action->cases[j];
            scene_init(&s, b->g->world, &b->t->atoms, &b->action->frame, &b->work);
            s.is_relaxed = true;
            if (!scene_search(&s, &b->in->plan, found, b))
                return !b->failed && state_refuse_work(b->g, b->e);
        }
    }
    return true;
}

static bool refuse_facts(struct builder *b)
{
    b->failed = true;
    return err_set(b->e, ERR_LIMIT, "%s: more than %d facts can come about", b->g->name,
                   FACT_MAX_COUNT);
}

/* One fact comes about in many ways; when the set is full the copies go. */
static bool push_reached(struct builder *b, uint64_t key)
{
    if (facts_push(&b->reached, key))
        return true;
    facts_sort(&b->reached);
    return facts_push(&b->reached, key);
}

static bool reach_facts(void *arg, struct scene *s)
{
    struct builder *b = arg;
    if (!effects_find(&b->changes, s, b->action, b->in))
        return false;
    for (uint32_t i = 0; i < b->changes.count; i++) {
        uint64_t key = b->changes.list[i].key;
        if (b->changes.list[i].is_removal || !b->is_relevant[fact_predicate(key)] ||
            facts_has(&b->t->atoms, key))
            continue;
        if (!push_reached(b, key))
            return refuse_facts(b);
    }
    return true;
}

static void start_atoms(struct builder *b)
{
    const struct facts *now = &b->g->now;
    for (uint32_t i = 0; i < now->count; i++)
        if (b->is_relevant[fact_predicate(now->keys[i])])
            facts_push(&b->t->atoms, now->keys[i]);
}

/* Grow the atoms until no action adds one. */
static bool reach_all(struct builder *b)
{
    struct facts *atoms = &b->t->atoms, *reached = &b->reached;
    bool ok;
    start_atoms(b);
    do {
        reached->count = 0;
        ok = search_actions(b, reach_facts);
        facts_sort(reached);
        for (uint32_t i = 0; ok && i < reached->count; i++)
            ok = facts_push(atoms, reached->keys[i]) || refuse_facts(b);
        facts_sort(atoms);
    } while (ok && reached->count);
    facts_free(reached);
    return ok;
}

/* --- formulas ---------------------------------------------------------------------- */

struct parts {
    const struct formula **list;
    uint32_t count, room;
};

static void add_part(struct parts *p, const struct formula *f)
{
    if (p->count == p->room) {
        p->room = p->room ? p->room * 2 : 8;
        p->list = mem_grow(p->list, p->room * sizeof(struct formula *));
    }
    p->list[p->count++] = f;
}

/* Add to an AND or OR that is being put together: of its own kind the parts, of the
 * other without parts nothing but itself. */
static void join_part(struct parts *p, enum formula_kind kind, const struct formula *f)
{
    if (p->count == 1 && p->list[0]->kind != kind && p->list[0]->kind != FORMULA_ATOM &&
        p->list[0]->count == 0)
        return; /* decided already */
    if (f->kind != FORMULA_ATOM && f->kind != kind && f->count == 0)
        p->count = 0;
    if (f->kind != kind) {
        add_part(p, f);
        return;
    }
    for (uint32_t i = 0; i < f->count; i++)
        add_part(p, f->parts[i]);
}

static struct formula *new_formula(struct builder *b, enum formula_kind kind)
{
    struct formula *f = arena_new(&b->t->arena, 1, sizeof *f);
    if (b->t->arena.size_bytes > TASK_MAX_BYTES)
        b->work = -1;
    f->kind = kind;
    return f;
}

static const struct formula *finish_parts(struct builder *b, enum formula_kind kind,
                                          struct parts *p)
{
    const struct formula *only = p->count == 1 ? p->list[0] : NULL;
    if (!only) {
        struct formula *f = new_formula(b, kind);
        f->count = p->count;
        f->parts = arena_new(&b->t->arena, p->count, sizeof(struct formula *));
        if (p->count)
            memcpy(f->parts, p->list, p->count * sizeof(struct formula *));
        only = f;
    }
    mem_free(p->list);
    return only;
}

static const struct formula *constant(bool is_true)
{
    static const struct formula always = { .kind = FORMULA_AND };
    static const struct formula never = { .kind = FORMULA_OR };
    return is_true ? &always : &never;
}

static const struct formula *ground(struct builder *b, struct scene *s,
                                    const struct condition *c);

static const struct formula *ground_atom(struct builder *b, struct scene *s,
                                         const struct condition *c)
{
    uint64_t key = 0;
    if (!b->d->vocabulary.is_changeable[c->atom.predicate])
        return constant(scene_holds(s, c));
    if (!scene_fact(s, &c->atom, &key) || !facts_has(&b->t->atoms, key))
        return constant(c->is_negated);
    struct formula *f = new_formula(b, FORMULA_ATOM);
    f->atom = facts_find(&b->t->atoms, key);
    f->is_negated = c->is_negated;
    return f;
}

static const struct formula *ground_plan(struct builder *b, struct scene *s,
                                         const struct plan *plan)
{
    struct parts parts = { 0 };
    for (uint32_t i = 0; i < plan->count; i++)
        if (plan->steps[i].condition)
            join_part(&parts, FORMULA_AND, ground(b, s, plan->steps[i].condition));
    return finish_parts(b, FORMULA_AND, &parts);
}

struct quantified {
    struct builder *b;
    const struct condition *condition;
    struct parts parts;
};

static bool ground_exists(void *arg, struct scene *s)
{
    struct quantified *q = arg;
    join_part(&q->parts, FORMULA_OR, ground_plan(q->b, s, &q->condition->plan));
    return true;
}

static bool ground_forall(void *arg, struct scene *s)
{
    struct quantified *q = arg;
    join_part(&q->parts, FORMULA_AND, ground(q->b, s, q->condition->parts[0]));
    return true;
}

/* What the condition asks of the atoms. What it asks of facts that never change is
 * answered here. Meaningless when the scene is tired afterwards. */
static const struct formula *ground(struct builder *b, struct scene *s,
                                    const struct condition *c)
{
    struct quantified q = { .b = b, .condition = c };
    enum formula_kind kind = c->kind == CONDITION_AND || c->kind == CONDITION_FORALL
                                 ? FORMULA_AND
                                 : FORMULA_OR;
    --*s->work;
    if (scene_is_tired(s))
        return constant(false);
    if (c->kind == CONDITION_ATOM)
        return ground_atom(b, s, c);
    if (c->kind == CONDITION_EQUAL)
        return constant(scene_holds(s, c));
    if (c->kind == CONDITION_EXISTS)
        scene_search(s, &c->plan, ground_exists, &q);
    else if (c->kind == CONDITION_FORALL)
        scene_each(s, c->binds, ground_forall, &q);
    else
        for (uint32_t i = 0; i < c->count; i++)
            join_part(&q.parts, kind, ground(b, s, c->parts[i]));
    return finish_parts(b, kind, &q.parts);
}

static const void *judge(void *arg, struct scene *s, const struct condition *when)
{
    return ground(arg, s, when);
}

/* --- operators -----------------------------------------------------------------------
 */

static struct operator* new_operator(struct builder *b)
{
    struct task *t = b->t;
    if (t->operator_count == t->operator_room) {
        t->operator_room = t->operator_room ? t->operator_room * 2 : 1024;
        t->operators = mem_grow(t->operators, t->operator_room * sizeof *t->operators);
    }
    struct operator* o = & t->operators[t->operator_count];
    *o = (struct operator){ 0 };
    return o;
}

static void add_effects(struct builder *b, struct operator* o)
{
    o->effects = arena_new(&b->t->arena, b->changes.count, sizeof *o->effects);
    for (uint32_t i = 0; i < b->changes.count; i++) {
        const struct change *c = &b->changes.list[i];
        if (!facts_has(&b->t->atoms, c->key))
            continue;
        o->effects[o->effect_count++] =
            (struct operator_effect){ .atom = facts_find(&b->t->atoms, c->key),
                                      .is_removal = c->is_removal,
                                      .when = c->judged };
    }
}

/* Whether the command comes through as it is when its ends are trimmed. */
static bool can_be_typed(struct builder *b, const uint16_t *objects)
{
    struct game *g = b->g;
    struct buf text = { .max = 65536 };
    struct teller teller;
    uint32_t number = (uint32_t)(b->action - b->d->actions);
    state_teller(g, &teller, &text, &b->work, b->e);
    tell_bind(&teller, number, objects);
    b->failed =
        !tell_phrase(&teller, &g->world->grammar->spoken[number].action->template);
    size_t n = text.len;
    if (!b->failed)
        state_trim(buf_text(&text), &n);
    bool ok = !b->failed && n == text.len;
    buf_free(&text);
    return ok;
}

static uint16_t *keep_objects(struct builder *b, const struct scene *s)
{
    const struct action *a = b->action;
    uint16_t *objects = arena_new(&b->t->arena, a->parameter_count, sizeof *objects);
    for (uint32_t i = 0; i < a->parameter_count; i++)
        objects[i] = s->slots[a->parameters[i].slot];
    return objects;
}

static bool refuse_operators(struct builder *b)
{
    b->failed = true;
    return err_set(b->e, ERR_LIMIT, "%s: more than %d different commands", b->g->name,
                   TASK_MAX_OPERATORS);
}

static bool add_operator(void *arg, struct scene *s)
{
    struct builder *b = arg;
    if (b->t->operator_count == TASK_MAX_OPERATORS)
        return refuse_operators(b);
    if (!effects_find(&b->changes, s, b->action, b->in))
        return false;
    uint16_t *objects = keep_objects(b, s);
    struct operator* o = new_operator(b);
    add_effects(b, o);
    if (o->effect_count == 0)
        return true;
    if (!can_be_typed(b, objects))
        return !b->failed;
    o->action = (uint16_t)(b->action - b->d->actions);
    o->objects = objects;
    o->precondition = ground_plan(b, s, &b->in->plan);
    b->t->operator_count++;
    return !scene_is_tired(s);
}

/* --- the whole -----------------------------------------------------------------------
 */

static void set_bit(uint64_t *state, uint32_t atom)
{
    state[atom / 64] |= (uint64_t)1 << atom % 64;
}

static void clear_bit(uint64_t *state, uint32_t atom)
{
    state[atom / 64] &= ~((uint64_t)1 << atom % 64);
}

static void make_start(struct builder *b)
{
    struct task *t = b->t;
    t->words = t->atoms.count / 64 + 1;
    t->start = arena_new(&t->arena, t->words, sizeof *t->start);
    for (uint32_t i = 0; i < t->atoms.count; i++)
        if (facts_has(&b->g->now, t->atoms.keys[i]))
            set_bit(t->start, i);
}

static bool make_goal(struct builder *b)
{
    struct scene s;
    scene_init_goal(&s, b->g->world, &b->t->atoms, &b->work);
    s.is_relaxed = true;
    b->t->goal = ground(b, &s, b->g->world->problem.goal);
    return !scene_is_tired(&s) || state_refuse_work(b->g, b->e);
}

bool task_build(struct task *t, struct game *g, struct err *e)
{
    struct builder b = { .t = t, .g = g, .e = e, .work = BUILD_MAX_WORK };
    b.d = g->world->grammar->domain;
    find_relevant(&b);
    bool ok = reach_all(&b);
    b.changes.judge = judge;
    b.changes.judge_arg = &b;
    ok = ok && search_actions(&b, add_operator) && make_goal(&b);
    if (ok)
        make_start(&b);
    changes_free(&b.changes);
    return ok;
}

void task_free(struct task *t)
{
    facts_free(&t->atoms);
    mem_free(t->operators);
    arena_free(&t->arena);
    *t = (struct task){ 0 };
}

bool formula_holds(const struct formula *f, const uint64_t *state)
{
    if (f->kind == FORMULA_ATOM)
        return (state[f->atom / 64] >> f->atom % 64 & 1) != f->is_negated;
    bool is_and = f->kind == FORMULA_AND;
    for (uint32_t i = 0; i < f->count; i++)
        if (formula_holds(f->parts[i], state) != is_and)
            return !is_and;
    return is_and;
}

void task_apply(const struct task *t, const struct operator* o, const uint64_t *state,
                uint64_t *next)
{
    memcpy(next, state, t->words * sizeof *next);
    for (uint32_t i = 0; i < o->effect_count; i++) {
        const struct operator_effect *e = &o->effects[i];
        if (e->is_removal && (!e->when || formula_holds(e->when, state)))
            clear_bit(next, e->atom);
    }
    for (uint32_t i = 0; i < o->effect_count; i++) {
        const struct operator_effect *e = &o->effects[i];
        if (!e->is_removal && (!e->when || formula_holds(e->when, state)))
            set_bit(next, e->atom);
    }
}
