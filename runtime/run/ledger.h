/* ledger.h - what calls cost, and whether the next one may be made.
 *
 * A call is reserved at its worst case before it is sent and settled after. Under a
 * cap a call that does not fit waits until others have settled, and the run stops
 * only when none is left to wait for. The cap fails closed: with a cap in money every
 * model needs a price. Amounts (`_nano`) are whole billionths of a US dollar, so sums
 * do not depend on their order. A state machine without input or output that owns its
 * tables and copies of all names. Not thread safe. */
#pragma once
#include "base/err.h"
#include <stddef.h>
#include <stdint.h>

/* US dollars for a million tokens; cached input costs as much as other input unless
 * cached_input is given (negative: it is not). */
struct ledger_price {
    double input, cached_input, output;
};

/* Tokens of one call. `cached` is a part of `prompt`, `reasoning` of `completion`.
 * is_estimated: the server did not say, somebody counted. */
struct ledger_usage {
    int64_t prompt, completion, reasoning, cached;
    bool is_estimated;
};

/* Most money, tokens and calls the run may use, both roles together; negative: no cap. */
struct ledger_caps {
    int64_t nano, tokens, calls;
};
#define LEDGER_NO_CAPS                                                                   \
    {                                                                                    \
        -1, -1, -1                                                                       \
    }

struct ledger;
struct ledger *ledger_new(const struct ledger_caps *caps);
void ledger_free(struct ledger *l);

/* False (ERR_CONFIG) when a number is negative or not finite. */
bool ledger_set_price(struct ledger *l, const char *model,
                      const struct ledger_price *price, struct err *e);
const struct ledger_price *ledger_price(const struct ledger *l, const char *model);

/* To be asked for each model before the first call: with a cap in money a model
 * without a price is ERR_BUDGET, with what to do about it. */
bool ledger_check_model(const struct ledger *l, const char *model, struct err *e);

/* Cost of a call in nano-dollars, rounded up; 0 for a model without a price. Absurd
 * numbers end at INT64_MAX / 4. */
int64_t ledger_cost(const struct ledger *l, const char *model,
                    const struct ledger_usage *usage);

/* Who calls: all three texts are copied. */
struct ledger_call {
    const char *role, *stage, *model;
};

/* A reserved call. The caller keeps it, zeroed before; the ledger keeps nothing. */
struct ledger_intent {
    struct ledger_usage worst;
    int64_t nano;
    size_t row, model; /* places in the tables */
    bool is_open;
};

enum ledger_answer {
    LEDGER_GO,   /* reserved: send it, then settle */
    LEDGER_WAIT, /* ask again after the next ledger_settle */
    LEDGER_STOP, /* nothing is left to wait for; e is ERR_BUDGET */
};

/* `worst` is the prompt and the most the reply may have. Always GO without a cap. */
enum ledger_answer ledger_reserve(struct ledger *l, const struct ledger_call *call,
                                  const struct ledger_usage *worst,
                                  struct ledger_intent *intent, struct err *e);

/* The call has ended. usage NULL: nobody knows (cut, timed out), the worst case counts
 * and is marked. Settling an intent that is not open is a no-op. */
void ledger_settle(struct ledger *l, struct ledger_intent *intent,
                   const struct ledger_usage *usage);

/* The call was never sent: nothing counts. */
void ledger_release(struct ledger *l, struct ledger_intent *intent);

/* A call that was paid in an earlier life of the run: never refused. is_lost: its
 * reply is not on file, `usage` is its worst case. */
void ledger_add(struct ledger *l, const struct ledger_call *call,
                const struct ledger_usage *usage, bool is_lost);

/* What was settled, and what is reserved at the moment. */
struct ledger_sum {
    int64_t nano, tokens, calls;
};
struct ledger_sum ledger_spent(const struct ledger *l);
struct ledger_sum ledger_reserved(const struct ledger *l);

/* Totals of a role and stage. `lost` calls stand at their worst case, `unpriced` ones
 * at no cost. */
struct ledger_row {
    const char *role, *stage;
    int64_t calls, estimated, lost, unpriced;
    int64_t prompt, completion, reasoning, cached;
    int64_t nano;
};

/* Row i in the order of role and stage by byte; false behind the last. */
bool ledger_row(const struct ledger *l, size_t i, struct ledger_row *row);

/* Sum of all rows of a role; NULL: of all roles. role and stage of the result are "". */
struct ledger_row ledger_total(const struct ledger *l, const char *role);
