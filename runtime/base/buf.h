/* buf.h - a growable byte string with a ceiling.
 *
 * A zeroed buf is valid and empty. `ptr` is NULL or has a zero byte at
 * ptr[len]. When an addition would pass `max` (0 = BUF_DEFAULT_MAX) nothing is
 * added, `is_full` is set and stays set: build the whole text, then ask once. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BUF_DEFAULT_MAX ((size_t)1 << 30)

struct buf {
    char *ptr;
    size_t len, cap, max;
    bool is_full;
};

bool buf_add(struct buf *b, const void *p, size_t n);
bool buf_add_text(struct buf *b, const char *text);
bool buf_add_char(struct buf *b, char c);
bool buf_add_format(struct buf *b, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Append one code point (0 to 0x10FFFF) as UTF-8; surrogates become U+FFFD. */
bool buf_add_code(struct buf *b, uint32_t code);

/* Room for n more bytes at the returned place (call buf_added after filling
 * it), or NULL when full. */
char *buf_room(struct buf *b, size_t n);
void buf_added(struct buf *b, size_t n);

/* The text, never NULL. Owned by the buf. */
const char *buf_text(const struct buf *b);

/* Forget the content, keep the memory and the ceiling. */
void buf_clear(struct buf *b);

/* Hand the memory to the caller (mem_free; never NULL, zero-terminated); the
 * buf is empty afterwards. *n may be NULL. */
char *buf_give(struct buf *b, size_t *n);

void buf_free(struct buf *b);
