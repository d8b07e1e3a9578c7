/* pool.h - memory for Lua: small blocks from slabs, by size.
 *
 * Lua gives and takes millions of small blocks and says their size both ways, so a
 * list of free blocks a size is all it takes. Slabs are never given back while the
 * pool lives; blocks above POOL_BLOCK_MAX come from the system. Under a sanitizer
 * every block comes from the system, so that it can watch them. */
#pragma once
#include <stddef.h>

enum { POOL_BLOCK_MAX = 512 };

struct pool;
struct pool *pool_new(void);
void pool_free(struct pool *p);

/* A lua_Alloc with a pool as its data: n = 0 frees, p = NULL makes, else resizes.
 * Never fails (see mem.h). */
void *pool_resize(void *pool, void *p, size_t old, size_t n);
