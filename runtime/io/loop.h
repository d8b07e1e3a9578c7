/* loop.h - the one event loop of the process: timers, posts, signals, clocks.
 *
 * A turn runs what is due, waits for the world at most until the next timer,
 * and runs what came. libuv waits for descriptors; the timers are a heap of our
 * own, so that a timer can live inside its owner and be gone the moment it is
 * stopped. Callbacks run on the loop's thread, inside loop_turn; they record and
 * wake, no more. Only loop_post and the clocks may be called from other threads.
 *
 * A turn that may block ends early when something happened, but it does not look
 * at uv timers of others: rooms that use libuv take `struct timer` for time. */
#pragma once
#include "base/err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct uv_loop_s;

/* Once per process, before and after all else in this file. Also ignores SIGPIPE:
 * a closed connection is news, not a reason to end. _fini gives up what is still
 * posted and expects that every handle made by others is closed or closing. */
bool loop_init(struct err *e);
void loop_fini(void);

/* One turn. With may_block false it never waits. It waits for ever when there is
 * no timer and nothing happens: the caller knows whether it still expects news. */
void loop_turn(bool may_block);

/* Is no timer running but those of the background, and nothing posted? Then only what
 * others watch through libuv can end a wait. */
bool loop_is_quiet(void);

/* libuv's loop, for the files of this room. */
struct uv_loop_s *loop_uv(void);

/* A timer belongs to its owner. Zeroed is stopped; stop it before its memory goes. */
struct timer {
    void (*fn)(struct timer *t); /* may start it again, and may free its owner */
    double due;                  /* loop_now() at which it fires */
    uint64_t order;              /* equal times fire in the order they were started */
    size_t place;                /* 1-based place in the heap; 0: stopped */
    bool is_background; /* nobody waits for it: it draws, or gives a sign of life */
};

/* Fire once, delay_s seconds from now (negative counts as 0; in the next turn,
 * never inside this call). Starting a running timer moves it. */
void timer_start(struct timer *t, double delay_s, void (*fn)(struct timer *t));
void timer_stop(struct timer *t);
bool timer_is_running(const struct timer *t);

/* Run fn(arg) on the loop's thread in a coming turn, in the order of the posts.
 * May be called from any thread; wakes a turn that waits. */
void loop_post(void (*fn)(void *arg), void *arg);

/* Have fn(arg, SIGINT or SIGTERM) called in a turn instead of ending the process.
 * fn NULL gives the signals back to the system. */
bool loop_on_signal(void (*fn)(void *arg, int signal), void *arg, struct err *e);

/* Seconds: loop_now counts from an arbitrary start and never goes back, loop_wall
 * is the time of day since 1970. */
double loop_now(void);
double loop_wall(void);
