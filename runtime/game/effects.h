/* effects.h - what an action would change with its parameters bound. */
#pragma once
#include "game/scene.h"

enum { EFFECTS_MAX = 4096 };

struct change {
    uint64_t key; /* the fact */
    const struct condition *when;
    const void *judged; /* what `judge` made of `when`; NULL without a `when` */
    bool is_removal;
    bool happens; /* there is no `when`, or it holds now */
};

/* A zeroed one is valid and empty; kept from one use to the next. */
struct changes {
    struct change *list;
    uint32_t count, room;
    /* When set, called for each `when` with its slots bound. */
    const void *(*judge)(void *arg, struct scene *s, const struct condition *when);
    void *judge_arg;
};

/* The changes in the order of the effects, without those that can change nothing: a
 * removal of a fact that the same action adds, an addition of a fact that the case
 * requires to be there, a removal of one it requires to be away. When none is left
 * the action does not exist with these parameters. False when the scene is tired or
 * there are too many. */
bool effects_find(struct changes *to, struct scene *s, const struct action *a,
                  const struct action_case *in);

void changes_free(struct changes *c);
