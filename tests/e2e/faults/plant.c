/* plant DB KIND SEED - change one byte of the stored form of one row of that kind, and
 * nothing else: its chain stays. Prints the row's number. */
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state;

static uint64_t draw(uint64_t n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % n;
}

static sqlite3_stmt *prepare(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *s = NULL;
    if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK) {
        fprintf(stderr, "plant: %s\n", sqlite3_errmsg(db));
        exit(1);
    }
    return s;
}

static int64_t ask(sqlite3 *db, const char *sql, const char *kind, int64_t skip)
{
    sqlite3_stmt *s = prepare(db, sql);
    sqlite3_bind_text(s, 1, kind, -1, SQLITE_STATIC);
    sqlite3_bind_int64(s, 2, skip);
    int64_t n = sqlite3_step(s) == SQLITE_ROW ? sqlite3_column_int64(s, 0) : 0;
    sqlite3_finalize(s);
    return n;
}

static unsigned char *changed_data(sqlite3 *db, int64_t row, int *size)
{
    sqlite3_stmt *s = prepare(db, "SELECT data FROM row WHERE n=?");
    sqlite3_bind_int64(s, 1, row);
    sqlite3_step(s);
    *size = sqlite3_column_bytes(s, 0);
    static unsigned char data[1 << 20];
    if (*size == 0 || (size_t)*size > sizeof data)
        exit(1);
    memcpy(data, sqlite3_column_blob(s, 0), (size_t)*size);
    data[draw((uint64_t)*size)] ^= (unsigned char)(1 + draw(255));
    sqlite3_finalize(s);
    return data;
}

int main(int argc, char **argv)
{
    sqlite3 *db = NULL;
    if (argc != 4 ||
        sqlite3_open_v2(argv[1], &db, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK)
        return 1;
    state = strtoull(argv[3], NULL, 10);
    draw(2);
    int64_t rows = ask(db, "SELECT count(*) FROM row WHERE kind=?", argv[2], 0);
    if (rows == 0)
        return 1;
    int64_t row = ask(db, "SELECT n FROM row WHERE kind=? ORDER BY n LIMIT 1 OFFSET ?",
                      argv[2], (int64_t)draw((uint64_t)rows));
    int size = 0;
    unsigned char *data = changed_data(db, row, &size);
    sqlite3_stmt *s = prepare(db, "UPDATE row SET data=? WHERE n=?");
    sqlite3_bind_blob(s, 1, data, size, SQLITE_STATIC);
    sqlite3_bind_int64(s, 2, row);
    int ok = sqlite3_step(s) == SQLITE_DONE;
    sqlite3_finalize(s);
    sqlite3_close(db);
    printf("%lld\n", (long long)row);
    return !ok;
}
