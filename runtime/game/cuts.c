/* cuts.c - see cuts.h.
 *
 * Literals are numbered: atom i true 2i, false 2i + 1, behind them one that always
 * holds, one for the goal and one for each `or`. A relaxed operator has literals that
 * it needs and literals that it gives; those of `or` and goal cost nothing. */
#include "game/cuts.h"
#include "base/mem.h"
#include <assert.h>
#include <string.h>

#define UNREACHED UINT32_MAX

struct list {
    uint32_t *items;
    uint32_t count, room;
};

/* For each of `count` owners a slice of `items`, from starts[i] to starts[i + 1]. */
struct slices {
    uint32_t *starts;
    uint32_t *items;
};

struct cuts {
    const struct task *task;
    long *work;
    uint32_t literals, operators;
    uint32_t always, goal;
    struct slices needs, gives;        /* literals, by operator */
    struct slices needed_by, given_by; /* operators, by literal */
    uint8_t *costs;                    /* by operator: 0 or 1 */
    /* of the estimate being made */
    uint8_t *left_costs;
    uint32_t *missing;    /* by operator: needed literals not reached yet */
    uint32_t *supporters; /* by operator: the needed literal reached last */
    uint32_t *values;     /* by literal: cost to reach it, or UNREACHED */
    uint8_t *marks;       /* by literal */
    struct list now, next, cut;
};

/* --- lists -------------------------------------------------------------------------- */

static void push(struct list *l, uint32_t item)
{
    if (l->count == l->room) {
        l->room = l->room ? l->room * 2 : 64;
        l->items = mem_grow(l->items, l->room * sizeof *l->items);
    }
    l->items[l->count++] = item;
}

/* --- making the relaxed operators ------------------------------------------------------
 */

struct relaxer {
    struct cuts *c;
    struct list need_starts, needs, give_starts, gives;
    struct list costs;
    struct list extra; /* ors that are still to be made: pairs of formula and literal */
    const struct formula **ors;
    uint32_t or_room;
};

static void begin_operator(struct relaxer *r, uint32_t cost)
{
    push(&r->need_starts, r->needs.count);
    push(&r->give_starts, r->gives.count);
    push(&r->costs, cost);
}

/* A new literal for an `or`; its operators are made later, see make_ors. */
static uint32_t or_literal(struct relaxer *r, const struct formula *f)
{
    if (r->extra.count == r->or_room) {
        r->or_room = r->or_room ? r->or_room * 2 : 16;
        r->ors = mem_grow(r->ors, r->or_room * sizeof(struct formula *));
    }
    r->ors[r->extra.count] = f;
    push(&r->extra, r->c->literals);
    return r->c->literals++;
}

/* A literal that is needed twice is counted twice and reached twice. */
static void add_needs(struct relaxer *r, const struct formula *f)
{
    if (f->kind == FORMULA_ATOM)
        push(&r->needs, f->atom * 2 + f->is_negated);
    else if (f->kind == FORMULA_OR)
        push(&r->needs, or_literal(r, f));
    else
        for (uint32_t i = 0; i < f->count; i++)
            add_needs(r, f->parts[i]);
}

/* An operator needs at least one literal. */
static void end_needs(struct relaxer *r)
{
    if (r->needs.count == r->need_starts.items[r->need_starts.count - 1])
        push(&r->needs, r->c->always);
}

static void make_ors(struct relaxer *r)
{
    for (uint32_t i = 0; i < r->extra.count; i++)
        for (uint32_t j = 0; j < r->ors[i]->count; j++) {
            begin_operator(r, 0);
            add_needs(r, r->ors[i]->parts[j]);
            end_needs(r);
            push(&r->gives, r->extra.items[i]);
        }
}

static void make_operators(struct relaxer *r)
{
    const struct task *t = r->c->task;
    for (uint32_t i = 0; i < t->operator_count; i++) {
        const struct operator* o = & t->operators[i];
        begin_operator(r, 1);
        add_needs(r, o->precondition);
        end_needs(r);
        for (uint32_t j = 0; j < o->effect_count; j++)
            push(&r->gives, o->effects[j].atom * 2 + o->effects[j].is_removal);
    }
    begin_operator(r, 0);
    add_needs(r, t->goal);
    end_needs(r);
    push(&r->gives, r->c->goal);
    make_ors(r);
}

/* --- slices ---------------------------------------------------------------------------
 */

static struct slices take_slices(struct list *starts, struct list *items)
{
    push(starts, items->count);
    struct slices s = { .starts = starts->items, .items = items->items };
    *starts = *items = (struct list){ 0 };
    return s;
}

/* Leave out literals that no operator needs, and the goal's. */
static void drop_idle(struct cuts *c, struct slices *gives)
{
    bool *is_needed = mem_new_array(c->literals, sizeof *is_needed);
    for (uint32_t i = 0; i < c->needs.starts[c->operators]; i++)
        is_needed[c->needs.items[i]] = true;
    is_needed[c->goal] = true;
    uint32_t kept = 0, first = 0;
    for (uint32_t i = 0; i < c->operators; i++) {
        uint32_t end = gives->starts[i + 1];
        for (uint32_t j = first; j < end; j++)
            if (is_needed[gives->items[j]])
                gives->items[kept++] = gives->items[j];
        first = end;
        gives->starts[i + 1] = kept;
    }
    mem_free(is_needed);
}

/* By literal, which operators have it in their slice. */
static struct slices invert(const struct cuts *c, const struct slices *by_operator)
{
    uint32_t total = by_operator->starts[c->operators];
    struct slices s = { .starts = mem_new_array(c->literals + 2, sizeof *s.starts),
                        .items = mem_new_array(total, sizeof *s.items) };
    for (uint32_t i = 0; i < total; i++)
        s.starts[by_operator->items[i] + 2]++;
    for (uint32_t i = 2; i < c->literals + 2; i++)
        s.starts[i] += s.starts[i - 1];
    for (uint32_t i = 0; i < c->operators; i++)
        for (uint32_t j = by_operator->starts[i]; j < by_operator->starts[i + 1]; j++)
            s.items[s.starts[by_operator->items[j] + 1]++] = i;
    return s;
}

static void slices_free(struct slices *s)
{
    mem_free(s->starts);
    mem_free(s->items);
}

/* --- making and freeing ------------------------------------------------------------- */

static void make_scratch(struct cuts *c)
{
    c->left_costs = mem_new_array(c->operators, sizeof *c->left_costs);
    c->missing = mem_new_array(c->operators, sizeof *c->missing);
    c->supporters = mem_new_array(c->operators, sizeof *c->supporters);
    c->values = mem_new_array(c->literals, sizeof *c->values);
    c->marks = mem_new_array(c->literals, sizeof *c->marks);
}

struct cuts *cuts_new(const struct task *t, long *work)
{
    struct cuts *c = mem_new(sizeof *c);
    struct relaxer r = { .c = c };
    c->task = t;
    c->work = work;
    c->always = t->atoms.count * 2;
    c->goal = c->always + 1;
    c->literals = c->goal + 1;
    make_operators(&r);
    c->operators = r.costs.count;
    c->costs = mem_new_array(c->operators, sizeof *c->costs);
    for (uint32_t i = 0; i < c->operators; i++)
        c->costs[i] = (uint8_t)r.costs.items[i];
    c->needs = take_slices(&r.need_starts, &r.needs);
    c->gives = take_slices(&r.give_starts, &r.gives);
    drop_idle(c, &c->gives);
    c->needed_by = invert(c, &c->needs);
    c->given_by = invert(c, &c->gives);
    make_scratch(c);
    mem_free(r.costs.items);
    mem_free(r.extra.items);
    mem_free(r.ors);
    return c;
}

void cuts_free(struct cuts *c)
{
    if (!c)
        return;
    slices_free(&c->needs);
    slices_free(&c->gives);
    slices_free(&c->needed_by);
    slices_free(&c->given_by);
    mem_free(c->costs);
    mem_free(c->left_costs);
    mem_free(c->missing);
    mem_free(c->supporters);
    mem_free(c->values);
    mem_free(c->marks);
    mem_free(c->now.items);
    mem_free(c->next.items);
    mem_free(c->cut.items);
    mem_free(c);
}

/* --- how far each literal is ----------------------------------------------------------
 */

static bool holds(const uint64_t *state, uint32_t literal)
{
    uint32_t atom = literal / 2;
    return (state[atom / 64] >> atom % 64 & 1) != (literal & 1);
}

static void reach(struct cuts *c, uint32_t literal, uint32_t value, struct list *queue)
{
    if (c->values[literal] <= value)
        return;
    c->values[literal] = value;
    push(queue, literal);
}

static void start_from(struct cuts *c, const uint64_t *state)
{
    c->now.count = c->next.count = 0;
    memset(c->values, 0xff, c->literals * sizeof *c->values);
    for (uint32_t i = 0; i < c->operators; i++)
        c->missing[i] = c->needs.starts[i + 1] - c->needs.starts[i];
    for (uint32_t i = 0; i < c->always; i++)
        if (holds(state, i))
            reach(c, i, 0, &c->now);
    reach(c, c->always, 0, &c->now);
}

static void fire(struct cuts *c, uint32_t operator, uint32_t value)
{
    struct list *queue = c->left_costs[operator] ? &c->next : &c->now;
    for (uint32_t i = c->gives.starts[operator]; i < c->gives.starts[operator + 1]; i++)
        reach(c, c->gives.items[i], value + c->left_costs[operator], queue);
}

/* The cost to reach each literal, where an operator costs as much as the dearest of
 * its needs and itself. Costs are 0 or 1, so that two queues suffice: of this value
 * and of the next. A literal may be queued twice; the first time counts. */
static void find_values(struct cuts *c, const uint64_t *state)
{
    memset(c->marks, 0, c->literals);
    *c->work -= c->needs.starts[c->operators] + c->literals;
    start_from(c, state);
    for (uint32_t value = 0; c->now.count; value++) {
        while (c->now.count) {
            uint32_t literal = c->now.items[--c->now.count];
            if (c->marks[literal])
                continue;
            c->marks[literal] = 1;
            uint32_t end = c->needed_by.starts[literal + 1];
            for (uint32_t i = c->needed_by.starts[literal]; i < end; i++) {
                uint32_t operator= c->needed_by.items[i];
                c->supporters[operator] = literal;
                if (--c->missing[operator] == 0)
                    fire(c, operator, value);
            }
        }
        struct list done = c->now;
        c->now = c->next;
        c->next = done;
    }
}

/* --- cuts ------------------------------------------------------------------------------
 */

enum { MARK_NONE, MARK_BEFORE, MARK_ZONE };

static void mark(struct cuts *c, uint32_t literal, uint8_t how)
{
    if (c->marks[literal] != MARK_NONE)
        return;
    c->marks[literal] = how;
    push(&c->now, literal);
}

/* The zone of the goal: literals from which it is reached at no more cost. */
static void mark_zone(struct cuts *c)
{
    c->now.count = 0;
    mark(c, c->goal, MARK_ZONE);
    while (c->now.count) {
        uint32_t literal = c->now.items[--c->now.count];
        for (uint32_t i = c->given_by.starts[literal];
             i < c->given_by.starts[literal + 1]; i++) {
            uint32_t operator= c->given_by.items[i];
            if (c->left_costs[operator] == 0 && c->missing[operator] == 0)
                mark(c, c->supporters[operator], MARK_ZONE);
        }
    }
}

static bool enters_zone(const struct cuts *c, uint32_t operator)
{
    for (uint32_t i = c->gives.starts[operator]; i < c->gives.starts[operator + 1]; i++)
        if (c->marks[c->gives.items[i]] == MARK_ZONE)
            return true;
    return false;
}

static void follow(struct cuts *c, uint32_t operator)
{
    if (enters_zone(c, operator)) {
        push(&c->cut, operator);
        return;
    }
    for (uint32_t i = c->gives.starts[operator]; i < c->gives.starts[operator + 1]; i++)
        mark(c, c->gives.items[i], MARK_BEFORE);
}

/* The operators that lead from what is reached outside the zone into it. */
static void find_cut(struct cuts *c, const uint64_t *state)
{
    c->cut.count = 0;
    memset(c->marks, MARK_NONE, c->literals);
    mark_zone(c);
    for (uint32_t i = 0; i < c->always; i++)
        if (holds(state, i))
            mark(c, i, MARK_BEFORE);
    mark(c, c->always, MARK_BEFORE);
    while (c->now.count) {
        uint32_t literal = c->now.items[--c->now.count];
        uint32_t end = c->needed_by.starts[literal + 1];
        for (uint32_t i = c->needed_by.starts[literal]; i < end; i++) {
            uint32_t operator= c->needed_by.items[i];
            if (c->missing[operator] == 0 && c->supporters[operator] == literal)
                follow(c, operator);
        }
    }
}

uint32_t cuts_estimate(struct cuts *c, const uint64_t *state)
{
    uint32_t estimate = 0;
    memcpy(c->left_costs, c->costs, c->operators);
    find_values(c, state);
    if (c->values[c->goal] == UNREACHED)
        return CUTS_NEVER;
    while (c->values[c->goal] > 0 && *c->work >= 0) {
        find_cut(c, state);
        assert(c->cut.count > 0);
        for (uint32_t i = 0; i < c->cut.count; i++)
            c->left_costs[c->cut.items[i]] = 0;
        estimate++;
        find_values(c, state);
    }
    return estimate;
}
