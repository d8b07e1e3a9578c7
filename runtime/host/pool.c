/* pool.c - see pool.h. */
#include "host/pool.h"
#include "base/mem.h"
#include <stdint.h>
#include <string.h>

enum { GRAIN = 16, CLASSES = POOL_BLOCK_MAX / GRAIN };

#if defined(__SANITIZE_ADDRESS__)
enum { POOL_IS_OFF = 1 };
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
enum { POOL_IS_OFF = 1 };
#else
enum { POOL_IS_OFF = 0 };
#endif
#else
enum { POOL_IS_OFF = 0 };
#endif

struct block {
    struct block *next;
};

struct slab {
    struct slab *next;
    _Alignas(GRAIN) char bytes[];
};

struct pool {
    struct block *free[CLASSES];
    struct slab *slabs;
    char *rest; /* unused part of the newest slab */
    size_t rest_size;
    size_t used, max; /* bytes of all blocks, and how many there may be */
    bool is_guarded;
};

struct pool *pool_new(void)
{
    struct pool *p = mem_new(sizeof *p);
    p->max = SIZE_MAX;
    return p;
}

size_t pool_set_max(struct pool *p, size_t bytes)
{
    size_t before = p->max;
    if (bytes)
        p->max = bytes;
    return before;
}

void pool_guard(struct pool *p, bool is_guarded)
{
    p->is_guarded = is_guarded;
}

void pool_free(struct pool *p)
{
    while (p->slabs) {
        struct slab *next = p->slabs->next;
        mem_free(p->slabs);
        p->slabs = next;
    }
    mem_free(p);
}

static size_t class_of(size_t n)
{
    return (n - 1) / GRAIN;
}

static void *cut_block(struct pool *p, size_t size)
{
    if (p->rest_size < size) {
        struct slab *s = mem_slab();
        s->next = p->slabs;
        p->slabs = s;
        p->rest = s->bytes;
        p->rest_size = MEM_SLAB - sizeof *s;
    }
    void *block = p->rest;
    p->rest += size;
    p->rest_size -= size;
    return block;
}

static void *take(struct pool *p, size_t n)
{
    size_t class = class_of(n);
    struct block *b = p->free[class];
    if (!b)
        return cut_block(p, (class + 1) * GRAIN);
    p->free[class] = b->next;
    __builtin_prefetch(b->next, 1); /* swept long ago, and wanted soon */
    return b;
}

static void give(struct pool *p, void *block, size_t n)
{
    struct block *b = block;
    b->next = p->free[class_of(n)];
    p->free[class_of(n)] = b;
}

static int is_small(size_t n)
{
    return !POOL_IS_OFF && n <= POOL_BLOCK_MAX;
}

/* Blocks of one kind and class stay where they are. */
static int fits_as_it_is(size_t old, size_t n)
{
    return is_small(old) && is_small(n) && class_of(old) == class_of(n);
}

static bool has_room(const struct pool *p, size_t old, size_t n)
{
    return n <= old || !p->is_guarded || (n <= p->max && p->used - old <= p->max - n);
}

static void *resize(struct pool *pool, void *p, size_t old, size_t n)
{
    if (p && n && fits_as_it_is(old, n))
        return p;
    if (p && n && !is_small(old) && !is_small(n))
        return mem_grow(p, n);
    void *new = NULL;
    if (n) {
        new = is_small(n) ? take(pool, n) : mem_grow(NULL, n);
        memcpy(new, p ? p : "", old < n ? old : n);
    }
    if (p && old && is_small(old))
        give(pool, p, old);
    else if (p)
        mem_free(p);
    return new;
}

void *pool_resize(void *data, void *p, size_t old, size_t n)
{
    struct pool *pool = data;
    if (!p)
        old = 0;
    if (!has_room(pool, old, n))
        return NULL;
    pool->used += n - old;
    return resize(pool, p, old, n);
}
