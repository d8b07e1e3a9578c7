/* logic.h - conditions of PDDL, compiled.
 *
 * Variables become slots of a frame (one frame an action or a goal, a slot of its
 * own for each quantified variable), names of objects become numbers of a table.
 * `not` and `imply` are pushed down to the atoms. Whatever has to be searched for, an
 * action's parameters or an `exists`, gets a plan: in which order to look up atoms,
 * to list members of a type and to test. All memory is the arena's. */
#pragma once
#include "game/arena.h"
#include "game/facts.h"
#include "game/list.h"
#include "game/names.h"

enum { LOGIC_MAX_SLOTS = 64 };

/* A term at or above LOGIC_CONSTANT is a number of the table of constants, below it
 * a slot. */
#define LOGIC_CONSTANT 0x8000u

static inline bool logic_is_slot(uint16_t term)
{
    return term < LOGIC_MAX_SLOTS;
}

/* A type that was named but never declared: it has no members. */
#define LOGIC_NO_TYPE 0xffffu

struct vocabulary {
    struct names types; /* number 0 is "object" */
    uint16_t *parents;  /* of each type; of "object" itself 0 */
    struct names predicates;
    uint8_t *arities;
    bool *is_changeable; /* some action adds or removes facts of the predicate */
};

struct atom {
    uint16_t predicate;
    uint8_t count;
    uint16_t terms[FACT_MAX_ARGS];
};

enum step_kind {
    STEP_TEST,  /* the condition must hold; its slots are bound */
    STEP_MATCH, /* bind the free slots of an atom to each fact that fits */
    STEP_EACH   /* bind a slot to each member of its type */
};

struct plan_step {
    const struct condition *condition; /* TEST, MATCH */
    enum step_kind kind;
    uint16_t slot; /* EACH */
};

struct plan {
    struct plan_step *steps;
    uint32_t count;
};

enum condition_kind {
    CONDITION_ATOM,
    CONDITION_EQUAL, /* terms 0 and 1 of the atom */
    CONDITION_AND,   /* of no parts: true */
    CONDITION_OR,    /* of no parts: false */
    CONDITION_EXISTS,
    CONDITION_FORALL
};

struct condition {
    enum condition_kind kind;
    bool is_negated; /* ATOM, EQUAL */
    struct atom atom;
    uint64_t uses;            /* free slots, as a set of bits */
    uint64_t binds;           /* EXISTS, FORALL: the slots of its variables */
    struct condition **parts; /* AND, OR: any number; EXISTS, FORALL: one */
    uint32_t count;
    struct plan plan; /* EXISTS, after logic_plan_inside */
};

struct frame {
    uint16_t count;
    uint16_t types[LOGIC_MAX_SLOTS];
};

/* What is needed while a text is compiled. `visible` are the variables in scope,
 * innermost last. */
struct compiler {
    const struct list_tree *tree;
    const struct place *at;
    struct err *e;
    struct arena *arena;
    const struct vocabulary *vocabulary;
    struct names *constants;
    struct frame *frame;
    struct {
        const char *name;
        uint16_t slot;
    } visible[LOGIC_MAX_SLOTS];
    uint16_t visible_count;
};

/* Always false, with the line of the node. */
bool logic_refuse(const struct compiler *c, uint32_t node, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Call `each` for the entries of the list from the node `item` on, with the node of
 * the type, or 0 for entries without one. Stops at the first false. */
typedef bool logic_entry(void *arg, uint32_t entry, uint32_t type);
bool logic_typed_list(const struct compiler *c, uint32_t item, logic_entry *each,
                      void *arg);

/* The number of the type that a node names: 0 for node 0, LOGIC_NO_TYPE when it was
 * never declared. */
uint16_t logic_type(const struct compiler *c, uint32_t node);

/* Add the variables of a typed list to frame and scope; *binds is their slots. The
 * caller restores visible_count behind their scope. */
bool logic_variables(struct compiler *c, uint32_t list, uint64_t *binds);

/* Compile an atom, or a condition (negated when asked). False and NULL on error. */
bool logic_atom(struct compiler *c, uint32_t node, struct atom *atom, uint64_t *uses);
struct condition *logic_condition(struct compiler *c, uint32_t node, bool is_negated);

/* Whether a list has `count` items behind its head; false with a message otherwise. */
bool logic_count(const struct compiler *c, uint32_t list, uint32_t count);

/* Plan how to bind the slots `binds` so that the condition holds, when the slots
 * `bound` are bound already. */
struct plan logic_plan(struct arena *a, const struct vocabulary *v, uint64_t bound,
                       uint64_t binds, struct condition *condition);

/* Give each `exists` inside the condition its plan. */
void logic_plan_inside(struct arena *a, const struct vocabulary *v,
                       struct condition *condition);
