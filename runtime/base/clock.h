/* clock.h - where the time comes from.
 *
 * State machines take the time as a number; who drives them asks a clock, and a test
 * gives a fake one. `now` counts seconds from any start and never goes back, `wall`
 * is the time of day in seconds since 1970 (UTC). */
#pragma once

struct clock {
    double (*now)(void *data);
    double (*wall)(void *data);
    void *data;
};

/* The system's. */
extern const struct clock clock_system;

/* NULL stands for the system's clock. */
double clock_now(const struct clock *c);
double clock_wall(const struct clock *c);

/* A clock that stands still until it is moved. The fake must outlive its clock. */
struct fake_clock {
    double now_s, wall_s;
};
struct clock fake_clock(struct fake_clock *f);
void fake_clock_move(struct fake_clock *f, double seconds);

/* "2026-03-03T10:00:00.123Z" with a zero byte; years 1 to 9999. */
enum { CLOCK_TEXT = 25 };
void clock_text(double wall, char text[CLOCK_TEXT]);
