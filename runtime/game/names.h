/* names.h - texts as small numbers, in the order they came.
 *
 * A zeroed table is valid and empty; it owns copies of its texts. Numbers run
 * from 0 without gaps and stay valid until names_free. */
#pragma once
#include <stddef.h>
#include <stdint.h>

enum { NAMES_MAX = 8192 };

#define NAMES_NONE UINT32_MAX

/* Fields are private but for `count`. */
struct names {
    uint32_t count;
    uint32_t room; /* of `starts` and, doubled, of `table` */
    size_t used;   /* bytes of `bytes` */
    size_t cap;
    char *bytes;      /* the texts, a zero byte behind each */
    uint32_t *starts; /* of each name in `bytes`, and one more: the end */
    uint32_t *table;  /* number + 1, open addressing */
};

/* The number of the text, new or old; NAMES_NONE when the table is full. */
uint32_t names_add(struct names *t, const char *text, size_t n);

/* The number, or NAMES_NONE when the text is not there. */
uint32_t names_find(const struct names *t, const char *text, size_t n);

/* The text; valid until the next names_add. *n may be NULL. */
const char *names_text(const struct names *t, uint32_t number, size_t *n);

void names_free(struct names *t);

/* Bytes of memory held. */
size_t names_size(const struct names *t);
