/* scene.h - asking conditions of a state of the world.
 *
 * A scene is a state, a frame whose slots are bound or not, and a budget of work: each
 * fact and member that is looked at costs one. When the budget is used up all answers
 * are false; ask scene_is_tired before believing them. */
#pragma once
#include "game/world.h"

#define SCENE_UNBOUND 0xfffeu

struct scene {
    const struct world *world;
    const struct facts *now;   /* facts of predicates that change */
    const uint16_t *constants; /* of the text that the conditions are from */
    const struct frame *frame;
    long *work;      /* what is left; below 0 the scene is tired */
    bool is_relaxed; /* `now` are facts that may hold: whatever can change may be away */
    uint16_t slots[LOGIC_MAX_SLOTS];
};

/* All slots unbound. */
void scene_init(struct scene *s, const struct world *w, const struct facts *now,
                const struct frame *frame, long *work);

/* Change to the goal's frame and constants. */
void scene_init_goal(struct scene *s, const struct world *w, const struct facts *now,
                     long *work);

bool scene_is_tired(const struct scene *s);

/* The object a term stands for: SCENE_UNBOUND, WORLD_NO_OBJECT or a number. */
uint16_t scene_object(const struct scene *s, uint16_t term);

/* The fact that an atom whose slots are bound stands for. False when it names an
 * object that nobody declared: there is no such fact. */
bool scene_fact(const struct scene *s, const struct atom *atom, uint64_t *key);

/* Whether the condition holds; its free slots must be bound. */
bool scene_holds(struct scene *s, const struct condition *c);

/* Call `found` for each way the plan finds to bind its slots; false from it stops the
 * search. False when stopped or tired. */
typedef bool scene_found(void *arg, struct scene *s);
bool scene_search(struct scene *s, const struct plan *plan, scene_found *found,
                  void *arg);

/* The same for all ways to bind a set of slots to members of their types. */
bool scene_each(struct scene *s, uint64_t binds, scene_found *found, void *arg);
