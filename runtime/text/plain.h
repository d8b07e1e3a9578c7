/* plain.h - one text inside another, byte for byte.
 *
 * No character has a special meaning. Every function is linear in the text and
 * the text looked for, whatever they repeat. */
#pragma once
#include "text/unicode.h"

#define PLAIN_NONE SIZE_MAX

/* Secrets shorter than this are too likely to be ordinary words. */
enum { PLAIN_SECRET_MIN = 16 };

/* Offset of the first occurrence at or behind `from` (at most text.len), or
 * PLAIN_NONE. An empty text is found at once. */
size_t plain_find(struct span text, struct span find, size_t from);

/* Append `text` with its first `max` occurrences of `find` (not empty, taken
 * from the left, not overlapping) replaced; *count (may be NULL) says how many. */
bool plain_replace(struct buf *out, struct span text, struct span find, struct span with,
                   size_t max, size_t *count);

/* Walk over all occurrences of a text that is not empty, overlapping ones
 * included. Fields are private; start and end come in pairs. */
struct plain_walk {
    struct span text, find;
    size_t *border; /* of each prefix of `find`: the longest proper border */
    size_t at, matched;
};

void plain_walk_start(struct plain_walk *w, struct span text, struct span find);
bool plain_walk_next(struct plain_walk *w, size_t *offset);
void plain_walk_end(struct plain_walk *w);

/* Whether one of the secrets of PLAIN_SECRET_MIN characters or more occurs. */
bool plain_has_secret(struct span text, const struct span *secrets, size_t count);

/* Append `text` with "***" for every stretch covered by those secrets. */
bool plain_scrub(struct buf *out, struct span text, const struct span *secrets,
                 size_t count);
