/* loop.c - see loop.h. */
#include "io/loop.h"
#include "base/mem.h"
#include <assert.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <uv.h>

struct post {
    void (*fn)(void *arg);
    void *arg;
};

struct post_list {
    struct post *items;
    size_t n, room;
};

static const int SIGNALS[] = { SIGINT, SIGTERM };
enum { SIGNAL_COUNT = sizeof SIGNALS / sizeof SIGNALS[0] };

static struct loop {
    uv_loop_t uv;
    bool is_open;
    uv_timer_t alarm; /* ends the wait at the first timer; does nothing else */
    uv_async_t bell;  /* ends the wait when something was posted */
    struct timer **heap;
    size_t heap_n, heap_room;
    uint64_t order;
    pthread_mutex_t post_lock;
    struct post_list posts;    /* under post_lock */
    struct post_list draining; /* the loop's own */
    uv_signal_t signals[SIGNAL_COUNT];
    void (*signal_fn)(void *arg, int signal);
    void *signal_arg;
} loop = { .post_lock = PTHREAD_MUTEX_INITIALIZER };

/* ---- clocks */

static double clock_s(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

double loop_now(void)
{
    return clock_s(CLOCK_MONOTONIC);
}

double loop_wall(void)
{
    return clock_s(CLOCK_REALTIME);
}

/* ---- timers: a binary heap, the earliest at place 1 */

static bool timer_before(const struct timer *a, const struct timer *b)
{
    return a->due < b->due || (a->due == b->due && a->order < b->order);
}

static void heap_put(struct timer *t, size_t place)
{
    loop.heap[place] = t;
    t->place = place;
}

static void heap_up(struct timer *t)
{
    size_t i = t->place;
    for (; i > 1 && timer_before(t, loop.heap[i / 2]); i /= 2)
        heap_put(loop.heap[i / 2], i);
    heap_put(t, i);
}

static void heap_down(struct timer *t)
{
    size_t i = t->place;
    for (size_t child = 2 * i; child <= loop.heap_n; i = child, child *= 2) {
        if (child < loop.heap_n && timer_before(loop.heap[child + 1], loop.heap[child]))
            child++;
        if (!timer_before(loop.heap[child], t))
            break;
        heap_put(loop.heap[child], i);
    }
    heap_put(t, i);
}

void timer_stop(struct timer *t)
{
    if (!t->place)
        return;
    struct timer *last = loop.heap[loop.heap_n--];
    if (last != t) {
        heap_put(last, t->place);
        heap_up(last);
        heap_down(last);
    }
    t->place = 0;
}

void timer_start(struct timer *t, double delay_s, void (*fn)(struct timer *t))
{
    timer_stop(t);
    t->fn = fn;
    t->due = loop_now() + fmax(delay_s, 0);
    t->order = loop.order++;
    if (loop.heap_n + 2 > loop.heap_room) {
        loop.heap_room = loop.heap_room ? loop.heap_room * 2 : 64;
        loop.heap = mem_grow(loop.heap, loop.heap_room * sizeof(void *));
    }
    heap_put(t, ++loop.heap_n);
    heap_up(t);
}

bool timer_is_running(const struct timer *t)
{
    return t->place != 0;
}

/* Timers started by a callback wait for the next call, whatever their delay. */
static bool timers_fire(void)
{
    double now = loop_now();
    uint64_t first_new = loop.order;
    bool has_fired = false;
    while (loop.heap_n && loop.heap[1]->due <= now && loop.heap[1]->order < first_new) {
        struct timer *t = loop.heap[1];
        timer_stop(t);
        t->fn(t);
        has_fired = true;
    }
    return has_fired;
}

static void on_alarm(uv_timer_t *alarm)
{
}

/* The repeat matters: libuv may run a due alarm before it waits, and would then
 * wait without an end. */
static void alarm_set(void)
{
    if (!loop.heap_n) {
        uv_timer_stop(&loop.alarm);
        return;
    }
    double ms = ceil((loop.heap[1]->due - loop_now()) * 1000);
    uv_update_time(&loop.uv);
    uv_timer_start(&loop.alarm, on_alarm, (uint64_t)fmin(fmax(ms, 0), 1e12), 1);
}

/* ---- posts */

void loop_post(void (*fn)(void *arg), void *arg)
{
    pthread_mutex_lock(&loop.post_lock);
    struct post_list *p = &loop.posts;
    if (p->n == p->room) {
        p->room = p->room ? p->room * 2 : 64;
        p->items = mem_grow(p->items, p->room * sizeof *p->items);
    }
    p->items[p->n++] = (struct post){ fn, arg };
    uv_async_send(&loop.bell);
    pthread_mutex_unlock(&loop.post_lock);
}

static bool has_posts(void)
{
    pthread_mutex_lock(&loop.post_lock);
    bool has = loop.posts.n > 0;
    pthread_mutex_unlock(&loop.post_lock);
    return has;
}

static void on_bell(uv_async_t *bell)
{
    pthread_mutex_lock(&loop.post_lock);
    struct post_list ready = loop.posts;
    loop.posts = loop.draining;
    loop.draining = (struct post_list){ 0 };
    pthread_mutex_unlock(&loop.post_lock);
    for (size_t i = 0; i < ready.n; i++)
        ready.items[i].fn(ready.items[i].arg);
    ready.n = 0;
    loop.draining = ready;
}

/* ---- signals */

static void on_signal(uv_signal_t *s, int number)
{
    if (loop.signal_fn)
        loop.signal_fn(loop.signal_arg, number);
}

static int signals_watch(bool is_on)
{
    int rc = 0;
    for (int i = 0; i < SIGNAL_COUNT && rc == 0; i++)
        rc = is_on ? uv_signal_start(&loop.signals[i], on_signal, SIGNALS[i])
                   : uv_signal_stop(&loop.signals[i]);
    return rc;
}

bool loop_on_signal(void (*fn)(void *arg, int signal), void *arg, struct err *e)
{
    int rc = signals_watch(fn != NULL);
    if (rc < 0)
        return err_set(e, ERR_IO, "cannot watch signals: %s", uv_strerror(rc));
    loop.signal_fn = fn;
    loop.signal_arg = arg;
    return true;
}

/* ---- the loop */

struct uv_loop_s *loop_uv(void)
{
    assert(loop.is_open);
    return &loop.uv;
}

void loop_turn(bool may_block)
{
    assert(loop.is_open);
    bool has_fired = timers_fire();
    alarm_set();
    uv_run(&loop.uv, may_block && !has_fired ? UV_RUN_ONCE : UV_RUN_NOWAIT);
    timers_fire();
}

/* Where it matters there are few: the first timer that somebody waits for ends it. */
bool loop_is_quiet(void)
{
    for (size_t i = 1; i <= loop.heap_n; i++)
        if (!loop.heap[i]->is_background)
            return false;
    return !has_posts();
}

bool loop_init(struct err *e)
{
    assert(!loop.is_open);
    int rc = uv_loop_init(&loop.uv);
    if (rc < 0)
        return err_set(e, ERR_IO, "cannot start the event loop: %s", uv_strerror(rc));
    rc = uv_async_init(&loop.uv, &loop.bell, on_bell);
    if (rc < 0) {
        uv_loop_close(&loop.uv);
        return err_set(e, ERR_IO, "cannot start the event loop: %s", uv_strerror(rc));
    }
    uv_timer_init(&loop.uv, &loop.alarm);
    for (int i = 0; i < SIGNAL_COUNT; i++)
        uv_signal_init(&loop.uv, &loop.signals[i]);
    signal(SIGPIPE, SIG_IGN);
    loop.is_open = true;
    return true;
}

static void close_own(void)
{
    uv_close((uv_handle_t *)&loop.bell, NULL);
    uv_close((uv_handle_t *)&loop.alarm, NULL);
    for (int i = 0; i < SIGNAL_COUNT; i++)
        uv_close((uv_handle_t *)&loop.signals[i], NULL);
}

void loop_fini(void)
{
    if (!loop.is_open)
        return;
    close_own();
    uv_run(&loop.uv, UV_RUN_NOWAIT); /* lets closing handles end */
    int rc = uv_loop_close(&loop.uv);
    assert(rc == 0); /* else somebody left a handle open */
    mem_free(loop.heap);
    mem_free(loop.posts.items);
    mem_free(loop.draining.items);
    loop = (struct loop){ .post_lock = PTHREAD_MUTEX_INITIALIZER };
}
