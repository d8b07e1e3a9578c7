/* buf.c - see buf.h. */
#include "base/buf.h"
#include "base/mem.h"
#include "base/utf8.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

char *buf_room(struct buf *b, size_t n)
{
    size_t max = b->max ? b->max : BUF_DEFAULT_MAX;
    if (b->is_full || n > max || b->len > max - n) {
        b->is_full = true;
        return NULL;
    }
    size_t need = b->len + n + 1;
    if (need > b->cap) {
        size_t cap = b->cap ? b->cap : 64;
        while (cap < need)
            cap += cap / 2 + 64;
        b->ptr = mem_grow(b->ptr, cap);
        b->cap = cap;
    }
    return b->ptr + b->len;
}

void buf_added(struct buf *b, size_t n)
{
    b->len += n;
    b->ptr[b->len] = '\0';
}

bool buf_add(struct buf *b, const void *p, size_t n)
{
    char *room = buf_room(b, n);
    if (!room)
        return false;
    if (n)
        memcpy(room, p, n);
    buf_added(b, n);
    return true;
}

bool buf_add_text(struct buf *b, const char *text)
{
    return buf_add(b, text, strlen(text));
}

bool buf_add_char(struct buf *b, char c)
{
    return buf_add(b, &c, 1);
}

bool buf_add_format(struct buf *b, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *room = n < 0 ? NULL : buf_room(b, (size_t)n);
    if (room) {
        vsnprintf(room, (size_t)n + 1, format, again);
        buf_added(b, (size_t)n);
    }
    va_end(again);
    return room != NULL;
}

bool buf_add_code(struct buf *b, uint32_t code)
{
    char bytes[4];
    return buf_add(b, bytes, utf8_encode(code, bytes));
}

const char *buf_text(const struct buf *b)
{
    return b->ptr ? b->ptr : "";
}

void buf_clear(struct buf *b)
{
    b->len = 0;
    b->is_full = false;
    if (b->ptr)
        b->ptr[0] = '\0';
}

char *buf_give(struct buf *b, size_t *n)
{
    if (!b->ptr)
        b->ptr = mem_copy("", 0);
    char *p = b->ptr;
    if (n)
        *n = b->len;
    *b = (struct buf){ .max = b->max };
    return p;
}

void buf_free(struct buf *b)
{
    mem_free(b->ptr);
    *b = (struct buf){ .max = b->max };
}
