/* journal.c - see journal.h.
 *
 * A row waits in `queue`, then in `batch` while the writer stores it, then in `done`
 * until the loop's thread has told its owner. `lock` guards these lists and what is
 * beside them; `db_lock` guards SQLite, so a read waits for at most one row or one
 * commit. db_lock is never asked for while lock is held. */
#include "io/journal.h"
#include "base/mem.h"
#include "io/journal_db.h"
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

enum {
    GROUP_MAX = 4096, /* rows of one commit */
    GROUP_LARGE = 8,  /* rows that show load: then commits are spaced */
    /* Places in the limit are held meanwhile. 1 ms costs a tenth more of a call's CPU,
     * 2 ms no more than 4. */
    SPACING_NS = 2000000,
    QUEUE_MAX = 8 << 20,        /* bytes that may wait, those of the group among them */
    GROUP_BYTES = QUEUE_MAX / 4 /* of a group, but for its last row */
};

struct pending {
    struct pending *next;
    struct db_row row; /* its texts lie behind this struct */
    size_t bytes;
    void (*done)(void *arg, const struct err *e);
    void *arg;
    bool is_lost;
};

struct list {
    struct pending *first, **end;
};

/* What a post carries. It outlives the journal when a post is still under way. */
struct mail {
    struct journal *journal; /* NULL once closed; the loop's thread only */
    atomic_int refs;
};

struct journal {
    struct journal_db db;
    pthread_mutex_t db_lock;
    struct packer *packer; /* the loop's, for reading */
    struct journal_row scratch;
    struct journal_index index;
    void (*post)(void (*f)(void *), void *arg);
    struct mail *mail;
    bool is_read_only; /* opened so: no thread, no queue */
    pthread_t thread;

    pthread_mutex_t lock;
    pthread_cond_t wake;  /* the writer, idle: something to do */
    pthread_cond_t hurry; /* the writer, spacing out: do it now */
    pthread_cond_t moved; /* the loop's thread: a group has ended */
    struct list queue, batch, done;
    int64_t batch_last; /* the writer's: last row of the batch */
    size_t queued_bytes;
    bool is_stopping, is_hurried, is_posted, has_lost;
    enum journal_state state;
    struct err why;
    struct digest chain; /* of the last committed row */
    atomic_llong committed;
};

static size_t owed; /* callbacks; the loop's thread only */

/* ---- kinds and lists ---- */

static const char *const kind_names[] = { "",
#define KIND_NAME(id, name) name,
                                          JOURNAL_KINDS(KIND_NAME)
#undef KIND_NAME
};

const char *journal_kind_name(enum journal_kind kind)
{
    return kind_names[kind];
}

enum journal_kind journal_kind_of(const char *name)
{
    for (int kind = 1; kind < JOURNAL_KIND_COUNT; kind++)
        if (strcmp(kind_names[kind], name) == 0)
            return (enum journal_kind)kind;
    return JOURNAL_NONE;
}

static void list_init(struct list *l)
{
    *l = (struct list){ .end = &l->first };
}

static void list_add(struct list *l, struct pending *p)
{
    p->next = NULL;
    *l->end = p;
    l->end = &p->next;
}

/* ---- the writer's thread ---- */

static bool insert_rows(struct journal *j, struct err *e)
{
    bool ok = true;
    for (struct pending *p = j->batch.first; ok && p; p = p->next) {
        db_pack(&j->db, &p->row);
        pthread_mutex_lock(&j->db_lock);
        ok = db_insert(&j->db, &p->row, e);
        pthread_mutex_unlock(&j->db_lock);
    }
    return ok;
}

/* One transaction; *is_full when it failed for want of room. */
static bool write_group(struct journal *j, bool *is_full, struct err *e)
{
    struct digest before = j->db.chain;
    pthread_mutex_lock(&j->db_lock);
    bool ok = db_begin(&j->db, e);
    pthread_mutex_unlock(&j->db_lock);
    ok = ok && insert_rows(j, e);
    pthread_mutex_lock(&j->db_lock);
    ok = ok && db_commit(&j->db, e);
    *is_full = !ok && j->db.is_full;
    if (!ok)
        db_rollback(&j->db, &before);
    pthread_mutex_unlock(&j->db_lock);
    return ok;
}

static void set_state(struct journal *j, enum journal_state state, const struct err *why)
{
    pthread_mutex_lock(&j->lock);
    j->state = state;
    j->why = *why;
    pthread_mutex_unlock(&j->lock);
}

/* A full disk: the ballast makes room for what is in flight, once. */
static bool store_group(struct journal *j)
{
    struct err e;
    bool is_full;
    bool ok = write_group(j, &is_full, &e);
    if (!ok && is_full && db_drop_ballast(&j->db)) {
        set_state(j, JOURNAL_LOW, &e);
        ok = write_group(j, &is_full, &e);
    }
    if (!ok)
        set_state(j, JOURNAL_READ_ONLY, &e);
    return ok;
}

/* The rows of the batch are stored or lost. Those nobody waits for are freed here. */
static void finish_group(struct journal *j, bool is_stored)
{
    for (struct pending *p = j->batch.first, *next; p; p = next) {
        next = p->next;
        j->queued_bytes -= p->bytes;
        p->is_lost = !is_stored;
        if (is_stored)
            atomic_store(&j->committed, p->row.n);
        else
            j->has_lost = true;
        if (p->done)
            list_add(&j->done, p);
        else
            mem_free(p);
    }
    list_init(&j->batch);
    j->chain = j->db.chain;
    pthread_cond_broadcast(&j->moved);
}

/* The rows of a group move from the queue to the batch; returns how many. It is a part of
 * what may wait, so that others come while it is written. */
static int take_batch(struct journal *j)
{
    int n = 0;
    size_t bytes = 0;
    for (; j->queue.first && n < GROUP_MAX && bytes < GROUP_BYTES; n++) {
        struct pending *p = j->queue.first;
        bytes += p->bytes;
        j->queue.first = p->next;
        if (!p->next)
            list_init(&j->queue);
        list_add(&j->batch, p);
        j->batch_last = p->row.n;
    }
    return n;
}

static struct timespec now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t;
}

/* Under load commits are SPACING_NS apart, so that many rows share one sync. */
static void space_out(struct journal *j, struct timespec last)
{
    last.tv_nsec += SPACING_NS;
    if (last.tv_nsec >= 1000000000) {
        last.tv_nsec -= 1000000000;
        last.tv_sec++;
    }
    int timed_out = 0;
    while (!timed_out && !j->is_stopping && !j->is_hurried)
        timed_out = pthread_cond_timedwait(&j->hurry, &j->lock, &last);
}

static void deliver_mail(void *arg);

/* At most one post is under way. Called with the lock held. */
static bool wants_post(struct journal *j)
{
    bool wants = j->post && j->done.first && !j->is_posted;
    j->is_posted = j->is_posted || wants;
    return wants;
}

static void write_batch(struct journal *j)
{
    bool is_lost = j->state == JOURNAL_READ_ONLY;
    pthread_mutex_unlock(&j->lock);
    bool ok = !is_lost && store_group(j);
    if (ok)
        db_head(&j->db, j->batch_last);
    pthread_mutex_lock(&j->lock);
    finish_group(j, ok);
    if (!wants_post(j))
        return;
    pthread_mutex_unlock(&j->lock);
    atomic_fetch_add(&j->mail->refs, 1);
    j->post(deliver_mail, j->mail);
    pthread_mutex_lock(&j->lock);
}

static void *writer(void *arg)
{
    struct journal *j = arg;
    struct timespec last = { 0 };
    int size = 0;
    pthread_mutex_lock(&j->lock);
    for (;;) {
        while (!j->queue.first && !j->is_stopping)
            pthread_cond_wait(&j->wake, &j->lock);
        if (!j->queue.first)
            break;
        if (size >= GROUP_LARGE)
            space_out(j, last);
        last = now();
        size = take_batch(j);
        write_batch(j);
    }
    pthread_mutex_unlock(&j->lock);
    return NULL;
}

/* ---- delivery ---- */

void journal_deliver(struct journal *j)
{
    pthread_mutex_lock(&j->lock);
    struct pending *p = j->done.first;
    struct err why = j->why;
    list_init(&j->done);
    j->is_posted = false;
    pthread_mutex_unlock(&j->lock);
    for (struct pending *next; p; p = next) {
        next = p->next;
        owed--;
        p->done(p->arg, p->is_lost ? &why : NULL);
        mem_free(p);
    }
}

size_t journal_owed(void)
{
    return owed;
}

static void mail_drop(struct mail *m)
{
    if (atomic_fetch_sub(&m->refs, 1) == 1)
        mem_free(m);
}

static void deliver_mail(void *arg)
{
    struct mail *m = arg;
    if (m->journal)
        journal_deliver(m->journal);
    mail_drop(m);
}

/* ---- opening and closing ---- */

/* Signals are for the loop's thread. */
static bool start_thread(struct journal *j, struct err *e)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int code = pthread_create(&j->thread, NULL, writer, j);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return code == 0 ||
           err_set(e, ERR_IO, "cannot start the journal's thread: %s", strerror(code));
}

static void init_sync(struct journal *j)
{
    pthread_condattr_t attr;
    pthread_mutex_init(&j->lock, NULL);
    pthread_mutex_init(&j->db_lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&j->wake, NULL);
    pthread_cond_init(&j->moved, NULL);
    pthread_cond_init(&j->hurry, &attr);
    pthread_condattr_destroy(&attr);
}

static void journal_free(struct journal *j)
{
    db_close(&j->db);
    index_free(&j->index);
    packer_free(j->packer);
    journal_row_free(&j->scratch);
    pthread_cond_destroy(&j->wake);
    pthread_cond_destroy(&j->moved);
    pthread_cond_destroy(&j->hurry);
    pthread_mutex_destroy(&j->lock);
    pthread_mutex_destroy(&j->db_lock);
    if (j->mail) {
        j->mail->journal = NULL;
        mail_drop(j->mail);
    }
    mem_free(j);
}

struct journal *journal_open(const char *path, const struct journal_options *o,
                             struct err *e)
{
    struct journal *j = mem_new(sizeof *j);
    init_sync(j);
    list_init(&j->queue);
    list_init(&j->batch);
    list_init(&j->done);
    j->packer = packer_new();
    j->is_read_only = o->is_read_only;
    j->post = o->post;
    j->mail = mem_new(sizeof *j->mail);
    j->mail->journal = j;
    atomic_init(&j->mail->refs, 1);
    if (!db_open(&j->db, path, o, &j->index, e) ||
        (!o->is_read_only && !start_thread(j, e))) {
        journal_free(j);
        return NULL;
    }
    atomic_store(&j->committed, j->index.last);
    j->chain = j->db.chain;
    return j;
}

bool journal_close(struct journal *j, struct err *e)
{
    if (!j)
        return true;
    if (!j->is_read_only) {
        pthread_mutex_lock(&j->lock);
        j->is_stopping = true;
        pthread_cond_signal(&j->wake);
        pthread_cond_signal(&j->hurry);
        pthread_mutex_unlock(&j->lock);
        pthread_join(j->thread, NULL);
        journal_deliver(j);
    }
    bool ok = !j->has_lost;
    if (!ok && e)
        *e = j->why;
    journal_free(j);
    return ok;
}

/* ---- appending ---- */

static struct pending *pending_new(const struct db_row *row)
{
    size_t slot_n = strlen(row->slot) + 1, key_n = strlen(row->key) + 1;
    size_t bytes = sizeof(struct pending) + slot_n + key_n + row->data_n;
    struct pending *p = mem_grow(NULL, bytes);
    char *text = (char *)(p + 1);
    *p = (struct pending){ .row = *row, .bytes = bytes };
    p->row.slot = memcpy(text, row->slot, slot_n);
    p->row.key = memcpy(text + slot_n, row->key, key_n);
    p->row.data = text + slot_n + key_n;
    if (row->data_n)
        memcpy(text + slot_n + key_n, row->data, row->data_n);
    return p;
}

static bool refuse_closed(const struct journal *j, struct err *e)
{
    if (j->state == JOURNAL_READ_ONLY && e)
        *e = j->why;
    if (j->is_stopping)
        return err_set(e, ERR_IO, "%s is closed", j->db.path);
    return false;
}

/* Wait for room; false when no row will ever be taken again. Lock held. */
static bool wait_for_room(struct journal *j, struct err *e)
{
    while (j->queued_bytes > QUEUE_MAX && j->state != JOURNAL_READ_ONLY) {
        j->is_hurried = true;
        pthread_cond_signal(&j->hurry);
        pthread_cond_wait(&j->moved, &j->lock);
    }
    j->is_hurried = false;
    return (j->state != JOURNAL_READ_ONLY && !j->is_stopping) || refuse_closed(j, e);
}

/* Takes p over. */
static int64_t enqueue(struct journal *j, struct pending *p, struct err *e)
{
    pthread_mutex_lock(&j->lock);
    int64_t n = 0;
    bool is_open = wait_for_room(j, e);
    if (is_open)
        n = index_add(&j->index, p->row.kind, p->row.slot, p->row.key);
    if (n) {
        p->row.n = n;
        owed += p->done != NULL;
        j->queued_bytes += p->bytes;
        list_add(&j->queue, p);
        pthread_cond_signal(&j->wake);
    }
    pthread_mutex_unlock(&j->lock);
    if (is_open && !n)
        err_set(e, ERR_BUG, "%s has %s \"%s\" of slot \"%s\" already", j->db.path,
                journal_kind_name(p->row.kind), p->row.key, p->row.slot);
    if (!n)
        mem_free(p);
    return n;
}

static bool can_take(const struct journal *j, const struct db_row *row, struct err *e)
{
    if (j->is_read_only)
        return err_set(e, ERR_IO, "%s was opened for reading", j->db.path);
    if (strlen(row->slot) > JOURNAL_SLOT_MAX || strlen(row->key) > JOURNAL_KEY_MAX)
        return err_set(e, ERR_LIMIT, "the name of a row is longer than %d bytes",
                       JOURNAL_KEY_MAX);
    if (row->data_n > JOURNAL_DATA_MAX)
        return err_set(e, ERR_LIMIT, "the data of a row is larger than %zu bytes",
                       JOURNAL_DATA_MAX);
    return true;
}

int64_t journal_append(struct journal *j, enum journal_kind kind, const char *slot,
                       const char *key, const void *data, size_t n,
                       void (*done)(void *arg, const struct err *e), void *arg,
                       struct err *e)
{
    struct db_row row = {
        .kind = kind, .slot = slot, .key = key, .data = data, .data_n = n
    };
    assert(kind > JOURNAL_NONE && kind < JOURNAL_KIND_COUNT);
    if (!can_take(j, &row, e))
        return 0;
    struct pending *p = pending_new(&row);
    p->done = done;
    p->arg = arg;
    return enqueue(j, p, e);
}

int64_t journal_copy(struct journal *j, struct journal *from, int64_t n,
                     void (*done)(void *arg, const struct err *e), void *arg,
                     struct err *e)
{
    struct db_row row = { .is_packed = true };
    struct pending *p = NULL;
    pthread_mutex_lock(&from->db_lock);
    if (db_seek(&from->db, n, e)) {
        row.kind = db_kind(&from->db);
        row.slot = db_slot(&from->db);
        row.key = db_key(&from->db);
        row.data = db_data(&from->db, &row.data_n);
        if (can_take(j, &row, e))
            p = pending_new(&row);
        db_leave(&from->db);
    }
    pthread_mutex_unlock(&from->db_lock);
    if (!p)
        return 0;
    p->done = done;
    p->arg = arg;
    return enqueue(j, p, e);
}

bool journal_sync(struct journal *j, struct err *e)
{
    pthread_mutex_lock(&j->lock);
    j->is_hurried = true;
    pthread_cond_signal(&j->hurry);
    while (j->queue.first || j->batch.first)
        pthread_cond_wait(&j->moved, &j->lock);
    j->is_hurried = false;
    bool ok = j->state != JOURNAL_READ_ONLY;
    if (!ok && e)
        *e = j->why;
    pthread_mutex_unlock(&j->lock);
    return ok;
}

/* ---- finding and reading ---- */

int64_t journal_last(const struct journal *j)
{
    return j->index.last;
}

/* The last row that may be seen: what could not be stored is not there. */
static int64_t last_seen(struct journal *j)
{
    return journal_state(j, NULL) == JOURNAL_READ_ONLY ? atomic_load(&j->committed)
                                                       : j->index.last;
}

int64_t journal_find(struct journal *j, enum journal_kind kind, const char *slot,
                     const char *key)
{
    int64_t n = index_find(&j->index, kind, slot, key);
    return n > atomic_load(&j->committed) && n > last_seen(j) ? 0 : n;
}

int64_t journal_next(struct journal *j, enum journal_kind kind, int64_t after)
{
    return index_next(&j->index, kind, after, last_seen(j));
}

static bool read_columns(struct journal *j, struct journal_row *row, struct err *e)
{
    size_t n;
    const void *data = db_data(&j->db, &n);
    row->kind = db_kind(&j->db);
    buf_add_text(&row->slot, db_slot(&j->db));
    buf_add_text(&row->key, db_key(&j->db));
    return packer_unpack(j->packer, &row->data, data, n, e);
}

static bool read_stored(struct journal *j, struct journal_row *row, struct err *e)
{
    pthread_mutex_lock(&j->db_lock);
    bool ok = db_seek(&j->db, row->n, e);
    if (ok) {
        ok = read_columns(j, row, e);
        db_leave(&j->db);
    }
    pthread_mutex_unlock(&j->db_lock);
    return ok;
}

static const struct pending *find_pending(const struct list *l, int64_t n)
{
    const struct pending *p = l->first;
    while (p && p->row.n != n)
        p = p->next;
    return p;
}

static bool copy_row(struct journal *j, struct journal_row *row,
                     const struct db_row *from, struct err *e)
{
    row->kind = from->kind;
    buf_add_text(&row->slot, from->slot);
    buf_add_text(&row->key, from->key);
    if (from->is_packed)
        return packer_unpack(j->packer, &row->data, from->data, from->data_n, e);
    return buf_add(&row->data, from->data, from->data_n) ||
           err_set(e, ERR_LIMIT, "the data is larger than %zu bytes", row->data.max);
}

/* *ok as of the reading; false when the row is not waiting (any more). */
static bool read_waiting(struct journal *j, struct journal_row *row, bool *ok,
                         struct err *e)
{
    pthread_mutex_lock(&j->lock);
    const struct pending *p = find_pending(&j->batch, row->n);
    if (!p)
        p = find_pending(&j->queue, row->n);
    if (p)
        *ok = copy_row(j, row, &p->row, e);
    pthread_mutex_unlock(&j->lock);
    return p != NULL;
}

bool journal_row_read(struct journal *j, int64_t n, struct journal_row *row,
                      struct err *e)
{
    bool ok = false;
    row->n = n;
    buf_clear(&row->slot);
    buf_clear(&row->key);
    buf_clear(&row->data);
    if (n > atomic_load(&j->committed) && read_waiting(j, row, &ok, e))
        return ok;
    return read_stored(j, row, e);
}

bool journal_read(struct journal *j, int64_t n, struct buf *data, struct err *e)
{
    j->scratch.data = *data;
    bool ok = journal_row_read(j, n, &j->scratch, e);
    *data = j->scratch.data;
    j->scratch.data = (struct buf){ 0 };
    return ok;
}

void journal_row_free(struct journal_row *row)
{
    buf_free(&row->slot);
    buf_free(&row->key);
    buf_free(&row->data);
}

enum journal_state journal_state(struct journal *j, struct err *why)
{
    pthread_mutex_lock(&j->lock);
    enum journal_state state = j->state;
    if (state != JOURNAL_OK && why)
        *why = j->why;
    pthread_mutex_unlock(&j->lock);
    return state;
}

int64_t journal_lost(const struct journal *j)
{
    return j->db.lost;
}

struct digest journal_chain(struct journal *j)
{
    pthread_mutex_lock(&j->lock);
    struct digest chain = j->chain;
    pthread_mutex_unlock(&j->lock);
    return chain;
}
