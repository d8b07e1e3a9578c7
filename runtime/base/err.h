/* err.h - what went wrong, in words a user understands.
 *
 * A function that can fail returns false (or NULL) and fills the `struct err`
 * it was handed, once, where the fault was seen. `kind` is one of a closed list
 * that C and Lua share; `message` says what happened and where, `hint` what to
 * do about it. Plain memory: nothing to free, safe to copy. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#define ERR_KINDS(X)                                                                     \
    X(USAGE, "usage")                                                                    \
    X(CONFIG, "config")                                                                  \
    X(DATA, "data")                                                                      \
    X(IO, "io")                                                                          \
    X(NETWORK, "network")                                                                \
    X(TIMEOUT, "timeout")                                                                \
    X(AUTH, "auth")                                                                      \
    X(RATE_LIMIT, "rate_limit")                                                          \
    X(SERVER, "server")                                                                  \
    X(BAD_REQUEST, "bad_request")                                                        \
    X(REFUSED, "refused")                                                                \
    X(FILTERED, "filtered")                                                              \
    X(TOO_LONG, "too_long")                                                              \
    X(PARSE, "parse")                                                                    \
    X(TRUNCATED, "truncated")                                                            \
    X(PROCESS, "process")                                                                \
    X(SANDBOX, "sandbox")                                                                \
    X(LIMIT, "limit")                                                                    \
    X(BUDGET, "budget")                                                                  \
    X(CANCELLED, "cancelled")                                                            \
    X(BUG, "bug")

enum err_kind {
    ERR_NONE,
#define ERR_ENUM(id, name) ERR_##id,
    ERR_KINDS(ERR_ENUM)
#undef ERR_ENUM
        ERR_KIND_COUNT
};

enum { ERR_MESSAGE_MAX = 1024, ERR_HINT_MAX = 256 };

struct err {
    enum err_kind kind;
    bool retry; /* the same request may succeed later */
    char message[ERR_MESSAGE_MAX];
    char hint[ERR_HINT_MAX]; /* "" when there is nothing useful to say */
};

/* Fill `e` (may be NULL: the caller does not care). Longer texts are cut at a
 * character border. Always returns false, so that `return err_set(...)` works. */
bool err_set(struct err *e, enum err_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Add what to do. Returns false like err_set. */
bool err_hint(struct err *e, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Word of the closed list ("" for ERR_NONE); the way back gives ERR_NONE for an
 * unknown word. */
const char *err_kind_name(enum err_kind kind);
enum err_kind err_kind_of(const char *name);

/* Weather: an outcome that says nothing about the model's answer and is worth
 * another try (network timeout rate_limit server parse process sandbox). */
bool err_is_weather(enum err_kind kind);
