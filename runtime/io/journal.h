/* journal.h - the append-only table of effects a run stands on.
 *
 * One SQLite file with one table `row(n, kind, slot, key, data, chain)`. n counts
 * from 1 without gaps. `kind` is a word of JOURNAL_KINDS. `data` is one byte, 0 or
 * 1, and then the bytes as they are or as one zstd frame. `chain` is SHA-256 of
 * the chain before (32 zero bytes before row 1) and the row as written: n (8
 * bytes, big-endian), then kind, slot, key and data, each behind its length (8
 * bytes, big-endian). Beside `NAME.db` lie `NAME.head` (the last row that was
 * committed, so that a database that lost its tail is noticed) and, while the
 * journal is open, `NAME.ballast` (room that is given back when the disk is full).
 *
 * journal_append, on the loop's thread, numbers a row and queues it. A writer
 * thread packs what is queued, commits it as one group and posts the callbacks
 * back to the loop. The rows are found by (kind, slot, key) through an index in
 * memory (under 70 bytes a row), built at open by the pass that verifies the chain. All
 * functions belong to the loop's thread; the journal owns its thread and files.
 * Who may open a run folder at all is the business of io/lock. */
#pragma once
#include "base/buf.h"
#include "base/digest.h"
#include "base/err.h"

#define JOURNAL_KINDS(X)                                                                 \
    X(OPEN, "open")                                                                      \
    X(SOURCE, "source")                                                                  \
    X(ITEM, "item")                                                                      \
    X(BODY, "body")                                                                      \
    X(INTENT, "intent")                                                                  \
    X(EFFECT, "effect")                                                                  \
    X(VALUE, "value")                                                                    \
    X(DECISION, "decision")

enum journal_kind {
    JOURNAL_NONE,
#define JOURNAL_ENUM(id, name) JOURNAL_##id,
    JOURNAL_KINDS(JOURNAL_ENUM)
#undef JOURNAL_ENUM
        JOURNAL_KIND_COUNT
};

/* Word of the list ("" for JOURNAL_NONE), and back (JOURNAL_NONE when unknown). */
const char *journal_kind_name(enum journal_kind kind);
enum journal_kind journal_kind_of(const char *name);

/* Longest slot and key, and most data a row may carry, in bytes. */
enum { JOURNAL_SLOT_MAX = 4096, JOURNAL_KEY_MAX = 4096 };
#define JOURNAL_DATA_MAX     ((size_t)256 << 20)
#define JOURNAL_BALLAST_SIZE ((size_t)16 << 20)

struct journal_options {
    bool is_read_only;    /* a parent or a run to verify; nothing of it changes */
    bool is_wal_unsafe;   /* network file system: journal_mode=TRUNCATE instead of WAL */
    bool accepts_loss;    /* go on with the rows that are left and whole */
    size_t ballast_bytes; /* 0: none. JOURNAL_BALLAST_SIZE for a run */
    /* Called from the writer thread: run f(arg) soon on the loop's thread. NULL
     * when the owner calls journal_deliver itself. */
    void (*post)(void (*f)(void *), void *arg);
};

struct journal;

/* Open or make the journal at `path` (its name ends in ".db"); NULL is one in
 * memory, which cannot be read-only (ERR_BUG). Verifies every row. NULL with ERR_IO
 * and a hint for another format, a row that is damaged or missing (named), an end
 * before the head's. */
struct journal *journal_open(const char *path, const struct journal_options *o,
                             struct err *e);

/* Commit what is queued, run the callbacks that are due, close. NULL is fine.
 * False when something queued could not be stored (its callback has been told). */
bool journal_close(struct journal *j, struct err *e);

/* Queue a row; all is copied. Returns its number, or 0: the journal is read-only
 * (ERR_IO), a text is too long (ERR_LIMIT), or (kind, slot, key) is there already
 * (ERR_BUG; `open` and `intent` rows may repeat). `done` (may be NULL) is called
 * on the loop's thread after the commit with e = NULL, or with what went wrong.
 * Waits for the writer while more than 8 MiB are queued. */
int64_t journal_append(struct journal *j, enum journal_kind kind, const char *slot,
                       const char *key, const void *data, size_t n,
                       void (*done)(void *arg, const struct err *e), void *arg,
                       struct err *e);

/* The same with row n, committed, of another journal, without packing it again. */
int64_t journal_copy(struct journal *j, struct journal *from, int64_t n,
                     void (*done)(void *arg, const struct err *e), void *arg,
                     struct err *e);

/* Number of the row with this name, 0 when there is none; the newest of those that
 * repeat. Rows that are queued are found too. */
int64_t journal_find(struct journal *j, enum journal_kind kind, const char *slot,
                     const char *key);

/* Number of the first row of `kind` behind row `after` (0 to start; JOURNAL_NONE:
 * of any kind), 0 at the end. */
int64_t journal_next(struct journal *j, enum journal_kind kind, int64_t after);

/* Replace the content of `data` by row n's. */
bool journal_read(struct journal *j, int64_t n, struct buf *data, struct err *e);

/* A whole row; the bufs are the caller's and keep their memory between calls. */
struct journal_row {
    int64_t n;
    enum journal_kind kind;
    struct buf slot, key, data;
};
bool journal_row_read(struct journal *j, int64_t n, struct journal_row *row,
                      struct err *e);
void journal_row_free(struct journal_row *row);

/* Wait until all that is queued is committed. Callbacks are not run here. */
bool journal_sync(struct journal *j, struct err *e);

/* Run the callbacks of rows whose fate is known. */
void journal_deliver(struct journal *j);

/* Callbacks of all journals that are still to be called. */
size_t journal_owed(void);

/* OK; LOW once the ballast had to be given back (what is in flight is still taken,
 * but nothing new should be started); READ_ONLY once a commit failed for good. In
 * the last two *why (may be NULL) says what happened. */
enum journal_state { JOURNAL_OK, JOURNAL_LOW, JOURNAL_READ_ONLY };
enum journal_state journal_state(struct journal *j, struct err *why);

/* Last row, queued ones included; rows that were dropped under accepts_loss. */
int64_t journal_last(const struct journal *j);
int64_t journal_lost(const struct journal *j);

/* Chain of the last committed row (zeros when empty): names the whole content. */
struct digest journal_chain(struct journal *j);
