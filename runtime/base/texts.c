/* texts.c - see texts.h. */
#include "base/texts.h"
#include "base/mem.h"
#include <string.h>

enum { FIRST_ROOM = 64 };

size_t texts_add(struct texts *t, const char *p, size_t n)
{
    if (t->n >= TEXTS_MAX)
        return 0;
    if (t->room - t->used < n) {
        while (t->room - t->used < n)
            t->room = t->room ? 2 * t->room : (size_t)16 * FIRST_ROOM;
        t->bytes = mem_grow(t->bytes, t->room);
    }
    if (t->n == t->n_room) {
        t->n_room = t->n_room ? 2 * t->n_room : FIRST_ROOM;
        t->ends = mem_grow(t->ends, t->n_room * sizeof *t->ends);
    }
    if (n)
        memcpy(t->bytes + t->used, p, n);
    t->used += n;
    t->ends[t->n++] = t->used;
    return t->n;
}

const char *texts_get(const struct texts *t, size_t i, size_t *n)
{
    size_t start = i > 1 ? (size_t)t->ends[i - 2] : 0;
    *n = (size_t)t->ends[i - 1] - start;
    return *n ? t->bytes + start : "";
}

/* FNV-1a, its high half mixed in: the table is indexed by the low bits. */
static uint64_t hash_of(const char *p, size_t n)
{
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ (unsigned char)p[i]) * 1099511628211u;
    return hash ^ hash >> 32;
}

/* Where the text stands in the table, or the free place for it. */
static size_t place_of(const struct texts *t, const char *p, size_t n)
{
    size_t mask = t->places_room - 1;
    size_t at = (size_t)hash_of(p, n) & mask;
    while (t->places[at]) {
        size_t m;
        const char *there = texts_get(t, t->places[at], &m);
        if (m == n && memcmp(there, p, n) == 0)
            break;
        at = (at + 1) & mask;
    }
    return at;
}

/* Bring the texts added since the last call into the table. */
static void place_all(struct texts *t)
{
    if (4 * t->n >= 3 * t->places_room) {
        while (4 * t->n >= 3 * t->places_room)
            t->places_room = t->places_room ? 2 * t->places_room : (size_t)2 * FIRST_ROOM;
        mem_free(t->places);
        t->places = mem_new_array(t->places_room, sizeof *t->places);
        t->placed = 0;
    }
    while (t->placed < t->n) {
        size_t n;
        const char *p = texts_get(t, ++t->placed, &n);
        size_t at = place_of(t, p, n);
        if (!t->places[at])
            t->places[at] = (uint32_t)t->placed;
    }
}

size_t texts_find(struct texts *t, const char *p, size_t n)
{
    place_all(t);
    return t->places_room ? t->places[place_of(t, p, n)] : 0;
}

void texts_free(struct texts *t)
{
    mem_free(t->bytes);
    mem_free(t->ends);
    mem_free(t->places);
    *t = (struct texts){ 0 };
}
