/* The event loop: timers, posts, signals. */
#include "base/mem.h"
#include "check.h"
#include "io/loop.h"
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

static char trace[64];

static void note(char c)
{
    size_t n = strlen(trace);
    if (n + 1 < sizeof trace) {
        trace[n] = c;
        trace[n + 1] = 0;
    }
}

/* A timer with a name; `again` starts it once more when it fires. */
struct named {
    struct timer timer;
    char name;
    int again;
    struct timer *victim; /* stopped when this one fires */
};

static void named_fire(struct timer *t)
{
    struct named *n = (struct named *)((char *)t - offsetof(struct named, timer));
    note(n->name);
    if (n->victim)
        timer_stop(n->victim);
    if (n->again-- > 0)
        timer_start(t, 0, named_fire);
}

static void turns_until(const char *want, double limit_s)
{
    double end = loop_now() + limit_s;
    struct named guard = { .name = '!' };
    timer_start(&guard.timer, limit_s, named_fire);
    while (strcmp(trace, want) != 0 && loop_now() < end)
        loop_turn(true);
    timer_stop(&guard.timer);
    CHECK_TEXT(trace, want);
}

static void test_order(void)
{
    struct named a = { .name = 'a' }, b = { .name = 'b' }, c = { .name = 'c' };
    timer_start(&a.timer, 0.02, named_fire);
    timer_start(&b.timer, 0.01, named_fire);
    timer_start(&c.timer, -1, named_fire);
    CHECK_TEXT(trace, "");
    turns_until("cba", 5);
}

static void test_ties(void)
{
    struct named many[26] = { 0 };
    for (int i = 0; i < 26; i++) {
        many[i].name = (char)('a' + i);
        timer_start(&many[i].timer, 0, named_fire);
        many[i].timer.due = many[0].timer.due;
    }
    turns_until("abcdefghijklmnopqrstuvwxyz", 5);
}

static void test_stop(void)
{
    struct named a = { .name = 'a' }, b = { .name = 'b' }, c = { .name = 'c' };
    a.victim = &b.timer;
    timer_start(&a.timer, 0, named_fire);
    timer_start(&b.timer, 0, named_fire);
    timer_start(&c.timer, 0, named_fire);
    turns_until("ac", 5);
    CHECK(!timer_is_running(&b.timer));
    timer_stop(&b.timer);
}

static void test_move(void)
{
    struct named a = { .name = 'a' }, b = { .name = 'b' };
    timer_start(&a.timer, 3600, named_fire);
    timer_start(&b.timer, 0.005, named_fire);
    timer_start(&a.timer, 0, named_fire);
    CHECK(timer_is_running(&a.timer));
    turns_until("ab", 5);
}

static void test_again(void)
{
    struct named a = { .name = 'a', .again = 2 };
    timer_start(&a.timer, 0, named_fire);
    loop_turn(false);
    CHECK(strlen(trace) <= 2);
    turns_until("aaa", 5);
}

/* Compare the heap with the plain truth: fire times never go down. */
static double last_due;
static int fired, out_of_order;

static void count_fire(struct timer *t)
{
    fired++;
    out_of_order += t->due < last_due;
    last_due = t->due;
}

static void test_many(void)
{
    enum { N = 20000 };
    struct timer *many = mem_new_array(N, sizeof *many);
    uint32_t seed = 1;
    for (int i = 0; i < N; i++) {
        seed = seed * 1664525 + 1013904223;
        timer_start(&many[i], (seed >> 8) % 1000 / 1e6, count_fire);
    }
    int stopped = 0;
    for (int i = 0; i < N; i += 3, stopped++)
        timer_stop(&many[i]);
    fired = out_of_order = 0;
    last_due = 0;
    while (fired < N - stopped)
        loop_turn(true);
    CHECK_INT(fired, N - stopped);
    CHECK_INT(out_of_order, 0);
    mem_free(many);
}

static void test_no_wait(void)
{
    struct timer far = { 0 };
    timer_start(&far, 3600, count_fire);
    double start = loop_now();
    loop_turn(false);
    CHECK(loop_now() - start < 60);
    timer_stop(&far);
}

static void post_note(void *arg)
{
    note(*(char *)arg);
}

static void post_again(void *arg)
{
    note('x');
    loop_post(post_note, arg);
}

static void test_post_order(void)
{
    char letters[] = "abc";
    loop_post(post_note, &letters[0]);
    loop_post(post_again, &letters[2]);
    loop_post(post_note, &letters[1]);
    CHECK_TEXT(trace, "");
    turns_until("axbc", 5);
}

static int posted;

static void post_count(void *arg)
{
    posted++;
}

static void *post_thread(void *arg)
{
    for (int i = 0; i < 5000; i++)
        loop_post(post_count, NULL);
    return NULL;
}

static void test_post_threads(void)
{
    pthread_t threads[4];
    posted = 0;
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, post_thread, NULL);
    while (posted < 20000)
        loop_turn(true);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    loop_turn(false);
    CHECK_INT(posted, 20000);
}

static void signal_note(void *arg, int number)
{
    note(number == SIGTERM ? 'T' : 'I');
}

static void test_signals(void)
{
    struct err e = { 0 };
    CHECK(loop_on_signal(signal_note, NULL, &e));
    raise(SIGTERM);
    turns_until("T", 5);
    raise(SIGINT);
    turns_until("TI", 5);
    CHECK(loop_on_signal(NULL, NULL, &e));
    struct sigaction now;
    sigaction(SIGTERM, NULL, &now);
    CHECK(now.sa_handler == SIG_DFL);
}

static void test_pipe(void)
{
    int ends[2];
    CHECK_INT(pipe(ends), 0);
    close(ends[0]);
    CHECK_INT(write(ends[1], "x", 1), -1);
    close(ends[1]);
}

static void test_clocks(void)
{
    CHECK(loop_wall() > 1.6e9);
    double a = loop_now();
    CHECK(loop_now() >= a);
}

static void run(const char *name, void (*test)(void))
{
    trace[0] = 0;
    check_run(name, test);
}

int main(void)
{
    struct err e = { 0 };
    if (!loop_init(&e))
        return 1;
    run("timers fire in the order of their times", test_order);
    run("timers of the same time fire in the order they were started", test_ties);
    run("a timer stopped by another one's callback does not fire", test_stop);
    run("starting a running timer moves it", test_move);
    run("a timer started by its own callback fires in a later turn", test_again);
    run("twenty thousand timers with gaps fire in order", test_many);
    run("a turn that may not block returns although a timer is far away", test_no_wait);
    run("posts run in a coming turn in their order", test_post_order);
    run("posts of four threads all arrive once", test_post_threads);
    run("a watched signal calls its callback, an unwatched one is default", test_signals);
    run("writing to a closed pipe is an error and no signal", test_pipe);
    run("both clocks tell the time", test_clocks);
    loop_fini();
    if (!loop_init(&e))
        return 1;
    run("the loop can be opened again after it was closed", test_order);
    loop_fini();
    return check_end();
}
