/* state.h - the inside of a game, for game.c and solve.c alone. */
#pragma once
#include "game/effects.h"
#include "game/game.h"
#include "game/tell.h"

struct command {
    const char *text; /* in `texts` */
    uint32_t length;
    uint16_t action, in; /* numbers of the action and of its case */
    uint32_t objects;    /* of its parameters, in `objects` */
};

struct game {
    struct world *world; /* in use */
    char *name;
    struct facts now;  /* facts of predicates that change */
    struct facts told; /* the same as the texts know them, with WORLD_NOT facts */
    struct buf observation;
    struct command *commands;
    uint32_t command_count, command_room;
    struct buf texts;
    uint16_t *objects;
    uint32_t object_count, object_room;
    size_t steps;
    bool is_won, was_admissible;
    struct answers answers; /* scratch */
    struct changes changes; /* scratch */
};

/* Work allowed for one reset or step: each fact, member or symbol that is looked at
 * costs one. Kitchens of the usual size need about 1,500. */
enum { STATE_MAX_WORK = 1000000 };

/* Fill `e` with what it means that a scene is tired. Always false. */
bool state_refuse_work(const struct game *g, struct err *e);

/* The text without the blanks round it. */
const char *state_trim(const char *text, size_t *n);

/* A teller for the present state that writes to `out`. */
void state_teller(struct game *g, struct teller *t, struct buf *out, long *work,
                  struct err *e);
