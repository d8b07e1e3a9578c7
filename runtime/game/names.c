/* names.c - see names.h. */
#include "game/names.h"
#include "base/mem.h"
#include <assert.h>
#include <string.h>

static uint32_t hash(const char *text, size_t n)
{
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < n; i++)
        h = (h ^ (unsigned char)text[i]) * 16777619u;
    return h ^ h >> 15;
}

/* The slot that holds the text, or the empty one where it belongs. */
static uint32_t *slot_of(const struct names *t, const char *text, size_t n)
{
    uint32_t mask = t->room * 2 - 1;
    for (uint32_t i = hash(text, n) & mask;; i = (i + 1) & mask) {
        uint32_t *slot = &t->table[i];
        if (!*slot)
            return slot;
        size_t length = 0;
        const char *old = names_text(t, *slot - 1, &length);
        if (length == n && memcmp(old, text, n) == 0)
            return slot;
    }
}

static void grow_table(struct names *t)
{
    t->room = t->room ? t->room * 2 : 16;
    t->starts = mem_grow(t->starts, ((size_t)t->room + 1) * sizeof *t->starts);
    t->starts[t->count] = (uint32_t)t->used;
    mem_free(t->table);
    t->table = mem_new_array((size_t)t->room * 2, sizeof *t->table);
    for (uint32_t i = 0; i < t->count; i++) {
        size_t n = 0;
        const char *text = names_text(t, i, &n);
        *slot_of(t, text, n) = i + 1;
    }
}

static void append(struct names *t, const char *text, size_t n)
{
    if (t->used + n + 1 > t->cap) {
        t->cap = (t->used + n + 1) * 3 / 2 + 64;
        t->bytes = mem_grow(t->bytes, t->cap);
    }
    if (n)
        memcpy(t->bytes + t->used, text, n);
    t->bytes[t->used + n] = '\0';
    t->used += n + 1;
    t->starts[++t->count] = (uint32_t)t->used;
}

uint32_t names_add(struct names *t, const char *text, size_t n)
{
    uint32_t old = names_find(t, text, n);
    if (old != NAMES_NONE)
        return old;
    if (t->count >= NAMES_MAX || n >= UINT32_MAX / 2 - t->used)
        return NAMES_NONE;
    if (t->count == t->room)
        grow_table(t);
    uint32_t *slot = slot_of(t, text, n);
    append(t, text, n);
    *slot = t->count;
    return t->count - 1;
}

uint32_t names_find(const struct names *t, const char *text, size_t n)
{
    return t->count ? *slot_of(t, text, n) - 1 : NAMES_NONE;
}

const char *names_text(const struct names *t, uint32_t number, size_t *n)
{
    assert(number < t->count);
    if (n)
        *n = t->starts[number + 1] - t->starts[number] - 1;
    return t->bytes + t->starts[number];
}

void names_free(struct names *t)
{
    mem_free(t->bytes);
    mem_free(t->starts);
    mem_free(t->table);
    *t = (struct names){ 0 };
}

size_t names_size(const struct names *t)
{
    size_t room = t->room;
    return t->cap + (room + 1) * sizeof *t->starts + room * 2 * sizeof *t->table;
}
