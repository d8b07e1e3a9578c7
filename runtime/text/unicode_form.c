/* unicode_form.c - see unicode.h: canonical composition.
 *
 * utf8proc decomposes and composes; the ordering of marks between the two is
 * ours, because its own takes quadratic time on a long run of marks. */
#include "base/buf.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "text/unicode.h"
#include <string.h>
#include <utf8proc.h>

enum { CLASSES = 256, DECOMPOSED_MAX = 18 };

struct codes {
    utf8proc_int32_t *ptr;
    size_t len, cap;
};

static size_t class_of(utf8proc_int32_t code)
{
    return (size_t)utf8proc_get_property(code)->combining_class;
}

static void codes_add(struct codes *c, uint32_t code)
{
    if (c->cap - c->len < DECOMPOSED_MAX) {
        c->cap += c->cap / 2 + 64;
        c->ptr = mem_grow(c->ptr, c->cap * sizeof *c->ptr);
    }
    c->len += (size_t)utf8proc_decompose_char((utf8proc_int32_t)code, c->ptr + c->len,
                                              DECOMPOSED_MAX, UTF8PROC_DECOMPOSE, NULL);
}

static bool is_ordered(const utf8proc_int32_t *marks, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (class_of(marks[i - 1]) > class_of(marks[i]))
            return false;
    return true;
}

/* Sort a run of marks by class; marks of one class keep their order. */
static void order_run(utf8proc_int32_t *marks, size_t n)
{
    if (is_ordered(marks, n))
        return;
    size_t start[CLASSES + 1] = { 0 };
    for (size_t i = 0; i < n; i++)
        start[class_of(marks[i]) + 1]++;
    for (size_t i = 1; i <= CLASSES; i++)
        start[i] += start[i - 1];
    utf8proc_int32_t *sorted = mem_new_array(n, sizeof *sorted);
    for (size_t i = 0; i < n; i++)
        sorted[start[class_of(marks[i])]++] = marks[i];
    memcpy(marks, sorted, n * sizeof *marks);
    mem_free(sorted);
}

static void order(struct codes *c)
{
    size_t i = 0;
    while (i < c->len) {
        size_t start = i;
        while (i < c->len && class_of(c->ptr[i]) > 0)
            i++;
        order_run(c->ptr + start, i - start);
        i++;
    }
}

static void flush(struct buf *out, struct codes *c)
{
    if (c->len == 0)
        return;
    order(c);
    utf8proc_ssize_t n = utf8proc_normalize_utf32(c->ptr, (utf8proc_ssize_t)c->len,
                                                  UTF8PROC_COMPOSE | UTF8PROC_STABLE);
    for (utf8proc_ssize_t i = 0; i < n; i++)
        buf_add_code(out, (uint32_t)c->ptr[i]);
    c->len = 0;
}

/* Bytes of the leading part that composition cannot change: ASCII, but for its
 * last character, which a mark may follow. */
static size_t plain_length(struct span text)
{
    size_t n = 0;
    while (n < text.len && (unsigned char)text.ptr[n] < 0x80)
        n++;
    return n > 0 && n < text.len ? n - 1 : n;
}

bool unicode_nfc(struct buf *out, struct span text)
{
    struct codes codes = { 0 };
    size_t i = plain_length(text);
    buf_add(out, text.ptr, i);
    while (i < text.len) {
        uint32_t code;
        size_t length = utf8_decode(text.ptr + i, text.len - i, &code);
        if (code == UTF8_INVALID) {
            flush(out, &codes);
            buf_add(out, text.ptr + i, length);
        } else {
            codes_add(&codes, code);
        }
        i += length;
    }
    flush(out, &codes);
    mem_free(codes.ptr);
    return !out->is_full;
}
