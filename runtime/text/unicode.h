/* unicode.h - what a letter, a blank and a line are.
 *
 * The rules are those of CPython's str: the same blanks, line breaks, word
 * characters and full case mappings, so that texts are cut and compared as the
 * reference does. Tables are utf8proc's. All functions are linear and take any
 * bytes: an invalid byte counts as one character that is no blank, no word
 * character and maps to itself. */
#pragma once
#include "text/span.h"

bool unicode_is_space(uint32_t code);

/* Ends a line: LF, VT, FF, CR, U+001C to U+001E, U+0085, U+2028, U+2029. */
bool unicode_is_break(uint32_t code);

/* Letter or number of any script, or underscore. */
bool unicode_is_word(uint32_t code);

/* Without the blanks at its ends, at its left, at its right. */
struct span unicode_strip(struct span text);
struct span unicode_lstrip(struct span text);
struct span unicode_rstrip(struct span text);

/* Take the next piece between blanks off *rest; false at the end. */
bool unicode_next_word(struct span *rest, struct span *word);

/* Take the next line off *rest, its break (CR LF is one) not included; false at
 * the end. A break at the end of the text starts no further line. */
bool unicode_next_line(struct span *rest, struct span *line);

/* The characters from number `first` (0-based) on, at most `count` of them. */
struct span unicode_slice(struct span text, size_t first, size_t count);

/* Append a changed text. False when `out` is full. */
bool unicode_lower(struct buf *out, struct span text);
bool unicode_upper(struct buf *out, struct span text);
bool unicode_casefold(struct buf *out, struct span text);

/* Words joined by single spaces. */
bool unicode_collapse(struct buf *out, struct span text);

/* Canonical composition. */
bool unicode_nfc(struct buf *out, struct span text);

/* The full case folding of one character; returns how many it has, 1 to 4. */
size_t unicode_fold_code(uint32_t code, uint32_t folded[4]);
