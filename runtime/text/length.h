/* length.h - how much room a text takes, and making it fit.
 *
 * Nobody here knows a model's tokenizer, so tokens are estimated: a character of
 * one, two, three or four bytes counts 1, 2, 4 or 8 quarters of a token, and the
 * sum is rounded up. That is four letters of English and one Chinese character a
 * token; a longer text never counts less, and the estimate of two texts together
 * is that of their concatenation or one more. An invalid byte counts 4 quarters. */
#pragma once
#include "text/unicode.h"

size_t length_tokens(struct span text);

/* Append the text, cut in its middle to at most `max` tokens when it is longer:
 * `mark` stands between the two halves, or is left out, with the second half,
 * when it does not fit itself. Returns the number of characters cut out. */
size_t length_fit_middle(struct buf *out, struct span text, size_t max, struct span mark);

/* Append the text when it has at most `max` characters, else its leading pieces,
 * as many as fit whole; pieces start at `border` (not empty). The border before
 * the first piece kept is dropped. When no piece fits, the first `max` characters
 * and a line that says so. */
bool length_fit_pieces(struct buf *out, struct span text, size_t max, struct span border);
