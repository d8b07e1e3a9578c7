/* image.c - see image.h. */
#include "model/image.h"
#include <ctype.h>
#include <stdint.h>

static const char DIGITS[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

bool image_is_address(struct span image)
{
    return span_starts(image, SPAN("https://")) || span_starts(image, SPAN("http://")) ||
           span_starts(image, SPAN("data:"));
}

static bool is_base64(struct span s)
{
    size_t n = s.len;
    for (int i = 0; i < 2 && n > 0 && s.ptr[n - 1] == '='; i++)
        n--;
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)s.ptr[i];
        if (!isalnum(c) && c != '+' && c != '/')
            return false;
    }
    return s.len % 4 == 0;
}

static void encode(char *out, const unsigned char *p, size_t n)
{
    for (; n >= 3; p += 3, n -= 3) {
        uint32_t v = (uint32_t)p[0] << 16 | (uint32_t)p[1] << 8 | p[2];
        *out++ = DIGITS[v >> 18];
        *out++ = DIGITS[v >> 12 & 63];
        *out++ = DIGITS[v >> 6 & 63];
        *out++ = DIGITS[v & 63];
    }
    if (n == 0)
        return;
    uint32_t v = (uint32_t)p[0] << 16 | (n == 2 ? (uint32_t)p[1] << 8 : 0);
    out[0] = DIGITS[v >> 18];
    out[1] = DIGITS[v >> 12 & 63];
    out[2] = n == 2 ? DIGITS[v >> 6 & 63] : '=';
    out[3] = '=';
}

bool image_add_base64(struct buf *out, struct span image)
{
    if (is_base64(image))
        return span_add(out, image);
    size_t n = (image.len + 2) / 3 * 4;
    char *room = buf_room(out, n);
    if (!room)
        return false;
    encode(room, (const unsigned char *)image.ptr, image.len);
    buf_added(out, n);
    return true;
}

bool image_add_address(struct buf *out, struct span image, struct span type)
{
    if (image_is_address(image))
        return span_add(out, image);
    return buf_add_text(out, "data:") && span_add(out, type) &&
           buf_add_text(out, ";base64,") && image_add_base64(out, image);
}
