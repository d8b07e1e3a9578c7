/* arena.c - see arena.h. */
#include "game/arena.h"
#include "base/mem.h"
#include <assert.h>
#include <stdalign.h>
#include <stdint.h>
#include <string.h>

enum { BLOCK_BYTES = 4000, ALIGN = alignof(max_align_t) };

struct arena_block {
    struct arena_block *next;
    size_t used, room;
    alignas(max_align_t) char bytes[];
};

static struct arena_block *block_new(struct arena *a, size_t room)
{
    struct arena_block *b = mem_new(sizeof *b + room);
    b->room = room;
    a->size_bytes += sizeof *b + room;
    return b;
}

/* A large piece gets a block of its own behind the current one, so that the
 * rest of the current block stays in use. */
static struct arena_block *block_for(struct arena *a, size_t size)
{
    if (a->block && a->block->room - a->block->used >= size)
        return a->block;
    if (a->block && size > BLOCK_BYTES / 4) {
        struct arena_block *b = block_new(a, size);
        b->next = a->block->next;
        a->block->next = b;
        return b;
    }
    struct arena_block *b = block_new(a, size > BLOCK_BYTES ? size : BLOCK_BYTES);
    b->next = a->block;
    a->block = b;
    return b;
}

void *arena_new(struct arena *a, size_t count, size_t size)
{
    assert(size == 0 || count <= MEM_MAX / size);
    size_t bytes = (count * size + ALIGN - 1) / ALIGN * ALIGN;
    struct arena_block *b = block_for(a, bytes);
    void *p = b->bytes + b->used;
    b->used += bytes;
    return p;
}

char *arena_copy(struct arena *a, const char *p, size_t n)
{
    char *copy = arena_new(a, n + 1, 1);
    if (n)
        memcpy(copy, p, n);
    return copy;
}

void arena_free(struct arena *a)
{
    while (a->block) {
        struct arena_block *next = a->block->next;
        mem_free(a->block);
        a->block = next;
    }
    a->size_bytes = 0;
}
