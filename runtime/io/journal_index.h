/* journal_index.h - which row has a name: an open hash of 128-bit digests.
 *
 * (kind, slot, key) is known by the first 16 bytes of its SHA-256, so the texts need
 * not be kept; with the number that is 24 bytes, and one byte a row for its kind.
 * Rows are added in order, n = 1, 2, 3... */
#pragma once
#include "io/journal.h"

struct journal_index {
    struct index_entry *entries;
    size_t cap, used;
    unsigned char *kinds; /* kinds[n - 1] */
    size_t kinds_cap;
    int64_t last;
};

/* Number the next row; 0, and nothing is added, when the name is taken and its kind
 * may not repeat. */
int64_t index_add(struct journal_index *x, enum journal_kind kind, const char *slot,
                  const char *key);

/* The row with this name, 0 when there is none. */
int64_t index_find(const struct journal_index *x, enum journal_kind kind,
                   const char *slot, const char *key);

/* First row behind `after` of the kind, at most `last`; 0 when there is none. */
int64_t index_next(const struct journal_index *x, enum journal_kind kind, int64_t after,
                   int64_t last);

void index_free(struct journal_index *x);
