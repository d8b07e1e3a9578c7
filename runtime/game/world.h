/* world.h - one game as its file describes it, before anybody has moved.
 *
 * A world joins a problem with its grammar (and so with its domain): objects and
 * their names for people, members of each type, the facts that never change and those
 * that do at the start. It is immutable and can serve many games. */
#pragma once
#include "game/grammar.h"

/* Facts that are told as made false have this bit in the predicate. */
#define WORLD_NOT 0x8000u

/* An object that a condition names but nobody declared: no fact is about it. */
#define WORLD_NO_OBJECT 0xffffu

struct members {
    const uint16_t *objects; /* ascending */
    uint32_t count;
    const uint64_t *bits; /* one for each object of the world */
};

struct world {
    struct share share;
    struct grammar *grammar;        /* in use */
    struct problem problem;         /* its facts are in the two sets below */
    struct members *members;        /* by type, with those of sub-types */
    const char **names;             /* for people, by object; NULL without a name */
    const uint16_t *constants;      /* objects that the domain's conditions name */
    const uint16_t *goal_constants; /* ... that the goal names */
    struct facts statics;           /* of predicates that no action changes */
    struct facts initial;           /* of the others */
};

/* Read a game file (JSON with pddl_domain, grammar, pddl_problem). `file` names it in
 * messages. What equal files have in common is shared through `s` (may be NULL). NULL
 * on error: kind data, or limit when the file is too long. To be given back with
 * share_drop(&w->share). */
struct world *world_read(const char *bytes, size_t n, const char *file,
                         struct game_shared *s, struct err *e);

/* Whether the object is of the type or of one below. LOGIC_NO_TYPE has no members. */
bool world_is_member(const struct world *w, uint16_t type, uint16_t object);

/* Bytes of memory held, without grammar and domain. */
size_t world_size(const struct world *w);

/* Names for people of the `count` objects, ascending by id: "mug 2" for the
 * second-last of the ids that start with mug_bar_, "agent1 " for an id without _bar_.
 * NULL where `is_named` is false. All memory is the arena's. */
const char **world_names(struct arena *a, const struct object *objects, uint32_t count,
                         const bool *is_named);
