/* scene.c - see scene.h. */
#include "game/scene.h"
#include <assert.h>

void scene_init(struct scene *s, const struct world *w, const struct facts *now,
                const struct frame *frame, long *work)
{
    s->world = w;
    s->now = now;
    s->constants = w->constants;
    s->frame = frame;
    s->work = work;
    s->is_relaxed = false;
    for (uint16_t i = 0; i < frame->count; i++)
        s->slots[i] = SCENE_UNBOUND;
}

void scene_init_goal(struct scene *s, const struct world *w, const struct facts *now,
                     long *work)
{
    scene_init(s, w, now, &w->problem.frame, work);
    s->constants = w->goal_constants;
}

bool scene_is_tired(const struct scene *s)
{
    return *s->work < 0;
}

static bool spend(struct scene *s)
{
    return --*s->work >= 0;
}

uint16_t scene_object(const struct scene *s, uint16_t term)
{
    return logic_is_slot(term) ? s->slots[term] : s->constants[term - LOGIC_CONSTANT];
}

bool scene_fact(const struct scene *s, const struct atom *atom, uint64_t *key)
{
    uint16_t objects[FACT_MAX_ARGS];
    for (unsigned i = 0; i < atom->count; i++) {
        objects[i] = scene_object(s, atom->terms[i]);
        if (objects[i] == WORLD_NO_OBJECT)
            return false;
        assert(objects[i] < FACT_MAX_OBJECTS);
    }
    *key = fact_key(atom->predicate, objects, atom->count);
    return true;
}

static bool is_changeable(const struct scene *s, uint16_t predicate)
{
    return s->world->grammar->domain->vocabulary.is_changeable[predicate];
}

static const struct facts *facts_of(const struct scene *s, uint16_t predicate)
{
    return is_changeable(s, predicate) ? s->now : &s->world->statics;
}

/* --- conditions ------------------------------------------------------------------- */

static bool stop(void *arg, struct scene *s)
{
    (void)s;
    *(bool *)arg = true;
    return false;
}

static bool holds_exists(struct scene *s, const struct condition *c)
{
    bool found = false;
    scene_search(s, &c->plan, stop, &found);
    return found;
}

struct counterexample {
    const struct condition *condition;
    bool is_found;
};

static bool seek_counterexample(void *arg, struct scene *s)
{
    struct counterexample *c = arg;
    c->is_found = !scene_holds(s, c->condition);
    return !c->is_found;
}

static bool holds_forall(struct scene *s, const struct condition *c)
{
    struct counterexample example = { .condition = c->parts[0] };
    return scene_each(s, c->binds, seek_counterexample, &example) && !example.is_found;
}

static bool holds_parts(struct scene *s, const struct condition *c)
{
    bool is_and = c->kind == CONDITION_AND;
    for (uint32_t i = 0; i < c->count; i++)
        if (scene_holds(s, c->parts[i]) != is_and)
            return !is_and;
    return is_and;
}

static bool holds_atom(struct scene *s, const struct condition *c)
{
    uint64_t key = 0;
    if (s->is_relaxed && c->is_negated && is_changeable(s, c->atom.predicate))
        return true;
    bool is_there =
        scene_fact(s, &c->atom, &key) && facts_has(facts_of(s, c->atom.predicate), key);
    return is_there != c->is_negated;
}

bool scene_holds(struct scene *s, const struct condition *c)
{
    if (!spend(s))
        return false;
    switch (c->kind) {
    case CONDITION_ATOM:
        return holds_atom(s, c);
    case CONDITION_EQUAL:
        return (scene_object(s, c->atom.terms[0]) == scene_object(s, c->atom.terms[1])) !=
               c->is_negated;
    case CONDITION_EXISTS:
        return holds_exists(s, c);
    case CONDITION_FORALL:
        return holds_forall(s, c);
    default:
        return holds_parts(s, c);
    }
}

/* --- searching -------------------------------------------------------------------- */

struct search {
    struct scene *s;
    const struct plan *plan;
    scene_found *found;
    void *arg;
};

static bool run(const struct search *x, uint32_t step);

/* Bind the atom's free slots to the objects of the fact. False when it does not fit.
 * *bound gets the slots that are to be unbound again in any case. */
static bool bind_fact(struct scene *s, const struct atom *atom, uint64_t key,
                      uint64_t *bound)
{
    for (unsigned i = 0; i < atom->count; i++) {
        uint16_t object = fact_object(key, i), term = atom->terms[i];
        uint16_t known = scene_object(s, term);
        if (known == object)
            continue;
        if (known != SCENE_UNBOUND ||
            !world_is_member(s->world, s->frame->types[term], object))
            return false;
        s->slots[term] = object;
        *bound |= (uint64_t)1 << term;
    }
    return true;
}

static void unbind(struct scene *s, uint64_t bound)
{
    for (; bound; bound &= bound - 1)
        s->slots[__builtin_ctzll(bound)] = SCENE_UNBOUND;
}

/* The facts that agree with the atom's leading known terms lie together. */
static uint64_t first_key(const struct scene *s, const struct atom *atom, uint64_t *span)
{
    uint16_t objects[FACT_MAX_ARGS];
    unsigned n = 0;
    for (; n < atom->count; n++) {
        objects[n] = scene_object(s, atom->terms[n]);
        if (objects[n] >= FACT_MAX_OBJECTS)
            break;
    }
    *span = fact_span(n);
    return fact_key(atom->predicate, objects, n);
}

static bool run_match(const struct search *x, uint32_t step)
{
    struct scene *s = x->s;
    const struct atom *atom = &x->plan->steps[step].condition->atom;
    const struct facts *facts = facts_of(s, atom->predicate);
    uint64_t span = 0, first = first_key(s, atom, &span);
    for (uint32_t i = facts_find(facts, first); i < facts->count; i++) {
        if (facts->keys[i] - first >= span)
            break;
        if (!spend(s))
            return false;
        uint64_t bound = 0;
        bool goes_on = !bind_fact(s, atom, facts->keys[i], &bound) || run(x, step + 1);
        unbind(s, bound);
        if (!goes_on)
            return false;
    }
    return true;
}

static bool run_each(const struct search *x, uint32_t step)
{
    struct scene *s = x->s;
    uint16_t slot = x->plan->steps[step].slot, type = s->frame->types[slot];
    if (type == LOGIC_NO_TYPE)
        return true;
    const struct members *m = &s->world->members[type];
    bool goes_on = true;
    for (uint32_t i = 0; i < m->count && goes_on; i++) {
        s->slots[slot] = m->objects[i];
        goes_on = spend(s) && run(x, step + 1);
    }
    s->slots[slot] = SCENE_UNBOUND;
    return goes_on;
}

static bool run(const struct search *x, uint32_t step)
{
    for (; step < x->plan->count; step++) {
        const struct plan_step *p = &x->plan->steps[step];
        if (p->kind == STEP_MATCH)
            return run_match(x, step);
        if (p->kind == STEP_EACH)
            return run_each(x, step);
        if (!scene_holds(x->s, p->condition))
            return !scene_is_tired(x->s);
    }
    return x->found(x->arg, x->s);
}

bool scene_search(struct scene *s, const struct plan *plan, scene_found *found, void *arg)
{
    struct search x = { .s = s, .plan = plan, .found = found, .arg = arg };
    return run(&x, 0);
}

bool scene_each(struct scene *s, uint64_t binds, scene_found *found, void *arg)
{
    struct plan_step steps[LOGIC_MAX_SLOTS];
    struct plan plan = { .steps = steps };
    for (; binds; binds &= binds - 1)
        steps[plan.count++] =
            (struct plan_step){ .kind = STEP_EACH,
                                .slot = (uint16_t)__builtin_ctzll(binds) };
    return scene_search(s, &plan, found, arg);
}
