/* effects.c - see effects.h. */
#include "game/effects.h"
#include "base/mem.h"

void changes_free(struct changes *c)
{
    mem_free(c->list);
    *c = (struct changes){ 0 };
}

struct finder {
    struct changes *to;
    const struct effect *effect;
    bool failed;
};

static bool add_change(void *arg, struct scene *s)
{
    struct finder *f = arg;
    const struct effect *e = f->effect;
    struct changes *to = f->to;
    struct change made = { .is_removal = e->is_negated, .when = e->when };
    if (!scene_fact(s, &e->atom, &made.key))
        return true;
    made.happens = !e->when || scene_holds(s, e->when);
    if (e->when && to->judge)
        made.judged = to->judge(to->judge_arg, s, e->when);
    f->failed = to->count == EFFECTS_MAX;
    if (f->failed)
        return false;
    if (to->count == to->room) {
        to->room = to->room ? to->room * 2 : 16;
        to->list = mem_grow(to->list, to->room * sizeof *to->list);
    }
    to->list[to->count++] = made;
    return true;
}

static bool is_among(struct scene *s, const struct atom *const *atoms, uint32_t count,
                     uint64_t key)
{
    for (uint32_t i = 0; i < count; i++) {
        uint64_t other = 0;
        if (scene_fact(s, atoms[i], &other) && other == key)
            return true;
    }
    return false;
}

/* Whether the removal is undone by an addition that happens whenever it does. */
static bool is_undone(struct scene *s, const struct changes *all, const struct change *c)
{
    for (uint32_t i = 0; i < all->count; i++) {
        const struct change *other = &all->list[i];
        --*s->work;
        if (!other->is_removal && other->key == c->key &&
            (!other->when || other->when == c->when))
            return true;
    }
    return false;
}

/* Additions are only looked for by removals, so dropped ones must stay until all
 * removals are judged: removals go first. */
static void drop_void(struct changes *all, struct scene *s, const struct action_case *in,
                      bool removals)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < all->count && !scene_is_tired(s); i++) {
        struct change c = all->list[i];
        bool is_void = false;
        if (c.is_removal && removals)
            is_void = is_among(s, in->forbids, in->forbid_count, c.key) ||
                      is_undone(s, all, &c);
        else if (!c.is_removal && !removals)
            is_void = is_among(s, in->needs, in->need_count, c.key);
        if (!is_void)
            all->list[kept++] = c;
    }
    all->count = kept;
}

bool effects_find(struct changes *to, struct scene *s, const struct action *a,
                  const struct action_case *in)
{
    struct finder f = { .to = to };
    to->count = 0;
    for (uint32_t i = 0; i < a->effect_count; i++) {
        f.effect = &a->effects[i];
        if (f.effect->binds)
            scene_each(s, f.effect->binds, add_change, &f);
        else
            add_change(&f, s);
        if (f.failed || scene_is_tired(s))
            return false;
    }
    drop_void(to, s, in, true);
    drop_void(to, s, in, false);
    return !scene_is_tired(s);
}
