/* spool.c - see spool.h. A text lies behind its length (8 bytes, of this machine). */
#include "io/spool.h"
#include "base/fault.h"
#include "base/mem.h"
#include "io/file.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    PIECE = 4096,   /* read at once: the length and, mostly, all of the text */
    AHEAD = 1 << 16 /* the same where texts are read in the order they lie in */
};

struct spool {
    char *folder;
    int fd; /* plus 1, so that zeroed is none */
    int64_t on_disk;
    struct buf waiting; /* what lies behind on_disk */
    struct buf ahead;   /* what was read at ahead_at: bytes there never change */
    int64_t ahead_at;
    int64_t next; /* where the text that was read last ends */
};

struct spool *spool_new(const char *folder)
{
    struct spool *s = mem_new(sizeof *s);
    s->folder = mem_copy(folder, strlen(folder));
    return s;
}

static bool spool_err(struct spool *s, const char *verb, struct err *e)
{
    return file_err(e, verb, s->folder, errno);
}

/* File systems without O_TMPFILE get a name that is taken away at once. */
static int open_named(const char *folder)
{
    struct buf path = { 0 };
    buf_add_format(&path, "%s/.spool-XXXXXX", folder);
    int fd = mkostemp(path.ptr, O_CLOEXEC);
    if (fd >= 0)
        unlink(path.ptr);
    buf_free(&path);
    return fd;
}

static bool open_file(struct spool *s, struct err *e)
{
    if (s->fd)
        return true;
    int fd = open(s->folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL))
        fd = open_named(s->folder);
    if (fd < 0)
        return spool_err(s, "keep texts in", e);
    s->fd = fd + 1;
    return true;
}

static bool flush(struct spool *s, struct err *e)
{
    size_t done = 0;
    if (!open_file(s, e))
        return false;
    if (!fault_pass(FAULT_APPEND)) {
        fault_refuse(s->fd - 1, s->waiting.ptr, s->waiting.len, -1);
        return spool_err(s, "keep texts in", e);
    }
    while (done < s->waiting.len) {
        ssize_t k = pwrite(s->fd - 1, s->waiting.ptr + done, s->waiting.len - done,
                           s->on_disk + (int64_t)done);
        if (k < 0 && errno != EINTR)
            return spool_err(s, "keep texts in", e);
        done += k > 0 ? (size_t)k : 0;
    }
    s->on_disk += (int64_t)done;
    buf_clear(&s->waiting);
    return true;
}

bool spool_add(struct spool *s, const char *p, size_t n, int64_t *place, struct err *e)
{
    uint64_t length = n;
    *place = s->on_disk + (int64_t)s->waiting.len;
    buf_add(&s->waiting, &length, sizeof length);
    if (!buf_add(&s->waiting, p, n))
        return err_set(e, ERR_LIMIT, "a text of %zu bytes is too long", n);
    return s->waiting.len < SPOOL_IN_MEMORY || flush(s, e);
}

static bool read_waiting(struct spool *s, size_t at, struct buf *out)
{
    uint64_t length;
    memcpy(&length, s->waiting.ptr + at, sizeof length);
    return buf_add(out, s->waiting.ptr + at + sizeof length, (size_t)length);
}

/* Add n bytes of the file to `out`, fewer at its end. */
static bool read_disk(struct spool *s, int64_t at, size_t n, struct buf *out,
                      struct err *e)
{
    char *to = buf_room(out, n);
    size_t done = 0;
    while (to && done < n) {
        ssize_t k = pread(s->fd - 1, to + done, n - done, at + (int64_t)done);
        if (k < 0 && errno != EINTR)
            return spool_err(s, "read texts kept in", e);
        if (k == 0)
            break;
        done += k > 0 ? (size_t)k : 0;
    }
    if (to)
        buf_added(out, done);
    return to || err_set(e, ERR_LIMIT, "a text of %zu bytes is too long", n);
}

/* How many bytes from `at` on were read before; the first of them is at *p. */
static size_t read_before(const struct spool *s, int64_t at, const char **p)
{
    int64_t end = s->ahead_at + (int64_t)s->ahead.len;
    if (at < s->ahead_at || at >= end)
        return 0;
    *p = s->ahead.ptr + (at - s->ahead_at);
    return (size_t)(end - at);
}

static bool read_ahead(struct spool *s, int64_t at, struct err *e)
{
    buf_clear(&s->ahead);
    s->ahead_at = at;
    return read_disk(s, at, at == s->next ? AHEAD : PIECE, &s->ahead, e);
}

/* Nobody else knows the file, and still half a text must not pass for a whole one. */
static bool ends_early(const struct spool *s, struct err *e)
{
    err_set(e, ERR_IO, "a text that was kept in %s is not there any more", s->folder);
    return err_hint(e, "the file behind it was cut; run the same command again");
}

bool spool_read(struct spool *s, int64_t place, struct buf *out, struct err *e)
{
    uint64_t length;
    const char *p = NULL;
    buf_clear(out);
    if (place >= s->on_disk)
        return read_waiting(s, (size_t)(place - s->on_disk), out);
    if (read_before(s, place, &p) < sizeof length && !read_ahead(s, place, e))
        return false;
    size_t there = read_before(s, place, &p);
    if (there < sizeof length)
        return ends_early(s, e);
    memcpy(&length, p, sizeof length);
    p += sizeof length;
    there -= sizeof length;
    s->next = place + (int64_t)(sizeof length + length);
    if (there >= length)
        return buf_add(out, p, (size_t)length);
    return buf_add(out, p, there) &&
           read_disk(s, s->next - (int64_t)(length - there), (size_t)length - there, out,
                     e) &&
           (out->len == length || ends_early(s, e));
}

void spool_free(struct spool *s)
{
    if (!s)
        return;
    if (s->fd)
        close(s->fd - 1);
    buf_free(&s->waiting);
    buf_free(&s->ahead);
    mem_free(s->folder);
    mem_free(s);
}
