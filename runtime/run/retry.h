/* retry.h - whether to try again, and after how long.
 *
 * A pure function of what happened. Each class of error has its own number of tries,
 * so waiting for a busy server does not use up those for bad output. Delays double
 * from base_s to max_delay_s and are spread by a digest of key and try, so the same
 * run waits the same; Retry-After is kept to the second. There is no delay behind
 * the last try. */
#pragma once
#include "base/err.h"

enum retry_class {
    RETRY_NEVER,     /* answers, and faults that will not go away */
    RETRY_TRANSPORT, /* network timeout server process sandbox */
    RETRY_BUSY,      /* rate_limit */
    RETRY_OUTPUT,    /* parse: it came through but cannot be used */
    RETRY_CLASS_COUNT
};
enum retry_class retry_class_of(enum err_kind kind);

struct retry_policy {
    int attempts[RETRY_CLASS_COUNT]; /* tries of each class, the first included */
    double base_s, max_delay_s;
    double total_s; /* no delay ends later than this after the first try; 0: no end */
};
extern const struct retry_policy retry_defaults;

struct retry_try {
    enum err_kind kind;
    int attempt;          /* tries that ended in this class, 1 after the first */
    double elapsed_s;     /* since the first try began */
    double retry_after_s; /* 0 or less: not given */
    const char *key;      /* names the call: its slot */
};

/* Seconds to wait before the next try, or -1: give up. */
double retry_delay(const struct retry_policy *p, const struct retry_try *t);
