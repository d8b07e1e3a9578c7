/* tell.h - turning phrases into text.
 *
 * A teller holds bindings of placeholders to objects and asks the told facts: those
 * that never change, those that do, and those that an action has made false (see
 * WORLD_NOT). It spends the same budget of work as scenes do. */
#pragma once
#include "base/buf.h"
#include "game/world.h"

enum { TELL_MAX_BINDINGS = 64, TELL_MAX_DEPTH = 64 };

struct binding {
    uint16_t placeholder; /* or GRAMMAR_NONE: only reached by its name */
    uint16_t variable;    /* its name, or GRAMMAR_NONE */
    uint16_t object;
};

/* Scratch memory that is worth keeping from one telling to the next. A zeroed one is
 * valid and empty. */
struct answers {
    struct binding *list;
    uint32_t count, room;
};

void answers_free(struct answers *a);

struct teller {
    const struct world *world;
    const struct facts *told; /* facts of predicates that change, and WORLD_NOT ones */
    const char *file;         /* for messages */
    struct answers *answers;
    struct buf *out;
    long *work;
    struct err *e;
    uint32_t depth;
    uint32_t count;
    struct binding bindings[TELL_MAX_BINDINGS];
};

/* Bind the parameters of an action of the domain to objects. */
void tell_bind(struct teller *t, uint32_t action, const uint16_t *objects);

/* Append the text to `out`. False with kind data (no rule fits, an object has no
 * name) or limit (too much work, too long, too deep); `out` is then unfinished. */
bool tell_phrase(struct teller *t, const struct phrase *phrase);
bool tell_rule(struct teller *t, uint32_t rule);
