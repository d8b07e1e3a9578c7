/* answer.h - marks of a short answer against the answers expected.
 *
 * Both sides are normalised first: lower case, ASCII punctuation deleted, the
 * words a, an, the deleted, blanks collapsed. Read an answer once, then compare it
 * with as many golds as there are. The struct keeps its memory from one answer to
 * the next, so that a mark allocates nothing; a zeroed one is valid. */
#pragma once
#include "base/buf.h"
#include "text/unicode.h"

struct answer_side {
    struct buf text;    /* normalised */
    struct span *words; /* of `text`, sorted by length, then bytes */
    size_t count, room;
};

struct answer {
    struct answer_side own, gold;
    struct buf lowered;
};

/* Append the normalised text. */
bool answer_normalize(struct buf *out, struct span text);

void answer_read(struct answer *a, struct span text);

/* Whether a gold is the answer just read; two texts without words are equal. */
bool answer_equals(struct answer *a, struct span gold);

/* The harmonic mean of precision and recall over words, 0 to 1; 1 when neither
 * side has a word, 0 when one has none. */
double answer_f1(struct answer *a, struct span gold);

/* Whether one side, character by character, is part of the other. Never so when
 * one of them is empty: no answer is not a part of every answer. */
bool answer_overlaps(struct answer *a, struct span gold);

void answer_free(struct answer *a);
