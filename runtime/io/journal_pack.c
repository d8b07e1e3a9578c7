/* journal_pack.c - see journal_pack.h. */
#include "io/journal_pack.h"
#include "base/mem.h"
#include <assert.h>
#include <zstd.h>

enum { STORED_PLAIN = 0, STORED_ZSTD = 1 };

struct packer {
    ZSTD_CCtx *in;
    ZSTD_DCtx *out;
};

struct packer *packer_new(void)
{
    struct packer *p = mem_new(sizeof *p);
    p->in = ZSTD_createCCtx();
    p->out = ZSTD_createDCtx();
    assert(p->in && p->out);
    return p;
}

void packer_free(struct packer *p)
{
    if (!p)
        return;
    ZSTD_freeCCtx(p->in);
    ZSTD_freeDCtx(p->out);
    mem_free(p);
}

bool packer_pack(struct packer *p, struct buf *out, const void *data, size_t n)
{
    size_t start = out->len;
    if (!buf_add_char(out, STORED_PLAIN))
        return false;
    if (n >= PACK_THRESHOLD) {
        size_t bound = ZSTD_compressBound(n);
        char *room = buf_room(out, bound);
        size_t k = room ? ZSTD_compressCCtx(p->in, room, bound, data, n, PACK_LEVEL) : n;
        if (!ZSTD_isError(k) && k < n) {
            out->ptr[start] = STORED_ZSTD;
            buf_added(out, k);
            return true;
        }
    }
    return buf_add(out, data, n);
}

static bool damaged(struct err *e)
{
    return err_set(e, ERR_IO, "the packed data is damaged");
}

static bool too_large(struct err *e, const struct buf *out)
{
    return err_set(e, ERR_LIMIT, "the data is larger than %zu bytes",
                   out->max ? out->max : BUF_DEFAULT_MAX);
}

static bool unpack_frame(struct packer *p, struct buf *out, const char *frame, size_t n,
                         struct err *e)
{
    unsigned long long size = ZSTD_getFrameContentSize(frame, n);
    size_t max = out->max ? out->max : BUF_DEFAULT_MAX;
    if (size == ZSTD_CONTENTSIZE_UNKNOWN || size == ZSTD_CONTENTSIZE_ERROR)
        return damaged(e);
    if (out->len > max || size > max - out->len)
        return too_large(e, out);
    char *room = buf_room(out, (size_t)size);
    if (!room)
        return too_large(e, out);
    bool ok = ZSTD_decompressDCtx(p->out, room, (size_t)size, frame, n) == size;
    buf_added(out, ok ? (size_t)size : 0);
    return ok || damaged(e);
}

bool packer_unpack(struct packer *p, struct buf *out, const void *stored, size_t n,
                   struct err *e)
{
    const char *bytes = stored;
    if (!n || (bytes[0] != STORED_PLAIN && bytes[0] != STORED_ZSTD))
        return damaged(e);
    if (bytes[0] == STORED_ZSTD)
        return unpack_frame(p, out, bytes + 1, n - 1, e);
    return buf_add(out, bytes + 1, n - 1) || too_large(e, out);
}
