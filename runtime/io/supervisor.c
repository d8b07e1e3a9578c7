/* supervisor.c - see supervisor.h. */
#include "io/supervisor.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    FD_CONTROL = STDERR_FILENO + 1,
    FD_FREE,        /* the first that is not one of the four */
    FD_ASIDE = 100, /* a place to keep descriptors while they are sorted */
    FILES_MAX = 1024,
    PROCESSES_MAX = 4096,
    DESCRIPTORS_MAX = 1 << 16,
    PAUSE_MS = 5,
};
#define DATA_MAX ((rlim_t)4 << 30)

/* ---- the child, from fork to exec ---- */

/* Never raises a limit. */
static void limit(int what, rlim_t most)
{
    struct rlimit now;
    if (getrlimit((__rlimit_resource_t)what, &now) != 0)
        return;
    if (now.rlim_max < most)
        most = now.rlim_max;
    struct rlimit wanted = { .rlim_cur = most, .rlim_max = most };
    setrlimit((__rlimit_resource_t)what, &wanted);
}

static _Noreturn void become(const struct supervisor_order *o, const sigset_t *none,
                             int fault)
{
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    umask(022);
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_FSIZE, (rlim_t)o->file_max);
    limit(RLIMIT_NOFILE, FILES_MAX);
    limit(RLIMIT_NPROC, PROCESSES_MAX);
    limit(RLIMIT_DATA, DATA_MAX);
    if (chdir(o->folder) == 0) {
        sigprocmask(SIG_SETMASK, none, NULL);
        execve(o->program, o->argv, o->env);
    }
    int32_t code = errno;
    ssize_t written = write(fault, &code, sizeof code);
    _exit(written == sizeof code ? 127 : 126);
}

/* The child's id, or -1 with *code the errno of what failed. */
static pid_t start(const struct supervisor_order *o, const sigset_t *none, int32_t *code)
{
    int fault[2];
    pid_t child = pipe2(fault, O_CLOEXEC) == 0 ? fork() : -1;
    if (child < 0) {
        *code = errno;
        return -1;
    }
    if (child == 0)
        become(o, none, fault[1]);
    close(fault[1]);
    ssize_t n = read(fault[0], code, sizeof *code);
    close(fault[0]);
    return n == (ssize_t)sizeof *code ? -1 : child;
}

/* ---- waiting ---- */

static bool has_ended(pid_t child)
{
    siginfo_t info = { 0 };
    int rc = waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT);
    return rc != 0 || info.si_pid == child;
}

/* Until the child has ended or the control socket has. */
static void watch(pid_t child, int signals)
{
    struct pollfd fds[] = { { .fd = FD_CONTROL, .events = POLLIN },
                            { .fd = signals, .events = POLLIN } };
    while (!has_ended(child)) {
        struct signalfd_siginfo came;
        poll(fds, 2, -1);
        if (fds[0].revents)
            return;
        if (fds[1].revents && read(signals, &came, sizeof came) < 0)
            return;
    }
}

/* ---- ending everything ---- */

/* Parent of process `name` (digits) as /proc has it, 0 when it is gone. */
static pid_t parent_of(const char *name)
{
    char path[64], stat[512];
    snprintf(path, sizeof path, "/proc/%.20s/stat", name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    ssize_t n = read(fd, stat, sizeof stat - 1);
    close(fd);
    stat[n > 0 ? n : 0] = '\0';
    const char *name_end = strrchr(stat, ')'); /* ") S 123 ...": state, parent */
    if (!name_end || strlen(name_end) < 5)
        return 0;
    return (pid_t)strtol(name_end + 4, NULL, 10);
}

static void kill_if_ours(const char *name)
{
    pid_t id = (pid_t)strtol(name, NULL, 10);
    if (id > 0 && parent_of(name) == getpid())
        kill(id, SIGKILL);
}

/* Kill all processes whose parent is this one. False when they cannot be listed. */
static bool kill_children(void)
{
    _Alignas(struct dirent64) char room[8192];
    int fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return false;
    for (ssize_t n = getdents64(fd, room, sizeof room); n > 0;
         n = getdents64(fd, room, sizeof room))
        for (ssize_t at = 0; at < n;) {
            const struct dirent64 *entry = (const void *)(room + at);
            kill_if_ours(entry->d_name);
            at += entry->d_reclen;
        }
    close(fd);
    return true;
}

/* Wait until no descendant is left; whoever loses its parent comes to us and is next.
 * Returns the child's status. */
static int end_all(pid_t child)
{
    int status = 0, one;
    kill(-child, SIGKILL); /* not reaped yet: the number is still its own */
    for (;;) {
        pid_t gone = waitpid(-1, &one, WNOHANG);
        if (gone == child)
            status = one;
        if (gone > 0)
            continue;
        if (gone < 0 || !kill_children())
            return status;
        poll(NULL, 0, PAUSE_MS);
    }
}

/* ---- all of it ---- */

/* Close all descriptors from FD_FREE on; one by one where the system cannot do it. */
static void close_others(void)
{
    if (close_range(FD_FREE, ~0U, 0) == 0)
        return;
    long n = sysconf(_SC_OPEN_MAX);
    for (int fd = FD_FREE; fd < n && fd < DESCRIPTORS_MAX; fd++)
        close(fd);
}

/* The four descriptors in their places, all others closed. */
static bool sort_descriptors(const struct supervisor_order *o)
{
    const int given[] = { o->input, o->output, o->errors, o->control };
    int aside[FD_FREE];
    for (int i = 0; i < FD_FREE; i++) {
        aside[i] = fcntl(given[i], F_DUPFD_CLOEXEC, FD_ASIDE);
        if (aside[i] < 0)
            return false;
    }
    for (int i = 0; i < FD_FREE; i++)
        if (dup2(aside[i], i) < 0)
            return false;
    close_others();
    return fcntl(FD_CONTROL, F_SETFD, FD_CLOEXEC) == 0;
}

/* Signals as they are at a program's start; SIGCHLD comes through a descriptor. What came
 * since the fork was meant for the program (an interrupt goes to its whole group, which
 * is left a moment after the fork): ignoring a signal forgets it. */
static int calm_signals(sigset_t *none)
{
    sigset_t ended;
    for (int i = 1; i < NSIG; i++) {
        signal(i, SIG_IGN);
        signal(i, SIG_DFL);
    }
    sigemptyset(none);
    sigemptyset(&ended);
    sigaddset(&ended, SIGCHLD);
    sigprocmask(SIG_SETMASK, &ended, NULL);
    return signalfd(-1, &ended, SFD_CLOEXEC | SFD_NONBLOCK);
}

_Noreturn void supervisor_run(const struct supervisor_order *o)
{
    sigset_t none;
    struct supervisor_report r = { .word = SUPERVISOR_FAULT };
    setsid();
    bool is_sorted = sort_descriptors(o);
    int control = is_sorted ? FD_CONTROL : o->control;
    int signals = is_sorted ? calm_signals(&none) : -1;
    bool is_ready = signals >= 0 && prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0;
    r.value = errno;
    pid_t child = is_ready ? start(o, &none, &r.value) : -1;
    if (child > 0) {
        watch(child, signals);
        r.word = SUPERVISOR_STATUS;
        r.value = end_all(child);
    }
    ssize_t written = write(control, &r, sizeof r);
    _exit(written == sizeof r ? 0 : 1);
}
