/* facts.c - see facts.h. */
#include "game/facts.h"
#include "base/mem.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { PREDICATE_SHIFT = FACT_MAX_ARGS * FACT_OBJECT_BITS };

static unsigned shift_of(unsigned index)
{
    return (FACT_MAX_ARGS - 1 - index) * FACT_OBJECT_BITS;
}

uint64_t fact_key(uint16_t predicate, const uint16_t *objects, unsigned n)
{
    uint64_t key = (uint64_t)predicate << PREDICATE_SHIFT;
    for (unsigned i = 0; i < n; i++)
        key |= (uint64_t)objects[i] << shift_of(i);
    return key;
}

uint16_t fact_predicate(uint64_t key)
{
    return (uint16_t)(key >> PREDICATE_SHIFT);
}

uint16_t fact_object(uint64_t key, unsigned index)
{
    return key >> shift_of(index) & (FACT_MAX_OBJECTS - 1);
}

uint64_t fact_span(unsigned n)
{
    assert(n <= FACT_MAX_ARGS);
    return (uint64_t)1 << ((FACT_MAX_ARGS - n) * FACT_OBJECT_BITS);
}

uint32_t facts_find(const struct facts *f, uint64_t key)
{
    uint32_t low = 0, high = f->count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (f->keys[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool facts_has(const struct facts *f, uint64_t key)
{
    uint32_t i = facts_find(f, key);
    return i < f->count && f->keys[i] == key;
}

static void make_room(struct facts *f, uint32_t count)
{
    if (count <= f->room)
        return;
    f->room = count + count / 4 + 8;
    f->keys = mem_grow(f->keys, f->room * sizeof *f->keys);
}

bool facts_add(struct facts *f, uint64_t key)
{
    uint32_t i = facts_find(f, key);
    if (i < f->count && f->keys[i] == key)
        return true;
    if (f->count == FACT_MAX_COUNT)
        return false;
    make_room(f, f->count + 1);
    memmove(f->keys + i + 1, f->keys + i, (f->count - i) * sizeof *f->keys);
    f->keys[i] = key;
    f->count++;
    return true;
}

void facts_remove(struct facts *f, uint64_t key)
{
    uint32_t i = facts_find(f, key);
    if (i == f->count || f->keys[i] != key)
        return;
    f->count--;
    memmove(f->keys + i, f->keys + i + 1, (f->count - i) * sizeof *f->keys);
}

bool facts_push(struct facts *f, uint64_t key)
{
    if (f->count == FACT_MAX_COUNT)
        return false;
    make_room(f, f->count + 1);
    f->keys[f->count++] = key;
    return true;
}

static int compare_keys(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

void facts_sort(struct facts *f)
{
    if (!f->count)
        return;
    qsort(f->keys, f->count, sizeof *f->keys, compare_keys);
    uint32_t kept = 1;
    for (uint32_t i = 1; i < f->count; i++)
        if (f->keys[i] != f->keys[kept - 1])
            f->keys[kept++] = f->keys[i];
    f->count = kept;
}

void facts_copy(struct facts *to, const struct facts *from)
{
    make_room(to, from->count);
    to->count = from->count;
    if (from->count)
        memcpy(to->keys, from->keys, from->count * sizeof *from->keys);
}

void facts_free(struct facts *f)
{
    mem_free(f->keys);
    *f = (struct facts){ 0 };
}
