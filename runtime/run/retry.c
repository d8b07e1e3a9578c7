/* retry.c - see retry.h. */
#include "run/retry.h"
#include "base/digest.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

const struct retry_policy retry_defaults = {
    .attempts = { [RETRY_NEVER] = 1,
                  [RETRY_TRANSPORT] = 6,
                  [RETRY_BUSY] = 12,
                  [RETRY_OUTPUT] = 3 },
    .base_s = 1,
    .max_delay_s = 60,
    .total_s = 1800,
};

enum retry_class retry_class_of(enum err_kind kind)
{
    switch (kind) {
    case ERR_NETWORK:
    case ERR_TIMEOUT:
    case ERR_SERVER:
    case ERR_PROCESS:
    case ERR_SANDBOX:
        return RETRY_TRANSPORT;
    case ERR_RATE_LIMIT:
        return RETRY_BUSY;
    case ERR_PARSE:
        return RETRY_OUTPUT;
    default:
        return RETRY_NEVER;
    }
}

/* A number in [0, 1) that belongs to this call and try. */
static double spread(const char *key, int attempt)
{
    char bytes[DIGEST_BYTES + 16];
    struct digest d = digest_of(key, strlen(key));
    memcpy(bytes, d.bytes, DIGEST_BYTES);
    int n = snprintf(bytes + DIGEST_BYTES, 16, "#%d", attempt);
    d = digest_of(bytes, DIGEST_BYTES + (size_t)n);
    unsigned v = (unsigned)d.bytes[0] << 16 | (unsigned)d.bytes[1] << 8 | d.bytes[2];
    return v / 16777216.0;
}

/* Between half the doubled delay and all of it. */
static double backoff(const struct retry_policy *p, const struct retry_try *t)
{
    double full = fmin(p->max_delay_s, ldexp(p->base_s, t->attempt - 1));
    return full * (0.5 + 0.5 * spread(t->key, t->attempt));
}

double retry_delay(const struct retry_policy *p, const struct retry_try *t)
{
    enum retry_class class = retry_class_of(t->kind);
    if (class == RETRY_NEVER || t->attempt >= p->attempts[class])
        return -1;
    double delay = t->retry_after_s > 0 ? t->retry_after_s : backoff(p, t);
    bool is_late = p->total_s > 0 && t->elapsed_s + delay > p->total_s;
    return is_late ? -1 : delay;
}
