/* stop.h - ending early without losing what was paid for.
 *
 * The first interrupt lets what is in flight come in for up to STOP_GRACE_S
 * seconds: nothing new is sent, then everything is cancelled. The second ends the
 * process at once; the journal makes both safe. So does time: a program that has not
 * ended STOP_LUA_S seconds after that is busy in Lua and is ended. Effects report their
 * flights. */
#pragma once
#include "base/err.h"
#include <stdbool.h>

enum { STOP_GRACE_S = 30, STOP_LUA_S = 15, STOP_EXIT_CODE = 130 };

/* Take SIGINT and SIGTERM over. */
bool stop_init(struct err *e);

/* Has an interrupt come? Then nothing new may be sent. */
bool stop_is_asked(void);

/* As poll(p, 1, -1) outside of the loop. An interrupt ends it with EINTR, be it one that
 * came before or between a look and the wait. */
struct pollfd;
int stop_wait_for_input(struct pollfd *p);

/* Calls on the way: +1 when one is sent, -1 when its answer is stored. */
void stop_count_flight(int change);
int stop_flights(void);
