/* live.h - one line at the bottom of the terminal that is drawn over and over.
 *
 * Whatever else is written hides it first (rt_stdout.c, stop.c), so that it is never
 * mixed with other lines and a process that ends leaves the terminal clean. The caller
 * sees to it that the standard output is a terminal that knows escapes. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

/* Draw `text` (n bytes of UTF-8 without controls) in the place of the line before. */
void live_show(const char *text, size_t n);

/* Take the line away, if one is out; was one? Safe in a signal handler. */
bool live_hide(void);
