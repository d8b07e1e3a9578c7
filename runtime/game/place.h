/* place.h - where in a game file something is, for messages. */
#pragma once
#include "base/err.h"
#include <stddef.h>

struct place {
    const char *file; /* as the caller of game_open named it */
    const char *part; /* "pddl_domain", "grammar", ... */
};

/* Fill `e` (may be NULL) with kind data and the message "FILE, PART, line LINE:
 * ..." (without a line when it is 0). Always false. */
bool place_refuse(const struct place *at, size_t line, struct err *e, const char *format,
                  ...) __attribute__((format(printf, 4, 5)));

/* How many bytes of a text of n bytes to show in a message: at most 60, whole
 * characters only. For "%.*s". */
int place_clip(const char *text, size_t n);
