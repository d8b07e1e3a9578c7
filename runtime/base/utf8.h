/* utf8.h - code points in and out of bytes.
 *
 * Valid means shortest form, no surrogates, at most U+10FFFF. Every length in
 * the product is in code points; these functions are how they are counted. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;

enum { UTF8_REPLACEMENT = 0xFFFD };

/* Decode the sequence at p (n > 0 bytes left). Returns its length, 1 to 4; for
 * an invalid byte returns 1 and sets *code to UTF8_INVALID. */
#define UTF8_INVALID UINT32_MAX
size_t utf8_decode(const char *p, size_t n, uint32_t *code);

/* Write one code point, return its length (1 to 4). Surrogates and values above
 * U+10FFFF are written as U+FFFD. */
size_t utf8_encode(uint32_t code, char bytes[4]);

bool utf8_is_valid(const char *p, size_t n);

/* Number of code points; each invalid byte counts as one. */
size_t utf8_length(const char *p, size_t n);

/* Byte offset of the code point number `index` (0-based), n when behind the end. */
size_t utf8_offset(const char *p, size_t n, size_t index);

/* Append the text with every maximal invalid piece replaced by one U+FFFD. */
bool utf8_fix(struct buf *out, const char *p, size_t n);
