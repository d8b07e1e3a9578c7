/* utf8.c - see utf8.h. */
#include "base/utf8.h"
#include "base/buf.h"
#include <string.h>

static bool is_tail(char c)
{
    return ((unsigned char)c & 0xC0) == 0x80;
}

/* Length and smallest allowed second byte follow from the lead byte (Unicode
 * 15, table 3-7). `*ok` is how many leading bytes are well formed. */
static size_t sequence(const char *p, size_t n, size_t *ok)
{
    unsigned char lead = (unsigned char)p[0];
    size_t want = lead < 0x80   ? 1
                  : lead < 0xC2 ? 0
                  : lead < 0xE0 ? 2
                  : lead < 0xF0 ? 3
                  : lead < 0xF5 ? 4
                                : 0;
    *ok = 1;
    if (want < 2)
        return want;
    unsigned char low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    unsigned char high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    if (n < 2 || (unsigned char)p[1] < low || (unsigned char)p[1] > high)
        return 0;
    for (*ok = 2; *ok < want; ++*ok)
        if (*ok >= n || !is_tail(p[*ok]))
            return 0;
    return want;
}

size_t utf8_decode(const char *p, size_t n, uint32_t *code)
{
    static const unsigned char mask[] = { 0, 0x7F, 0x1F, 0x0F, 0x07 };
    size_t ok;
    size_t length = sequence(p, n, &ok);
    if (length == 0) {
        *code = UTF8_INVALID;
        return 1;
    }
    uint32_t c = (unsigned char)p[0] & mask[length];
    for (size_t i = 1; i < length; i++)
        c = c << 6 | ((unsigned char)p[i] & 0x3F);
    *code = c;
    return length;
}

size_t utf8_encode(uint32_t code, char bytes[4])
{
    if (code > 0x10FFFF || (code >= 0xD800 && code < 0xE000))
        code = UTF8_REPLACEMENT;
    if (code < 0x80) {
        bytes[0] = (char)code;
        return 1;
    }
    size_t n = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = { 0, 0, 0xC0, 0xE0, 0xF0 };
    for (size_t i = n - 1; i > 0; i--) {
        bytes[i] = (char)(0x80 | (code & 0x3F));
        code >>= 6;
    }
    bytes[0] = (char)(lead[n] | code);
    return n;
}

/* Bytes below 0x80 at the start, eight at a time. */
static size_t ascii_length(const char *p, size_t n)
{
    size_t i = 0;
    for (uint64_t word; i + sizeof word <= n; i += sizeof word) {
        memcpy(&word, p + i, sizeof word);
        if (word & 0x8080808080808080u)
            break;
    }
    while (i < n && (unsigned char)p[i] < 0x80)
        i++;
    return i;
}

bool utf8_is_valid(const char *p, size_t n)
{
    for (size_t i = 0; i < n;) {
        i += ascii_length(p + i, n - i);
        if (i == n)
            break;
        size_t ok;
        size_t length = sequence(p + i, n - i, &ok);
        if (length == 0)
            return false;
        i += length;
    }
    return true;
}

size_t utf8_length(const char *p, size_t n)
{
    size_t count = 0;
    uint32_t code;
    for (size_t i = 0; i < n; count++)
        i += utf8_decode(p + i, n - i, &code);
    return count;
}

size_t utf8_offset(const char *p, size_t n, size_t index)
{
    size_t i = 0;
    uint32_t code;
    for (; i < n && index > 0; index--)
        i += utf8_decode(p + i, n - i, &code);
    return i;
}

bool utf8_fix(struct buf *out, const char *p, size_t n)
{
    size_t done = 0;
    for (size_t i = 0; i < n;) {
        size_t ok;
        size_t length = sequence(p + i, n - i, &ok);
        if (length) {
            i += length;
            continue;
        }
        buf_add(out, p + done, i - done);
        buf_add_code(out, UTF8_REPLACEMENT);
        i += ok;
        done = i;
    }
    return buf_add(out, p + done, n - done);
}
