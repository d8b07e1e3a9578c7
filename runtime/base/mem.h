/* mem.h - memory that is there or the process ends.
 *
 * A run is crash-only (its journal is on disk), so a failed allocation aborts
 * with one line on stderr. Sizes above MEM_MAX are a bug and abort as well. */
#pragma once
#include <stddef.h>

#define MEM_MAX ((size_t)1 << 40)

/* `size` zeroed bytes; size 0 gives a pointer that may be freed. */
void *mem_new(size_t size);

/* Room for `count` things of `size` bytes, zeroed; checks the product. */
void *mem_new_array(size_t count, size_t size);

/* Resize to `size` bytes; new bytes are not initialised. `p` may be NULL. */
void *mem_grow(void *p, size_t size);

/* A copy of n bytes with a zero byte behind them. */
char *mem_copy(const char *p, size_t n);

/* MEM_SLAB bytes for many small things, not cleared, on large pages where the system
 * has them: a heap that is walked all the time is then found with fewer look-ups. */
enum { MEM_SLAB = 1 << 21 };
void *mem_slab(void);

void mem_free(void *p);
