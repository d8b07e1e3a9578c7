/* process.h - a child process: bytes in, bytes out, and nothing of it left behind.
 *
 * A child gets the environment, the folder and the input it is given and no more: no
 * descriptor, no terminal, limits on files and memory. A supervisor (supervisor.h) sees
 * to it that when `done` is called, or process_free returns, every process that came of
 * it has ended. No more children run at once than the machine has processors; the others
 * wait in line, and the time of a child counts from its start. All functions belong to
 * the loop's thread. */
#pragma once
#include "base/err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Everything is copied. */
struct process_request {
    const char *const *argv; /* NULL-terminated, at least one; a name without "/" is
                              * looked for in the PATH of `env` */
    const char *const *env;  /* NULL-terminated, NAME=value */
    const char *folder;      /* where it starts */
    const void *input;
    size_t input_len;
    double timeout_s;  /* above 0 */
    size_t output_max; /* bytes of stdout and stderr together */
    int64_t file_max;  /* bytes a file may grow to */
    void (*done)(void *arg);
    void *arg;
};

enum process_state { PROCESS_EXIT, PROCESS_SIGNAL, PROCESS_TIMEOUT, PROCESS_OUTPUT };

/* Texts belong to the process; at most output_max bytes, what came first. */
struct process_result {
    enum process_state state;
    int code; /* exit code or number of the signal; 0 else */
    const char *out, *errors;
    size_t out_len, errors_len;
};

struct process;

/* Start a child, or put it in line. NULL with ERR_PROCESS when there is no such program;
 * what goes wrong later is told by process_result. `done` is called once, from the loop,
 * unless the process is freed before. */
struct process *process_start(const struct process_request *r, struct err *e);

/* After `done`. False with ERR_PROCESS when the child could not be started. */
bool process_result(const struct process *p, struct process_result *r, struct err *e);

/* End it, if it has not ended, and forget it; NULL is fine. */
void process_free(struct process *p);
