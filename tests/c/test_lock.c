/* The run lock: who has it, who may share it, who takes it over. */
#include "check.h"
#include "io/file.h"
#include "io/lock.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char root[64], path[128], note[LOCK_NOTE_MAX];

static struct lock_self here(double now)
{
    struct lock_self self = { .pid = getpid(), .host = "build-a", .now = now };
    return self;
}

static struct lock *take(enum lock_mode mode, double now, struct err *e)
{
    struct lock_self self = here(now);
    *e = (struct err){ 0 };
    return lock_acquire(path, mode, &self, note, e);
}

static bool is_there(void)
{
    return access(path, F_OK) == 0;
}

static bool has(const char *text, const char *piece)
{
    return CHECK_TEXT(strstr(text, piece) ? piece : text, piece);
}

static void write_text(long pid, const char *host, const char *started,
                       const char *heartbeat)
{
    char text[512];
    int n = snprintf(text, sizeof text, "pid %ld\nhost %s\nstarted %s\nheartbeat %s\n",
                     pid, host, started, heartbeat);
    CHECK(file_write_atomic(path, text, (size_t)n, 0, NULL));
}

static void a_lock_is_taken_named_and_given_back(void)
{
    struct err e;
    struct buf text = { 0 };
    struct lock *l = take(LOCK_EXCLUSIVE, 1772532000, &e);
    if (!CHECK(l != NULL))
        return;
    CHECK_TEXT(note, "");
    CHECK(file_read(path, &text, NULL));
    has(buf_text(&text), "host build-a\nstarted 2026-03-03T10:00:00Z\nheartbeat 2026-03");
    lock_release(l);
    CHECK(!is_there());
    buf_free(&text);
}

static void a_second_run_is_told_who_has_it(void)
{
    struct err e;
    char words[64];
    struct lock *l = take(LOCK_EXCLUSIVE, 1000000, &e);
    lock_beat(l, 1000060);
    CHECK(!take(LOCK_EXCLUSIVE, 1000090, &e));
    CHECK_INT(e.kind, ERR_IO);
    snprintf(words, sizeof words, "process %ld on build-a", (long)getpid());
    has(e.message, words);
    has(e.message, "started 90 s ago, last sign of life 30 s ago");
    has(e.hint, "wait until it has ended");
    CHECK(!take(LOCK_SHARED, 1000090, &e));
    lock_release(l);
    l = take(LOCK_EXCLUSIVE, 1000100, &e);
    CHECK(l != NULL);
    lock_release(l);
}

static void many_may_share(void)
{
    struct err e;
    struct lock *a = take(LOCK_SHARED, 1, &e), *b = take(LOCK_SHARED, 2, &e);
    CHECK(a && b);
    CHECK(!take(LOCK_EXCLUSIVE, 3, &e));
    has(e.message, "another process is using this folder");
    lock_release(a);
    CHECK(is_there());
    CHECK(!take(LOCK_EXCLUSIVE, 3, &e));
    lock_release(b);
    CHECK(!is_there());
    struct lock *c = take(LOCK_EXCLUSIVE, 4, &e);
    CHECK(c != NULL);
    lock_release(c);
}

/* Start a child that takes the lock and stays until it is killed. */
static pid_t child_with_lock(void)
{
    int ends[2];
    char byte;
    CHECK(pipe(ends) == 0);
    pid_t pid = fork();
    if (pid == 0) {
        struct lock_self self = lock_self_now();
        struct err e;
        bool ok = lock_acquire(path, LOCK_EXCLUSIVE, &self, note, &e) != NULL;
        ok = write(ends[1], "x", 1) == 1 && ok;
        for (;;)
            pause();
    }
    CHECK(read(ends[0], &byte, 1) == 1);
    close(ends[0]);
    close(ends[1]);
    return pid;
}

static void the_lock_of_a_killed_process_is_taken_over_with_a_note(void)
{
    struct err e = { 0 };
    struct lock_self self = lock_self_now();
    char words[320];
    pid_t pid = child_with_lock();
    CHECK(!lock_acquire(path, LOCK_EXCLUSIVE, &self, note, &e));
    snprintf(words, sizeof words, "process %ld on %s", (long)pid, self.host);
    has(e.message, words);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    struct lock *l = lock_acquire(path, LOCK_EXCLUSIVE, &self, note, &e);
    if (!CHECK(l != NULL))
        return;
    has(note, "took over from process");
    has(note, "did not end cleanly");
    lock_release(l);
}

static void sharing_leaves_the_mark_of_a_killed_process(void)
{
    struct err e;
    write_text(999999, "build-a", "2026-03-03T10:00:00Z", "2026-03-03T10:00:30Z");
    struct lock *l = take(LOCK_SHARED, 1772539200, &e);
    CHECK(l != NULL);
    CHECK(!take(LOCK_EXCLUSIVE, 1772539200, &e));
    has(e.message, "another process");
    lock_release(l);
    CHECK(is_there());
    l = take(LOCK_EXCLUSIVE, 1772539200, &e);
    has(note, "999999");
    lock_release(l);
}

/* The string or number behind "NAME": in the case file. */
static void field(const char *text, const char *name, char *out, size_t size)
{
    char key[32];
    snprintf(key, sizeof key, "\"%s\":", name);
    const char *p = strstr(text, key);
    p = p ? p + strlen(key) + strspn(p + strlen(key), " \"") : "";
    snprintf(out, size, "%.*s", (int)strcspn(p, "\",\n"), p);
}

static void two_runs_of_one_folder(void)
{
    struct err e;
    struct buf text = { 0 };
    char pid[32], host[64], started[64], heartbeat[64];
    if (!CHECK(file_read("tests/cases/f04_two_runs_one_dir.json", &text, NULL)))
        return;
    field(buf_text(&text), "pid", pid, sizeof pid);
    field(buf_text(&text), "host", host, sizeof host);
    field(buf_text(&text), "started", started, sizeof started);
    field(buf_text(&text), "heartbeat", heartbeat, sizeof heartbeat);
    write_text(strtol(pid, NULL, 10), host, started, heartbeat);
    struct lock *first = take(LOCK_EXCLUSIVE, 1772539200, &e);
    CHECK(first != NULL);
    CHECK_TEXT(note,
               "took over from process 999999 on build-a, which did not end cleanly "
               "(last sign of life 119 min ago)");
    CHECK(!take(LOCK_EXCLUSIVE, 1772539205, &e));
    has(e.message, "started 5 s ago");
    lock_release(first);
    buf_free(&text);
}

static void a_text_nobody_wrote_is_no_holder(void)
{
    static const char *const texts[] = {
        "",        "pid\n",    "pid -1\nhost x\n",        "pid 12\n",
        "garbage", "host x\n", "pid 99999999999999999999"
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct err e;
        CHECK(file_write_atomic(path, texts[i], strlen(texts[i]), 0, NULL));
        struct lock *l = take(LOCK_EXCLUSIVE, 5, &e);
        CHECK(l != NULL);
        CHECK_TEXT(note, "");
        lock_release(l);
    }
}

static void a_lock_in_a_folder_that_is_not_there_says_so(void)
{
    struct lock_self self = here(1);
    struct err e;
    CHECK(!lock_acquire("/nowhere/run/run.lock", LOCK_EXCLUSIVE, &self, note, &e));
    CHECK_INT(e.kind, ERR_IO);
    has(e.message, "No such file");
}

static void a_child_program_does_not_keep_the_lock(void)
{
    struct err e;
    int ends[2];
    CHECK(pipe(ends) == 0);
    struct lock *l = take(LOCK_EXCLUSIVE, 1, &e);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(ends[0], 0);
        close(ends[1]);
        execl("/bin/cat", "cat", (char *)NULL);
        _exit(1);
    }
    close(ends[0]);
    CHECK(write(ends[1], "", 0) == 0);
    lock_release(l);
    struct lock *again = take(LOCK_EXCLUSIVE, 2, &e);
    CHECK(again != NULL);
    lock_release(again);
    close(ends[1]);
    waitpid(pid, NULL, 0);
}

static void a_folder_one_may_only_read_is_shared_without_a_file(void)
{
    struct err e;
    bool is_root = geteuid() == 0;
    CHECK(chmod(root, 0500) == 0);
    if (is_root)
        CHECK(chown(root, 65534, 65534) == 0 && seteuid(65534) == 0);
    struct lock *l = take(LOCK_SHARED, 1, &e);
    CHECK(l != NULL && !is_there());
    lock_release(l);
    CHECK(!take(LOCK_EXCLUSIVE, 1, &e));
    if (is_root)
        CHECK(seteuid(0) == 0);
    CHECK(chmod(root, 0700) == 0);
}

static bool is_alive(long pid, const char *host, const char *heartbeat)
{
    char text[256];
    struct lock_self self = here(1772532100); /* 10:01:40 */
    snprintf(text, sizeof text, "pid %ld\nhost %s\nstarted x\nheartbeat %s\n", pid, host,
             heartbeat);
    return lock_text_is_alive(text, &self);
}

static void on_a_network_the_text_decides(void)
{
    CHECK(is_alive(5, "build-b", "2026-03-03T10:00:30Z"));
    CHECK(!is_alive(5, "build-b", "2026-03-03T09:59:40Z"));
    CHECK(is_alive(getppid(), "build-a", "2026-03-03T09:00:00Z"));
    CHECK(!is_alive(999999, "build-a", "2026-03-03T10:01:40Z"));
    CHECK(!is_alive(getpid(), "build-a", "2026-03-03T10:01:40Z"));
    CHECK(!is_alive(0, "build-b", "2026-03-03T10:01:40Z"));
    CHECK(!is_alive(99999999999, "build-b", "2026-03-03T10:01:40Z"));
}

int main(void)
{
    snprintf(root, sizeof root, "/tmp/skillopt-lock-XXXXXX");
    if (!mkdtemp(root))
        return 1;
    snprintf(path, sizeof path, "%s/run.lock", root);
    check_run("a lock is taken named and given back",
              a_lock_is_taken_named_and_given_back);
    check_run("a second run is told who has it", a_second_run_is_told_who_has_it);
    check_run("many may share", many_may_share);
    check_run("the lock of a killed process is taken over with a note",
              the_lock_of_a_killed_process_is_taken_over_with_a_note);
    check_run("sharing leaves the mark of a killed process",
              sharing_leaves_the_mark_of_a_killed_process);
    check_run("two runs of one folder", two_runs_of_one_folder);
    check_run("a text nobody wrote is no holder", a_text_nobody_wrote_is_no_holder);
    check_run("a lock in a folder that is not there says so",
              a_lock_in_a_folder_that_is_not_there_says_so);
    check_run("a child program does not keep the lock",
              a_child_program_does_not_keep_the_lock);
    check_run("a folder one may only read is shared without a file",
              a_folder_one_may_only_read_is_shared_without_a_file);
    check_run("on a network the text decides", on_a_network_the_text_decides);
    file_remove_tree("/tmp", root + 5, NULL);
    return check_end();
}
