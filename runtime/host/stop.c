/* stop.c - see stop.h. */
#include "host/stop.h"
#include "host/task.h"
#include "io/loop.h"
#include <stdio.h>
#include <unistd.h>

static bool is_asked;
static int flights;
static struct timer grace;

static void grace_over(struct timer *t)
{
    task_cancel_all();
}

static void on_signal(void *arg, int signal)
{
    if (is_asked)
        _exit(STOP_EXIT_CODE);
    is_asked = true;
    if (flights > 0)
        fprintf(stderr,
                "\nskillopt: stopping; waiting up to %d s for %d call%s in flight "
                "(interrupt again to stop at once)\n",
                STOP_GRACE_S, flights, flights == 1 ? "" : "s");
    timer_start(&grace, flights > 0 ? STOP_GRACE_S : 0, grace_over);
}

bool stop_init(struct err *e)
{
    return loop_on_signal(on_signal, NULL, e);
}

bool stop_is_asked(void)
{
    return is_asked;
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
