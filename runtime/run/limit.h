/* limit.h - how many calls one endpoint gets at once, and when.
 *
 * One limit stands for one host, key and model. It is a state machine without input
 * or output: the caller says what it wants, asks which ticket may start, and tells
 * how a call ended; time is an argument (seconds of any clock that never goes back).
 *
 * - The first call goes alone until one succeeded; then the window opens.
 * - The window grows by three a success, fourfold a round, until it met its first fault,
 *   later by about four a round; it shrinks on 429, and on other faults once they are
 *   more than a quarter of what comes back; at most once a round.
 * - Retry-After pauses the endpoint; a 429 without it pauses 1, 2, 4... s.
 * - Requests and tokens a minute are buckets: configured ones, and ones learnt from
 *   reply headers. What headers said keeps nobody longer than ten minutes: then one call
 *   asks again.
 * - Of those that wait the first in program order starts first, as `before` says.
 *
 * A ticket belongs to the caller, who keeps it until limit_done or limit_cancel. Not
 * thread safe. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct limit_ticket {
    double tokens;  /* expected use, prompt and reply; set it before limit_want */
    size_t place;   /* 1-based place in the heap; 0: not waiting */
    unsigned round; /* the limit's at the start */
    bool is_started;
};

struct limit_options {
    int ceiling;     /* most calls at once, at least 1 */
    double rpm, tpm; /* configured requests and tokens a minute; 0: none */
    /* Whether a comes before b in program order. */
    bool (*before)(const struct limit_ticket *a, const struct limit_ticket *b);
};

struct limit;
struct limit *limit_new(const struct limit_options *o);
void limit_free(struct limit *l);

/* Put a ticket in line. */
void limit_want(struct limit *l, struct limit_ticket *t);

/* Take a waiting ticket out of line; nothing when it does not wait. */
void limit_cancel(struct limit *l, struct limit_ticket *t);

/* The ticket that may start now, or NULL; then *again is when to ask again
 * (INFINITY: after the next limit_done or limit_want). Ask until it is NULL. */
struct limit_ticket *limit_next(struct limit *l, double now, double *again);

enum limit_end {
    LIMIT_OK,           /* the endpoint answered, whatever it said */
    LIMIT_RATE_LIMITED, /* 429 */
    LIMIT_FAULT,        /* 5xx, time-out, network */
    LIMIT_NEUTRAL,      /* nothing to learn: another 4xx, a call that was cancelled */
    LIMIT_UNUSED,       /* nothing was sent: it counts as never started */
};

/* What headers say about one kind of allowance; negative: they do not say. */
struct limit_allowance {
    double limit, remaining, reset_s;
};
#define LIMIT_UNKNOWN                                                                    \
    {                                                                                    \
        -1, -1, -1                                                                       \
    }

struct limit_outcome {
    enum limit_end end;
    double retry_after_s; /* 0 or less: not given */
    double tokens;        /* used; negative: not known, the expected ones count */
    struct limit_allowance requests, allowed_tokens;
};

/* The started call of this ticket has ended. */
void limit_done(struct limit *l, struct limit_ticket *t, const struct limit_outcome *o,
                double now);

/* For display. */
struct limit_view {
    int in_flight, window, waiting;
    bool is_alone;       /* no call has succeeded yet */
    double paused_until; /* a time, or 0 */
};
struct limit_view limit_look(const struct limit *l);
