/* log.h - what happened, for people; secrets masked.
 *
 * A message has a level and goes to one sink, a function the host sets; without a
 * sink it goes nowhere, and nothing below the host prints by itself. Secrets are
 * registered once and replaced by "***" in every message. A secret of fewer than
 * SECRET_MIN bytes is not one: local servers are given keys like EMPTY. All
 * functions may be called from any thread; the sink is called under a mutex and
 * must not log. */
#pragma once
#include "base/buf.h"

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARNING, LOG_ERROR, LOG_LEVELS };

/* "debug", "info", "warning", "error". */
const char *log_level_name(enum log_level level);

/* Messages of `least` and above go to the sink; NULL ends that. */
void log_set_sink(enum log_level least,
                  void (*sink)(void *data, enum log_level level, const char *message,
                               size_t n),
                  void *data);

/* Whether a message of this level would be seen: for those that are dear to make. */
bool log_wants(enum log_level level);

void log_write(enum log_level level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

enum { SECRET_MIN = 16, SECRETS_MAX = 64 };

/* Register a secret (copied; NULL, short and known ones are ignored). False when
 * SECRETS_MAX are there. */
bool log_secret_add(const char *secret);

/* Append the text with each secret replaced by "***"; secrets that overlap become one
 * "***", so that no end of one is left. False when `out` is full. */
bool log_mask(struct buf *out, const char *text, size_t n);

/* Forget all secrets; their memory is wiped. */
void log_secrets_clear(void);
