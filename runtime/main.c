/* main.c - start, turn the loop until the main task has ended, stop. */
#include "base/buf.h"
#include "base/fault.h"
#include "base/mem.h"
#include "host/paths.h"
#include "host/rt_flow.h"
#include "host/state.h"
#include "host/stop.h"
#include "host/task.h"
#include "host/watch.h"
#include "io/http.h"
#include "io/journal.h"
#include "io/loop.h"
#include <fcntl.h>
#include <lauxlib.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { EXIT_USAGE = 2, EXIT_BUG = 70 };

/* Between two turns of the loop. What a task sends leaves in the next turn: a hundred at
 * once would leave together, come back together and wait for each other for ever. */
enum { TASKS_A_TURN = 16 };

static int complain(const struct err *e)
{
    fprintf(stderr, "skillopt: %s: %s%s%s%s\n", err_kind_name(e->kind), e->message,
            e->hint[0] ? " (" : "", e->hint, e->hint[0] ? ")" : "");
    return EXIT_BUG;
}

/* Nothing is left that could wake a task: no time is waited for, no answer, no row, no
 * child (calls and children have timers). */
static bool is_quiet(void)
{
    return loop_is_quiet() && journal_owed() == 0;
}

/* Something may have come meanwhile. */
static bool has_news(void)
{
    loop_turn(false);
    return task_run_ready(TASKS_A_TURN) || task_count() == 0 || flow_wake_deferred() ||
           !is_quiet();
}

static void complain_of_standstill(void)
{
    struct err e = { 0 };
    struct buf slots = { .max = 512 };
    task_list_waiting(&slots);
    err_set(&e, ERR_BUG, "every task waits and nothing is left that could wake one: %s",
            buf_text(&slots));
    err_hint(&e, "please report it; what was answered is on file, and the same command "
                 "goes on from there");
    complain(&e);
    buf_free(&slots);
}

/* Turn until no task is left. False when they came to a standstill, which is said: then
 * the program ends as if it had been killed, which a run survives. */
static bool turn_to_end(void)
{
    for (;;) {
        bool has_more = task_run_ready(TASKS_A_TURN);
        if (task_count() == 0)
            return true;
        if (!has_more && flow_wake_deferred())
            continue;
        if (has_more || !is_quiet()) {
            loop_turn(!has_more);
        } else if (!has_news()) {
            complain_of_standstill();
            return false;
        }
    }
}

/* Push main(args), run it as the root task; its result is the exit code. args[0] is the
 * name the program was called by. */
static int run(lua_State *L, int argc, char **argv)
{
    struct err e = { 0 };
    if (!state_require(L, "skillopt.main", &e))
        return complain(&e);
    lua_createtable(L, argc, 0);
    for (int i = 0; i < argc; i++) {
        lua_pushstring(L, argv[i]);
        lua_rawseti(L, -2, i);
    }
    task_start(L, 1, 0); /* a run says where its clock starts */
    int code = EXIT_BUG;
    if (!turn_to_end())
        return code;
    if (task_result(L)) {
        code = (int)luaL_optinteger(L, -1, 0);
    } else {
        state_take_error(L, &e);
        code = e.kind == ERR_CANCELLED ? STOP_EXIT_CODE : complain(&e);
    }
    return code;
}

/* Bodies come and go by the thousand: memory that was given back is not returned to
 * the system at once, which would cost a page fault each time. */
static void keep_memory(void)
{
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 16 << 20);
    mallopt(M_TRIM_THRESHOLD, 256 << 20);
    mallopt(M_TOP_PAD, 4 << 20);
#endif
}

/* A standard stream that is closed would be the number of the next file that is opened:
 * what is said would be written into the journal. */
static void keep_streams(void)
{
    int fd;
    do
        fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd > STDERR_FILENO)
        close(fd);
}

int main(int argc, char **argv)
{
    keep_streams();
    keep_memory();
    struct err e = { 0 };
    if (!fault_init(getenv("SKILLOPT_FAULT"), &e)) {
        complain(&e);
        return EXIT_USAGE;
    }
    char *home = paths_home(&e);
    if (!home)
        return complain(&e);
    lua_State *L = NULL;
    int code = EXIT_BUG;
    if (loop_init(&e) && stop_init(&e))
        L = state_new(home, &e);
    if (L) {
        code = watch_start(L, &e) ? run(L, argc, argv) : complain(&e);
        watch_stop();
        state_free(L);
    } else {
        complain(&e);
    }
    http_fini();
    loop_on_signal(NULL, NULL, NULL);
    loop_fini();
    mem_free(home);
    fflush(stdout);
    return code;
}
