/* stop.c - see stop.h. */
#include "host/stop.h"
#include "host/live.h"
#include "host/task.h"
#include "io/loop.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static bool is_asked;
static volatile sig_atomic_t flights;
static struct timer grace;

static void grace_over(struct timer *t)
{
    task_cancel_all();
}

static void on_signal(void *arg, int signal)
{
    if (is_asked)
        return;
    is_asked = true;
    const char *start = live_hide() ? "" : "\n"; /* behind what the terminal echoes */
    if (flights > 0)
        fprintf(stderr,
                "%sskillopt: stopping; waiting up to %d s for %d call%s in flight "
                "(interrupt again to stop at once)\n",
                start, STOP_GRACE_S, flights, flights == 1 ? "" : "s");
    timer_start(&grace, flights > 0 ? STOP_GRACE_S : 0, grace_over);
}

/* The loop hears of a signal when it turns, which it does not while Lua is busy. So the
 * handler counts for itself and hands the first one on to the loop's. Lua that never lets
 * the loop turn is ended by an alarm: whoever sends one signal only waits no longer. */
static struct sigaction loops_int, loops_term;
static volatile sig_atomic_t interrupts;

static void end_at_once(int number)
{
    live_hide();
    _exit(STOP_EXIT_CODE);
}

static void on_interrupt(int number)
{
    interrupts = interrupts + 1;
    if (interrupts > 1)
        end_at_once(number);
    alarm(STOP_LUA_S + (flights > 0 ? STOP_GRACE_S : 0));
    (number == SIGINT ? &loops_int : &loops_term)->sa_handler(number);
}

/* The loop's handlers are known before the first signal can want them. They hold a lock
 * of libuv's: no other signal comes in between. */
bool stop_init(struct err *e)
{
    if (!loop_on_signal(on_signal, NULL, e))
        return false;
    struct sigaction action = { .sa_handler = on_interrupt, .sa_flags = SA_RESTART };
    sigfillset(&action.sa_mask);
    sigaction(SIGINT, NULL, &loops_int);
    sigaction(SIGTERM, NULL, &loops_term);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    action.sa_handler = end_at_once;
    sigaction(SIGALRM, &action, NULL);
    return true;
}

bool stop_is_asked(void)
{
    return is_asked;
}

int stop_wait_for_input(struct pollfd *p)
{
    sigset_t held, before;
    sigemptyset(&held);
    sigaddset(&held, SIGINT);
    sigaddset(&held, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &held, &before);
    int n = interrupts == 0 ? ppoll(p, 1, NULL, &before) : -1;
    int code = interrupts == 0 ? errno : EINTR;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = code;
    return n;
}

void stop_count_flight(int change)
{
    flights += change;
    if (is_asked && flights == 0)
        timer_start(&grace, 0, grace_over);
}

int stop_flights(void)
{
    return flights;
}
