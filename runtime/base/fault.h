/* fault.h - the places at which a run can be made to fail, for the tests that prove
 * that it goes on afterwards.
 *
 * Every write, sync, rename, commit, send, receive and start of a child passes one of the
 * points below. $SKILLOPT_FAULT, read once, names what happens there:
 *
 *   POINT:N:MODE    at the N-th pass of the point (N+: at that one and all behind it)
 *   count:PATH      nothing; when the process ends PATH gets a line `POINT PASSES` for
 *                   each point
 *
 * MODE is `crash` (the process ends as by kill -9), `tear` (the first half of what was to
 * be written is, then a crash; where nothing is written like `crash`), `fail` (an error
 * of the device) or `full` (no room on it). Unset costs one branch a pass. Safe from any
 * thread; fault_init before other threads start. */
#pragma once
#include "base/err.h"
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define FAULT_POINTS(X)                                                                  \
    X(WRITE, "write")        /* a file's content, into its temporary file */             \
    X(SYNC, "sync")          /* the content or the folder of a file */                   \
    X(RENAME, "rename")      /* the temporary file takes the name */                     \
    X(LINK, "link")          /* a symbolic link is made */                               \
    X(FOLDER, "folder")      /* a folder is made */                                      \
    X(APPEND, "append")      /* lines of events and logs, rows that wait for theirs */   \
    X(LOCK, "lock")          /* the text of a lock file */                               \
    X(BALLAST, "ballast")    /* room is reserved beside the journal */                   \
    X(HEAD, "head")          /* the journal's last row is noted beside it */             \
    X(INSERT, "insert")      /* a row goes into the transaction */                       \
    X(COMMIT, "commit")      /* the transaction is committed */                          \
    X(DB_WRITE, "db_write")  /* the database writes into one of its files */             \
    X(DB_SYNC, "db_sync")    /* ... syncs one */                                         \
    X(DB_TRUNCATE, "db_cut") /* ... cuts one to a length */                              \
    X(SEND, "send")          /* a request is handed to the network */                    \
    X(RECEIVE, "receive")    /* a piece of an answer came */                             \
    X(SPAWN, "spawn")        /* a child process is started */

enum fault_point {
#define FAULT_ENUM(id, name) FAULT_##id,
    FAULT_POINTS(FAULT_ENUM)
#undef FAULT_ENUM
        FAULT_POINT_COUNT
};

const char *fault_point_name(enum fault_point point);

/* Take the words of $SKILLOPT_FAULT; NULL or "" switches all off. ERR_USAGE when they
 * are not as above, with the list of points as the hint. */
bool fault_init(const char *words, struct err *e);

/* Whether fault_init was given any. */
extern bool fault_is_on;

/* Pass a point. False with errno set when what follows has to fail. */
bool fault_check(enum fault_point point);
static inline bool fault_pass(enum fault_point point)
{
    return __builtin_expect(!fault_is_on, 1) || fault_check(point);
}

/* Behind a pass that was refused, before n bytes at `p` are written: under `tear` the
 * first half is written to `fd` at `at` (negative: where it stands) and the process
 * ends. Otherwise does nothing. Always false, errno stays. */
bool fault_refuse(int fd, const void *p, size_t n, off_t at);

/* The same for those who write by other means: is it to be torn, and the end. */
bool fault_is_tear(void);
void fault_crash(void) __attribute__((noreturn));
