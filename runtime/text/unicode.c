/* unicode.c - see unicode.h: classes of characters and where texts are cut. */
#include "text/unicode.h"
#include "base/buf.h"
#include "base/utf8.h"
#include <utf8proc.h>

static bool is_ascii_space(uint32_t code)
{
    return code == ' ' || (code >= '\t' && code <= '\r') || (code >= 0x1C && code < 0x20);
}

bool unicode_is_space(uint32_t code)
{
    if (code < 0x80)
        return is_ascii_space(code);
    switch (code) {
    case 0x85:
    case 0xA0:
    case 0x1680:
    case 0x2028:
    case 0x2029:
    case 0x202F:
    case 0x205F:
    case 0x3000:
        return true;
    default:
        return code >= 0x2000 && code <= 0x200A;
    }
}

bool unicode_is_break(uint32_t code)
{
    return (code >= '\n' && code <= '\r') || (code >= 0x1C && code <= 0x1E) ||
           code == 0x85 || code == 0x2028 || code == 0x2029;
}

bool unicode_is_word(uint32_t code)
{
    if (code < 0x80)
        return (code >= 'a' && code <= 'z') || (code >= 'A' && code <= 'Z') ||
               (code >= '0' && code <= '9') || code == '_';
    if (code == UTF8_INVALID)
        return false;
    switch (utf8proc_category((utf8proc_int32_t)code)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
        return true;
    default:
        return false;
    }
}

struct span unicode_lstrip(struct span text)
{
    while (text.len > 0) {
        uint32_t code;
        size_t length = utf8_decode(text.ptr, text.len, &code);
        if (!unicode_is_space(code))
            break;
        text = span_from(text, length);
    }
    return text;
}

/* Bytes of the last character of a text that is not empty. */
static size_t last_length(struct span text, uint32_t *code)
{
    for (size_t n = 1; n <= 4 && n <= text.len; n++) {
        const char *start = text.ptr + text.len - n;
        if (((unsigned char)*start & 0xC0) != 0x80) {
            if (utf8_decode(start, n, code) == n)
                return n;
            break;
        }
    }
    *code = UTF8_INVALID;
    return 1;
}

struct span unicode_rstrip(struct span text)
{
    while (text.len > 0) {
        uint32_t code;
        size_t length = last_length(text, &code);
        if (!unicode_is_space(code))
            break;
        text.len -= length;
    }
    return text;
}

struct span unicode_strip(struct span text)
{
    return unicode_rstrip(unicode_lstrip(text));
}

/* Bytes before the first character for which `is_end` holds, or all. */
static size_t length_before(struct span text, bool (*is_end)(uint32_t code),
                            size_t *end_length)
{
    size_t i = 0;
    *end_length = 0;
    while (i < text.len) {
        uint32_t code;
        size_t length = utf8_decode(text.ptr + i, text.len - i, &code);
        if (is_end(code)) {
            *end_length = length;
            break;
        }
        i += length;
    }
    return i;
}

bool unicode_next_word(struct span *rest, struct span *word)
{
    *rest = unicode_lstrip(*rest);
    size_t end;
    *word = span_between(*rest, 0, length_before(*rest, unicode_is_space, &end));
    *rest = span_from(*rest, word->len);
    return word->len > 0;
}

bool unicode_next_line(struct span *rest, struct span *line)
{
    if (rest->len == 0)
        return false;
    size_t end;
    *line = span_between(*rest, 0, length_before(*rest, unicode_is_break, &end));
    size_t taken = line->len + end;
    if (end == 1 && taken < rest->len && rest->ptr[line->len] == '\r' &&
        rest->ptr[taken] == '\n')
        taken++;
    *rest = span_from(*rest, taken);
    return true;
}

struct span unicode_slice(struct span text, size_t first, size_t count)
{
    size_t start = utf8_offset(text.ptr, text.len, first);
    size_t end = start + utf8_offset(text.ptr + start, text.len - start, count);
    return span_between(text, start, end);
}

bool unicode_collapse(struct buf *out, struct span text)
{
    struct span word;
    bool is_first = true;
    while (unicode_next_word(&text, &word)) {
        if (!is_first)
            buf_add_char(out, ' ');
        span_add(out, word);
        is_first = false;
    }
    return !out->is_full;
}
