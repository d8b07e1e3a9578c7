/* progress.c - how much of the goal holds, see game.h. */
#include "base/mem.h"
#include "game/state.h"

struct measure {
    struct arena arena;
    const struct vocabulary *vocabulary;
    struct scene scene;
    struct condition **parts; /* of the conjunction being measured */
    uint32_t count, room;
    size_t best; /* of the choices of objects so far */
};

/* Whether some action can make a difference to it. */
static bool can_change(const struct measure *m, const struct condition *c)
{
    if (c->kind == CONDITION_ATOM)
        return m->vocabulary->is_changeable[c->atom.predicate];
    for (uint32_t i = 0; i < c->count; i++)
        if (can_change(m, c->parts[i]))
            return true;
    return false;
}

static void collect(struct measure *m, struct condition *c, uint64_t *binds)
{
    if (c->kind == CONDITION_AND || (c->kind == CONDITION_EXISTS && binds)) {
        if (binds)
            *binds |= c->binds;
        for (uint32_t i = 0; i < c->count; i++)
            collect(m, c->parts[i], binds);
        return;
    }
    if (m->count == m->room) {
        m->room = m->room ? m->room * 2 : 16;
        m->parts = mem_grow(m->parts, m->room * sizeof(struct condition *));
    }
    m->parts[m->count++] = c;
}

/* Of the parts from `first` on, those that cannot change go into a conjunction of
 * their own, which says which objects come into question; the others stay. */
static struct condition *split(struct measure *m, uint32_t first)
{
    struct condition *fixed = arena_new(&m->arena, 1, sizeof *fixed);
    fixed->kind = CONDITION_AND;
    fixed->parts = arena_new(&m->arena, m->count - first, sizeof(struct condition *));
    uint32_t kept = first;
    for (uint32_t i = first; i < m->count; i++) {
        if (can_change(m, m->parts[i]))
            m->parts[kept++] = m->parts[i];
        else
            fixed->parts[fixed->count++] = m->parts[i];
    }
    m->count = kept;
    return fixed;
}

struct choice {
    struct measure *m;
    uint32_t first;
};

static bool count_choice(void *arg, struct scene *s)
{
    struct choice *c = arg;
    size_t satisfied = 0;
    for (uint32_t i = c->first; i < c->m->count; i++)
        satisfied += scene_holds(s, c->m->parts[i]);
    if (satisfied > c->m->best)
        c->m->best = satisfied;
    return true;
}

/* The best choice of objects for an `exists`. */
static void measure_exists(struct measure *m, struct condition *c,
                           struct game_progress *p)
{
    struct choice choice = { .m = m, .first = m->count };
    uint64_t binds = 0;
    collect(m, c, &binds);
    struct condition *fixed = split(m, choice.first);
    struct plan plan = logic_plan(&m->arena, m->vocabulary, 0, binds, fixed);
    m->best = 0;
    scene_search(&m->scene, &plan, count_choice, &choice);
    p->satisfied += m->best;
    p->total += m->count - choice.first;
    m->count = choice.first;
}

static void measure_goal(struct measure *m, struct condition *goal,
                         struct game_progress *p)
{
    collect(m, goal, NULL);
    uint32_t count = m->count;
    for (uint32_t i = 0; i < count; i++) {
        struct condition *c = m->parts[i];
        if (!can_change(m, c))
            continue;
        if (c->kind == CONDITION_EXISTS) {
            measure_exists(m, c, p);
        } else {
            p->satisfied += scene_holds(&m->scene, c);
            p->total++;
        }
    }
}

bool game_progress(const struct game *g, struct game_progress *p, struct err *e)
{
    struct measure m = { .vocabulary = &g->world->grammar->domain->vocabulary };
    long work = STATE_MAX_WORK;
    *p = (struct game_progress){ 0 };
    scene_init_goal(&m.scene, g->world, &g->now, &work);
    measure_goal(&m, g->world->problem.goal, p);
    if (p->total == 0)
        *p = (struct game_progress){ .satisfied = g->is_won, .total = 1 };
    mem_free(m.parts);
    arena_free(&m.arena);
    return work >= 0 || state_refuse_work(g, e);
}
