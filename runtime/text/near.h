/* near.h - why a text that is not found almost is.
 *
 * A model that quotes a document often changes what it cannot see: composed for
 * decomposed letters, straight for curly quotes, a plain for a no-break space.
 * Both texts are folded in one or more of these ways and compared again. */
#pragma once
#include "text/span.h"

/* Append in words by which differences `find` misses `text`, as in "quotes and
 * spaces": the fewest that suffice. Nothing is appended, and false returned, when
 * they differ in more. Linear in both. */
bool near_words(struct buf *out, struct span text, struct span find);
