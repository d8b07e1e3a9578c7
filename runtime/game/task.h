/* task.h - a game as a search problem: numbered atoms, ground operators, a goal.
 *
 * Only what can matter is there: facts that some sequence of commands may bring about
 * and that the goal or the precondition of a useful action reads, and actions that
 * change such facts and whose commands can be typed. A state is a set of bits, one for
 * each atom. Built from a game as it stands; independent of it afterwards. */
#pragma once
#include "game/state.h"

enum { TASK_MAX_OPERATORS = 200000, TASK_MAX_BYTES = 256 << 20 };

enum formula_kind {
    FORMULA_ATOM,
    FORMULA_AND, /* of no parts: always true */
    FORMULA_OR   /* of no parts: never true */
};

/* A condition without variables. An AND or OR is never of one part, nor directly
 * inside one of its own kind, nor does it hold an AND or OR of no parts. */
struct formula {
    enum formula_kind kind;
    bool is_negated;
    uint32_t atom;
    uint32_t count;
    const struct formula **parts;
};

struct operator_effect {
    uint32_t atom;
    bool is_removal;
    const struct formula *when; /* NULL: always */
};

struct operator
{
    uint16_t action; /* of the domain */
    const uint16_t *objects;
    const struct formula *precondition;
    struct operator_effect *effects;
    uint32_t effect_count;
};

struct task {
    struct arena arena;
    struct facts atoms; /* the fact behind each number */
    uint32_t words;     /* of a state */
    uint64_t *start;
    struct operator* operators;
    uint32_t operator_count, operator_room;
    const struct formula *goal;
};

/* The task must be zeroed and is to be freed in any case. False with kind limit when
 * the game is too large, or data when its texts cannot be told. `g` is only used for
 * scratch memory. */
bool task_build(struct task *t, struct game *g, struct err *e);

void task_free(struct task *t);

bool formula_holds(const struct formula *f, const uint64_t *state);

/* The state behind an operator. */
void task_apply(const struct task *t, const struct operator* o, const uint64_t *state,
                uint64_t *next);
