/* supervisor.h - the process that stands between this program and a child.
 *
 * It starts the child, waits for its end or for the word to stop, then ends every
 * process that descends from it, and reports. Orphans of the child become children
 * of the supervisor (it is a subreaper), so none can slip away, whatever group or
 * session it moved to. The word is the end of the control socket: it comes when this
 * program asks, and as well when this program dies.
 *
 * It runs in a fork of a program with threads: nothing in it takes memory or locks. */
#pragma once
#include <stdint.h>
#include <sys/types.h>

/* All of it is read only; the descriptors are closed by the end of the process. */
struct supervisor_order {
    const char *program; /* path; a relative one is looked up in `folder` */
    char *const *argv;
    char *const *env;
    const char *folder;
    int64_t file_max;                   /* bytes a file may grow to */
    int input, output, errors, control; /* the child gets the first three */
};

enum supervisor_word { SUPERVISOR_STATUS = 1, SUPERVISOR_FAULT = 2 };

/* What comes out of the control socket, once, when all processes have ended. */
struct supervisor_report {
    int32_t word;
    int32_t value; /* of waitpid; of errno, when the child could not be started */
};

_Noreturn void supervisor_run(const struct supervisor_order *o);
