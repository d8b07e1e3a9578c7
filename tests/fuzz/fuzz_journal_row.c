/* Stored data of any bytes is unpacked or refused within its ceiling, what was packed
 * comes back, and any text of a lock file has an answer. */
#include "io/journal_pack.h"
#include "io/lock.h"
#include <assert.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

enum { CEILING = 1 << 16 };

static void unpack(struct packer *p, const uint8_t *data, size_t n)
{
    struct buf out = { .max = CEILING };
    struct err e = { 0 };
    buf_add_text(&out, "kept");
    bool ok = packer_unpack(p, &out, data, n, &e);
    assert(out.len <= CEILING && memcmp(out.ptr, "kept", 4) == 0);
    assert(ok || out.len == 4);
    assert(out.ptr[out.len] == '\0');
    assert(ok == (e.kind == ERR_NONE));
    assert(ok || e.kind == ERR_IO || e.kind == ERR_LIMIT);
    buf_free(&out);
}

static void pack_and_unpack(struct packer *p, const uint8_t *data, size_t n)
{
    struct buf stored = { 0 }, back = { 0 };
    bool ok = packer_pack(p, &stored, data, n) &&
              packer_unpack(p, &back, stored.ptr, stored.len, NULL);
    assert(ok && stored.len <= n + 1 && back.len == n);
    assert(n == 0 || memcmp(back.ptr, data, n) == 0);
    buf_free(&stored);
    buf_free(&back);
}

static void read_lock(const uint8_t *data, size_t n)
{
    struct lock_self self = { .pid = 1, .host = "here", .now = 1772532000 };
    struct buf text = { 0 };
    buf_add(&text, data, n);
    lock_text_is_alive(buf_text(&text), &self);
    buf_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static struct packer *p;
    if (!p)
        p = packer_new();
    unpack(p, data, n);
    pack_and_unpack(p, data, n);
    read_lock(data, n);
    return 0;
}
