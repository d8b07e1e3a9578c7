/* limit.c - see limit.h. */
#include "run/limit.h"
#include "base/mem.h"
#include <assert.h>
#include <math.h>

enum { FIRST_WINDOW = 64 };

#define SHRINK_BUSY   0.5
#define SHRINK_FAULT  0.7
#define GROW_FREE     3.0 /* a success: the window is four times as wide after a round */
#define GROW_A_ROUND  4.0 /* once there was a fault */
#define FAULT_WEIGHT  (1.0 / 16) /* of the newest outcome in the share of faults */
#define FAULTS_MANY   0.25
#define PAUSE_FIRST_S 1.0
#define PAUSE_LONG_S  60.0  /* longest pause of our own making */
#define PAUSE_MAX_S   600.0 /* longest one a server may ask for; then it is asked again */

/* Tokens flow in at `rate` a second up to `cap`; a call takes its share at the start.
 * A call larger than the cap goes when the bucket is full and leaves a debt. */
struct bucket {
    double level, rate, cap, at; /* cap 0: no bucket */
};

enum { CONFIGURED, LEARNT, SOURCES };

struct limit {
    struct limit_options options;
    struct limit_ticket **heap; /* 1-based */
    size_t waiting, cap;
    int in_flight;
    bool has_succeeded, has_shrunk;
    double window, faults, paused_until, own_pause_s;
    unsigned round;
    double heard_at; /* when the server last spoke of its allowances, or was asked anew */
    struct bucket requests[SOURCES], tokens[SOURCES];
};

/* ---- buckets ---- */

static void bucket_fill(struct bucket *b, double now)
{
    if (now > b->at)
        b->level = fmin(b->cap, b->level + (now - b->at) * b->rate);
    b->at = fmax(b->at, now);
}

/* One second's worth may go at once, one call at least. */
static struct bucket bucket_of_minute(double per_minute)
{
    double rate = per_minute / 60;
    double cap = fmax(rate, 1);
    return per_minute > 0 ? (struct bucket){ .level = cap, .rate = rate, .cap = cap }
                          : (struct bucket){ 0 };
}

/* When `amount` may be taken. */
static double bucket_when(struct bucket *b, double amount, double now)
{
    if (!b->cap)
        return now;
    bucket_fill(b, now);
    double missing = fmin(amount, b->cap) - b->level;
    if (missing <= 1e-9)
        return now;
    return b->rate > 0 ? now + missing / b->rate : INFINITY;
}

/* A negative amount gives back. */
static void bucket_take(struct bucket *b, double amount)
{
    if (b->cap)
        b->level = fmin(b->cap, b->level - amount);
}

/* Servers refill steadily and say when the bucket would be full again. */
static void bucket_learn(struct bucket *b, const struct limit_allowance *a, double now)
{
    if (a->remaining < 0)
        return;
    bucket_fill(b, now);
    double cap = a->limit > 0 ? a->limit : fmax(b->cap, fmax(a->remaining, 1));
    double used = fmax(cap - a->remaining, 0);
    if (a->reset_s > 0 && used > 0)
        b->rate = used / a->reset_s;
    else if (!b->rate || a->reset_s == 0)
        b->rate = cap / 60;
    b->cap = cap;
    b->level = fmin(a->remaining, cap);
    b->at = now;
}

/* ---- the heap ---- */

static void put_at(struct limit *l, size_t i, struct limit_ticket *t)
{
    l->heap[i] = t;
    t->place = i;
}

static void sift_up(struct limit *l, size_t i)
{
    struct limit_ticket *t = l->heap[i];
    for (; i > 1 && l->options.before(t, l->heap[i / 2]); i /= 2)
        put_at(l, i, l->heap[i / 2]);
    put_at(l, i, t);
}

static void sift_down(struct limit *l, size_t i)
{
    struct limit_ticket *t = l->heap[i];
    for (size_t child = 2 * i; child <= l->waiting; child = 2 * i) {
        if (child < l->waiting && l->options.before(l->heap[child + 1], l->heap[child]))
            child++;
        if (!l->options.before(l->heap[child], t))
            break;
        put_at(l, i, l->heap[child]);
        i = child;
    }
    put_at(l, i, t);
}

static void take_out(struct limit *l, struct limit_ticket *t)
{
    size_t i = t->place;
    struct limit_ticket *last = l->heap[l->waiting--];
    t->place = 0;
    if (last == t)
        return;
    put_at(l, i, last);
    sift_up(l, i);
    sift_down(l, last->place);
}

/* ---- making, wanting, starting ---- */

struct limit *limit_new(const struct limit_options *o)
{
    struct limit *l = mem_new(sizeof *l);
    l->options = *o;
    l->window = 1;
    l->requests[CONFIGURED] = bucket_of_minute(o->rpm);
    l->tokens[CONFIGURED] = bucket_of_minute(o->tpm);
    return l;
}

void limit_free(struct limit *l)
{
    if (!l)
        return;
    mem_free(l->heap);
    mem_free(l);
}

void limit_want(struct limit *l, struct limit_ticket *t)
{
    assert(!t->place && !t->is_started);
    if (l->waiting + 2 > l->cap) {
        l->cap = l->cap ? 2 * l->cap : 64;
        l->heap = mem_grow(l->heap, l->cap * sizeof(struct limit_ticket *));
    }
    l->heap[++l->waiting] = t;
    sift_up(l, l->waiting);
}

void limit_cancel(struct limit *l, struct limit_ticket *t)
{
    if (t->place)
        take_out(l, t);
}

static int places(const struct limit *l)
{
    if (!l->has_succeeded)
        return 1;
    int window = (int)l->window;
    return window < l->options.ceiling ? window : l->options.ceiling;
}

static double when_filled(struct limit *l, int source, const struct limit_ticket *t,
                          double now)
{
    return fmax(bucket_when(&l->requests[source], 1, now),
                bucket_when(&l->tokens[source], t->tokens, now));
}

/* What headers said holds for so long at most: then one call asks again. */
static double when_allowed(struct limit *l, const struct limit_ticket *t, double now)
{
    double learnt = fmin(when_filled(l, LEARNT, t, now), l->heard_at + PAUSE_MAX_S);
    return fmax(fmax(now, l->paused_until),
                fmax(when_filled(l, CONFIGURED, t, now), learnt));
}

static void take_shares(struct limit *l, double requests, double tokens)
{
    for (int i = 0; i < SOURCES; i++) {
        bucket_take(&l->requests[i], requests);
        bucket_take(&l->tokens[i], tokens);
    }
}

struct limit_ticket *limit_next(struct limit *l, double now, double *again)
{
    *again = INFINITY;
    if (!l->waiting || l->in_flight >= places(l))
        return NULL;
    struct limit_ticket *t = l->heap[1];
    double when = when_allowed(l, t, now);
    if (when > now) {
        *again = when;
        return NULL;
    }
    if (when_filled(l, LEARNT, t, now) > now)
        l->heard_at = now;
    take_out(l, t);
    take_shares(l, 1, t->tokens);
    t->is_started = true;
    t->round = l->round;
    l->in_flight++;
    return t;
}

/* ---- how a call ended ---- */

static void pause_for(struct limit *l, double now, double seconds)
{
    l->paused_until = fmax(l->paused_until, now + fmin(seconds, PAUSE_MAX_S));
}

static void grow(struct limit *l)
{
    double step = l->has_shrunk ? fmin(GROW_A_ROUND / l->window, 1) : GROW_FREE;
    l->window = fmin(l->window + step, l->options.ceiling);
}

/* True for the first fault of a round: the others were on their way already. */
static bool shrink(struct limit *l, const struct limit_ticket *t, double factor)
{
    if (t->round != l->round)
        return false;
    l->round++;
    l->has_shrunk = true;
    l->window = fmax(1, fmin(l->window, l->in_flight + 1) * factor);
    return true;
}

static void end_ok(struct limit *l)
{
    l->faults -= l->faults * FAULT_WEIGHT;
    l->own_pause_s = 0;
    if (!l->has_succeeded)
        l->window = fmin(l->options.ceiling, l->has_shrunk ? 1 : FIRST_WINDOW);
    else
        grow(l);
    l->has_succeeded = true;
}

static void end_busy(struct limit *l, const struct limit_ticket *t, double retry_after_s,
                     double now)
{
    bool is_first = shrink(l, t, SHRINK_BUSY);
    if (retry_after_s > 0 || !is_first)
        return;
    l->own_pause_s = fmin(fmax(2 * l->own_pause_s, PAUSE_FIRST_S), PAUSE_LONG_S);
    pause_for(l, now, l->own_pause_s);
}

static void end_fault(struct limit *l, const struct limit_ticket *t)
{
    l->faults += (1 - l->faults) * FAULT_WEIGHT;
    if (l->faults > FAULTS_MANY && l->has_succeeded)
        shrink(l, t, SHRINK_FAULT);
}

void limit_done(struct limit *l, struct limit_ticket *t, const struct limit_outcome *o,
                double now)
{
    assert(t->is_started);
    t->is_started = false;
    l->in_flight--;
    bool is_unused = o->end == LIMIT_UNUSED;
    double used = is_unused ? 0 : o->tokens < 0 ? t->tokens : o->tokens;
    take_shares(l, is_unused ? -1 : 0, used - t->tokens);
    if (o->end == LIMIT_OK)
        end_ok(l);
    else if (o->end == LIMIT_RATE_LIMITED)
        end_busy(l, t, o->retry_after_s, now);
    else if (o->end == LIMIT_FAULT)
        end_fault(l, t);
    if (o->retry_after_s > 0 && !is_unused)
        pause_for(l, now, o->retry_after_s);
    if (o->requests.remaining >= 0 || o->allowed_tokens.remaining >= 0)
        l->heard_at = now;
    bucket_learn(&l->requests[LEARNT], &o->requests, now);
    bucket_learn(&l->tokens[LEARNT], &o->allowed_tokens, now);
}

struct limit_view limit_look(const struct limit *l)
{
    return (struct limit_view){ .in_flight = l->in_flight,
                                .window = places(l),
                                .waiting = (int)l->waiting,
                                .is_alone = !l->has_succeeded,
                                .paused_until = l->paused_until };
}
