/* answer.h - what an HTTP answer says when it is not simply the reply.
 *
 * Facts all protocols share: which kind of error a status and a body mean, how long
 * to wait, what the limits are, which parameter was refused, and the server's words
 * made fit for people. Pure functions on bytes; texts of a fault are copies. */
#pragma once
#include "base/err.h"
#include "model/chat.h"
#include "text/span.h"
#include "text/value.h"
#include <stdbool.h>

/* The answer as it came. `header` gives the value of a lower-case name or NULL. */
struct answer {
    int status;
    const char *(*header)(void *arg, const char *name);
    void *arg;
    struct span body;
    double wall_s; /* now, in seconds since 1970; used when the answer has no Date */
};

/* What the server still allows, for the limiter; -1: not given. */
struct answer_allowance {
    double limit, remaining, reset_s;
};

struct answer_limits {
    bool is_given; /* any of the figures */
    struct answer_allowance requests, tokens;
};

enum { FAULT_CODE_MAX = 64, FAULT_PARAM_MAX = 64 };

/* Why there is no reply. */
struct fault {
    struct err err;
    int status;
    double retry_after_s;        /* what the server asks for; -1: nothing */
    char code[FAULT_CODE_MAX];   /* the server's own word, "" when none */
    char param[FAULT_PARAM_MAX]; /* the parameter a 400 or 422 names, "" when none */
};

/* Limits as the x-ratelimit-* headers give them (durations like 1s, 6m0s, 20ms). */
struct answer_limits answer_limits(const struct answer *a);

/* Seconds the server asks to wait: retry-after-ms, Retry-After as a number, or as a
 * date measured against the answer's own Date. -1 when it does not say. */
double answer_retry_after(const struct answer *a);

/* Judge an answer whose status is not 2xx, by its status and its body (any JSON, a
 * web page, text or nothing; `d` is used for reading it). */
void answer_judge(const struct answer *a, struct value_doc *d, struct fault *f);

/* Judge an error object inside an answer with status 200 or inside a stream; `v` is
 * the object that holds it. False when v holds none. */
bool answer_judge_object(const struct answer *a, const struct value *v, struct fault *f);

/* Judge a body that is no JSON although the status was 200. */
void answer_judge_foreign(const struct answer *a, const struct err *parse,
                          struct fault *f);

/* A fault of our own words, without status. */
void fault_set(struct fault *f, enum err_kind kind, const char *message);

/* The server's words on one line: valid UTF-8, no control characters, keys masked, at
 * most n - 1 bytes. */
void answer_clean(struct span text, char *out, size_t n);
