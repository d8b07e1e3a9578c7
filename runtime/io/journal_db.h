/* journal_db.h - the SQLite file behind a journal: open, check, add, commit, read.
 *
 * All that is written goes through db_insert, db_commit and db_head; a test or a
 * fault finds every write there. Not thread safe: the journal holds its mutex
 * around each call but db_open and db_close. */
#pragma once
#include "io/journal.h"
#include "io/journal_index.h"
#include "io/journal_pack.h"
#include <sqlite3.h>

struct journal_db {
    sqlite3 *db;
    sqlite3_stmt *insert, *select, *begin, *begin_reading, *commit, *rollback;
    struct packer *packer;
    struct digest chain;  /* of the last row packed */
    struct buf row;       /* the bytes the chain is made of */
    size_t data_at;       /* where its stored data begins */
    char *path;           /* for messages; "the journal in memory" */
    char *head, *ballast; /* NULL where there is none */
    int head_fd;          /* -1 where there is none */
    int64_t lost;
    bool is_full;    /* the last failure was for want of room */
    bool is_reading; /* a transaction of reads is open */
    bool is_writing; /* a group has begun and is neither committed nor rolled back */
};

/* Open, verify all rows and fill the index. db_close also after a failure. */
bool db_open(struct journal_db *d, const char *path, const struct journal_options *o,
             struct journal_index *index, struct err *e);
void db_close(struct journal_db *d);

/* A group: begin, pack and insert rows in order, commit; or roll back, with the chain
 * as it was before. `data` is in its stored form when is_packed. Packing is the long
 * part and touches nothing a reader uses: no mutex around it. */
struct db_row {
    int64_t n;
    enum journal_kind kind;
    const char *slot, *key, *data;
    size_t data_n;
    bool is_packed;
};
bool db_begin(struct journal_db *d, struct err *e);
void db_pack(struct journal_db *d, const struct db_row *row);
bool db_insert(struct journal_db *d, const struct db_row *row, struct err *e);
bool db_commit(struct journal_db *d, struct err *e);
void db_rollback(struct journal_db *d, const struct digest *chain);

/* Give the ballast back; false when there was none. */
bool db_drop_ballast(struct journal_db *d);

/* Note the last committed row beside the database. */
void db_head(struct journal_db *d, int64_t last);

/* Stand on row n: then its columns may be asked until db_leave. */
bool db_seek(struct journal_db *d, int64_t n, struct err *e);
enum journal_kind db_kind(struct journal_db *d);
const char *db_slot(struct journal_db *d);
const char *db_key(struct journal_db *d);
const void *db_data(struct journal_db *d, size_t *n);
void db_leave(struct journal_db *d);
