/* Child processes: what they get, what comes back, and that nothing of them stays. */
#include "base/buf.h"
#include "base/mem.h"
#include "check.h"
#include "io/file.h"
#include "io/loop.h"
#include "io/process.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define LIMIT_S 20.0

enum { INTERRUPTED = 20 };

static char folder[] = "/tmp/skillopt-test-process-XXXXXX";
static const char *const ENV[] = { "PATH=/usr/local/bin:/usr/bin:/bin", "WORD=given",
                                   NULL };

static int ended; /* how many have called `done` */

static void on_done(void *arg)
{
    ended++;
}

static struct process_request request_of(const char *const *argv)
{
    return (struct process_request){ .argv = argv,
                                     .env = ENV,
                                     .folder = folder,
                                     .timeout_s = LIMIT_S,
                                     .output_max = 1 << 20,
                                     .file_max = 1 << 20,
                                     .done = on_done };
}

static void on_guard(struct timer *t)
{
}

/* Turn the loop until `count` have ended. */
static void turn_until(int count)
{
    double end = loop_now() + LIMIT_S;
    struct timer guard = { 0 };
    timer_start(&guard, LIMIT_S, on_guard);
    while (ended < count && loop_now() < end)
        loop_turn(true);
    timer_stop(&guard);
    CHECK_INT(ended, count);
}

/* Run to the end; the caller frees the process. */
static struct process *run(const struct process_request *r)
{
    struct err e = { 0 };
    ended = 0;
    struct process *p = process_start(r, &e);
    if (CHECK(p != NULL))
        turn_until(1);
    else
        printf("# %s\n", e.message);
    return p;
}

static struct process_request shell(const char *script)
{
    static const char *argv[] = { "sh", "-c", NULL, NULL };
    argv[2] = script;
    return request_of(argv);
}

static void check_result(const struct process_request *q, enum process_state state,
                         int code, const char *out, const char *errors)
{
    struct process_result r;
    struct err e = { 0 };
    struct process *p = run(q);
    if (CHECK(process_result(p, &r, &e))) {
        CHECK_INT(r.state, state);
        CHECK_INT(r.code, code);
        CHECK_TEXT(r.out, out);
        CHECK_TEXT(r.errors, errors);
    }
    process_free(p);
}

static char *path_of(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

/* The number in a file that a child wrote; 0 while it is not there. */
static pid_t pid_in(const char *name)
{
    struct buf text = { 0 };
    struct err e;
    pid_t id = 0;
    if (file_read(path_of(name), &text, &e) && strchr(buf_text(&text), '\n'))
        id = (pid_t)strtol(buf_text(&text), NULL, 10);
    buf_free(&text);
    return id;
}

/* A process that has ended but was not waited for by its parent is not alive. */
static bool is_alive(pid_t id)
{
    char path[64], stat[256] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", (int)id);
    int fd = open(path, O_RDONLY);
    if (fd < 0)
        return false;
    ssize_t n = read(fd, stat, sizeof stat - 1);
    close(fd);
    const char *state = n > 0 ? strrchr(stat, ')') : NULL;
    return state && state[2] != 'Z';
}

/* ---- what comes back */

static void test_output(void)
{
    struct process_request q = shell("echo out; echo err >&2; exit 3");
    check_result(&q, PROCESS_EXIT, 3, "out\n", "err\n");
}

static void test_input(void)
{
    struct process_request q = shell("cat; echo end");
    q.input = "some bytes\n";
    q.input_len = strlen(q.input);
    check_result(&q, PROCESS_EXIT, 0, "some bytes\nend\n", "");
}

static void test_empty_input(void)
{
    struct process_request q = shell("wc -c");
    check_result(&q, PROCESS_EXIT, 0, "0\n", "");
}

static void test_unread_input(void)
{
    struct process_request q = shell("exec <&-; echo done");
    q.input_len = 4 << 20;
    q.input = mem_new(q.input_len);
    check_result(&q, PROCESS_EXIT, 0, "done\n", "");
    mem_free((void *)q.input);
}

static void test_signal(void)
{
    struct process_request q = shell("echo before; kill -TERM $$");
    check_result(&q, PROCESS_SIGNAL, SIGTERM, "before\n", "");
}

static void test_timeout(void)
{
    struct process_request q = shell("echo before; sleep 300; echo after");
    q.timeout_s = 0.3;
    check_result(&q, PROCESS_TIMEOUT, 0, "before\n", "");
}

static void test_endless_output(void)
{
    struct process_request q = shell("yes");
    q.output_max = 8;
    check_result(&q, PROCESS_OUTPUT, 0, "y\ny\ny\ny\n", "");
}

static void test_full_output(void)
{
    struct process_request q = shell("printf 12345678");
    q.output_max = 8;
    check_result(&q, PROCESS_EXIT, 0, "12345678", "");
}

/* ---- what a child gets */

static void test_environment(void)
{
    const char *const argv[] = { "env", NULL };
    struct process_request q = request_of(argv);
    check_result(&q, PROCESS_EXIT, 0, "PATH=/usr/local/bin:/usr/bin:/bin\nWORD=given\n",
                 "");
}

static void test_folder(void)
{
    struct process_request q = shell("pwd -P; umask");
    char want[128];
    snprintf(want, sizeof want, "%s\n0022\n", folder);
    check_result(&q, PROCESS_EXIT, 0, want, "");
}

static void test_descriptors(void)
{
    int open_here = open("/dev/null", O_RDONLY); /* not closed on exec */
    struct process_request q =
        shell("for i in 3 4 5 6 7 8 9; do [ -e /proc/$$/fd/$i ] && "
              "readlink /proc/$$/fd/$i; done; echo end");
    check_result(&q, PROCESS_EXIT, 0, "end\n", "");
    close(open_here);
}

static void test_signals_reset(void)
{
    struct process_request q = shell("kill -PIPE $$; echo ignored");
    check_result(&q, PROCESS_SIGNAL, SIGPIPE, "", "");
}

static void test_file_limit(void)
{
    struct process_request q =
        shell("head -c 5000 /dev/zero >large 2>/dev/null; wc -c <large");
    q.file_max = 1024;
    check_result(&q, PROCESS_EXIT, 0, "1024\n", "");
}

/* ---- what stays of it: nothing */

#define STRAY "setsid sh -c 'sleep 300 & echo $! >stray.tmp; mv stray.tmp stray; wait' & "
#define UNTIL "while [ ! -e stray ]; do sleep 0.01; done; "

static void check_stray_gone(void)
{
    pid_t stray = pid_in("stray");
    CHECK(stray > 0);
    CHECK(!is_alive(stray));
    unlink(path_of("stray"));
}

static void test_stray(void)
{
    struct process_request q = shell(STRAY UNTIL "echo end");
    check_result(&q, PROCESS_EXIT, 0, "end\n", "");
    check_stray_gone();
}

static void test_stray_at_timeout(void)
{
    struct process_request q = shell(STRAY UNTIL "echo up; sleep 300");
    q.timeout_s = 2;
    check_result(&q, PROCESS_TIMEOUT, 0, "up\n", "");
    check_stray_gone();
}

static void test_many_strays(void)
{
    struct process_request q = shell(
        "for i in 1 2 3 4 5 6 7 8; do (setsid sh -c "
        "'for j in 1 2 3 4; do (sleep 300 &); done' &); done; " STRAY UNTIL "echo end");
    check_result(&q, PROCESS_EXIT, 0, "end\n", "");
    check_stray_gone();
}

static void test_free_running(void)
{
    struct process_request q = shell(STRAY "sleep 300");
    struct err e = { 0 };
    ended = 0;
    struct process *p = process_start(&q, &e);
    for (double end = loop_now() + LIMIT_S; !pid_in("stray") && loop_now() < end;)
        loop_turn(false);
    process_free(p);
    check_stray_gone();
    CHECK_INT(ended, 0);
}

/* Runs before the loop of this program exists. */
static void test_killed_program(void)
{
    struct err e = { 0 };
    pid_t program = fork();
    if (program == 0) {
        struct process_request q = shell(STRAY "sleep 300");
        if (!loop_init(&e) || !process_start(&q, &e))
            _exit(1);
        while (!pid_in("stray"))
            loop_turn(false);
        raise(SIGKILL);
    }
    int status;
    CHECK(waitpid(program, &status, 0) == program && WIFSIGNALED(status));
    for (int i = 0; i < 500 && is_alive(pid_in("stray")); i++)
        usleep(10000);
    check_stray_gone();
}

/* ---- ends that something stands in the way of */

static void test_stopped_supervisor(void)
{
    struct process_request q = shell("echo up; kill -STOP $PPID; sleep 300");
    q.timeout_s = 1;
    check_result(&q, PROCESS_TIMEOUT, 0, "up\n", "");
}

static void test_stopped_supervisor_freed(void)
{
    struct process_request q = shell("kill -STOP $PPID; echo >stopped; sleep 300");
    struct err e = { 0 };
    ended = 0;
    struct process *p = process_start(&q, &e);
    for (double end = loop_now() + LIMIT_S;
         access(path_of("stopped"), F_OK) != 0 && loop_now() < end;)
        loop_turn(false);
    CHECK(unlink(path_of("stopped")) == 0);
    process_free(p);
    CHECK_INT(ended, 0);
}

/* Somebody outside, this test, holds the output open when all is ended. */
static void test_output_held(void)
{
    struct process_request q =
        shell("echo up; echo $$ >pid.tmp; mv pid.tmp pid; sleep 300");
    struct process_result r;
    struct err e = { 0 };
    char output[64];
    q.timeout_s = 1;
    ended = 0;
    struct process *p = process_start(&q, &e);
    for (double end = loop_now() + LIMIT_S; !pid_in("pid") && loop_now() < end;)
        loop_turn(false);
    snprintf(output, sizeof output, "/proc/%d/fd/1", (int)pid_in("pid"));
    int fd = open(output, O_WRONLY | O_CLOEXEC);
    CHECK(fd >= 0);
    turn_until(1);
    CHECK(process_result(p, &r, &e) && r.state == PROCESS_TIMEOUT);
    CHECK_TEXT(r.out, "up\n");
    process_free(p);
    close(fd);
    unlink(path_of("pid"));
}

/* An interrupt of the terminal reaches the whole group, at any moment of a start. The
 * group is one of its own here, not that of whoever runs the tests. */
static void test_interrupted_starts(void)
{
    struct err e = { 0 };
    pid_t program = fork();
    if (program == 0) {
        setpgid(0, 0);
        signal(SIGINT, SIG_IGN);
        pid_t sender = fork();
        while (sender == 0)
            kill(0, SIGINT);
        bool ok = loop_init(&e);
        for (int i = 0; ok && i < INTERRUPTED; i++) {
            struct process_result r;
            struct process_request q = shell("exit 3");
            ended = 0;
            struct process *p = run(&q);
            ok = process_result(p, &r, &e) && r.state == PROCESS_EXIT && r.code == 3;
            process_free(p);
        }
        kill(sender, SIGKILL);
        _exit(ok ? 0 : 1);
    }
    int status;
    CHECK(waitpid(program, &status, 0) == program);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* ---- children that cannot start */

static void test_unknown_program(void)
{
    const char *const argv[] = { "no-such-program-here", NULL };
    struct process_request q = request_of(argv);
    struct err e = { 0 };
    CHECK(process_start(&q, &e) == NULL);
    CHECK_INT(e.kind, ERR_PROCESS);
    CHECK(!e.retry);
    CHECK(strstr(e.message, "no-such-program-here") != NULL);
}

static void check_fault(const struct process_request *q, const char *words)
{
    struct process_result r;
    struct err e = { 0 };
    struct process *p = run(q);
    CHECK(!process_result(p, &r, &e));
    CHECK_INT(e.kind, ERR_PROCESS);
    CHECK(!e.retry);
    CHECK(strstr(e.message, words) != NULL);
    process_free(p);
}

static void test_no_program(void)
{
    const char *const argv[] = { "/etc/passwd", NULL };
    struct process_request q = request_of(argv);
    check_fault(&q, "cannot start /etc/passwd: Permission denied");
}

static void test_no_folder(void)
{
    struct process_request q = shell("true");
    q.folder = "/nonexistent";
    check_fault(&q, "No such file or directory");
}

/* ---- the line */

enum { CROWD = 24 };

static void test_crowd(void)
{
    struct process *crowd[CROWD];
    struct process_result r;
    struct err e = { 0 };
    ended = 0;
    for (int i = 0; i < CROWD; i++) {
        char script[64];
        snprintf(script, sizeof script, "echo %d", i);
        struct process_request q = shell(script);
        crowd[i] = process_start(&q, &e);
    }
    turn_until(CROWD);
    for (int i = 0; i < CROWD; i++) {
        CHECK(process_result(crowd[i], &r, &e));
        CHECK_INT(strtol(r.out, NULL, 10), i);
        process_free(crowd[i]);
    }
}

static void test_line(void)
{
    struct process *busy[CROWD];
    struct err e = { 0 };
    ended = 0;
    struct process_request q = shell("sleep 300");
    int n = (int)sysconf(_SC_NPROCESSORS_ONLN);
    if (n > CROWD - 1) {
        check_skip("more processors than children in this test");
        return;
    }
    for (int i = 0; i < n; i++)
        busy[i] = process_start(&q, &e);
    q = shell("touch marker");
    struct process *first = process_start(&q, &e);
    q = shell("echo second");
    struct process *second = process_start(&q, &e);
    process_free(first);
    for (int i = 0; i < n; i++)
        process_free(busy[i]);
    turn_until(1);
    process_free(second);
    CHECK(access(path_of("marker"), F_OK) != 0);
}

/* The time of a child that waits in line does not run. */
static void test_line_time(void)
{
    struct process *one[CROWD];
    struct process_result r;
    struct err e = { 0 };
    int n = (int)sysconf(_SC_NPROCESSORS_ONLN) * 3;
    struct process_request q = shell("sleep 0.5; echo done");
    q.timeout_s = 1.2;
    ended = 0;
    if (n > CROWD) {
        check_skip("more processors than children in this test");
        return;
    }
    for (int i = 0; i < n; i++)
        one[i] = process_start(&q, &e);
    turn_until(n);
    for (int i = 0; i < n; i++) {
        CHECK(process_result(one[i], &r, &e));
        CHECK_INT(r.state, PROCESS_EXIT);
        process_free(one[i]);
    }
}

int main(void)
{
    struct err e = { 0 };
    if (!mkdtemp(folder))
        return 1;
    check_run("children end with a program that is killed", test_killed_program);
    check_run("an interrupt of the group ends no child", test_interrupted_starts);
    if (!loop_init(&e))
        return 1;
    check_run("output, errors and exit code come back", test_output);
    check_run("a child reads the input it is given", test_input);
    check_run("without input there is nothing to read", test_empty_input);
    check_run("input that is not read is no fault", test_unread_input);
    check_run("a signal is told by its number", test_signal);
    check_run("a child that takes too long is ended, its output kept", test_timeout);
    check_run("a child that says too much is ended", test_endless_output);
    check_run("output up to the limit is whole", test_full_output);
    check_run("a child has the environment it is given and no more", test_environment);
    check_run("a child starts in its folder with a plain umask", test_folder);
    check_run("a child has three descriptors", test_descriptors);
    check_run("signals ignored here are not ignored in a child", test_signals_reset);
    check_run("a file cannot grow beyond the limit", test_file_limit);
    check_run("a stray in a session of its own ends with the child", test_stray);
    check_run("a stray ends when the time is over", test_stray_at_timeout);
    check_run("many strays of strays end", test_many_strays);
    check_run("a child that is freed has ended, strays included", test_free_running);
    check_run("a supervisor that its child stopped goes on", test_stopped_supervisor);
    check_run("a child that stopped its supervisor is freed",
              test_stopped_supervisor_freed);
    check_run("output that is held open outside keeps no child from its end",
              test_output_held);
    check_run("a program that is not there is named", test_unknown_program);
    check_run("a file that is no program is named", test_no_program);
    check_run("a folder that is not there keeps a child from starting", test_no_folder);
    check_run("more children than processors all have their turn", test_crowd);
    check_run("a child freed in the line never starts", test_line);
    check_run("the time in the line does not count", test_line_time);
    file_remove_tree("/tmp", folder + strlen("/tmp/"), &e);
    loop_fini();
    return check_end();
}
