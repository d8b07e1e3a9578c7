/* The journal: what is acknowledged is there, what is damaged is named, whatever
 * happens to the process, the disk or the files.
 *
 * SQLite is given a file system of ours (a thin layer over the real one) that can
 * end the process at any byte, run out of room or fail to sync. */
#include "base/mem.h"
#include "check.h"
#include "io/file.h"
#include "io/journal.h"
#include "io/journal_db.h"
#include "io/journal_index.h"
#include "io/journal_pack.h"
#include <pthread.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- a file system with faults ---- */

static struct {
    long long written; /* bytes so far */
    long long die_at;  /* end the process when `written` gets there; 0: never */
    long long room;    /* no more bytes than this while `ballast` is there; 0: any */
    long long room_without;
    const char *ballast;
    bool fails_sync;
} fault;
static _Thread_local bool fails_read;

static sqlite3_vfs *real_vfs;

struct layer {
    sqlite3_file base;
    sqlite3_file *real;
};

static sqlite3_file *under(sqlite3_file *f)
{
    return ((struct layer *)f)->real;
}

#define CALL(f, name, ...) under(f)->pMethods->name(under(f), __VA_ARGS__)

static bool has_room(int n)
{
    if (!fault.room)
        return true;
    bool is_heavy = fault.ballast && access(fault.ballast, F_OK) == 0;
    return fault.written + n <= (is_heavy ? fault.room : fault.room_without);
}

static int layer_write(sqlite3_file *f, const void *p, int n, sqlite3_int64 at)
{
    if (!has_room(n))
        return SQLITE_FULL;
    if (fault.die_at && fault.written + n >= fault.die_at) {
        CALL(f, xWrite, p, (int)(fault.die_at - fault.written), at);
        _exit(9);
    }
    fault.written += n;
    return CALL(f, xWrite, p, n, at);
}

static int layer_sync(sqlite3_file *f, int flags)
{
    return fault.fails_sync ? SQLITE_IOERR_FSYNC : CALL(f, xSync, flags);
}

static int layer_close(sqlite3_file *f)
{
    return under(f)->pMethods->xClose(under(f));
}

static int layer_read(sqlite3_file *f, void *p, int n, sqlite3_int64 at)
{
    if (fails_read)
        return SQLITE_IOERR_READ;
    return CALL(f, xRead, p, n, at);
}

static int layer_truncate(sqlite3_file *f, sqlite3_int64 n)
{
    return CALL(f, xTruncate, n);
}

static int layer_size(sqlite3_file *f, sqlite3_int64 *n)
{
    return CALL(f, xFileSize, n);
}

static int layer_lock(sqlite3_file *f, int lock)
{
    return CALL(f, xLock, lock);
}

static int layer_unlock(sqlite3_file *f, int lock)
{
    return CALL(f, xUnlock, lock);
}

static int layer_reserved(sqlite3_file *f, int *is_held)
{
    return CALL(f, xCheckReservedLock, is_held);
}

static int layer_control(sqlite3_file *f, int op, void *p)
{
    return CALL(f, xFileControl, op, p);
}

static int layer_sector(sqlite3_file *f)
{
    return under(f)->pMethods->xSectorSize(under(f));
}

static int layer_device(sqlite3_file *f)
{
    return under(f)->pMethods->xDeviceCharacteristics(under(f));
}

static int layer_map(sqlite3_file *f, int page, int n, int extend, void volatile **p)
{
    return CALL(f, xShmMap, page, n, extend, p);
}

static int layer_shm_lock(sqlite3_file *f, int offset, int n, int flags)
{
    return CALL(f, xShmLock, offset, n, flags);
}

static void layer_barrier(sqlite3_file *f)
{
    under(f)->pMethods->xShmBarrier(under(f));
}

static int layer_unmap(sqlite3_file *f, int is_deleted)
{
    return CALL(f, xShmUnmap, is_deleted);
}

static const sqlite3_io_methods layer_methods = {
    .iVersion = 2,
    .xClose = layer_close,
    .xRead = layer_read,
    .xWrite = layer_write,
    .xTruncate = layer_truncate,
    .xSync = layer_sync,
    .xFileSize = layer_size,
    .xLock = layer_lock,
    .xUnlock = layer_unlock,
    .xCheckReservedLock = layer_reserved,
    .xFileControl = layer_control,
    .xSectorSize = layer_sector,
    .xDeviceCharacteristics = layer_device,
    .xShmMap = layer_map,
    .xShmLock = layer_shm_lock,
    .xShmBarrier = layer_barrier,
    .xShmUnmap = layer_unmap,
};

static int layer_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *f, int flags,
                      int *out)
{
    struct layer *l = (struct layer *)f;
    l->real = (sqlite3_file *)(l + 1);
    l->base.pMethods = NULL;
    int code = real_vfs->xOpen(real_vfs, name, l->real, flags, out);
    if (l->real->pMethods)
        l->base.pMethods = &layer_methods;
    return code;
}

static void layer_install(void)
{
    static sqlite3_vfs vfs;
    real_vfs = sqlite3_vfs_find(NULL);
    vfs = *real_vfs;
    vfs.zName = "faulty";
    vfs.szOsFile = (int)sizeof(struct layer) + real_vfs->szOsFile;
    vfs.xOpen = layer_open;
    sqlite3_vfs_register(&vfs, 1);
}

/* ---- folders and journals of the tests ---- */

static char root[64];
static char db[128], head[128], ballast[128];

static void fresh(void)
{
    file_remove_tree("/tmp", root + 5, NULL);
    file_make_folder(root, NULL);
    memset(&fault, 0, sizeof fault);
}

static struct journal *open_with(struct journal_options o)
{
    struct err e = { 0 };
    struct journal *j = journal_open(db, &o, &e);
    CHECK_TEXT(e.message, "");
    return j;
}

static struct journal *open_plain(void)
{
    return open_with((struct journal_options){ 0 });
}

/* Must fail; the message has `piece` in it. */
static void cannot_open(struct journal_options o, const char *piece)
{
    struct err e = { 0 };
    struct journal *j = journal_open(db, &o, &e);
    CHECK(!j);
    CHECK_INT(e.kind, ERR_IO);
    if (!strstr(e.message, piece) && !strstr(e.hint, piece))
        CHECK_TEXT(e.message, piece);
    journal_close(j, NULL);
}

static void close_well(struct journal *j)
{
    struct err e = { 0 };
    CHECK(journal_close(j, &e));
    CHECK_TEXT(e.message, "");
}

/* The data of row i: a few to some thousand bytes, different for each i. */
static const char *data_of(int i)
{
    static char text[8192];
    int n = 40 + (i * 7919) % 5000;
    int k = snprintf(text, sizeof text, "data %d:", i);
    for (; k < n; k++)
        text[k] = (char)('a' + (i + k * k / 7) % 26);
    text[k] = '\0';
    return text;
}

static const char *slot_of(int i)
{
    static char text[64];
    snprintf(text, sizeof text, "steps/step_0001/rollout/q%d", i);
    return text;
}

static int64_t add(struct journal *j, int i)
{
    struct err e = { 0 };
    const char *data = data_of(i);
    int64_t n = journal_append(j, JOURNAL_EFFECT, slot_of(i), "key", data, strlen(data),
                               NULL, NULL, &e);
    CHECK_TEXT(e.message, "");
    return n;
}

static void add_rows(struct journal *j, int first, int last)
{
    for (int i = first; i <= last; i++)
        CHECK_INT(add(j, i), i);
}

static bool has(struct journal *j, int i)
{
    struct buf data = { 0 };
    int64_t n = journal_find(j, JOURNAL_EFFECT, slot_of(i), "key");
    bool ok =
        n && journal_read(j, n, &data, NULL) && strcmp(buf_text(&data), data_of(i)) == 0;
    buf_free(&data);
    return ok;
}

static void make(int rows)
{
    fresh();
    struct journal *j = open_plain();
    add_rows(j, 1, rows);
    close_well(j);
}

static void sql(const char *text)
{
    sqlite3 *s = NULL;
    char *words = NULL;
    CHECK(sqlite3_open(db, &s) == SQLITE_OK);
    sqlite3_exec(s, text, NULL, NULL, &words);
    CHECK_TEXT(words ? words : "", "");
    sqlite3_free(words);
    sqlite3_close(s);
}

static bool is_there(const char *path)
{
    return access(path, F_OK) == 0;
}

/* ---- rows ---- */

static void rows_are_read_back_in_this_life_and_the_next(void)
{
    fresh();
    struct journal *j = open_plain();
    add_rows(j, 1, 300);
    for (int i = 1; i <= 300; i++)
        CHECK(has(j, i));
    close_well(j);
    j = open_plain();
    CHECK_INT(journal_last(j), 300);
    for (int i = 1; i <= 300; i++)
        CHECK(has(j, i));
    CHECK(!has(j, 301));
    add_rows(j, 301, 310);
    close_well(j);
    j = open_plain();
    CHECK(has(j, 310));
    close_well(j);
}

static void a_row_has_its_kind_slot_key_and_any_bytes(void)
{
    fresh();
    struct journal *j = open_plain();
    struct journal_row row = { 0 };
    CHECK_INT(
        journal_append(j, JOURNAL_BODY, "", "\xc3\xa9\"'", "a\0b", 3, NULL, NULL, NULL),
        1);
    CHECK_INT(journal_append(j, JOURNAL_VALUE, "slot", "", NULL, 0, NULL, NULL, NULL), 2);
    for (int life = 0; life < 2; life++) {
        CHECK(journal_row_read(j, 1, &row, NULL));
        CHECK(row.kind == JOURNAL_BODY);
        CHECK_TEXT(buf_text(&row.slot), "");
        CHECK_TEXT(buf_text(&row.key), "\xc3\xa9\"'");
        CHECK(row.data.len == 3 && memcmp(row.data.ptr, "a\0b", 3) == 0);
        CHECK(journal_row_read(j, 2, &row, NULL));
        CHECK(row.kind == JOURNAL_VALUE && row.data.len == 0);
        CHECK(!journal_row_read(j, 3, &row, NULL));
        close_well(j);
        j = open_plain();
    }
    close_well(j);
    journal_row_free(&row);
}

static void a_name_is_taken_once(void)
{
    struct err e;
    fresh();
    struct journal *j = open_plain();
    CHECK_INT(journal_append(j, JOURNAL_EFFECT, "a", "b", "1", 1, NULL, NULL, &e), 1);
    CHECK_INT(journal_append(j, JOURNAL_EFFECT, "a", "b", "2", 1, NULL, NULL, &e), 0);
    CHECK_INT(e.kind, ERR_BUG);
    CHECK_INT(journal_append(j, JOURNAL_VALUE, "a", "b", "3", 1, NULL, NULL, &e), 2);
    CHECK_INT(journal_append(j, JOURNAL_EFFECT, "ab", "", "4", 1, NULL, NULL, &e), 3);
    CHECK_INT(journal_append(j, JOURNAL_EFFECT, "", "ab", "5", 1, NULL, NULL, &e), 4);
    CHECK_INT(journal_find(j, JOURNAL_EFFECT, "a", "b"), 1);
    CHECK_INT(journal_find(j, JOURNAL_EFFECT, "ab", ""), 3);
    CHECK_INT(journal_find(j, JOURNAL_ITEM, "a", "b"), 0);
    close_well(j);
}

static void openings_and_intents_may_repeat(void)
{
    fresh();
    struct journal *j = open_plain();
    for (int life = 0; life < 2; life++) {
        int before = 4 * life;
        journal_append(j, JOURNAL_OPEN, "", "", "1", 1, NULL, NULL, NULL);
        journal_append(j, JOURNAL_INTENT, "a", "b", "2", 1, NULL, NULL, NULL);
        journal_append(j, JOURNAL_OPEN, "", "", "3", 1, NULL, NULL, NULL);
        journal_append(j, JOURNAL_INTENT, "a", "b", "4", 1, NULL, NULL, NULL);
        CHECK_INT(journal_find(j, JOURNAL_OPEN, "", ""), before + 3);
        CHECK_INT(journal_find(j, JOURNAL_INTENT, "a", "b"), before + 4);
        close_well(j);
        j = open_plain();
    }
    CHECK_INT(journal_find(j, JOURNAL_INTENT, "a", "b"), 8);
    close_well(j);
}

static void rows_of_a_kind_come_in_order(void)
{
    fresh();
    struct journal *j = open_plain();
    CHECK_INT(journal_next(j, JOURNAL_NONE, 0), 0);
    add_rows(j, 1, 2);
    journal_append(j, JOURNAL_VALUE, "a", "", "x", 1, NULL, NULL, NULL);
    CHECK_INT(add(j, 4), 4);
    journal_append(j, JOURNAL_VALUE, "b", "", "x", 1, NULL, NULL, NULL);
    CHECK_INT(journal_next(j, JOURNAL_VALUE, 0), 3);
    CHECK_INT(journal_next(j, JOURNAL_VALUE, 3), 5);
    CHECK_INT(journal_next(j, JOURNAL_VALUE, 5), 0);
    CHECK_INT(journal_next(j, JOURNAL_EFFECT, 2), 4);
    CHECK_INT(journal_next(j, JOURNAL_NONE, 4), 5);
    close_well(j);
}

static void texts_that_are_too_long_are_refused(void)
{
    struct err e;
    fresh();
    struct journal *j = open_plain();
    char *name = mem_new(JOURNAL_SLOT_MAX + 2);
    memset(name, 'n', JOURNAL_SLOT_MAX + 1);
    CHECK(!journal_append(j, JOURNAL_EFFECT, name, "", "", 0, NULL, NULL, &e));
    CHECK_INT(e.kind, ERR_LIMIT);
    CHECK(!journal_append(j, JOURNAL_EFFECT, "", name, "", 0, NULL, NULL, &e));
    CHECK_INT(e.kind, ERR_LIMIT);
    CHECK(!journal_append(j, JOURNAL_EFFECT, "", "", name, JOURNAL_DATA_MAX + 1, NULL,
                          NULL, &e));
    CHECK_INT(e.kind, ERR_LIMIT);
    name[JOURNAL_SLOT_MAX] = '\0';
    CHECK_INT(journal_append(j, JOURNAL_EFFECT, name, name, "", 0, NULL, NULL, &e), 1);
    CHECK_INT(journal_find(j, JOURNAL_EFFECT, name, name), 1);
    close_well(j);
    mem_free(name);
}

/* 160 MiB through a queue of 8. */
static void large_rows_wait_for_the_writer(void)
{
    fresh();
    struct journal *j = open_with((struct journal_options){ .is_wal_unsafe = true });
    size_t n = (size_t)32 << 20;
    char *bytes = mem_new(n);
    struct buf back = { 0 };
    for (int i = 0; i < 5; i++) {
        bytes[i] = 1;
        CHECK_INT(
            journal_append(j, JOURNAL_BODY, slot_of(i), "", bytes, n, NULL, NULL, NULL),
            i + 1);
    }
    CHECK(journal_sync(j, NULL));
    CHECK(journal_read(j, 5, &back, NULL));
    CHECK(back.len == n && memcmp(back.ptr, bytes, n) == 0);
    back.max = 1000;
    buf_free(&back);
    back = (struct buf){ .max = n - 1 };
    struct err e;
    CHECK(!journal_read(j, 5, &back, &e));
    CHECK_INT(e.kind, ERR_LIMIT);
    buf_free(&back);
    mem_free(bytes);
    close_well(j);
}

static int64_t bytes_of(const char *ending)
{
    char path[600];
    struct file_info info = { 0 };
    snprintf(path, sizeof path, "%s%s", db, ending);
    CHECK(file_stat(path, &info, NULL));
    return info.size;
}

/* What was read before does not hide what is written after, nor keep the log from being
 * brought home: its 1,000 pages of 16 KiB are as large as it gets. */
static void reads_and_groups_by_turns(bool is_wal_unsafe)
{
    enum { ROWS = 6000 };
    fresh();
    struct journal *j =
        open_with((struct journal_options){ .is_wal_unsafe = is_wal_unsafe });
    for (int i = 1; i <= ROWS; i++) {
        add_rows(j, i, i);
        CHECK(has(j, i));
        if (i % 3 == 0)
            CHECK(journal_sync(j, NULL));
        CHECK(has(j, i) && has(j, i / 2 + 1) && has(j, 1));
        CHECK(!has(j, i + 1));
    }
    CHECK(is_wal_unsafe || bytes_of("-wal") < 1100 * 16384);
    close_well(j);
    j = open_plain();
    CHECK_INT(journal_last(j), ROWS);
    CHECK(has(j, 1) && has(j, ROWS));
    close_well(j);
}

static void what_was_read_hides_nothing(void)
{
    reads_and_groups_by_turns(false);
    reads_and_groups_by_turns(true);
}

static void a_journal_in_memory_needs_no_folder(void)
{
    struct err e;
    struct journal_options o = { .ballast_bytes = JOURNAL_BALLAST_SIZE };
    struct journal *j = journal_open(NULL, &o, &e);
    if (!CHECK(j != NULL))
        return;
    add_rows(j, 1, 50);
    CHECK(journal_sync(j, &e));
    CHECK(has(j, 1) && has(j, 50));
    CHECK(journal_close(j, &e));
}

static void the_chain_does_not_depend_on_how_rows_were_grouped(void)
{
    struct digest chains[2];
    for (int life = 0; life < 2; life++) {
        fresh();
        struct journal *j = open_plain();
        for (int i = 1; i <= 40; i++) {
            add(j, i);
            if (life)
                journal_sync(j, NULL);
        }
        journal_sync(j, NULL);
        chains[life] = journal_chain(j);
        close_well(j);
    }
    CHECK(memcmp(&chains[0], &chains[1], sizeof chains[0]) == 0);
}

/* ---- callbacks ---- */

static int told, told_lost;
static char order[64];

static void tell(void *arg, const struct err *e)
{
    told++;
    told_lost += e != NULL;
    if (strlen(order) + 1 < sizeof order)
        order[strlen(order)] = *(char *)arg;
}

/* A loop of the simplest kind: posts lie in a list until they are run. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t came;
    void (*fn[256])(void *);
    void *arg[256];
    int n;
} posts = { .lock = PTHREAD_MUTEX_INITIALIZER, .came = PTHREAD_COND_INITIALIZER };

static void post(void (*fn)(void *), void *arg)
{
    pthread_mutex_lock(&posts.lock);
    posts.fn[posts.n] = fn;
    posts.arg[posts.n++] = arg;
    pthread_cond_signal(&posts.came);
    pthread_mutex_unlock(&posts.lock);
}

static int run_posts(bool waits)
{
    pthread_mutex_lock(&posts.lock);
    while (waits && !posts.n)
        pthread_cond_wait(&posts.came, &posts.lock);
    int n = posts.n;
    posts.n = 0;
    pthread_mutex_unlock(&posts.lock);
    for (int i = 0; i < n; i++)
        posts.fn[i](posts.arg[i]);
    return n;
}

static void callbacks_come_through_the_loop_in_order(void)
{
    fresh();
    struct journal *j = open_with((struct journal_options){ .post = post });
    told = told_lost = 0;
    memset(order, 0, sizeof order);
    char letters[] = "abcdefghijklmnopqrstuvwxyz";
    for (int i = 0; i < 26; i++)
        journal_append(j, JOURNAL_EFFECT, slot_of(i), "", "x", 1, tell, &letters[i],
                       NULL);
    journal_sync(j, NULL);
    CHECK_INT(told, 0);
    while (told < 26)
        run_posts(true);
    CHECK_TEXT(order, letters);
    CHECK_INT(told_lost, 0);
    close_well(j);
}

static void closing_tells_everyone_and_a_late_post_does_no_harm(void)
{
    fresh();
    struct journal *j = open_with((struct journal_options){ .post = post });
    char letter = 'x';
    told = told_lost = 0;
    for (int i = 0; i < 10; i++)
        journal_append(j, JOURNAL_EFFECT, slot_of(i), "", "x", 1, tell, &letter, NULL);
    close_well(j);
    CHECK_INT(told, 10);
    run_posts(false);
    CHECK_INT(told, 10);
}

static void add_again(void *arg, const struct err *e)
{
    struct journal *j = arg;
    struct err refused = { 0 };
    if (!journal_append(j, JOURNAL_VALUE, "late", "", "", 0, NULL, NULL, &refused))
        snprintf(order, sizeof order, "%.60s", strstr(refused.message, "is closed"));
}

static void a_row_that_comes_while_closing_is_refused(void)
{
    fresh();
    struct journal *j = open_plain();
    memset(order, 0, sizeof order);
    journal_append(j, JOURNAL_EFFECT, "a", "", "x", 1, add_again, j, NULL);
    close_well(j);
    CHECK_TEXT(order, "is closed");
}

/* ---- damage ---- */

static void a_changed_row_is_named(void)
{
    static const char *const changes[] = {
        "UPDATE row SET data = x'0041' WHERE n = 7",
        "UPDATE row SET key = 'other' WHERE n = 7",
        "UPDATE row SET slot = slot || 'x' WHERE n = 7",
        "UPDATE row SET kind = 'value' WHERE n = 7",
        "UPDATE row SET chain = zeroblob(32) WHERE n = 7",
        "UPDATE row SET chain = x'00' WHERE n = 7",
        "UPDATE row SET slot = CAST(x'610062' AS TEXT) WHERE n = 7",
    };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        make(20);
        sql(changes[i]);
        cannot_open((struct journal_options){ 0 }, "row 7 of ");
        cannot_open((struct journal_options){ .is_read_only = true }, "is damaged");
    }
}

static void a_missing_row_is_named(void)
{
    make(20);
    sql("DELETE FROM row WHERE n = 12");
    cannot_open((struct journal_options){ 0 }, "row 12 of ");
    make(20);
    sql("UPDATE row SET n = n + 1 WHERE n = 20");
    cannot_open((struct journal_options){ 0 }, "is missing");
}

static void a_damaged_row_may_be_given_up_with_those_behind_it(void)
{
    make(20);
    sql("UPDATE row SET data = x'0041' WHERE n = 8");
    struct journal *j = open_with((struct journal_options){ .accepts_loss = true });
    CHECK_INT(journal_last(j), 7);
    CHECK_INT(journal_lost(j), 13);
    CHECK(has(j, 7) && !has(j, 8));
    add_rows(j, 8, 9);
    close_well(j);
    j = open_plain();
    CHECK_INT(journal_last(j), 9);
    CHECK_INT(journal_lost(j), 0);
    CHECK(has(j, 9));
    close_well(j);
}

static void a_lost_tail_is_counted(void)
{
    make(20);
    sql("DELETE FROM row WHERE n > 17");
    cannot_open((struct journal_options){ 0 }, "3 are missing");
    cannot_open((struct journal_options){ 0 }, "--accept-loss");
    struct journal *j = open_with((struct journal_options){ .accepts_loss = true });
    CHECK_INT(journal_lost(j), 3);
    CHECK_INT(journal_last(j), 17);
    close_well(j);
    j = open_plain();
    CHECK_INT(journal_lost(j), 0);
    close_well(j);
    CHECK(file_remove(db, NULL));
    cannot_open((struct journal_options){ 0 }, "17 are missing");
}

static void a_head_of_another_run_is_noticed(void)
{
    struct buf other = { 0 };
    fresh();
    struct journal *j = open_plain();
    journal_append(j, JOURNAL_OPEN, "", "", "other", 5, NULL, NULL, NULL);
    add_rows(j, 2, 10);
    close_well(j);
    CHECK(file_read(head, &other, NULL));
    make(20);
    CHECK(file_write_atomic(head, other.ptr, other.len, 0, NULL));
    cannot_open((struct journal_options){ 0 }, "row 10 of ");
    j = open_with((struct journal_options){ .accepts_loss = true });
    CHECK_INT(journal_last(j), 20);
    CHECK_INT(journal_lost(j), 0);
    close_well(j);
    buf_free(&other);
}

static void a_damaged_head_is_no_reason_to_guess(void)
{
    make(5);
    struct buf text = { 0 };
    CHECK(file_read(head, &text, NULL));
    for (size_t i = 0; i < text.len; i++) {
        text.ptr[i] ^= 1;
        CHECK(file_write_atomic(head, text.ptr, text.len, 0, NULL));
        struct err e = { 0 };
        struct journal_options o = { .is_read_only = true };
        struct journal *j = journal_open(db, &o, &e);
        CHECK(!j && e.kind == ERR_IO);
        journal_close(j, NULL);
        text.ptr[i] ^= 1;
    }
    CHECK(file_write_atomic(head, text.ptr, text.len - 1, 0, NULL));
    cannot_open((struct journal_options){ 0 }, "is damaged");
    close_well(open_with((struct journal_options){ .accepts_loss = true }));
    close_well(open_plain());
    buf_free(&text);
}

static void an_absent_or_empty_head_knows_nothing(void)
{
    make(5);
    CHECK(file_write_atomic(head, "", 0, 0, NULL));
    close_well(open_plain());
    CHECK(file_remove(head, NULL));
    struct journal *j = open_plain();
    CHECK_INT(journal_last(j), 5);
    close_well(j);
}

/* The kind of the first page's tree, which SQLite looks at before any row. */
static void a_damaged_page_says_what_to_do(void)
{
    make(3);
    struct buf bytes = { 0 };
    CHECK(file_read(db, &bytes, NULL) && bytes.len > 101);
    bytes.ptr[100] ^= 0x40;
    CHECK(file_write_atomic(db, bytes.ptr, bytes.len, 0, NULL));
    buf_free(&bytes);
    cannot_open((struct journal_options){ 0 }, "malformed");
    cannot_open((struct journal_options){ 0 }, "restore the folder from a copy");
}

static void other_formats_and_files_are_refused(void)
{
    make(3);
    sql("PRAGMA user_version=2");
    cannot_open((struct journal_options){ 0 }, "has journal format 2");
    cannot_open((struct journal_options){ .accepts_loss = true }, "format 1");
    make(3);
    sql("PRAGMA application_id=7");
    cannot_open((struct journal_options){ 0 }, "is not a journal");
    fresh();
    CHECK(file_write_atomic(db, "plain text, long enough to be looked at", 39, 0, NULL));
    cannot_open((struct journal_options){ 0 }, "is not a journal");
    cannot_open((struct journal_options){ 0 }, "restore the folder from a copy");
    fresh();
    sql("CREATE TABLE t(x)");
    cannot_open((struct journal_options){ 0 }, "is not a journal");
    fresh();
    cannot_open((struct journal_options){ .is_read_only = true }, "No such file");
    CHECK(file_remove_tree("/tmp", root + 5, NULL));
    cannot_open((struct journal_options){ 0 }, root);
}

static void add_number(struct buf *b, uint64_t n)
{
    for (int shift = 56; shift >= 0; shift -= 8)
        buf_add_char(b, (char)(n >> shift));
}

/* The chain of a row with empty data as journal.h describes it. */
static struct digest chain_of(struct digest before, uint64_t n,
                              const char *const texts[3])
{
    struct buf b = { 0 };
    buf_add(&b, before.bytes, sizeof before.bytes);
    add_number(&b, n);
    for (int i = 0; i < 3; i++) {
        add_number(&b, strlen(texts[i]));
        buf_add_text(&b, texts[i]);
    }
    add_number(&b, 1);
    buf_add_char(&b, 0);
    struct digest d = digest_of(b.ptr, b.len);
    buf_free(&b);
    return d;
}

/* Add row 4 with a chain made by the description, as another program would. */
static void add_row_by_hand(const char *kind)
{
    char hex[DIGEST_HEX + 1], text[512];
    make(3);
    struct journal *j = open_plain();
    const char *const texts[3] = { kind, "some/slot", "key" };
    struct digest chain = chain_of(journal_chain(j), 4, texts);
    close_well(j);
    digest_hex(&chain, hex);
    snprintf(text, sizeof text,
             "INSERT INTO row VALUES(4, '%s', 'some/slot', 'key', x'00', x'%s')", kind,
             hex);
    sql(text);
}

static void the_chain_is_the_one_that_is_described(void)
{
    add_row_by_hand("value");
    struct journal *j = open_plain();
    CHECK_INT(journal_find(j, JOURNAL_VALUE, "some/slot", "key"), 4);
    close_well(j);
}

static void a_row_of_a_later_kind_is_not_dropped(void)
{
    add_row_by_hand("later");
    cannot_open((struct journal_options){ 0 }, "a kind this version does not know");
    cannot_open((struct journal_options){ .accepts_loss = true }, "row 4 of ");
}

/* ---- the process is ended ---- */

/* A child that adds rows and says, after each group, how many are acknowledged. */
static void child_rows(int say, bool is_wal_unsafe, int rows)
{
    struct journal_options o = { .is_wal_unsafe = is_wal_unsafe };
    struct journal *j = journal_open(db, &o, NULL);
    if (!j)
        _exit(1);
    int first = (int)journal_last(j) + 1;
    for (int i = first; i < first + rows; i++) {
        const char *data = data_of(i);
        journal_append(j, JOURNAL_EFFECT, slot_of(i), "key", data, strlen(data), NULL,
                       NULL, NULL);
        if (i % 3)
            continue;
        if (!journal_sync(j, NULL) || write(say, &i, sizeof i) != sizeof i)
            _exit(1);
    }
    _exit(0);
}

/* Start the child, wait until it is gone; returns the last row it acknowledged. */
static int run_child(bool is_wal_unsafe, int rows, int kill_after_us)
{
    int ends[2], acknowledged = 0, i;
    CHECK(pipe(ends) == 0);
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        child_rows(ends[1], is_wal_unsafe, rows);
    }
    close(ends[1]);
    if (kill_after_us) {
        usleep((useconds_t)kill_after_us);
        kill(pid, SIGKILL);
    }
    while (read(ends[0], &i, sizeof i) == sizeof i)
        acknowledged = i;
    close(ends[0]);
    waitpid(pid, NULL, 0);
    return acknowledged;
}

/* All that was acknowledged is there, the rest is whole, and the next life goes on. */
static bool survived(int acknowledged, bool is_wal_unsafe)
{
    struct journal_options o = { .is_wal_unsafe = is_wal_unsafe };
    struct err e = { 0 };
    struct journal *j = journal_open(db, &o, &e);
    CHECK_TEXT(e.message, "");
    if (!j)
        return false;
    int last = (int)journal_last(j);
    bool ok = last >= acknowledged;
    for (int i = 1; i <= last; i++)
        ok = ok && has(j, i);
    add_rows(j, last + 1, last + 2);
    return journal_close(j, NULL) && ok;
}

static int kill_at_bytes(bool is_wal_unsafe, long long step)
{
    int lives = 0;
    for (long long at = 1;; at += step) {
        fresh();
        fault.die_at = at;
        int acknowledged = run_child(is_wal_unsafe, 12, 0);
        fault.die_at = 0;
        if (!CHECK(survived(acknowledged, is_wal_unsafe)))
            return lives;
        lives++;
        if (acknowledged == 12)
            return lives;
    }
}

static void a_process_may_end_at_any_byte(void)
{
    CHECK(kill_at_bytes(false, 1021) > 20);
}

static void a_process_may_end_at_any_byte_without_wal(void)
{
    CHECK(kill_at_bytes(true, 2039) > 20);
}

static void a_killed_process_loses_nothing_it_acknowledged(void)
{
    fresh();
    for (int i = 1; i <= 15; i++) {
        int acknowledged = run_child(false, 100000, 4000 + 2500 * i);
        CHECK(survived(acknowledged, false));
    }
}

static void rows_that_the_log_lost_are_counted(void)
{
    fresh();
    CHECK_INT(run_child(false, 30, 0), 30);
    char wal[160];
    struct buf text = { 0 };
    snprintf(wal, sizeof wal, "%s-wal", db);
    CHECK(file_read(wal, &text, NULL));
    text.ptr[text.len / 2] ^= 1;
    CHECK(file_write_atomic(wal, text.ptr, text.len, 0, NULL));
    cannot_open((struct journal_options){ 0 }, "missing");
    buf_free(&text);
}

/* ---- room ---- */

static void the_ballast_lies_there_only_while_the_journal_is_open(void)
{
    struct file_info info;
    fresh();
    struct journal *j = open_with((struct journal_options){ .ballast_bytes = 1 << 20 });
    CHECK(file_stat(ballast, &info, NULL));
    CHECK_INT(info.size, 1 << 20);
    close_well(j);
    CHECK(!is_there(ballast));
}

static void a_full_disk_takes_what_is_in_flight_from_the_ballast(void)
{
    struct err e = { 0 };
    fresh();
    struct journal *j = open_with((struct journal_options){ .ballast_bytes = 1 << 20 });
    add_rows(j, 1, 10);
    CHECK(journal_sync(j, NULL));
    CHECK(journal_state(j, &e) == JOURNAL_OK);
    fault.ballast = ballast;
    fault.room = fault.written;
    fault.room_without = fault.written + (1 << 20);
    add_rows(j, 11, 20);
    CHECK(journal_sync(j, NULL));
    CHECK(journal_state(j, &e) == JOURNAL_LOW);
    CHECK(strstr(e.message, "full") != NULL);
    CHECK(strstr(e.hint, "free some space") != NULL);
    CHECK(!is_there(ballast));
    add_rows(j, 21, 30);
    close_well(j);
    memset(&fault, 0, sizeof fault);
    j = open_plain();
    for (int i = 1; i <= 30; i++)
        CHECK(has(j, i));
    close_well(j);
}

enum { OLD_ROWS = 400, OLD_BYTES = 20000 }; /* four times SQLite's cache */

/* Bytes that are not packed small, other ones each time. */
static void fill(char *bytes, size_t n)
{
    static uint64_t seed;
    for (size_t i = 0; i < n; i++)
        bytes[i] = (char)((seed = seed * 6364136223846793005u + 1) >> 56);
}

static const char *random_bytes(void)
{
    static char bytes[OLD_BYTES];
    fill(bytes, sizeof bytes);
    return bytes;
}

static bool insert_old(struct journal_db *d, int n, struct err *e)
{
    struct db_row row = { n,         JOURNAL_BODY, slot_of(n), "", random_bytes(),
                          OLD_BYTES, false };
    db_pack(d, &row);
    return db_insert(d, &row, e);
}

static bool can_seek(struct journal_db *d, int64_t n)
{
    struct err e;
    bool ok = db_seek(d, n, &e);
    if (ok)
        db_leave(d);
    return ok;
}

/* SQLite gives a group up when it cannot read. What comes behind that must not be stored
 * without the rows before it, nor in a transaction of the next reader. */
static void a_read_that_fails_ends_the_group_and_says_so(void)
{
    struct err e = { 0 };
    struct journal_index index = { 0 };
    struct journal_options o = { 0 };
    struct journal_db d;
    fresh();
    if (!CHECK(db_open(&d, db, &o, &index, &e) && db_begin(&d, &e)))
        return;
    for (int n = 1; n <= OLD_ROWS; n++)
        CHECK(insert_old(&d, n, &e));
    CHECK(db_commit(&d, &e));
    struct digest before = d.chain;
    CHECK(db_begin(&d, &e) && insert_old(&d, OLD_ROWS + 1, &e));
    fails_read = true;
    for (int64_t n = 1; n <= OLD_ROWS && can_seek(&d, n);)
        n++;
    fails_read = false;
    CHECK(sqlite3_get_autocommit(d.db)); /* or the rest would prove nothing */
    CHECK(can_seek(&d, 5) && !d.is_reading);
    CHECK(!insert_old(&d, OLD_ROWS + 2, &e));
    CHECK(strstr(e.message, "could not be read"));
    CHECK(!db_commit(&d, &e) && !d.is_full);
    db_rollback(&d, &before);
    CHECK(can_seek(&d, 5) && d.is_reading);
    CHECK(db_begin(&d, &e) && insert_old(&d, OLD_ROWS + 1, &e) && db_commit(&d, &e));
    db_close(&d);
    index_free(&index);
    struct journal *j = open_plain();
    if (!j)
        return;
    CHECK_INT(journal_last(j), OLD_ROWS + 1);
    close_well(j);
}

static struct {
    int stored, lost;
} acknowledged;

static void count_row(void *arg, const struct err *e)
{
    (void)arg;
    *(e ? &acknowledged.lost : &acknowledged.stored) += 1;
}

static void append_old(struct journal *j, int n)
{
    struct err e;
    if (journal_append(j, JOURNAL_BODY, slot_of(n), "", random_bytes(), OLD_BYTES,
                       count_row, NULL, &e) == 0)
        count_row(NULL, &e);
}

/* Whenever it comes: what was told to be stored is there, and nothing else. */
static void a_read_that_fails_loses_nothing_that_was_acknowledged(void)
{
    enum { ROUNDS = 12, MORE = 50 };
    struct buf data = { 0 };
    struct err e = { 0 };
    int n = 0;
    fresh();
    memset(&acknowledged, 0, sizeof acknowledged);
    struct journal *j = open_plain();
    while (n < OLD_ROWS)
        append_old(j, ++n);
    CHECK(journal_sync(j, &e));
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < MORE; i++)
            append_old(j, ++n);
        fails_read = true;
        for (int i = 1 + round; i <= OLD_ROWS && journal_read(j, i, &data, &e);)
            i += 7;
        fails_read = false;
        journal_read(j, 3, &data, &e);
    }
    journal_sync(j, &e);
    journal_deliver(j);
    CHECK_INT(acknowledged.stored + acknowledged.lost, n);
    CHECK(journal_close(j, &e) == (acknowledged.lost == 0));
    buf_free(&data);
    j = open_plain();
    if (!j)
        return;
    CHECK_INT(journal_last(j), acknowledged.stored);
    close_well(j);
}

/* Rows above SQLite's cache meet the end of the disk while they are inserted, and SQLite
 * gives the whole group up. A reader that takes the lock then begins to read. */
static void who_reads_does_not_hide_that_the_disk_is_full(void)
{
    enum { LARGE = 4 << 20 };
    struct err e = { 0 };
    struct journal_index index = { 0 };
    struct journal_db d;
    char *bytes = mem_new(LARGE);
    fill(bytes, LARGE);
    struct db_row row = { 1, JOURNAL_BODY, "slot", "", bytes, LARGE, false };
    fresh();
    struct journal_options o = { 0 };
    if (!CHECK(db_open(&d, db, &o, &index, &e)))
        return;
    db_pack(&d, &row);
    CHECK(db_begin(&d, &e) && db_insert(&d, &row, &e) && db_commit(&d, &e));
    struct digest before = d.chain;
    fault.room = fault.written;
    CHECK(db_begin(&d, &e));
    row.n = 2;
    db_pack(&d, &row);
    CHECK(!db_insert(&d, &row, &e) && d.is_full);
    CHECK(sqlite3_get_autocommit(d.db)); /* given up, or the rest would prove nothing */
    CHECK(db_seek(&d, 1, &e) && !d.is_reading);
    db_leave(&d);
    CHECK(d.is_full);
    db_rollback(&d, &before);
    CHECK(d.is_full);
    fault.room = 0;
    db_pack(&d, &row);
    CHECK(db_begin(&d, &e) && db_insert(&d, &row, &e) && db_commit(&d, &e) && !d.is_full);
    CHECK(db_seek(&d, 2, &e));
    db_leave(&d);
    db_close(&d);
    index_free(&index);
    mem_free(bytes);
}

static void a_disk_without_room_makes_the_journal_read_only(void)
{
    struct err e = { 0 };
    char letter = 'x';
    fresh();
    struct journal *j = open_plain();
    add_rows(j, 1, 10);
    CHECK(journal_sync(j, NULL));
    fault.room = fault.written;
    told = told_lost = 0;
    CHECK_INT(journal_append(j, JOURNAL_VALUE, "a", "", "x", 1, tell, &letter, NULL), 11);
    CHECK(!journal_sync(j, &e));
    CHECK_INT(e.kind, ERR_IO);
    CHECK(journal_state(j, &e) == JOURNAL_READ_ONLY);
    journal_deliver(j);
    CHECK_INT(told_lost, 1);
    CHECK(!journal_append(j, JOURNAL_VALUE, "b", "", "x", 1, tell, &letter, &e));
    CHECK(strstr(e.message, "full") != NULL);
    CHECK_INT(journal_find(j, JOURNAL_VALUE, "a", ""), 0);
    CHECK_INT(journal_next(j, JOURNAL_NONE, 10), 0);
    CHECK(has(j, 10));
    CHECK(!journal_close(j, &e));
    memset(&fault, 0, sizeof fault);
    j = open_plain();
    CHECK_INT(journal_last(j), 10);
    close_well(j);
}

static void a_failed_sync_is_never_tried_again(void)
{
    struct err e = { 0 };
    fresh();
    struct journal *j = open_with((struct journal_options){ .ballast_bytes = 4096 });
    add_rows(j, 1, 3);
    CHECK(journal_sync(j, NULL));
    fault.fails_sync = true;
    add_rows(j, 4, 4);
    CHECK(!journal_sync(j, &e));
    CHECK(journal_state(j, NULL) == JOURNAL_READ_ONLY);
    CHECK(is_there(ballast));
    fault.fails_sync = false;
    CHECK(!journal_append(j, JOURNAL_VALUE, "b", "", "x", 1, NULL, NULL, &e));
    CHECK(!journal_close(j, NULL));
}

/* ---- two readers, two writers ---- */

static void a_second_process_is_refused(void)
{
    int ends[2], back[2];
    char byte = 0;
    fresh();
    CHECK(pipe(ends) == 0 && pipe(back) == 0);
    pid_t pid = fork();
    if (pid == 0) {
        struct journal *j = journal_open(db, &(struct journal_options){ 0 }, NULL);
        bool ok = j && write(ends[1], "x", 1) == 1 && read(back[0], &byte, 1) == 1;
        _exit(ok ? 0 : 1);
    }
    CHECK(read(ends[0], &byte, 1) == 1);
    cannot_open((struct journal_options){ 0 }, "another process");
    CHECK(write(back[1], "x", 1) == 1);
    waitpid(pid, NULL, 0);
    close(ends[0]);
    close(ends[1]);
    close(back[0]);
    close(back[1]);
}

static void reading_a_journal_changes_nothing(void)
{
    struct buf before = { 0 }, after = { 0 };
    struct file_list list;
    struct err e;
    make(50);
    CHECK(file_read(db, &before, NULL));
    struct journal_options o = { .is_read_only = true };
    struct journal *a = open_with(o), *b = open_with(o);
    CHECK(has(a, 50) && has(b, 1));
    CHECK(!journal_append(a, JOURNAL_VALUE, "x", "", "", 0, NULL, NULL, &e));
    CHECK(strstr(e.message, "for reading") != NULL);
    close_well(a);
    close_well(b);
    CHECK(file_read(db, &after, NULL));
    CHECK(before.len == after.len && memcmp(before.ptr, after.ptr, after.len) == 0);
    CHECK(file_list(root, &list, NULL));
    CHECK_INT(list.n, 2);
    file_list_free(&list);
    buf_free(&before);
    buf_free(&after);
}

static void the_journal_of_a_killed_process_can_be_read(void)
{
    for (int is_wal_unsafe = 0; is_wal_unsafe < 2; is_wal_unsafe++) {
        fresh();
        CHECK_INT(run_child(is_wal_unsafe, 30, 0), 30);
        struct journal *j = open_with((struct journal_options){ .is_read_only = true });
        CHECK_INT(journal_last(j), 30);
        CHECK(has(j, 1) && has(j, 30));
        close_well(j);
    }
}

static void rows_are_copied_as_they_are(void)
{
    make(30);
    char parent[128];
    snprintf(parent, sizeof parent, "%s/parent.db", root);
    CHECK(rename(db, parent) == 0 && remove(head) == 0);
    struct journal_options o = { .is_read_only = true };
    struct journal *from = journal_open(parent, &o, NULL);
    struct journal *j = open_plain();
    struct err e;
    CHECK_INT(journal_copy(j, from, 30, NULL, NULL, &e), 1);
    CHECK(has(j, 30));
    for (int i = 1; i < 30; i++)
        CHECK_INT(journal_copy(j, from, i, NULL, NULL, &e), i + 1);
    CHECK(!journal_copy(j, from, 30, NULL, NULL, &e));
    CHECK_INT(e.kind, ERR_BUG);
    CHECK(!journal_copy(j, from, 31, NULL, NULL, &e));
    CHECK_INT(e.kind, ERR_IO);
    close_well(from);
    close_well(j);
    j = open_plain();
    for (int i = 1; i <= 30; i++)
        CHECK(has(j, i));
    close_well(j);
}

static void a_path_may_have_any_letters(void)
{
    char path[256];
    fresh();
    snprintf(path, sizeof path, "%s/a?b#c%%41 d", root);
    CHECK(file_make_folder(path, NULL));
    snprintf(path, sizeof path, "%s/a?b#c%%41 d/journal.db", root);
    struct journal *j = journal_open(path, &(struct journal_options){ 0 }, NULL);
    add_rows(j, 1, 3);
    close_well(j);
    CHECK(is_there(path));
    j = journal_open(path, &(struct journal_options){ .is_read_only = true }, NULL);
    CHECK(j && has(j, 3));
    journal_close(j, NULL);
}

static void a_journal_without_wal_turns_into_one_with_it(void)
{
    make(5);
    struct journal *j = open_with((struct journal_options){ .is_wal_unsafe = true });
    add_rows(j, 6, 9);
    close_well(j);
    j = open_plain();
    add_rows(j, 10, 12);
    for (int i = 1; i <= 12; i++)
        CHECK(has(j, i));
    close_well(j);
}

/* ---- parts ---- */

static void packed_bytes_come_back(void)
{
    struct packer *p = packer_new();
    for (size_t n = 0; n < 3000; n = n * 2 + 1) {
        struct buf packed = { 0 }, back = { 0 };
        char *bytes = mem_new(n);
        for (size_t i = 0; i < n; i++)
            bytes[i] = (char)(i % 11);
        CHECK(packer_pack(p, &packed, bytes, n));
        CHECK(packed.len < n + 2 && (n < 1000 || packed.len < n / 4));
        CHECK(packer_unpack(p, &back, packed.ptr, packed.len, NULL));
        CHECK(back.len == n && (n == 0 || memcmp(back.ptr, bytes, n) == 0));
        buf_free(&packed);
        buf_free(&back);
        mem_free(bytes);
    }
    packer_free(p);
}

static void damaged_packs_are_refused(void)
{
    struct packer *p = packer_new();
    struct buf packed = { 0 }, back = { .max = 10000 };
    struct err e;
    char bytes[5000] = { 0 };
    CHECK(packer_pack(p, &packed, bytes, sizeof bytes));
    for (size_t n = 0; n < packed.len; n++)
        CHECK(!packer_unpack(p, &back, packed.ptr, n, &e));
    packed.ptr[0] = 2;
    CHECK(!packer_unpack(p, &back, packed.ptr, packed.len, &e));
    CHECK_INT(e.kind, ERR_IO);
    packed.ptr[0] = 1;
    back.max = 4999;
    CHECK(!packer_unpack(p, &back, packed.ptr, packed.len, &e));
    CHECK_INT(e.kind, ERR_LIMIT);
    CHECK_INT(back.len, 0);
    buf_free(&packed);
    buf_free(&back);
    packer_free(p);
}

static void the_index_takes_less_than_a_hundred_bytes_a_row(void)
{
    struct journal_index x = { 0 };
    size_t worst = 0;
    for (int i = 1; i <= 50000; i++) {
        CHECK_INT(index_add(&x, JOURNAL_EFFECT, slot_of(i), "key"), i);
        size_t bytes = (x.cap * 24 + x.kinds_cap) / (size_t)i;
        worst = i > 1000 && bytes > worst ? bytes : worst;
    }
    CHECK(worst < 100);
    for (int i = 1; i <= 50000; i++)
        CHECK_INT(index_find(&x, JOURNAL_EFFECT, slot_of(i), "key"), i);
    CHECK_INT(index_find(&x, JOURNAL_EFFECT, slot_of(50001), "key"), 0);
    index_free(&x);
}

static void kinds_have_words(void)
{
    CHECK_TEXT(journal_kind_name(JOURNAL_DECISION), "decision");
    CHECK(journal_kind_of("body") == JOURNAL_BODY);
    CHECK(journal_kind_of("") == JOURNAL_NONE);
    CHECK(journal_kind_of("bodies") == JOURNAL_NONE);
}

static const struct {
    const char *name;
    void (*run)(void);
} tests[] = {
    { "rows are read back in this life and the next",
      rows_are_read_back_in_this_life_and_the_next },
    { "a row has its kind slot key and any bytes",
      a_row_has_its_kind_slot_key_and_any_bytes },
    { "a name is taken once", a_name_is_taken_once },
    { "openings and intents may repeat", openings_and_intents_may_repeat },
    { "rows of a kind come in order", rows_of_a_kind_come_in_order },
    { "texts that are too long are refused", texts_that_are_too_long_are_refused },
    { "large rows wait for the writer", large_rows_wait_for_the_writer },
    { "what was read hides nothing", what_was_read_hides_nothing },
    { "a journal in memory needs no folder", a_journal_in_memory_needs_no_folder },
    { "the chain does not depend on how rows were grouped",
      the_chain_does_not_depend_on_how_rows_were_grouped },
    { "callbacks come through the loop in order",
      callbacks_come_through_the_loop_in_order },
    { "closing tells everyone and a late post does no harm",
      closing_tells_everyone_and_a_late_post_does_no_harm },
    { "a row that comes while closing is refused",
      a_row_that_comes_while_closing_is_refused },
    { "a changed row is named", a_changed_row_is_named },
    { "a missing row is named", a_missing_row_is_named },
    { "a damaged row may be given up with those behind it",
      a_damaged_row_may_be_given_up_with_those_behind_it },
    { "a lost tail is counted", a_lost_tail_is_counted },
    { "a head of another run is noticed", a_head_of_another_run_is_noticed },
    { "a damaged head is no reason to guess", a_damaged_head_is_no_reason_to_guess },
    { "an absent or empty head knows nothing", an_absent_or_empty_head_knows_nothing },
    { "a damaged page says what to do", a_damaged_page_says_what_to_do },
    { "other formats and files are refused", other_formats_and_files_are_refused },
    { "the chain is the one that is described", the_chain_is_the_one_that_is_described },
    { "a row of a later kind is not dropped", a_row_of_a_later_kind_is_not_dropped },
    { "a process may end at any byte", a_process_may_end_at_any_byte },
    { "a process may end at any byte without wal",
      a_process_may_end_at_any_byte_without_wal },
    { "a killed process loses nothing it acknowledged",
      a_killed_process_loses_nothing_it_acknowledged },
    { "rows that the log lost are counted", rows_that_the_log_lost_are_counted },
    { "the ballast lies there only while the journal is open",
      the_ballast_lies_there_only_while_the_journal_is_open },
    { "a full disk takes what is in flight from the ballast",
      a_full_disk_takes_what_is_in_flight_from_the_ballast },
    { "a read that fails ends the group and says so",
      a_read_that_fails_ends_the_group_and_says_so },
    { "a read that fails loses nothing that was acknowledged",
      a_read_that_fails_loses_nothing_that_was_acknowledged },
    { "who reads does not hide that the disk is full",
      who_reads_does_not_hide_that_the_disk_is_full },
    { "a disk without room makes the journal read only",
      a_disk_without_room_makes_the_journal_read_only },
    { "a failed sync is never tried again", a_failed_sync_is_never_tried_again },
    { "a second process is refused", a_second_process_is_refused },
    { "reading a journal changes nothing", reading_a_journal_changes_nothing },
    { "the journal of a killed process can be read",
      the_journal_of_a_killed_process_can_be_read },
    { "rows are copied as they are", rows_are_copied_as_they_are },
    { "a path may have any letters", a_path_may_have_any_letters },
    { "a journal without wal turns into one with it",
      a_journal_without_wal_turns_into_one_with_it },
    { "packed bytes come back", packed_bytes_come_back },
    { "damaged packs are refused", damaged_packs_are_refused },
    { "the index takes less than a hundred bytes a row",
      the_index_takes_less_than_a_hundred_bytes_a_row },
    { "kinds have words", kinds_have_words },
};

int main(void)
{
    snprintf(root, sizeof root, "/tmp/skillopt-journal-XXXXXX");
    if (!mkdtemp(root))
        return 1;
    snprintf(db, sizeof db, "%s/journal.db", root);
    snprintf(head, sizeof head, "%s/journal.head", root);
    snprintf(ballast, sizeof ballast, "%s/journal.ballast", root);
    layer_install();
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        check_run(tests[i].name, tests[i].run);
    fresh();
    file_remove_tree("/tmp", root + 5, NULL);
    return check_end();
}
