/* arena.h - memory that is given back all at once.
 *
 * A zeroed arena is valid and empty. What it hands out is zeroed, aligned for
 * any type and lives until arena_free; nothing is freed alone. */
#pragma once
#include <stddef.h>

struct arena_block;

struct arena {
    struct arena_block *block;
    size_t size_bytes; /* of all blocks */
};

/* Room for `count` things of `size` bytes; never NULL. */
void *arena_new(struct arena *a, size_t count, size_t size);

/* A copy of n bytes with a zero byte behind them. */
char *arena_copy(struct arena *a, const char *p, size_t n);

void arena_free(struct arena *a);
