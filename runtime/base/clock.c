/* clock.c - see clock.h. */
#include "base/clock.h"
#include <math.h>
#include <stdio.h>
#include <time.h>

static double seconds_of(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double system_now(void *data)
{
    return seconds_of(CLOCK_MONOTONIC);
}

static double system_wall(void *data)
{
    return seconds_of(CLOCK_REALTIME);
}

const struct clock clock_system = { .now = system_now, .wall = system_wall };

double clock_now(const struct clock *c)
{
    return c ? c->now(c->data) : system_now(NULL);
}

double clock_wall(const struct clock *c)
{
    return c ? c->wall(c->data) : system_wall(NULL);
}

static double fake_now(void *data)
{
    return ((struct fake_clock *)data)->now_s;
}

static double fake_wall(void *data)
{
    return ((struct fake_clock *)data)->wall_s;
}

struct clock fake_clock(struct fake_clock *f)
{
    return (struct clock){ .now = fake_now, .wall = fake_wall, .data = f };
}

void fake_clock_move(struct fake_clock *f, double seconds)
{
    f->now_s += seconds;
    f->wall_s += seconds;
}

static const double first_s = -62135596800.0; /* 0001-01-01 */
static const double last_s = 253402300799.0;  /* 9999-12-31T23:59:59 */

void clock_text(double wall, char text[CLOCK_TEXT])
{
    struct tm tm;
    double inside = fmin(fmax(wall, first_s), last_s);
    long long ms = llround(inside * 1000);
    long long thousandths = (ms % 1000 + 1000) % 1000;
    time_t seconds = (time_t)((ms - thousandths) / 1000);
    gmtime_r(&seconds, &tm);
    snprintf(text, CLOCK_TEXT, "%04u-%02u-%02uT%02u:%02u:%02u.%03uZ",
             (unsigned)(tm.tm_year + 1900) % 10000, (unsigned)(tm.tm_mon + 1) % 100,
             (unsigned)tm.tm_mday % 100, (unsigned)tm.tm_hour % 100,
             (unsigned)tm.tm_min % 100, (unsigned)tm.tm_sec % 100,
             (unsigned)thousandths % 1000);
}
