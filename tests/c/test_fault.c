/* The fault points: what is asked for happens at the pass that was named, nowhere else.
 */
#include "base/fault.h"
#include "check.h"
#include "io/file.h"
#include "io/journal.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char root[64], path[128];

static void remove_root(void)
{
    file_remove_tree("/tmp", root + strlen("/tmp/"), NULL);
}

/* The signal that ended f in a process of its own, 0 when it came to an end. */
static int signal_of(void (*f)(void))
{
    int status = 0;
    pid_t pid = fork();
    if (pid == 0) {
        f();
        _exit(0);
    }
    waitpid(pid, &status, 0);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void switch_on(const char *words)
{
    struct err e = { 0 };
    if (!fault_init(words, &e))
        CHECK_TEXT(e.message, "");
}

static void without_words_every_pass_goes_on(void)
{
    switch_on(NULL);
    CHECK(!fault_is_on);
    switch_on("");
    CHECK(!fault_is_on);
    for (int i = 0; i < FAULT_POINT_COUNT; i++)
        CHECK(fault_pass((enum fault_point)i));
}

static void only_the_named_pass_fails(void)
{
    switch_on("rename:3:fail");
    CHECK(fault_pass(FAULT_RENAME));
    CHECK(fault_pass(FAULT_WRITE));
    CHECK(fault_pass(FAULT_RENAME));
    errno = 0;
    CHECK(!fault_pass(FAULT_RENAME));
    CHECK_INT(errno, EIO);
    CHECK(fault_pass(FAULT_RENAME));
    switch_on(NULL);
}

static void a_plus_means_all_passes_behind_it(void)
{
    switch_on("write:2+:full");
    CHECK(fault_pass(FAULT_WRITE));
    for (int i = 0; i < 3; i++) {
        errno = 0;
        CHECK(!fault_pass(FAULT_WRITE));
        CHECK_INT(errno, ENOSPC);
    }
    switch_on(NULL);
}

static void words_that_are_none_are_refused_with_the_list(void)
{
    static const char *const wrong[] = {
        "rename",         "rename:",
        "rename:0:fail",  "rename:-1:fail",
        "rename:1",       "rename:1:",
        "rename:1:stop",  "renam:1:fail",
        "rename:x:fail",  ":1:fail",
        "rename:1:fail ", "rename: 1:fail",
        "count:",         "rename:99999999999999999999:fail",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct err e = { 0 };
        if (!CHECK(!fault_init(wrong[i], &e)))
            continue;
        CHECK_INT(e.kind, ERR_USAGE);
        CHECK(strstr(e.message, wrong[i]) != NULL);
        for (int p = 0; p < FAULT_POINT_COUNT; p++)
            CHECK(strstr(e.hint, fault_point_name((enum fault_point)p)) != NULL);
    }
    CHECK(!fault_is_on);
}

static void crash_at_the_second_rename(void)
{
    fault_init("rename:2:crash", NULL);
    file_write_atomic(path, "one", 3, 0, NULL);
    file_write_atomic(path, "two", 3, 0, NULL);
}

static void a_crash_between_write_and_rename_leaves_the_old_file(void)
{
    struct buf text = { 0 };
    CHECK_INT(signal_of(crash_at_the_second_rename), SIGKILL);
    CHECK(file_read(path, &text, NULL));
    CHECK_TEXT(buf_text(&text), "one");
    buf_free(&text);
}

static void tear_an_append(void)
{
    fault_init("append:1:tear", NULL);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (!fault_pass(FAULT_APPEND))
        fault_refuse(fd, "12345678", 8, -1);
}

static void a_torn_write_leaves_its_first_half(void)
{
    struct buf text = { 0 };
    CHECK_INT(signal_of(tear_an_append), SIGKILL);
    CHECK(file_read(path, &text, NULL));
    CHECK_TEXT(buf_text(&text), "1234");
    buf_free(&text);
}

static void tear_a_rename(void)
{
    fault_init("rename:1:tear", NULL);
    fault_pass(FAULT_RENAME);
}

static void where_nothing_is_written_a_tear_is_a_crash(void)
{
    CHECK_INT(signal_of(tear_a_rename), SIGKILL);
}

static void a_refused_write_that_is_not_torn_writes_nothing(void)
{
    switch_on("append:1:fail");
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    CHECK(!fault_pass(FAULT_APPEND));
    CHECK(!fault_is_tear());
    CHECK(!fault_refuse(fd, "12345678", 8, -1));
    CHECK_INT(lseek(fd, 0, SEEK_END), 0);
    close(fd);
    switch_on(NULL);
}

static void count_one_write(void)
{
    char words[160];
    snprintf(words, sizeof words, "count:%s", path);
    fault_init(words, NULL);
    char other[160];
    snprintf(other, sizeof other, "%s/counted", root);
    file_write_atomic(other, "x", 1, FILE_SYNC, NULL);
    exit(0);
}

static void passes_are_counted_for_every_point(void)
{
    struct buf text = { 0 };
    CHECK_INT(signal_of(count_one_write), 0);
    CHECK(file_read(path, &text, NULL));
    CHECK(strstr(buf_text(&text), "write 1\n") != NULL);
    CHECK(strstr(buf_text(&text), "sync 2\n") != NULL);
    CHECK(strstr(buf_text(&text), "rename 1\n") != NULL);
    int lines = 0;
    for (const char *p = buf_text(&text); *p; p++)
        lines += *p == '\n';
    CHECK_INT(lines, FAULT_POINT_COUNT);
    buf_free(&text);
}

/* ---- the journal under a fault ---- */

static char told[ERR_MESSAGE_MAX];

static void note_fate(void *arg, const struct err *e)
{
    snprintf(told, sizeof told, "%s", e ? e->message : "stored");
}

/* Each test has its own file: what lies beside a journal belongs to it. */
static void name_journal(const char *name)
{
    snprintf(path, sizeof path, "%s/%s.db", root, name);
}

static struct journal *open_journal(size_t ballast)
{
    struct err e = { 0 };
    struct journal_options o = { .ballast_bytes = ballast };
    struct journal *j = journal_open(path, &o, &e);
    if (!j)
        CHECK_TEXT(e.message, "");
    return j;
}

static void store_one(struct journal *j, const char *key)
{
    snprintf(told, sizeof told, "nothing");
    journal_append(j, JOURNAL_VALUE, "", key, "x", 1, note_fate, NULL, NULL);
    journal_sync(j, NULL);
    journal_deliver(j);
}

static void a_failed_commit_loses_its_row_aloud(void)
{
    name_journal("failed");
    switch_on("commit:2:fail");
    struct journal *j = open_journal(0);
    if (!j)
        return;
    store_one(j, "a");
    CHECK_TEXT(told, "stored");
    store_one(j, "b");
    CHECK(strstr(told, "cannot write") && strstr(told, "Input/output error"));
    CHECK_INT(journal_state(j, NULL), JOURNAL_READ_ONLY);
    CHECK(!journal_close(j, NULL));
    switch_on(NULL);
    j = open_journal(0);
    CHECK_INT(journal_last(j), 1);
    CHECK(journal_close(j, NULL));
}

static void a_full_disk_is_met_with_the_ballast(void)
{
    name_journal("full");
    switch_on("commit:2:full");
    struct journal *j = open_journal(1 << 20);
    if (!j)
        return;
    store_one(j, "a");
    store_one(j, "b");
    CHECK_TEXT(told, "stored");
    CHECK_INT(journal_state(j, NULL), JOURNAL_LOW);
    CHECK(journal_close(j, NULL));
    switch_on(NULL);
    j = open_journal(0);
    CHECK_INT(journal_last(j), 2);
    CHECK(journal_close(j, NULL));
}

static void store_until_torn(void)
{
    fault_init("db_write:12:tear", NULL);
    struct journal_options o = { 0 };
    struct journal *j = journal_open(path, &o, NULL);
    for (int i = 0; i < 8; i++) {
        char key[8];
        snprintf(key, sizeof key, "%d", i);
        store_one(j, key);
        if (strcmp(told, "stored") == 0) {
            char name[192];
            snprintf(name, sizeof name, "%s/stored.%d", root, i);
            close(open(name, O_WRONLY | O_CREAT, 0666));
        }
    }
}

static void what_was_called_stored_outlives_a_torn_database(void)
{
    name_journal("torn");
    CHECK_INT(signal_of(store_until_torn), SIGKILL);
    int stored = 0;
    for (int i = 0; i < 8; i++) {
        char name[192];
        snprintf(name, sizeof name, "%s/stored.%d", root, i);
        stored += access(name, F_OK) == 0;
    }
    CHECK(stored > 0 && stored < 8);
    struct journal *j = open_journal(0);
    if (!j)
        return;
    CHECK(journal_last(j) >= stored && journal_last(j) <= stored + 1);
    CHECK(journal_close(j, NULL));
}

int main(void)
{
    snprintf(root, sizeof root, "/tmp/skillopt-fault-XXXXXX");
    if (!mkdtemp(root))
        return 1;
    snprintf(path, sizeof path, "%s/file", root);
    check_run("without words every pass goes on", without_words_every_pass_goes_on);
    check_run("only the named pass fails", only_the_named_pass_fails);
    check_run("a plus means all passes behind it", a_plus_means_all_passes_behind_it);
    check_run("words that are none are refused with the list of points",
              words_that_are_none_are_refused_with_the_list);
    check_run("a crash between write and rename leaves the old file",
              a_crash_between_write_and_rename_leaves_the_old_file);
    check_run("a torn write leaves its first half", a_torn_write_leaves_its_first_half);
    check_run("where nothing is written a tear is a crash",
              where_nothing_is_written_a_tear_is_a_crash);
    check_run("a refused write that is not torn writes nothing",
              a_refused_write_that_is_not_torn_writes_nothing);
    check_run("passes are counted for every point", passes_are_counted_for_every_point);
    check_run("a failed commit loses its row aloud", a_failed_commit_loses_its_row_aloud);
    check_run("a full disk is met with the ballast", a_full_disk_is_met_with_the_ballast);
    check_run("what was called stored outlives a torn database",
              what_was_called_stored_outlives_a_torn_database);
    remove_root();
    return check_end();
}
