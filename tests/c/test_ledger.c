/* Money: prices, reservations, the cap, totals. */
#include "base/buf.h"
#include "check.h"
#include "io/file.h"
#include "run/ledger.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct ledger_price cheap = { .input = 3,
                                           .cached_input = 0.3,
                                           .output = 15 };

static struct ledger *with_caps(int64_t nano, int64_t tokens, int64_t calls)
{
    struct ledger_caps caps = { .nano = nano, .tokens = tokens, .calls = calls };
    struct ledger *l = ledger_new(&caps);
    CHECK(ledger_set_price(l, "m", &cheap, NULL));
    return l;
}

static const struct ledger_call target = { "target", "rollout", "m" };
static const struct ledger_call optimizer = { "optimizer", "analyst", "m" };

static struct ledger_usage usage(int64_t prompt, int64_t completion)
{
    return (struct ledger_usage){ .prompt = prompt, .completion = completion };
}

static enum ledger_answer reserve(struct ledger *l, const struct ledger_call *call,
                                  int64_t prompt, int64_t completion,
                                  struct ledger_intent *intent, struct err *e)
{
    struct ledger_usage worst = usage(prompt, completion);
    *intent = (struct ledger_intent){ 0 };
    *e = (struct err){ 0 };
    return ledger_reserve(l, call, &worst, intent, e);
}

static void a_call_costs_its_tokens_times_their_prices(void)
{
    struct ledger *l = with_caps(-1, -1, -1);
    struct ledger_usage u = usage(1000000, 0);
    CHECK_INT(ledger_cost(l, "m", &u), 3000000000);
    u = usage(0, 1000000);
    CHECK_INT(ledger_cost(l, "m", &u), 15000000000);
    u = (struct ledger_usage){ .prompt = 1000, .cached = 400, .completion = 10 };
    CHECK_INT(ledger_cost(l, "m", &u), 600 * 3000 + 400 * 300 + 10 * 15000);
    CHECK_INT(ledger_cost(l, "unknown", &u), 0);
    struct ledger_price plain = { .input = 2, .cached_input = -1, .output = 0.075 };
    CHECK(ledger_set_price(l, "p", &plain, NULL));
    CHECK_INT(ledger_cost(l, "p", &u), 1000 * 2000 + 750);
    u = usage(0, 1);
    CHECK_INT(ledger_cost(l, "p", &u), 75);
    struct ledger_price odd = { .input = 0.0001, .cached_input = -1, .output = 0 };
    CHECK(ledger_set_price(l, "odd", &odd, NULL));
    u = usage(1, 0);
    CHECK_INT(ledger_cost(l, "odd", &u), 1);
    ledger_free(l);
}

static void absurd_numbers_stay_numbers(void)
{
    struct ledger *l = with_caps(1000, -1, -1);
    struct ledger_intent intent;
    struct err e;
    struct ledger_usage u = { .prompt = INT64_MAX,
                              .completion = INT64_MAX,
                              .cached = -5 };
    CHECK(ledger_cost(l, "m", &u) > 0);
    CHECK(reserve(l, &target, INT64_MAX, INT64_MAX, &intent, &e) == LEDGER_STOP);
    u = (struct ledger_usage){ .prompt = -1, .completion = -1, .cached = 9 };
    CHECK_INT(ledger_cost(l, "m", &u), 0);
    for (int i = 0; i < 10; i++) {
        struct ledger_usage much = usage(INT64_MAX, INT64_MAX);
        ledger_add(l, &target, &much, false);
    }
    CHECK(ledger_spent(l).nano > 0 && ledger_spent(l).tokens > 0);
    CHECK(reserve(l, &target, 1, 1, &intent, &e) == LEDGER_STOP);
    struct ledger_price bad[] = {
        { -1, -1, 1 }, { 1, -1, NAN }, { INFINITY, -1, 1 }, { 1, NAN, 1 }
    };
    for (int i = 0; i < 3; i++)
        CHECK(!ledger_set_price(l, "bad", &bad[i], &e));
    CHECK(!ledger_set_price(l, "bad", &bad[3], &e) && e.kind == ERR_CONFIG);
    CHECK(!ledger_price(l, "bad"));
    ledger_free(l);
}

static void without_a_cap_everything_goes(void)
{
    struct ledger *l = with_caps(-1, -1, -1);
    struct ledger_call call = { "target", "rollout", "no price" };
    struct ledger_intent intent;
    struct err e;
    CHECK(ledger_check_model(l, "no price", &e));
    CHECK(reserve(l, &call, 1 << 30, 1 << 30, &intent, &e) == LEDGER_GO);
    ledger_settle(l, &intent, NULL);
    CHECK_INT(ledger_total(l, "target").unpriced, 1);
    ledger_free(l);
}

static void a_settled_call_counts_what_it_used(void)
{
    struct ledger *l = with_caps(1000000000, -1, -1);
    struct ledger_intent intent;
    struct err e;
    CHECK(reserve(l, &target, 1000, 2000, &intent, &e) == LEDGER_GO);
    CHECK_INT(ledger_reserved(l).nano, 1000 * 3000 + 2000 * 15000);
    CHECK_INT(ledger_reserved(l).tokens, 3000);
    CHECK_INT(ledger_spent(l).nano, 0);
    struct ledger_usage used = usage(900, 100);
    ledger_settle(l, &intent, &used);
    CHECK_INT(ledger_reserved(l).nano, 0);
    CHECK_INT(ledger_spent(l).nano, 900 * 3000 + 100 * 15000);
    ledger_settle(l, &intent, &used);
    ledger_release(l, &intent);
    CHECK_INT(ledger_spent(l).calls, 1);
    ledger_free(l);
}

static void a_call_nobody_knows_about_counts_its_worst_case(void)
{
    struct ledger *l = with_caps(1000000000, -1, -1);
    struct ledger_intent intent;
    struct err e;
    CHECK(reserve(l, &target, 1000, 2000, &intent, &e) == LEDGER_GO);
    ledger_settle(l, &intent, NULL);
    CHECK_INT(ledger_spent(l).nano, 1000 * 3000 + 2000 * 15000);
    CHECK_INT(ledger_total(l, NULL).lost, 1);
    CHECK(reserve(l, &target, 1000, 2000, &intent, &e) == LEDGER_GO);
    ledger_release(l, &intent);
    CHECK_INT(ledger_total(l, NULL).calls, 1);
    CHECK_INT(ledger_reserved(l).calls, 0);
    ledger_free(l);
}

static void a_call_that_does_not_fit_waits_for_the_others(void)
{
    struct ledger *l = with_caps(10000000, -1, -1);
    struct ledger_intent a, b;
    struct err e;
    CHECK(reserve(l, &target, 2000, 0, &a, &e) == LEDGER_GO);
    CHECK(reserve(l, &optimizer, 2000, 0, &b, &e) == LEDGER_WAIT);
    CHECK(!b.is_open && e.kind == ERR_NONE);
    struct ledger_usage used = usage(100, 0);
    ledger_settle(l, &a, &used);
    CHECK(reserve(l, &optimizer, 2000, 0, &b, &e) == LEDGER_GO);
    CHECK(reserve(l, &target, 2000, 0, &a, &e) == LEDGER_WAIT);
    ledger_settle(l, &b, NULL);
    CHECK(reserve(l, &target, 2000, 0, &a, &e) == LEDGER_STOP);
    CHECK_INT(e.kind, ERR_BUDGET);
    CHECK_TEXT(e.message, "the budget of $0.01 is used up: $0.0063 are spent, and the "
                          "next call may cost $0.0060");
    CHECK(strstr(e.hint, "spend.cost") != NULL);
    CHECK(reserve(l, &target, 1000, 0, &a, &e) == LEDGER_GO);
    ledger_free(l);
}

static void the_cap_is_met_to_the_last_unit(void)
{
    struct ledger *l = with_caps(3000, -1, -1);
    struct ledger_intent a;
    struct err e;
    CHECK(reserve(l, &target, 1, 0, &a, &e) == LEDGER_GO);
    ledger_settle(l, &a, NULL);
    CHECK(reserve(l, &target, 1, 0, &a, &e) == LEDGER_STOP);
    CHECK(reserve(l, &target, 0, 0, &a, &e) == LEDGER_GO);
    ledger_free(l);
}

static void tokens_and_calls_have_caps_too(void)
{
    struct ledger *l = with_caps(-1, 100, -1);
    struct ledger_intent a, b;
    struct err e;
    CHECK(reserve(l, &target, 60, 41, &a, &e) == LEDGER_STOP);
    CHECK(strstr(e.message, "100 tokens") && strstr(e.hint, "spend.tokens"));
    CHECK(reserve(l, &target, 60, 40, &a, &e) == LEDGER_GO);
    ledger_free(l);
    l = with_caps(-1, -1, 1);
    CHECK(reserve(l, &target, 1, 1, &a, &e) == LEDGER_GO);
    CHECK(reserve(l, &target, 1, 1, &b, &e) == LEDGER_WAIT);
    ledger_settle(l, &a, NULL);
    CHECK(reserve(l, &target, 1, 1, &b, &e) == LEDGER_STOP);
    CHECK_TEXT(e.message, "the budget of 1 calls is used up");
    CHECK(strstr(e.hint, "spend.calls") != NULL);
    ledger_free(l);
}

static void what_was_paid_before_counts(void)
{
    struct ledger *l = with_caps(10000000, -1, -1);
    struct ledger_intent a;
    struct err e;
    struct ledger_usage used = usage(3000, 0);
    ledger_add(l, &target, &used, false);
    ledger_add(l, &target, &used, true);
    CHECK_INT(ledger_spent(l).nano, 18000000);
    CHECK_INT(ledger_total(l, "target").lost, 1);
    CHECK(reserve(l, &target, 1, 0, &a, &e) == LEDGER_STOP);
    ledger_free(l);
}

static void totals_are_kept_by_role_and_stage(void)
{
    struct ledger *l = with_caps(-1, -1, -1);
    struct ledger_call merging = { "optimizer", "merging", "m" };
    struct ledger_usage u = { .prompt = 100,
                              .cached = 50,
                              .completion = 20,
                              .reasoning = 15,
                              .is_estimated = true };
    struct ledger_row row;
    ledger_add(l, &target, &u, false);
    ledger_add(l, &merging, &u, false);
    ledger_add(l, &optimizer, &u, false);
    ledger_add(l, &target, &u, false);
    CHECK(ledger_row(l, 0, &row));
    CHECK_TEXT(row.stage, "analyst");
    CHECK(ledger_row(l, 1, &row));
    CHECK_TEXT(row.stage, "merging");
    CHECK(ledger_row(l, 2, &row));
    CHECK_TEXT(row.role, "target");
    CHECK_INT(row.calls, 2);
    CHECK_INT(row.prompt, 200);
    CHECK_INT(row.cached, 100);
    CHECK_INT(row.completion, 40);
    CHECK_INT(row.reasoning, 30);
    CHECK_INT(row.estimated, 2);
    CHECK(!ledger_row(l, 3, &row));
    CHECK_INT(ledger_total(l, "optimizer").calls, 2);
    CHECK_INT(ledger_total(l, NULL).calls, 4);
    CHECK_INT(ledger_total(l, "nobody").calls, 0);
    CHECK_INT(ledger_total(l, NULL).nano, ledger_spent(l).nano);
    ledger_free(l);
}

static void tables_have_an_end(void)
{
    struct ledger *l = with_caps(-1, -1, -1);
    struct ledger_usage u = usage(1, 1);
    char name[32];
    struct err e;
    for (int i = 0; i < 5000; i++) {
        snprintf(name, sizeof name, "n%d", i);
        struct ledger_call call = { "target", name, name };
        ledger_add(l, &call, &u, false);
    }
    CHECK_INT(ledger_total(l, NULL).calls, 5000);
    CHECK_INT(ledger_total(l, NULL).nano, 0);
    CHECK(!ledger_set_price(l, "one more", &cheap, &e));
    CHECK_INT(e.kind, ERR_LIMIT);
    ledger_free(l);
}

/* The number behind "NAME": in the piece of text, as far as the case file needs it. */
static double number(const char *text, const char *name)
{
    char key[32];
    snprintf(key, sizeof key, "\"%s\":", name);
    const char *p = strstr(text, key);
    return p ? strtod(p + strlen(key), NULL) : NAN;
}

static void a_model_without_a_price_stops_the_run_before_it_spends(void)
{
    struct buf text = { 0 };
    struct err e;
    struct ledger_intent intent;
    if (!CHECK(file_read("tests/cases/f02_budget_unpriced.json", &text, NULL)))
        return;
    const char *prices = strstr(buf_text(&text), "\"opt-model\": {");
    const char *call = strstr(buf_text(&text), "\"calls\"");
    const char *second = strstr(call, "\"optimizer\"");
    struct ledger_caps caps = { .nano =
                                    (int64_t)(number(buf_text(&text), "max_usd") * 1e9),
                                .tokens = -1,
                                .calls = -1 };
    struct ledger *l = ledger_new(&caps);
    struct ledger_price price = { .input = number(prices, "in"),
                                  .cached_input = -1,
                                  .output = number(prices, "out") };
    CHECK(ledger_set_price(l, "opt-model", &price, &e));
    CHECK(ledger_check_model(l, "opt-model", &e));
    CHECK(!ledger_check_model(l, "provider:new-model", &e));
    CHECK_INT(e.kind, ERR_BUDGET);
    CHECK_TEXT(e.message, "no price for provider:new-model, and spending is capped");
    struct ledger_call target_call = { "target", "rollout", "provider:new-model" };
    struct ledger_call optimizer_call = { "optimizer", "analyst", "opt-model" };
    struct ledger_usage first =
        usage((int64_t)number(call, "in"), (int64_t)number(call, "out"));
    struct ledger_usage next =
        usage((int64_t)number(second, "in"), (int64_t)number(second, "out"));
    CHECK(ledger_reserve(l, &target_call, &first, &intent, &e) == LEDGER_STOP);
    CHECK_INT(e.kind, ERR_BUDGET);
    CHECK_INT(ledger_spent(l).nano, 0);
    struct ledger_price dear = { .input = 45, .cached_input = -1, .output = 200 };
    CHECK(ledger_set_price(l, "provider:new-model", &dear, &e));
    CHECK(ledger_reserve(l, &target_call, &first, &intent, &e) == LEDGER_GO);
    ledger_settle(l, &intent, &first);
    CHECK_INT(ledger_spent(l).nano, 4900000000);
    CHECK(ledger_reserve(l, &optimizer_call, &next, &intent, &e) == LEDGER_STOP);
    CHECK_INT(e.kind, ERR_BUDGET);
    CHECK(strstr(e.message, "budget of $5.00") != NULL);
    ledger_free(l);
    buf_free(&text);
}

int main(void)
{
    check_run("a call costs its tokens times their prices",
              a_call_costs_its_tokens_times_their_prices);
    check_run("absurd numbers stay numbers", absurd_numbers_stay_numbers);
    check_run("without a cap everything goes", without_a_cap_everything_goes);
    check_run("a settled call counts what it used", a_settled_call_counts_what_it_used);
    check_run("a call nobody knows about counts its worst case",
              a_call_nobody_knows_about_counts_its_worst_case);
    check_run("a call that does not fit waits for the others",
              a_call_that_does_not_fit_waits_for_the_others);
    check_run("the cap is met to the last unit", the_cap_is_met_to_the_last_unit);
    check_run("tokens and calls have caps too", tokens_and_calls_have_caps_too);
    check_run("what was paid before counts", what_was_paid_before_counts);
    check_run("totals are kept by role and stage", totals_are_kept_by_role_and_stage);
    check_run("tables have an end", tables_have_an_end);
    check_run("a model without a price stops the run before it spends",
              a_model_without_a_price_stops_the_run_before_it_spends);
    return check_end();
}
