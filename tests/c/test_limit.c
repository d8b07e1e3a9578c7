/* The limiter, driven by a clock of numbers. */
#include "base/mem.h"
#include "check.h"
#include "run/limit.h"
#include <math.h>
#include <string.h>

struct call {
    struct limit_ticket ticket; /* first, so that a ticket is its call */
    int order;
};

static bool before(const struct limit_ticket *a, const struct limit_ticket *b)
{
    return ((const struct call *)a)->order < ((const struct call *)b)->order;
}

enum { CALLS = 10000 };
static struct call calls[CALLS];
static struct limit *l;
static double again;

static void start_over(int ceiling, double rpm, double tpm)
{
    struct limit_options o = {
        .ceiling = ceiling, .rpm = rpm, .tpm = tpm, .before = before
    };
    memset(calls, 0, sizeof calls);
    for (int i = 0; i < CALLS; i++)
        calls[i].order = i;
    limit_free(l);
    l = limit_new(&o);
}

static void want(int first, int last)
{
    for (int i = first; i <= last; i++)
        limit_want(l, &calls[i].ticket);
}

/* Order of the call that may start, -1 when none may. */
static int next(double now)
{
    struct limit_ticket *t = limit_next(l, now, &again);
    return t ? ((struct call *)t)->order : -1;
}

static int start_all(double now)
{
    int n = 0;
    while (next(now) >= 0)
        n++;
    return n;
}

static struct limit_outcome ended(enum limit_end end)
{
    return (struct limit_outcome){ .end = end,
                                   .retry_after_s = -1,
                                   .tokens = -1,
                                   .requests = LIMIT_UNKNOWN,
                                   .allowed_tokens = LIMIT_UNKNOWN };
}

static void done(int i, enum limit_end end, double now)
{
    struct limit_outcome o = ended(end);
    limit_done(l, &calls[i].ticket, &o, now);
}

static int window(void)
{
    return limit_look(l).window;
}

/* Past the first call: the window is open, call 0 is used up. */
static void open_window(int ceiling)
{
    start_over(ceiling, 0, 0);
    want(0, 0);
    CHECK_INT(next(0), 0);
    done(0, LIMIT_OK, 0);
}

static void the_first_call_goes_alone_until_one_succeeded(void)
{
    start_over(100, 0, 0);
    want(0, 199);
    CHECK_INT(next(0), 0);
    CHECK_INT(next(0), -1);
    CHECK(isinf(again));
    CHECK(limit_look(l).is_alone);
    done(0, LIMIT_FAULT, 1);
    CHECK_INT(start_all(1), 1);
    done(1, LIMIT_NEUTRAL, 2);
    CHECK_INT(start_all(2), 1);
    done(2, LIMIT_UNUSED, 2);
    CHECK_INT(start_all(2), 1);
    done(3, LIMIT_OK, 3);
    CHECK(!limit_look(l).is_alone);
    CHECK_INT(start_all(3), 64);
}

static void the_window_grows_by_three_a_success_up_to_the_ceiling(void)
{
    open_window(82);
    want(1, 400);
    CHECK_INT(start_all(0), 64);
    for (int i = 1; i <= 6; i++) {
        done(i, LIMIT_OK, 1);
        CHECK_INT(window(), 64 + 3 * i);
        CHECK_INT(start_all(1), 4);
    }
    done(7, LIMIT_OK, 1);
    CHECK_INT(window(), 82);
    CHECK_INT(start_all(1), 1);
    CHECK_INT(limit_look(l).in_flight, 82);
}

static void the_window_is_four_times_as_wide_after_a_round(void)
{
    open_window(2000);
    want(1, 5000);
    int first = 1;
    for (int width = 64; width <= 1024; width *= 4) {
        CHECK_INT(start_all(width), first == 1 ? 64 : width);
        for (int i = first; i < first + width; i++)
            done(i, LIMIT_OK, width);
        first += width;
        CHECK_INT(window(), 4 * width < 2000 ? 4 * width : 2000);
    }
}

static void a_small_ceiling_is_never_passed(void)
{
    open_window(3);
    want(1, 100);
    CHECK_INT(start_all(0), 3);
    for (int i = 1; i <= 90; i++) {
        done(i, LIMIT_OK, i);
        CHECK_INT(start_all(i), 1);
        CHECK_INT(limit_look(l).in_flight, 3);
    }
}

static void too_many_requests_halve_the_window_once_a_round(void)
{
    open_window(64);
    want(1, 300);
    CHECK_INT(start_all(0), 64);
    for (int i = 1; i <= 20; i++)
        done(i, LIMIT_RATE_LIMITED, 1);
    CHECK_INT(window(), 32);
    CHECK_INT(limit_look(l).in_flight, 44);
    CHECK_INT(start_all(100), 0);
    for (int i = 21; i <= 40; i++)
        done(i, LIMIT_NEUTRAL, 100);
    CHECK_INT(start_all(100), 8);
    done(65, LIMIT_RATE_LIMITED, 101);
    CHECK_INT(window(), 16);
}

static void after_a_fault_growth_is_four_a_round(void)
{
    open_window(64);
    want(1, 5000);
    start_all(0);
    done(1, LIMIT_RATE_LIMITED, 1);
    CHECK_INT(window(), 32);
    for (int i = 2; i <= 64; i++)
        done(i, LIMIT_NEUTRAL, 1);
    int first = 65;
    CHECK_INT(start_all(10), 32);
    for (int i = first; i < first + 32; i++)
        done(i, LIMIT_OK, 11);
    CHECK(window() >= 35 && window() <= 36);
}

static void a_429_without_a_time_pauses_longer_each_round(void)
{
    open_window(8);
    want(1, 100);
    start_all(0);
    double now = 10, pause = 1;
    for (int i = 1; i <= 9; i++) {
        done(i, LIMIT_RATE_LIMITED, now);
        CHECK(limit_look(l).paused_until == now + pause);
        for (int k = i + 1; k <= 100 && calls[k].ticket.is_started; k++)
            done(k, LIMIT_UNUSED, now);
        for (int k = i + 1; k <= 100 && !calls[k].ticket.place; k++)
            limit_want(l, &calls[k].ticket);
        CHECK_INT(next(now + pause - 0.01), -1);
        CHECK(again == now + pause);
        now += pause;
        CHECK_INT(next(now), i + 1);
        pause = pause * 2 < 60 ? pause * 2 : 60;
    }
    done(10, LIMIT_OK, now);
    CHECK_INT(next(now), 11);
    done(11, LIMIT_RATE_LIMITED, now);
    CHECK(limit_look(l).paused_until == now + 1);
}

static void retry_after_pauses_the_whole_endpoint(void)
{
    open_window(64);
    want(1, 200);
    CHECK_INT(start_all(0), 64);
    struct limit_outcome o = ended(LIMIT_RATE_LIMITED);
    o.retry_after_s = 7;
    limit_done(l, &calls[1].ticket, &o, 3);
    for (int i = 2; i <= 64; i++)
        done(i, LIMIT_OK, 4);
    CHECK_INT(next(9.99), -1);
    CHECK(again == 10);
    CHECK(start_all(10) >= 32);
}

static void a_pause_of_any_fault_counts_and_has_an_end(void)
{
    open_window(4);
    want(1, 9);
    CHECK_INT(next(0), 1);
    struct limit_outcome o = ended(LIMIT_FAULT);
    o.retry_after_s = 86400;
    limit_done(l, &calls[1].ticket, &o, 100);
    CHECK_INT(next(101), -1);
    CHECK(again == 700);
    CHECK_INT(next(700), 2);
}

static void a_few_faults_leave_the_window_alone_and_many_close_it(void)
{
    open_window(64);
    want(1, 4000);
    int i = 1;
    start_all(0);
    for (; i <= 1000; i++) {
        done(i, i % 20 == 0 ? LIMIT_FAULT : LIMIT_OK, i);
        start_all(i);
    }
    CHECK_INT(window(), 64);
    for (; i <= 2000; i++) {
        done(i, LIMIT_FAULT, i);
        start_all(i);
    }
    CHECK_INT(window(), 1);
    for (; i <= 3000; i++) {
        done(i, LIMIT_OK, i);
        start_all(i);
    }
    CHECK_INT(window(), 64);
}

static void waiting_calls_start_in_program_order(void)
{
    open_window(1000);
    for (int i = 1; i < 1000; i++)
        limit_want(l, &calls[(i * 7919) % 1000].ticket);
    int last = 0, n = 0;
    for (int i = next(0); i >= 0; i = next(0), n++) {
        CHECK(i > last);
        last = i;
        done(i, LIMIT_OK, 0);
    }
    CHECK_INT(n, 999);
}

static void an_early_call_that_comes_late_is_first(void)
{
    open_window(1);
    want(5, 20);
    CHECK_INT(next(0), 5);
    limit_want(l, &calls[2].ticket);
    done(5, LIMIT_OK, 1);
    CHECK_INT(next(1), 2);
}

static void a_cancelled_ticket_never_starts(void)
{
    open_window(10);
    for (int i = 1; i < 997; i++)
        limit_want(l, &calls[(i * 611) % 997].ticket);
    for (int i = 1; i < 997; i++)
        if ((i * 389) % 997 % 3)
            limit_cancel(l, &calls[(i * 389) % 997].ticket);
    limit_cancel(l, &calls[1].ticket);
    CHECK_INT(limit_look(l).waiting, 332);
    for (int i = 1; i <= 332; i++) {
        CHECK_INT(next(0), 3 * i);
        done(3 * i, LIMIT_OK, 0);
    }
    CHECK_INT(next(0), -1);
}

static void ten_thousand_tickets_wait(void)
{
    start_over(10000, 0, 0);
    want(0, CALLS - 1);
    int i = next(0), n = 0;
    for (; i >= 0; i = next(0), n++)
        done(i, LIMIT_OK, 0);
    CHECK_INT(n, CALLS);
}

/* Calls that end at once, until `until`; returns how many started. */
static int drive(double now, double until)
{
    int n = 0;
    while (now <= until) {
        int i = next(now);
        if (i >= 0) {
            done(i, LIMIT_OK, now);
            n++;
        } else if (isinf(again)) {
            break;
        } else {
            CHECK(again > now);
            now = again;
        }
    }
    return n;
}

static void configured_requests_a_minute_are_kept(void)
{
    start_over(100, 120, 0);
    want(0, CALLS - 1);
    int n = drive(0, 60);
    CHECK(n >= 120 && n <= 123);
    start_over(100, 6, 0);
    want(0, 99);
    CHECK_INT(drive(0, 9.99), 1);
    CHECK_INT(drive(10, 19.99), 1);
}

static void configured_tokens_a_minute_are_kept(void)
{
    start_over(100, 0, 60000);
    for (int i = 0; i < 1000; i++)
        calls[i].ticket.tokens = 500;
    want(0, 999);
    int n = drive(0, 60);
    CHECK(n >= 120 && n <= 123);
}

static void a_call_larger_than_the_bucket_goes_when_it_is_full(void)
{
    start_over(10, 0, 600);
    calls[0].ticket.tokens = 300;
    calls[1].ticket.tokens = 1;
    want(0, 1);
    CHECK_INT(next(0), 0);
    done(0, LIMIT_OK, 0);
    CHECK_INT(next(0), -1);
    CHECK(fabs(again - 29.1) < 1e-6);
    CHECK_INT(next(29.2), 1);
}

static void tokens_that_were_not_used_are_given_back(void)
{
    start_over(10, 0, 6000);
    for (int i = 0; i < 4; i++)
        calls[i].ticket.tokens = 100;
    want(0, 3);
    CHECK_INT(next(0), 0);
    struct limit_outcome o = ended(LIMIT_OK);
    o.tokens = 20;
    limit_done(l, &calls[0].ticket, &o, 0);
    CHECK_INT(next(0.1), -1);
    CHECK(fabs(again - 0.2) < 1e-6);
    CHECK_INT(next(0.2), 1);
    o.tokens = 200;
    limit_done(l, &calls[1].ticket, &o, 0.2);
    CHECK_INT(next(1), -1);
    CHECK(fabs(again - 2.2) < 1e-6);
}

static void an_unused_place_costs_nothing(void)
{
    start_over(10, 60, 0);
    want(0, 3);
    CHECK_INT(next(0), 0);
    done(0, LIMIT_UNUSED, 0);
    CHECK_INT(next(0), 1);
    done(1, LIMIT_OK, 0);
    CHECK_INT(next(0), -1);
    CHECK(again == 1);
}

static void headers_teach_requests(void)
{
    open_window(64);
    want(1, 500);
    CHECK_INT(next(0), 1);
    struct limit_outcome o = ended(LIMIT_OK);
    o.requests = (struct limit_allowance){ .limit = 60, .remaining = 10, .reset_s = 50 };
    limit_done(l, &calls[1].ticket, &o, 0);
    CHECK_INT(start_all(0), 10);
    CHECK(again == 1);
    CHECK_INT(start_all(1), 1);
    CHECK_INT(start_all(3), 2);
}

static void headers_teach_tokens(void)
{
    open_window(64);
    for (int i = 1; i <= 100; i++)
        calls[i].ticket.tokens = 100;
    want(1, 100);
    CHECK_INT(next(0), 1);
    struct limit_outcome o = ended(LIMIT_OK);
    o.allowed_tokens = (struct limit_allowance){ 10000, 350, 9.65 };
    limit_done(l, &calls[1].ticket, &o, 0);
    CHECK_INT(start_all(0), 3);
    CHECK(fabs(again - 0.05) < 1e-6);
}

static void headers_without_a_limit_or_a_time_do_no_harm(void)
{
    open_window(64);
    want(1, 500);
    CHECK_INT(next(0), 1);
    struct limit_outcome o = ended(LIMIT_OK);
    o.requests = (struct limit_allowance){ -1, 0, 4 };
    limit_done(l, &calls[1].ticket, &o, 0);
    CHECK_INT(next(0), -1);
    CHECK(again > 0 && again <= 4);
    CHECK_INT(next(again), 2);
    o.requests = (struct limit_allowance){ -1, 0, -1 };
    limit_done(l, &calls[2].ticket, &o, 10);
    CHECK_INT(next(10), -1);
    CHECK(again > 10 && again < 100);
    CHECK_INT(next(again), 3);
    o.requests = (struct limit_allowance){ 1000, 1000, 0 };
    limit_done(l, &calls[3].ticket, &o, 100);
    CHECK_INT(next(100), 4);
}

static void headers_keep_nobody_for_ever(void)
{
    open_window(64);
    want(1, 500);
    CHECK_INT(next(0), 1);
    struct limit_outcome o = ended(LIMIT_OK);
    o.requests = (struct limit_allowance){ 10, 0, 1e15 };
    limit_done(l, &calls[1].ticket, &o, 5);
    CHECK_INT(next(5), -1);
    CHECK(again == 605);
    CHECK_INT(start_all(605), 1);
    CHECK(again == 1205);
    limit_done(l, &calls[2].ticket, &o, 700);
    CHECK_INT(next(1205), -1);
    CHECK(again == 1300);
}

int main(void)
{
    check_run("the first call goes alone until one succeeded",
              the_first_call_goes_alone_until_one_succeeded);
    check_run("the window grows by three a success up to the ceiling",
              the_window_grows_by_three_a_success_up_to_the_ceiling);
    check_run("the window is four times as wide after a round",
              the_window_is_four_times_as_wide_after_a_round);
    check_run("a small ceiling is never passed", a_small_ceiling_is_never_passed);
    check_run("too many requests halve the window once a round",
              too_many_requests_halve_the_window_once_a_round);
    check_run("after a fault growth is four a round",
              after_a_fault_growth_is_four_a_round);
    check_run("a 429 without a time pauses longer each round",
              a_429_without_a_time_pauses_longer_each_round);
    check_run("retry after pauses the whole endpoint",
              retry_after_pauses_the_whole_endpoint);
    check_run("a pause of any fault counts and has an end",
              a_pause_of_any_fault_counts_and_has_an_end);
    check_run("a few faults leave the window alone and many close it",
              a_few_faults_leave_the_window_alone_and_many_close_it);
    check_run("waiting calls start in program order",
              waiting_calls_start_in_program_order);
    check_run("an early call that comes late is first",
              an_early_call_that_comes_late_is_first);
    check_run("a cancelled ticket never starts", a_cancelled_ticket_never_starts);
    check_run("ten thousand tickets wait", ten_thousand_tickets_wait);
    check_run("configured requests a minute are kept",
              configured_requests_a_minute_are_kept);
    check_run("configured tokens a minute are kept", configured_tokens_a_minute_are_kept);
    check_run("a call larger than the bucket goes when it is full",
              a_call_larger_than_the_bucket_goes_when_it_is_full);
    check_run("tokens that were not used are given back",
              tokens_that_were_not_used_are_given_back);
    check_run("an unused place costs nothing", an_unused_place_costs_nothing);
    check_run("headers teach requests", headers_teach_requests);
    check_run("headers teach tokens", headers_teach_tokens);
    check_run("headers without a limit or a time do no harm",
              headers_without_a_limit_or_a_time_do_no_harm);
    check_run("headers keep nobody for ever", headers_keep_nobody_for_ever);
    limit_free(l);
    return check_end();
}
