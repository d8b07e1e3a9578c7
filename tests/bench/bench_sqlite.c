/* bench_sqlite.c - what an appended row costs with SQLite alone.
 *
 *   bench_sqlite [ROWS [GROUP]]
 *
 * Appends ROWS rows of 4 KB to one table, GROUP of them a commit, in the mode of the
 * journal (WAL, synchronous=FULL, locking_mode=EXCLUSIVE), then reads each once by its
 * number. The file lives in $TMPDIR, else /tmp, and is removed. Prints
 *
 *   bare journal.append.rows_per_s N 1/s     bare journal.append.cpu_us N us
 *   bare journal.read.rows_per_s N 1/s       bare journal.read.cpu_us N us
 *   bare journal.trickle.rows_per_s N 1/s    bare journal.trickle.cpu_us N us
 *
 * where in a trickle each row is a commit.
 */
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    ROW_SIZE = 4096,
    ROWS = 20000,
    TRICKLE = 2000,
    GROUP = 64,
    ROWS_MAX = 10000000,
    PATH_SIZE = 4096
};

struct span {
    double wall, cpu;
};

static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static struct span span_start(void)
{
    return (struct span){ seconds(CLOCK_MONOTONIC), seconds(CLOCK_PROCESS_CPUTIME_ID) };
}

static void span_print(struct span s, const char *name, long rows)
{
    double wall = seconds(CLOCK_MONOTONIC) - s.wall;
    double cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - s.cpu;
    printf("bare %s.rows_per_s %.0f 1/s\n", name, (double)rows / wall);
    printf("bare %s.cpu_us %.1f us\n", name, cpu * 1e6 / (double)rows);
}

static sqlite3 *open_file(const char *path)
{
    sqlite3 *db = NULL;
    bool ok = sqlite3_open(path, &db) == SQLITE_OK &&
              sqlite3_exec(db,
                           "PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=WAL;"
                           "PRAGMA synchronous=FULL;"
                           "CREATE TABLE row(n INTEGER PRIMARY KEY, data BLOB)",
                           NULL, NULL, NULL) == SQLITE_OK;
    if (!ok)
        fprintf(stderr, "bench_sqlite: %s: %s\n", path, sqlite3_errmsg(db));
    return ok ? db : NULL;
}

/* Text that differs from row to row, as bodies do. */
static void fill(char *data, long n)
{
    unsigned state = (unsigned)n * 2654435761u + 1;
    for (size_t i = 0; i < ROW_SIZE; i++) {
        state = state * 1103515245u + 12345u;
        data[i] = (char)('a' + (state >> 16) % 26);
    }
}

static bool append(sqlite3 *db, long first, long rows, long group)
{
    char data[ROW_SIZE];
    sqlite3_stmt *add = NULL;
    bool ok = sqlite3_prepare_v2(db, "INSERT INTO row VALUES(?1, ?2)", -1, &add, NULL) ==
              SQLITE_OK;
    for (long i = 1; ok && i <= rows; i++) {
        long n = first + i;
        if (i % group == 1 || group == 1)
            sqlite3_exec(db, "BEGIN", NULL, NULL, NULL);
        fill(data, n);
        sqlite3_bind_int64(add, 1, n);
        sqlite3_bind_blob(add, 2, data, ROW_SIZE, SQLITE_STATIC);
        ok = sqlite3_step(add) == SQLITE_DONE && sqlite3_reset(add) == SQLITE_OK;
        if (i % group == 0 || i == rows)
            ok = sqlite3_exec(db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK && ok;
    }
    sqlite3_finalize(add);
    return ok;
}

static bool read_all(sqlite3 *db, long rows)
{
    sqlite3_stmt *get = NULL;
    bool ok = sqlite3_prepare_v2(db, "SELECT data FROM row WHERE n = ?1", -1, &get,
                                 NULL) == SQLITE_OK;
    for (long n = 1; ok && n <= rows; n++) {
        sqlite3_bind_int64(get, 1, n);
        ok = sqlite3_step(get) == SQLITE_ROW && sqlite3_column_bytes(get, 0) == ROW_SIZE;
        sqlite3_reset(get);
    }
    sqlite3_finalize(get);
    return ok;
}

static bool run(const char *path, long rows, long group)
{
    sqlite3 *db = open_file(path);
    if (!db)
        return false;
    struct span s = span_start();
    bool ok = append(db, 0, rows, group);
    span_print(s, "journal.append", rows);
    s = span_start();
    ok = ok && read_all(db, rows);
    span_print(s, "journal.read", rows);
    s = span_start();
    ok = ok && append(db, rows, TRICKLE, 1);
    span_print(s, "journal.trickle", TRICKLE);
    if (!ok)
        fprintf(stderr, "bench_sqlite: %s\n", sqlite3_errmsg(db));
    sqlite3_close(db);
    return ok;
}

int main(int argc, char **argv)
{
    long rows = argc > 1 ? strtol(argv[1], NULL, 10) : ROWS;
    long group = argc > 2 ? strtol(argv[2], NULL, 10) : GROUP;
    const char *root = getenv("TMPDIR");
    char folder[PATH_SIZE], path[PATH_SIZE + 8];
    snprintf(folder, sizeof folder, "%s/bench_sqlite.XXXXXX", root ? root : "/tmp");
    if (rows < 1 || rows > ROWS_MAX || group < 1 || !mkdtemp(folder)) {
        fprintf(stderr,
                "usage: bench_sqlite [ROWS [GROUP]], in a TMPDIR that can be written\n");
        return 2;
    }
    snprintf(path, sizeof path, "%s/db", folder);
    bool ok = run(path, rows, group);
    unlink(path);
    rmdir(folder);
    return ok ? 0 : 1;
}
