/* journal_db.c - see journal_db.h. */
#include "io/journal_db.h"
#include "base/fault.h"
#include "base/mem.h"
#include "io/file.h"
#include "io/journal_vfs.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    APPLICATION_ID = 0x534B4F50,
    FORMAT = 1,
    BUSY_MS = 1000,
    PAGE_BYTES = 16384, /* several rows a page: a quarter of the calls 4 KiB would take */
    CHECKPOINT_PAGES = 1000,
    ROW_KEPT = 1 << 20 /* memory of a larger row is given back */
};

/* ---- errors ---- */

/* Of bytes that SQLite itself cannot make sense of: no row behind them can be reached. */
static const char DAMAGED[] =
    "it is another file, or its bytes were changed: restore the folder from a copy; "
    "without one, start a new run in another folder";

static bool db_err(struct journal_db *d, struct err *e, const char *verb)
{
    int code = d->db ? sqlite3_errcode(d->db) & 0xff : SQLITE_NOMEM;
    int system = d->db ? sqlite3_system_errno(d->db) : 0;
    const char *words = d->db ? sqlite3_errmsg(d->db) : sqlite3_errstr(code);
    if (code == SQLITE_BUSY) {
        err_set(e, ERR_IO, "cannot %s %s: another process has it open", verb, d->path);
        return err_hint(e, "wait until that process has ended");
    }
    if (code == SQLITE_NOTADB) {
        err_set(e, ERR_IO, "%s is not a journal", d->path);
        return err_hint(e, "%s", DAMAGED);
    }
    if ((code == SQLITE_IOERR || code == SQLITE_CANTOPEN) && system)
        return file_err(e, verb, d->path, system);
    err_set(e, ERR_IO, "cannot %s %s: %s", verb, d->path, words);
    if (code == SQLITE_FULL)
        return err_hint(e, "free some space and start again");
    return code == SQLITE_CORRUPT ? err_hint(e, "%s", DAMAGED) : false;
}

static bool is_full(const struct journal_db *d)
{
    int code = sqlite3_errcode(d->db) & 0xff;
    int system = sqlite3_system_errno(d->db);
    return code == SQLITE_FULL ||
           (code == SQLITE_IOERR && (system == ENOSPC || system == EDQUOT));
}

/* ---- small moves ---- */

static bool run(struct journal_db *d, const char *sql, struct err *e)
{
    return sqlite3_exec(d->db, sql, NULL, NULL, NULL) == SQLITE_OK ||
           db_err(d, e, "open");
}

static bool prepare(struct journal_db *d, const char *sql, sqlite3_stmt **s,
                    struct err *e)
{
    return sqlite3_prepare_v3(d->db, sql, -1, SQLITE_PREPARE_PERSISTENT, s, NULL) ==
               SQLITE_OK ||
           db_err(d, e, "read");
}

static bool ask_number(struct journal_db *d, const char *sql, int64_t *n, struct err *e)
{
    sqlite3_stmt *s = NULL;
    bool ok = prepare(d, sql, &s, e);
    int code = ok ? sqlite3_step(s) : SQLITE_ERROR;
    if (code == SQLITE_ROW)
        *n = sqlite3_column_int64(s, 0);
    else if (ok)
        ok = db_err(d, e, "read");
    sqlite3_finalize(s);
    return ok;
}

/* PRAGMA journal_mode answers with the mode that holds now. */
static bool set_mode(struct journal_db *d, const char *mode, struct err *e)
{
    char sql[64];
    sqlite3_stmt *s = NULL;
    snprintf(sql, sizeof sql, "PRAGMA journal_mode=%s", mode);
    bool ok = prepare(d, sql, &s, e);
    if (ok && sqlite3_step(s) != SQLITE_ROW)
        ok = db_err(d, e, "open");
    else if (ok && sqlite3_stricmp((const char *)sqlite3_column_text(s, 0), mode) != 0)
        ok = err_set(e, ERR_IO, "cannot open %s: journal mode %s is refused", d->path,
                     mode);
    sqlite3_finalize(s);
    return ok;
}

/* Run a statement without results once. */
static bool step(struct journal_db *d, sqlite3_stmt *s, struct err *e)
{
    int code = sqlite3_step(s);
    d->is_full = code != SQLITE_DONE && is_full(d);
    if (code != SQLITE_DONE)
        return db_err(d, e, "write");
    sqlite3_reset(s);
    return true;
}

/* "DIR/NAME.db" -> "DIR/NAME" + ending. */
static char *beside(const char *path, const char *ending)
{
    size_t n = strlen(path);
    struct buf b = { 0 };
    if (n > 3 && strcmp(path + n - 3, ".db") == 0)
        n -= 3;
    buf_add(&b, path, n);
    buf_add_text(&b, ending);
    return buf_give(&b, NULL);
}

/* ---- the row as bytes ---- */

static void add_number(struct buf *b, uint64_t n)
{
    unsigned char bytes[8];
    for (int i = 0; i < 8; i++)
        bytes[i] = (unsigned char)(n >> (56 - 8 * i));
    buf_add(b, bytes, sizeof bytes);
}

static void add_counted(struct buf *b, const char *text)
{
    size_t n = strlen(text);
    add_number(b, n);
    buf_add(b, text, n);
}

/* All but the data; its length (8 bytes) and bytes follow. */
static void row_start(struct journal_db *d, int64_t n, const char *kind, const char *slot,
                      const char *key)
{
    if (d->row.cap > ROW_KEPT)
        buf_free(&d->row);
    d->row.max = JOURNAL_DATA_MAX + ((size_t)1 << 21);
    buf_clear(&d->row);
    buf_add(&d->row, d->chain.bytes, sizeof d->chain.bytes);
    add_number(&d->row, (uint64_t)n);
    add_counted(&d->row, kind);
    add_counted(&d->row, slot);
    add_counted(&d->row, key);
}

/* ---- writing ---- */

/* A point was passed that has to fail as a write would. */
static bool refused(struct journal_db *d, struct err *e)
{
    d->is_full = errno == ENOSPC;
    return file_err(e, "write", d->path, errno);
}

/* Reads share one transaction until a group begins: without it each would take and give
 * back SQLite's locks and ask for the file's size. In a group they are part of it, or
 * stand alone where SQLite has given the group up: what is written next must not get into
 * a transaction of reads. */
static bool start_reading(struct journal_db *d, struct err *e)
{
    if (d->is_writing || !sqlite3_get_autocommit(d->db))
        return true;
    d->is_reading = step(d, d->begin_reading, e);
    return d->is_reading;
}

/* A read that failed may have ended the transaction. */
static bool end_reading(struct journal_db *d, struct err *e)
{
    bool is_open = d->is_reading && !sqlite3_get_autocommit(d->db);
    d->is_reading = false;
    return !is_open || step(d, d->commit, e);
}

bool db_begin(struct journal_db *d, struct err *e)
{
    d->is_writing = end_reading(d, e) && step(d, d->begin, e);
    return d->is_writing;
}

/* A read that fails in a group may end it, with the rows it had; the next ones would be
 * stored each for itself. */
static bool is_in_group(struct journal_db *d, struct err *e)
{
    if (!sqlite3_get_autocommit(d->db))
        return true;
    d->is_full = false;
    err_set(e, ERR_IO, "cannot write %s: it could not be read meanwhile", d->path);
    return err_hint(
        e, "look at the disk; then the same command goes on from what is on file");
}

static void bind_text(sqlite3_stmt *s, int column, const char *text)
{
    sqlite3_bind_text(s, column, text, -1, SQLITE_STATIC);
}

/* The stored data is built where the chain wants it, behind its length. */
static size_t row_finish(struct journal_db *d, const struct db_row *row)
{
    size_t length_at = d->row.len;
    add_number(&d->row, 0);
    size_t data_at = d->row.len;
    if (row->is_packed)
        buf_add(&d->row, row->data, row->data_n);
    else
        packer_pack(d->packer, &d->row, row->data, row->data_n);
    uint64_t n = d->row.len - data_at;
    for (int i = 0; i < 8; i++)
        d->row.ptr[length_at + (size_t)i] = (char)(n >> (56 - 8 * i));
    return data_at;
}

void db_pack(struct journal_db *d, const struct db_row *row)
{
    row_start(d, row->n, journal_kind_name(row->kind), row->slot, row->key);
    d->data_at = row_finish(d, row);
    d->chain = digest_of(d->row.ptr, d->row.len);
}

bool db_insert(struct journal_db *d, const struct db_row *row, struct err *e)
{
    sqlite3_stmt *s = d->insert;
    if (d->row.is_full)
        return err_set(e, ERR_LIMIT, "a row is too large for %s", d->path);
    if (!is_in_group(d, e))
        return false;
    if (!fault_pass(FAULT_INSERT))
        return refused(d, e);
    sqlite3_bind_int64(s, 1, row->n);
    bind_text(s, 2, journal_kind_name(row->kind));
    bind_text(s, 3, row->slot);
    bind_text(s, 4, row->key);
    sqlite3_bind_blob64(s, 5, d->row.ptr + d->data_at, d->row.len - d->data_at,
                        SQLITE_STATIC);
    sqlite3_bind_blob(s, 6, d->chain.bytes, DIGEST_BYTES, SQLITE_STATIC);
    return step(d, s, e);
}

bool db_commit(struct journal_db *d, struct err *e)
{
    if (!is_in_group(d, e))
        return false;
    d->is_writing = !(fault_pass(FAULT_COMMIT) ? step(d, d->commit, e) : refused(d, e));
    return !d->is_writing;
}

void db_rollback(struct journal_db *d, const struct digest *chain)
{
    sqlite3_reset(d->insert);
    sqlite3_reset(d->commit);
    sqlite3_reset(d->begin);
    if (!sqlite3_get_autocommit(d->db))
        sqlite3_step(d->rollback);
    sqlite3_reset(d->rollback);
    d->is_writing = false;
    d->chain = *chain;
}

/* ---- the head file ---- */

#define HEAD_FORMAT "skillopt journal head 1\nlast %020" PRId64 "\nchain %s\n"
enum { HEAD_BYTES = 24 + 5 + 20 + 1 + 6 + DIGEST_HEX + 1 };

static void head_print(char text[HEAD_BYTES + 1], int64_t last,
                       const struct digest *chain)
{
    char hex[DIGEST_HEX + 1];
    digest_hex(chain, hex);
    snprintf(text, HEAD_BYTES + 1, HEAD_FORMAT, last, hex);
}

/* One write of less than a sector over the old text: it is there whole or not at
 * all. It may lag behind the database, never run ahead of it. */
void db_head(struct journal_db *d, int64_t last)
{
    char text[HEAD_BYTES + 1];
    if (d->head_fd < 0)
        return;
    head_print(text, last, &d->chain);
    if (!fault_pass(FAULT_HEAD))
        return;
    ssize_t n = pwrite(d->head_fd, text, HEAD_BYTES, 0);
    (void)n; /* an older head only notices less */
}

struct head {
    int64_t last; /* 0: there is none */
    char chain[DIGEST_HEX + 1];
};

static bool head_parse(const char *text, size_t n, struct head *h)
{
    if (n != HEAD_BYTES || strlen(text) != n)
        return false;
    h->last = strtoll(text + 29, NULL, 10);
    memcpy(h->chain, text + 56, DIGEST_HEX);
    h->chain[DIGEST_HEX] = '\0';
    char again[HEAD_BYTES + 1];
    snprintf(again, sizeof again, HEAD_FORMAT, h->last, h->chain);
    return h->last >= 0 && strcmp(text, again) == 0;
}

/* An empty head is one whose first bytes never reached the disk. */
static bool head_read(struct journal_db *d, const struct journal_options *o,
                      struct head *h, struct err *e)
{
    struct buf text = { .max = 4096 };
    struct file_info info;
    *h = (struct head){ 0 };
    if (!d->head)
        return true;
    bool ok = file_stat(d->head, &info, e) &&
              (info.kind == FILE_NONE || file_read(d->head, &text, e));
    if (ok && text.len && !head_parse(buf_text(&text), text.len, h)) {
        *h = (struct head){ 0 };
        ok = o->accepts_loss || err_set(e, ERR_IO, "%s is damaged", d->head);
        if (!ok)
            err_hint(e, "start again with --accept-loss to go on without it");
    }
    buf_free(&text);
    return ok;
}

static bool head_open(struct journal_db *d, int64_t last, struct err *e)
{
    d->head_fd = open(d->head, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (d->head_fd < 0)
        return file_err(e, "write", d->head, errno);
    db_head(d, last); /* before the length: killed here, it is empty or as it was */
    if (ftruncate(d->head_fd, HEAD_BYTES) != 0)
        return file_err(e, "write", d->head, errno);
    return fsync(d->head_fd) == 0 || file_err(e, "sync", d->head, errno);
}

/* ---- the ballast ---- */

static bool fill_with_zeros(int fd, size_t n)
{
    static const char zeros[1 << 16];
    for (size_t at = 0; at < n; at += sizeof zeros) {
        size_t k = n - at < sizeof zeros ? n - at : sizeof zeros;
        if (pwrite(fd, zeros, k, (off_t)at) != (ssize_t)k)
            return false;
    }
    return true;
}

static bool reserve(const char *path, size_t n)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd < 0)
        return false;
    bool ok =
        fault_pass(FAULT_BALLAST) && (fallocate(fd, 0, 0, (off_t)n) == 0 ||
                                      (errno == EOPNOTSUPP && fill_with_zeros(fd, n)));
    int code = errno;
    close(fd);
    errno = code;
    return ok;
}

static bool ballast_make(struct journal_db *d, size_t n, struct err *e)
{
    if (!n)
        return true;
    d->ballast = beside(d->path, ".ballast");
    return reserve(d->ballast, n) || file_err(e, "reserve room in", d->ballast, errno);
}

bool db_drop_ballast(struct journal_db *d)
{
    return d->ballast && unlink(d->ballast) == 0;
}

/* ---- verifying ---- */

struct scan {
    struct journal_db *d;
    struct journal_index *index;
    struct head head;
    int64_t n; /* the row that is looked at */
    bool accepts_loss;
    bool is_broken; /* it is not what was written: accepts_loss may drop it */
};

static bool broken(struct scan *s, struct err *e, const char *what)
{
    s->is_broken = true;
    err_set(e, ERR_IO, "row %" PRId64 " of %s %s", s->n, s->d->path, what);
    return err_hint(e,
                    "restore it from a copy, or start again with --accept-loss to go on "
                    "with the %" PRId64 " rows before it",
                    s->n - 1);
}

static const char *text_at(sqlite3_stmt *q, int column)
{
    const char *text = (const char *)sqlite3_column_text(q, column);
    bool is_whole = text && strlen(text) == (size_t)sqlite3_column_bytes(q, column);
    return is_whole ? text : NULL;
}

/* Whether the row is the one that was written; moves the chain on. */
static bool scan_chain(struct scan *s, sqlite3_stmt *q)
{
    struct journal_db *d = s->d;
    const char *kind = text_at(q, 1), *slot = text_at(q, 2), *key = text_at(q, 3);
    const void *data = sqlite3_column_blob(q, 4);
    const void *chain = sqlite3_column_blob(q, 5);
    if (!kind || !slot || !key || sqlite3_column_bytes(q, 5) != DIGEST_BYTES)
        return false;
    size_t n = (size_t)sqlite3_column_bytes(q, 4);
    row_start(d, s->n, kind, slot, key);
    add_number(&d->row, n);
    buf_add(&d->row, data, n);
    if (d->row.is_full)
        return false;
    d->chain = digest_of(d->row.ptr, d->row.len);
    return memcmp(d->chain.bytes, chain, DIGEST_BYTES) == 0;
}

static bool unknown_kind(const struct scan *s, struct err *e)
{
    err_set(e, ERR_IO, "row %" PRId64 " of %s is of a kind this version does not know",
            s->n, s->d->path);
    return err_hint(e, "use the version of skillopt that wrote it");
}

static bool is_heads_row(const struct scan *s)
{
    char hex[DIGEST_HEX + 1];
    digest_hex(&s->d->chain, hex);
    return s->n != s->head.last || strcmp(hex, s->head.chain) == 0;
}

static bool scan_row(struct scan *s, sqlite3_stmt *q, struct err *e)
{
    if (sqlite3_column_int64(q, 0) != s->n)
        return broken(s, e, "is missing");
    if (!scan_chain(s, q))
        return broken(s, e, "is damaged");
    enum journal_kind kind = journal_kind_of(text_at(q, 1));
    if (kind == JOURNAL_NONE)
        return unknown_kind(s, e);
    if (!index_add(s->index, kind, text_at(q, 2), text_at(q, 3)))
        return broken(s, e, "has the name of an earlier one");
    if (is_heads_row(s) || s->accepts_loss)
        return true;
    err_set(e, ERR_IO, "row %" PRId64 " of %s is not the one %s knows", s->n, s->d->path,
            s->d->head);
    return err_hint(e, "the two files are not of one run; start again with --accept-loss "
                       "to trust the first");
}

/* False at the first row that is not as it was written: s->n says which. */
static bool scan_rows(struct scan *s, struct err *e)
{
    static const char sql[] =
        "SELECT n, kind, slot, key, data, chain FROM row ORDER BY n";
    sqlite3_stmt *q = NULL;
    struct digest good = s->d->chain;
    if (!prepare(s->d, sql, &q, e))
        return false;
    bool ok = true;
    int code = sqlite3_step(q);
    for (s->n = 1; ok && code == SQLITE_ROW; s->n++, code = sqlite3_step(q)) {
        ok = scan_row(s, q, e);
        if (!ok)
            break;
        good = s->d->chain;
    }
    if (ok && code != SQLITE_DONE)
        ok = broken(s, e, "cannot be read");
    s->d->chain = good;
    sqlite3_finalize(q);
    return ok;
}

/* Under accepts_loss: what lies from the broken row on is counted and dropped. */
static bool drop_tail(struct journal_db *d, int64_t first, bool is_writing, struct err *e)
{
    char sql[96];
    int64_t rows = 0;
    snprintf(sql, sizeof sql, "SELECT count(*) FROM row WHERE n >= %" PRId64, first);
    if (!ask_number(d, sql, &rows, e))
        return false;
    snprintf(sql, sizeof sql, "DELETE FROM row WHERE n >= %" PRId64, first);
    d->lost = rows;
    return !is_writing || run(d, sql, e);
}

static bool check_end(struct journal_db *d, const struct scan *s, int64_t last,
                      struct err *e)
{
    int64_t missing = s->head.last - last;
    if (missing <= 0)
        return true;
    if (s->accepts_loss) {
        d->lost = missing > d->lost ? missing : d->lost;
        return true;
    }
    err_set(e, ERR_IO,
            "%s ends at row %" PRId64 ", but %" PRId64 " were stored: %" PRId64 " %s",
            d->path, last, s->head.last, missing,
            missing == 1 ? "is missing" : "are missing");
    return err_hint(e, "restore it from a copy, or start again with --accept-loss to go "
                       "on without them");
}

static bool verify(struct journal_db *d, const struct journal_options *o,
                   struct journal_index *index, struct err *e)
{
    struct scan s = { .d = d, .index = index, .accepts_loss = o->accepts_loss };
    if (!head_read(d, o, &s.head, e))
        return false;
    struct err why;
    bool ok = scan_rows(&s, &why);
    if (!ok && s.is_broken && o->accepts_loss)
        ok = drop_tail(d, s.n, !o->is_read_only, e);
    else if (!ok && e)
        *e = why;
    return ok && check_end(d, &s, index->last, e);
}

/* ---- opening ---- */

static int64_t size_of(const char *path, const char *ending)
{
    struct file_info info;
    struct buf b = { 0 };
    buf_add_text(&b, path);
    buf_add_text(&b, ending);
    bool ok = file_stat(buf_text(&b), &info, NULL);
    buf_free(&b);
    return ok ? info.size : -1;
}

static bool connect(struct journal_db *d, const char *name, int flags, struct err *e)
{
    flags |= SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI;
    if (sqlite3_open_v2(name, &d->db, flags, journal_vfs()) != SQLITE_OK)
        return db_err(d, e, "open");
    sqlite3_extended_result_codes(d->db, 1);
    sqlite3_busy_timeout(d->db, BUSY_MS);
    sqlite3_db_config(d->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(d->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(d->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_db_config(d->db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    return true;
}

/* A path as SQLite's "file:" name. */
static char *uri_of(const char *path, const char *parameters)
{
    struct buf b = { 0 };
    buf_add_text(&b, "file:");
    for (const char *p = path; *p; p++)
        if (strchr("?#%", *p))
            buf_add_format(&b, "%%%02X", (unsigned)*p);
        else
            buf_add_char(&b, *p);
    buf_add_text(&b, parameters);
    return buf_give(&b, NULL);
}

/* A process that was killed leaves committed rows in files beside the database.
 * Opening it for writing and closing it again brings them home. */
static bool settle(struct journal_db *d, const char *path, struct err *e)
{
    bool is_clean = size_of(path, "-wal") <= 0 && size_of(path, "-journal") <= 0;
    if (is_clean)
        return true;
    char *uri = uri_of(path, "?mode=rw");
    int64_t tables;
    bool ok = connect(d, uri, SQLITE_OPEN_READWRITE, e) &&
              ask_number(d, "SELECT count(*) FROM sqlite_schema", &tables, e) &&
              run(d, "PRAGMA wal_checkpoint(TRUNCATE)", e);
    sqlite3_close(d->db);
    d->db = NULL;
    mem_free(uri);
    return ok || err_hint(e, "its process was killed: copy the folder to where you may "
                             "write, or continue that run once");
}

/* The caller holds the run's lock shared, so nobody writes: immutable is true, and
 * a folder that may not be written can be read. */
static bool connect_reading(struct journal_db *d, const char *path, struct err *e)
{
    if (!path)
        return err_set(e, ERR_BUG, "a journal in memory cannot be read-only");
    if (size_of(path, "") < 0)
        return file_err(e, "open", path, ENOENT);
    if (!settle(d, path, e))
        return false;
    char *uri = uri_of(path, "?mode=ro&immutable=1");
    bool ok = connect(d, uri, SQLITE_OPEN_READONLY, e);
    mem_free(uri);
    return ok;
}

static bool run_number(struct journal_db *d, const char *pragma, int n, struct err *e)
{
    char sql[64];
    snprintf(sql, sizeof sql, "PRAGMA %s=%d", pragma, n);
    return run(d, sql, e);
}

static bool connect_writing(struct journal_db *d, const char *path, bool is_wal_unsafe,
                            struct err *e)
{
    char *uri = path ? uri_of(path, "?mode=rwc") : mem_copy(":memory:", 8);
    bool ok = connect(d, uri, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, e) &&
              run(d, "PRAGMA locking_mode=EXCLUSIVE", e) &&
              run_number(d, "page_size", PAGE_BYTES, e);
    mem_free(uri);
    if (!ok || !path)
        return ok;
    return set_mode(d, is_wal_unsafe ? "TRUNCATE" : "WAL", e) &&
           run(d, "PRAGMA synchronous=FULL", e) &&
           run_number(d, "wal_autocheckpoint", CHECKPOINT_PAGES, e);
}

static bool make_table(struct journal_db *d, struct err *e)
{
    char sql[512];
    snprintf(sql, sizeof sql,
             "BEGIN IMMEDIATE;"
             "CREATE TABLE row(n INTEGER PRIMARY KEY, kind TEXT NOT NULL,"
             " slot TEXT NOT NULL, key TEXT NOT NULL, data BLOB NOT NULL,"
             " chain BLOB NOT NULL);"
             "PRAGMA application_id=%d; PRAGMA user_version=%d; COMMIT",
             APPLICATION_ID, FORMAT);
    return run(d, sql, e);
}

static bool check_format(struct journal_db *d, const struct journal_options *o,
                         struct err *e)
{
    int64_t id = 0, version = 0, tables = 0;
    if (!ask_number(d, "PRAGMA application_id", &id, e) ||
        !ask_number(d, "PRAGMA user_version", &version, e) ||
        !ask_number(d, "SELECT count(*) FROM sqlite_schema", &tables, e))
        return false;
    if (!id && !version && !tables && !o->is_read_only)
        return make_table(d, e);
    if (id != APPLICATION_ID)
        return err_set(e, ERR_IO, "%s is not a journal", d->path);
    if (version == FORMAT)
        return true;
    err_set(e, ERR_IO, "%s has journal format %" PRId64 ", this program reads format %d",
            d->path, version, FORMAT);
    return err_hint(e, "use the version of skillopt that wrote it, or start a new run");
}

static bool prepare_all(struct journal_db *d, struct err *e)
{
    return prepare(d, "INSERT INTO row VALUES(?,?,?,?,?,?)", &d->insert, e) &&
           prepare(d, "SELECT kind, slot, key, data FROM row WHERE n=?", &d->select, e) &&
           prepare(d, "BEGIN IMMEDIATE", &d->begin, e) &&
           prepare(d, "BEGIN", &d->begin_reading, e) &&
           prepare(d, "COMMIT", &d->commit, e) && prepare(d, "ROLLBACK", &d->rollback, e);
}

bool db_open(struct journal_db *d, const char *path, const struct journal_options *o,
             struct journal_index *index, struct err *e)
{
    const char *name = path ? path : "the journal in memory";
    *d = (struct journal_db){ .head_fd = -1, .packer = packer_new() };
    d->path = mem_copy(name, strlen(name));
    d->head = path ? beside(path, ".head") : NULL;
    bool ok = o->is_read_only ? connect_reading(d, path, e)
                              : connect_writing(d, path, o->is_wal_unsafe, e);
    ok = ok && check_format(d, o, e) && verify(d, o, index, e) && prepare_all(d, e);
    if (!ok || !path || o->is_read_only)
        return ok;
    return head_open(d, index->last, e) && ballast_make(d, o->ballast_bytes, e);
}

static void finalize(struct journal_db *d)
{
    sqlite3_finalize(d->insert);
    sqlite3_finalize(d->select);
    sqlite3_finalize(d->begin);
    sqlite3_finalize(d->begin_reading);
    sqlite3_finalize(d->commit);
    sqlite3_finalize(d->rollback);
}

void db_close(struct journal_db *d)
{
    end_reading(d, NULL);
    finalize(d);
    sqlite3_close(d->db);
    if (d->head_fd >= 0) {
        fdatasync(d->head_fd);
        close(d->head_fd);
    }
    db_drop_ballast(d);
    packer_free(d->packer);
    mem_free(d->path);
    mem_free(d->head);
    mem_free(d->ballast);
    buf_free(&d->row);
    *d = (struct journal_db){ .head_fd = -1 };
}

/* ---- reading ---- */

bool db_seek(struct journal_db *d, int64_t n, struct err *e)
{
    if (!start_reading(d, e))
        return false;
    sqlite3_bind_int64(d->select, 1, n);
    if (sqlite3_step(d->select) == SQLITE_ROW)
        return true;
    int code = sqlite3_reset(d->select);
    if (code != SQLITE_OK)
        return db_err(d, e, "read");
    return err_set(e, ERR_IO, "%s has no row %" PRId64, d->path, n);
}

enum journal_kind db_kind(struct journal_db *d)
{
    return journal_kind_of((const char *)sqlite3_column_text(d->select, 0));
}

const char *db_slot(struct journal_db *d)
{
    return (const char *)sqlite3_column_text(d->select, 1);
}

const char *db_key(struct journal_db *d)
{
    return (const char *)sqlite3_column_text(d->select, 2);
}

const void *db_data(struct journal_db *d, size_t *n)
{
    const void *data = sqlite3_column_blob(d->select, 3);
    *n = (size_t)sqlite3_column_bytes(d->select, 3);
    return data;
}

void db_leave(struct journal_db *d)
{
    sqlite3_reset(d->select);
}
