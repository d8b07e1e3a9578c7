/* Clocks: the system's, a fake one, and the text of a time. */
#include "base/clock.h"
#include "check.h"

static void the_system_clock_goes_on(void)
{
    double now = clock_now(&clock_system);
    CHECK(clock_now(NULL) >= now);
    CHECK(clock_now(&clock_system) - now < 60);
    CHECK(clock_wall(NULL) > 1.7e9);
    CHECK(clock_wall(&clock_system) >= clock_wall(NULL) - 60);
}

static void a_fake_clock_stands_still_until_it_is_moved(void)
{
    struct fake_clock f = { .now_s = 5, .wall_s = 1000 };
    struct clock c = fake_clock(&f);
    CHECK(clock_now(&c) == 5 && clock_wall(&c) == 1000);
    fake_clock_move(&f, 2.5);
    CHECK(clock_now(&c) == 7.5 && clock_wall(&c) == 1002.5);
}

static const char *text(double wall)
{
    static char t[CLOCK_TEXT];
    clock_text(wall, t);
    return t;
}

static void a_time_is_printed_in_utc_with_thousandths(void)
{
    CHECK_TEXT(text(0), "1970-01-01T00:00:00.000Z");
    CHECK_TEXT(text(1772532007.123), "2026-03-03T10:00:07.123Z");
    CHECK_TEXT(text(1.9996), "1970-01-01T00:00:02.000Z");
    CHECK_TEXT(text(-0.25), "1969-12-31T23:59:59.750Z");
    CHECK_TEXT(text(951827696), "2000-02-29T12:34:56.000Z");
    CHECK_TEXT(text(1e300), "9999-12-31T23:59:59.000Z");
    CHECK_TEXT(text(-1e300), "0001-01-01T00:00:00.000Z");
}

int main(void)
{
    check_run("the system clock goes on", the_system_clock_goes_on);
    check_run("a fake clock stands still until it is moved",
              a_fake_clock_stands_still_until_it_is_moved);
    check_run("a time is printed in utc with thousandths",
              a_time_is_printed_in_utc_with_thousandths);
    return check_end();
}
