/* pool.h - memory for Lua: small blocks from slabs, by size.
 *
 * Lua gives and takes millions of small blocks and says their size both ways, so a
 * list of free blocks a size is all it takes. Slabs are never given back while the
 * pool lives; blocks above POOL_BLOCK_MAX come from the system. Under a sanitizer
 * every block comes from the system, so that it can watch them.
 *
 * A pool may have a ceiling. It holds only while the pool is guarded: growing above
 * it then fails, which Lua answers with a collection and, when that does not help,
 * with an error. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

enum { POOL_BLOCK_MAX = 1024 };

struct pool;
struct pool *pool_new(void);
void pool_free(struct pool *p);

/* Bytes that all blocks together may have while guarded; 0 changes nothing. What it
 * was before; a new pool has no ceiling. */
size_t pool_set_max(struct pool *p, size_t bytes);
void pool_guard(struct pool *p, bool is_guarded);

/* A lua_Alloc with a pool as its data: n = 0 frees, p = NULL makes, else resizes.
 * NULL when that would go above the ceiling; never for another reason (see mem.h). */
void *pool_resize(void *pool, void *p, size_t old, size_t n);
