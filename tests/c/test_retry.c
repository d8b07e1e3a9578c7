/* Whether to try again, and when. */
#include "check.h"
#include "run/retry.h"

static struct retry_try failed(enum err_kind kind, int attempt)
{
    return (struct retry_try){
        .kind = kind, .attempt = attempt, .retry_after_s = -1, .key = "steps/q17"
    };
}

static double delay_of(struct retry_try t)
{
    return retry_delay(&retry_defaults, &t);
}

static void answers_and_lasting_faults_are_never_tried_again(void)
{
    static const enum err_kind kinds[] = {
        ERR_USAGE,       ERR_CONFIG, ERR_DATA,    ERR_IO,       ERR_AUTH,
        ERR_BAD_REQUEST, ERR_LIMIT,  ERR_REFUSED, ERR_FILTERED, ERR_BUDGET,
        ERR_CANCELLED,   ERR_BUG,    ERR_NONE,    ERR_TOO_LONG, ERR_TRUNCATED,
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct retry_try t = failed(kinds[i], 1);
        t.retry_after_s = 1;
        CHECK(delay_of(t) == -1);
        CHECK(retry_class_of(kinds[i]) == RETRY_NEVER);
    }
}

static void weather_is_tried_again(void)
{
    for (int kind = 1; kind < ERR_KIND_COUNT; kind++)
        CHECK((delay_of(failed(kind, 1)) >= 0) == err_is_weather(kind));
}

static void each_class_has_its_own_number_of_tries(void)
{
    struct retry_policy p = { .attempts = { 1, 3, 5, 2 }, .base_s = 1, .max_delay_s = 8 };
    static const enum err_kind kinds[] = { ERR_NETWORK, ERR_RATE_LIMIT, ERR_PARSE };
    static const int tries[] = { 3, 5, 2 };
    for (int i = 0; i < 3; i++) {
        struct retry_try last = failed(kinds[i], tries[i]);
        struct retry_try before = failed(kinds[i], tries[i] - 1);
        CHECK(retry_delay(&p, &before) > 0);
        CHECK(retry_delay(&p, &last) == -1);
    }
}

static void delays_double_up_to_the_longest(void)
{
    struct retry_policy p = { .attempts = { 1, 100, 1, 1 },
                              .base_s = 1,
                              .max_delay_s = 20 };
    double full = 1;
    for (int attempt = 1; attempt < 99; attempt++) {
        struct retry_try t = failed(ERR_SERVER, attempt);
        double d = retry_delay(&p, &t);
        CHECK(d >= full / 2 && d <= full);
        full = full * 2 < 20 ? full * 2 : 20;
    }
}

static void delays_are_spread_but_always_the_same(void)
{
    struct retry_try a = failed(ERR_SERVER, 3), b = a;
    b.key = "steps/q18";
    CHECK(delay_of(a) == delay_of(a));
    CHECK(delay_of(a) != delay_of(b));
    CHECK(delay_of(failed(ERR_SERVER, 1)) != delay_of(failed(ERR_SERVER, 2)) / 2);
}

static void a_server_that_names_a_time_is_given_that_time(void)
{
    struct retry_try t = failed(ERR_RATE_LIMIT, 1);
    t.retry_after_s = 7;
    CHECK(delay_of(t) == 7);
    t.kind = ERR_SERVER;
    t.retry_after_s = 90;
    CHECK(delay_of(t) == 90);
    t.retry_after_s = 0;
    CHECK(delay_of(t) >= 0.5);
}

static void no_delay_ends_behind_the_total_time(void)
{
    struct retry_policy p = retry_defaults;
    struct retry_try t = failed(ERR_RATE_LIMIT, 1);
    p.total_s = 100;
    t.retry_after_s = 30;
    t.elapsed_s = 70;
    CHECK(retry_delay(&p, &t) == 30);
    t.elapsed_s = 70.5;
    CHECK(retry_delay(&p, &t) == -1);
    p.total_s = 0;
    CHECK(retry_delay(&p, &t) == 30);
}

int main(void)
{
    check_run("answers and lasting faults are never tried again",
              answers_and_lasting_faults_are_never_tried_again);
    check_run("weather is tried again", weather_is_tried_again);
    check_run("each class has its own number of tries",
              each_class_has_its_own_number_of_tries);
    check_run("delays double up to the longest", delays_double_up_to_the_longest);
    check_run("delays are spread but always the same",
              delays_are_spread_but_always_the_same);
    check_run("a server that names a time is given that time",
              a_server_that_names_a_time_is_given_that_time);
    check_run("no delay ends behind the total time", no_delay_ends_behind_the_total_time);
    return check_end();
}
