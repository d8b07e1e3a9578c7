/* pddl.h - a PDDL domain and a PDDL problem, read from text.
 *
 * What is understood: types, constants, predicates, actions with `and or not imply
 * exists forall =` in conditions and `and not when forall increase` in effects.
 * Anything else is refused with its line. A domain is immutable and can serve many
 * problems; a problem is an intermediate from which a world is made. */
#pragma once
#include "game/logic.h"
#include "game/shared.h"

enum {
    PDDL_MAX_TYPES = 256,
    PDDL_MAX_TYPE_DEPTH = 16,
    PDDL_MAX_PREDICATES = 1024,
    PDDL_MAX_ACTIONS = 256,
    PDDL_MAX_PARAMETERS = 16,
    PDDL_MAX_EFFECTS = 256, /* of one action, before forall is multiplied out */
    PDDL_MAX_CASES = 256    /* of one action */
};

struct effect {
    struct condition *when; /* NULL: always */
    uint64_t binds;         /* slots of the forall round it, none mostly */
    bool is_negated;
    struct atom atom;
};

/* One way to satisfy an action's precondition; several when it is an `or`. */
struct action_case {
    struct plan plan;            /* binds the parameters */
    const struct atom **needs;   /* atoms that the case requires to be true */
    const struct atom **forbids; /* ... to be false */
    uint32_t need_count, forbid_count;
    bool may_be_void; /* some binding may leave no effect: see effects.h */
};

struct parameter {
    const char *name; /* without `?` */
    const char *type; /* as written */
    uint16_t slot;
};

struct action {
    const char *name;
    struct frame frame;
    struct parameter *parameters;
    uint32_t parameter_count;
    struct condition *precondition;
    struct action_case *cases;
    uint32_t case_count;
    struct effect *effects;
    uint32_t effect_count;
};

struct object {
    const char *name;
    uint16_t type;
    uint32_t line;
};

struct domain {
    struct share share;
    struct arena arena;
    const char *name;
    struct vocabulary vocabulary;
    struct names constants; /* objects that conditions and effects name */
    struct object *objects; /* declared as :constants */
    uint32_t object_count;
    struct action *actions;
    uint32_t action_count;
};

/* Read a domain; NULL on error. Shared through `s` (may be NULL) with whoever read
 * the same text. To be given back with share_drop(&d->share). */
struct domain *domain_read(const char *text, size_t n, const char *file,
                           struct game_shared *s, struct err *e);

/* Bytes of memory held. */
size_t domain_size(const struct domain *d);

struct problem {
    struct arena arena;
    struct object *objects; /* with the domain's, sorted by name, no name twice */
    uint32_t object_count;
    struct facts facts;     /* the :init; objects numbered as in `objects` */
    struct names constants; /* objects that the goal names; all are declared */
    struct frame frame;
    struct condition *goal; /* planned */
};

/* Read a problem of the domain. The problem must be zeroed and is to be freed in any
 * case. */
bool problem_read(struct problem *p, const struct domain *d, const char *text, size_t n,
                  const char *file, struct err *e);

void problem_free(struct problem *p);

/* The number of the object, or -1. */
int problem_object(const struct problem *p, const char *name);
