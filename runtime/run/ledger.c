/* ledger.c - see ledger.h. */
#include "run/ledger.h"
#include "base/mem.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_MAX = 4096, MODELS_MAX = 1024 };

#define AMOUNT_MAX (INT64_MAX / 4)
#define OTHERS     "(others)"

struct model {
    char *name;
    struct ledger_price price;
    bool has_price;
};

struct ledger {
    struct ledger_caps caps;
    struct model *models;
    struct ledger_row *rows; /* their texts are owned here */
    size_t model_count, row_count;
    struct ledger_sum spent, reserved;
};

/* ---- sums that cannot overflow ---- */

static int64_t at_most(double n)
{
    return n < (double)AMOUNT_MAX ? (int64_t)n : AMOUNT_MAX;
}

static int64_t clamp(int64_t n)
{
    return n < 0 ? 0 : n > AMOUNT_MAX ? AMOUNT_MAX : n;
}

/* Both in 0..AMOUNT_MAX, or -AMOUNT_MAX..0 for b. */
static void add(int64_t *a, int64_t b)
{
    *a = clamp(*a + b);
}

static struct ledger_usage checked(const struct ledger_usage *u)
{
    struct ledger_usage c = { .prompt = clamp(u->prompt),
                              .completion = clamp(u->completion),
                              .reasoning = clamp(u->reasoning),
                              .cached = clamp(u->cached),
                              .is_estimated = u->is_estimated };
    if (c.cached > c.prompt)
        c.cached = c.prompt;
    if (c.reasoning > c.completion)
        c.reasoning = c.completion;
    return c;
}

static int64_t tokens_of(const struct ledger_usage *u)
{
    return clamp(u->prompt + u->completion);
}

/* ---- tables ---- */

static char *copy_of(const char *text)
{
    return mem_copy(text, strlen(text));
}

/* A run has a handful of models: a list will do. SIZE_MAX when it is not there. */
static size_t model_find(const struct ledger *l, const char *name)
{
    for (size_t i = 0; i < l->model_count; i++)
        if (strcmp(l->models[i].name, name) == 0)
            return i;
    return SIZE_MAX;
}

/* The last place has no price and takes all that do not fit. */
static size_t model_add(struct ledger *l, const char *name)
{
    size_t i = model_find(l, name);
    if (i != SIZE_MAX)
        return i;
    if (l->model_count >= MODELS_MAX - 1 && strcmp(name, OTHERS) != 0)
        return model_add(l, OTHERS);
    l->models = mem_grow(l->models, (l->model_count + 1) * sizeof *l->models);
    l->models[l->model_count] = (struct model){ .name = copy_of(name) };
    return l->model_count++;
}

/* Rows stay where they are, for intents name them by place; order is made on reading. */
static size_t row_add(struct ledger *l, const char *role, const char *stage)
{
    for (size_t i = 0; i < l->row_count; i++)
        if (strcmp(l->rows[i].role, role) == 0 && strcmp(l->rows[i].stage, stage) == 0)
            return i;
    if (l->row_count >= ROWS_MAX - 1 && strcmp(stage, OTHERS) != 0)
        return row_add(l, OTHERS, OTHERS);
    l->rows = mem_grow(l->rows, (l->row_count + 1) * sizeof *l->rows);
    l->rows[l->row_count] =
        (struct ledger_row){ .role = copy_of(role), .stage = copy_of(stage) };
    return l->row_count++;
}

struct ledger *ledger_new(const struct ledger_caps *caps)
{
    struct ledger *l = mem_new(sizeof *l);
    l->caps = *caps;
    return l;
}

void ledger_free(struct ledger *l)
{
    if (!l)
        return;
    for (size_t i = 0; i < l->model_count; i++)
        mem_free(l->models[i].name);
    for (size_t i = 0; i < l->row_count; i++) {
        mem_free((char *)l->rows[i].role);
        mem_free((char *)l->rows[i].stage);
    }
    mem_free(l->models);
    mem_free(l->rows);
    mem_free(l);
}

/* ---- prices ---- */

static bool is_price(double n)
{
    return isfinite(n) && n >= 0;
}

bool ledger_set_price(struct ledger *l, const char *model,
                      const struct ledger_price *price, struct err *e)
{
    bool is_known_cache = price->cached_input < 0 || is_price(price->cached_input);
    if (!is_price(price->input) || !is_price(price->output) || !is_known_cache)
        return err_set(e, ERR_CONFIG, "the price of %s is not a number of dollars",
                       model);
    size_t i = model_add(l, model);
    if (strcmp(l->models[i].name, model) != 0)
        return err_set(e, ERR_LIMIT, "more than %d models have a price", MODELS_MAX);
    l->models[i].price = *price;
    l->models[i].has_price = true;
    return true;
}

const struct ledger_price *ledger_price(const struct ledger *l, const char *model)
{
    size_t i = model_find(l, model);
    return i != SIZE_MAX && l->models[i].has_price ? &l->models[i].price : NULL;
}

bool ledger_check_model(const struct ledger *l, const char *model, struct err *e)
{
    if (l->caps.nano < 0 || ledger_price(l, model))
        return true;
    err_set(e, ERR_BUDGET, "no price for %s, and spending is capped", model);
    return err_hint(e, "give its price, or cap tokens (spend.tokens) instead of money");
}

/* Dollars a million tokens are micro-dollars a token: 1000 nano-dollars. */
static int64_t cost_of(const struct ledger_price *p, const struct ledger_usage *u)
{
    double cached_price = p->cached_input < 0 ? p->input : p->cached_input;
    double micro = (double)(u->prompt - u->cached) * p->input +
                   (double)u->cached * cached_price + (double)u->completion * p->output;
    return at_most(ceil(micro * 1000 - 1e-3)); /* not up for the error of a product */
}

int64_t ledger_cost(const struct ledger *l, const char *model,
                    const struct ledger_usage *usage)
{
    const struct ledger_price *price = ledger_price(l, model);
    struct ledger_usage u = checked(usage);
    return price ? cost_of(price, &u) : 0;
}

/* ---- reserving and settling ---- */

static bool fits(int64_t cap, int64_t spent, int64_t reserved, int64_t wanted)
{
    return cap < 0 || clamp(spent + reserved) + wanted <= cap;
}

static bool fits_all(const struct ledger *l, const struct ledger_sum *reserved,
                     const struct ledger_sum *wanted)
{
    return fits(l->caps.nano, l->spent.nano, reserved->nano, wanted->nano) &&
           fits(l->caps.tokens, l->spent.tokens, reserved->tokens, wanted->tokens) &&
           fits(l->caps.calls, l->spent.calls, reserved->calls, wanted->calls);
}

static void stop(const struct ledger *l, const struct ledger_sum *wanted, struct err *e)
{
    const char *key = "spend.calls";
    if (!fits(l->caps.nano, l->spent.nano, 0, wanted->nano)) {
        key = "spend.cost";
        err_set(e, ERR_BUDGET,
                "the budget of $%.2f is used up: $%.4f are spent, and the next call may "
                "cost $%.4f",
                (double)l->caps.nano / 1e9, (double)l->spent.nano / 1e9,
                (double)wanted->nano / 1e9);
    } else if (!fits(l->caps.tokens, l->spent.tokens, 0, wanted->tokens)) {
        key = "spend.tokens";
        err_set(e, ERR_BUDGET,
                "the budget of %" PRId64 " tokens is used up: %" PRId64
                " are spent, and the next call may take %" PRId64,
                l->caps.tokens, l->spent.tokens, wanted->tokens);
    } else {
        err_set(e, ERR_BUDGET, "the budget of %" PRId64 " calls is used up",
                l->caps.calls);
    }
    err_hint(e, "raise %s and start again: what was paid is not paid twice", key);
}

enum ledger_answer ledger_reserve(struct ledger *l, const struct ledger_call *call,
                                  const struct ledger_usage *worst,
                                  struct ledger_intent *intent, struct err *e)
{
    if (!ledger_check_model(l, call->model, e))
        return LEDGER_STOP;
    struct ledger_usage u = checked(worst);
    struct ledger_sum wanted = { ledger_cost(l, call->model, &u), tokens_of(&u), 1 };
    if (!fits_all(l, &l->reserved, &wanted)) {
        if (l->reserved.calls > 0)
            return LEDGER_WAIT;
        stop(l, &wanted, e);
        return LEDGER_STOP;
    }
    add(&l->reserved.nano, wanted.nano);
    add(&l->reserved.tokens, wanted.tokens);
    l->reserved.calls++;
    *intent = (struct ledger_intent){ .worst = u,
                                      .nano = wanted.nano,
                                      .row = row_add(l, call->role, call->stage),
                                      .model = model_add(l, call->model),
                                      .is_open = true };
    return LEDGER_GO;
}

void ledger_release(struct ledger *l, struct ledger_intent *intent)
{
    if (!intent->is_open)
        return;
    intent->is_open = false;
    add(&l->reserved.nano, -intent->nano);
    add(&l->reserved.tokens, -tokens_of(&intent->worst));
    l->reserved.calls--;
}

static void count(struct ledger *l, size_t row, const struct model *model,
                  const struct ledger_usage *usage, bool is_lost)
{
    struct ledger_usage u = checked(usage);
    int64_t nano = model->has_price ? cost_of(&model->price, &u) : 0;
    struct ledger_row *r = &l->rows[row];
    r->calls++;
    r->estimated += u.is_estimated;
    r->lost += is_lost;
    r->unpriced += !model->has_price;
    add(&r->prompt, u.prompt);
    add(&r->completion, u.completion);
    add(&r->reasoning, u.reasoning);
    add(&r->cached, u.cached);
    add(&r->nano, nano);
    add(&l->spent.nano, nano);
    add(&l->spent.tokens, tokens_of(&u));
    l->spent.calls++;
}

void ledger_settle(struct ledger *l, struct ledger_intent *intent,
                   const struct ledger_usage *usage)
{
    if (!intent->is_open)
        return;
    ledger_release(l, intent);
    count(l, intent->row, &l->models[intent->model], usage ? usage : &intent->worst,
          !usage);
}

void ledger_add(struct ledger *l, const struct ledger_call *call,
                const struct ledger_usage *usage, bool is_lost)
{
    size_t row = row_add(l, call->role, call->stage);
    size_t model = model_add(l, call->model);
    count(l, row, &l->models[model], usage, is_lost);
}

/* ---- totals ---- */

struct ledger_sum ledger_spent(const struct ledger *l)
{
    return l->spent;
}

struct ledger_sum ledger_reserved(const struct ledger *l)
{
    return l->reserved;
}

static int compare(const struct ledger_row *a, const struct ledger_row *b)
{
    int by_role = strcmp(a->role, b->role);
    return by_role ? by_role : strcmp(a->stage, b->stage);
}

bool ledger_row(const struct ledger *l, size_t i, struct ledger_row *row)
{
    for (size_t k = 0; k < l->row_count; k++) {
        size_t before = 0;
        for (size_t m = 0; m < l->row_count; m++)
            before += compare(&l->rows[m], &l->rows[k]) < 0;
        if (before != i)
            continue;
        *row = l->rows[k];
        return true;
    }
    return false;
}

static void sum_rows(struct ledger_row *a, const struct ledger_row *b)
{
    a->calls += b->calls;
    a->estimated += b->estimated;
    a->lost += b->lost;
    a->unpriced += b->unpriced;
    add(&a->prompt, b->prompt);
    add(&a->completion, b->completion);
    add(&a->reasoning, b->reasoning);
    add(&a->cached, b->cached);
    add(&a->nano, b->nano);
}

struct ledger_row ledger_total(const struct ledger *l, const char *role)
{
    struct ledger_row total = { .role = "", .stage = "" };
    for (size_t i = 0; i < l->row_count; i++)
        if (!role || strcmp(l->rows[i].role, role) == 0)
            sum_rows(&total, &l->rows[i]);
    return total;
}
