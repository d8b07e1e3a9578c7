/* texts.h - many short texts in little memory, by number and by content.
 *
 * The bytes lie one text behind the other, 8 bytes a text say where it ends; the table
 * for finding (4 to 8 bytes a text) is made when something is first looked for. Texts
 * are only ever added. A zeroed `struct texts` is valid and empty; the owner calls
 * texts_free. Not thread safe. */
#pragma once
#include <stddef.h>
#include <stdint.h>

enum { TEXTS_MAX = 1 << 30 };

struct texts {
    char *bytes;
    size_t used, room;
    uint64_t *ends; /* of text i (from 0), in bytes */
    size_t n, n_room;
    uint32_t *places; /* open addressing: number of a text, 0 for none */
    size_t places_room, placed;
};

/* Add a copy; returns its number, counted from 1, or 0 when there are TEXTS_MAX. */
size_t texts_add(struct texts *t, const char *p, size_t n);

/* Text i, 1 to t->n; not zero-terminated, valid until the next texts_add. */
const char *texts_get(const struct texts *t, size_t i, size_t *n);

/* Number of the first text with these bytes, 0 when there is none. */
size_t texts_find(struct texts *t, const char *p, size_t n);

void texts_free(struct texts *t);
