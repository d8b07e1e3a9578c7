/* unicode_case.c - see unicode.h: case mappings.
 *
 * utf8proc has the full case folding but upper-cases one character to one; the
 * characters that grow, and the two rules of lower-casing that are not one to
 * one, stand here. */
#include "base/buf.h"
#include "base/utf8.h"
#include "text/unicode.h"
#include <string.h>
#include <utf8proc.h>

enum { SIGMA = 0x3A3, FINAL_SIGMA = 0x3C2, DOTTED_I = 0x130, DOT_ABOVE = 0x307 };

struct growing {
    uint16_t code;
    uint16_t upper[3]; /* 0 behind the end */
};

/* Unconditional upper-case mappings to more than one character, by code. */
static const struct growing growing[] = {
    { 0x00DF, { 0x0053, 0x0053 } },         { 0x0149, { 0x02BC, 0x004E } },
    { 0x01F0, { 0x004A, 0x030C } },         { 0x0390, { 0x0399, 0x0308, 0x0301 } },
    { 0x03B0, { 0x03A5, 0x0308, 0x0301 } }, { 0x0587, { 0x0535, 0x0552 } },
    { 0x1E96, { 0x0048, 0x0331 } },         { 0x1E97, { 0x0054, 0x0308 } },
    { 0x1E98, { 0x0057, 0x030A } },         { 0x1E99, { 0x0059, 0x030A } },
    { 0x1E9A, { 0x0041, 0x02BE } },         { 0x1F50, { 0x03A5, 0x0313 } },
    { 0x1F52, { 0x03A5, 0x0313, 0x0300 } }, { 0x1F54, { 0x03A5, 0x0313, 0x0301 } },
    { 0x1F56, { 0x03A5, 0x0313, 0x0342 } }, { 0x1F80, { 0x1F08, 0x0399 } },
    { 0x1F81, { 0x1F09, 0x0399 } },         { 0x1F82, { 0x1F0A, 0x0399 } },
    { 0x1F83, { 0x1F0B, 0x0399 } },         { 0x1F84, { 0x1F0C, 0x0399 } },
    { 0x1F85, { 0x1F0D, 0x0399 } },         { 0x1F86, { 0x1F0E, 0x0399 } },
    { 0x1F87, { 0x1F0F, 0x0399 } },         { 0x1F88, { 0x1F08, 0x0399 } },
    { 0x1F89, { 0x1F09, 0x0399 } },         { 0x1F8A, { 0x1F0A, 0x0399 } },
    { 0x1F8B, { 0x1F0B, 0x0399 } },         { 0x1F8C, { 0x1F0C, 0x0399 } },
    { 0x1F8D, { 0x1F0D, 0x0399 } },         { 0x1F8E, { 0x1F0E, 0x0399 } },
    { 0x1F8F, { 0x1F0F, 0x0399 } },         { 0x1F90, { 0x1F28, 0x0399 } },
    { 0x1F91, { 0x1F29, 0x0399 } },         { 0x1F92, { 0x1F2A, 0x0399 } },
    { 0x1F93, { 0x1F2B, 0x0399 } },         { 0x1F94, { 0x1F2C, 0x0399 } },
    { 0x1F95, { 0x1F2D, 0x0399 } },         { 0x1F96, { 0x1F2E, 0x0399 } },
    { 0x1F97, { 0x1F2F, 0x0399 } },         { 0x1F98, { 0x1F28, 0x0399 } },
    { 0x1F99, { 0x1F29, 0x0399 } },         { 0x1F9A, { 0x1F2A, 0x0399 } },
    { 0x1F9B, { 0x1F2B, 0x0399 } },         { 0x1F9C, { 0x1F2C, 0x0399 } },
    { 0x1F9D, { 0x1F2D, 0x0399 } },         { 0x1F9E, { 0x1F2E, 0x0399 } },
    { 0x1F9F, { 0x1F2F, 0x0399 } },         { 0x1FA0, { 0x1F68, 0x0399 } },
    { 0x1FA1, { 0x1F69, 0x0399 } },         { 0x1FA2, { 0x1F6A, 0x0399 } },
    { 0x1FA3, { 0x1F6B, 0x0399 } },         { 0x1FA4, { 0x1F6C, 0x0399 } },
    { 0x1FA5, { 0x1F6D, 0x0399 } },         { 0x1FA6, { 0x1F6E, 0x0399 } },
    { 0x1FA7, { 0x1F6F, 0x0399 } },         { 0x1FA8, { 0x1F68, 0x0399 } },
    { 0x1FA9, { 0x1F69, 0x0399 } },         { 0x1FAA, { 0x1F6A, 0x0399 } },
    { 0x1FAB, { 0x1F6B, 0x0399 } },         { 0x1FAC, { 0x1F6C, 0x0399 } },
    { 0x1FAD, { 0x1F6D, 0x0399 } },         { 0x1FAE, { 0x1F6E, 0x0399 } },
    { 0x1FAF, { 0x1F6F, 0x0399 } },         { 0x1FB2, { 0x1FBA, 0x0399 } },
    { 0x1FB3, { 0x0391, 0x0399 } },         { 0x1FB4, { 0x0386, 0x0399 } },
    { 0x1FB6, { 0x0391, 0x0342 } },         { 0x1FB7, { 0x0391, 0x0342, 0x0399 } },
    { 0x1FBC, { 0x0391, 0x0399 } },         { 0x1FC2, { 0x1FCA, 0x0399 } },
    { 0x1FC3, { 0x0397, 0x0399 } },         { 0x1FC4, { 0x0389, 0x0399 } },
    { 0x1FC6, { 0x0397, 0x0342 } },         { 0x1FC7, { 0x0397, 0x0342, 0x0399 } },
    { 0x1FCC, { 0x0397, 0x0399 } },         { 0x1FD2, { 0x0399, 0x0308, 0x0300 } },
    { 0x1FD3, { 0x0399, 0x0308, 0x0301 } }, { 0x1FD6, { 0x0399, 0x0342 } },
    { 0x1FD7, { 0x0399, 0x0308, 0x0342 } }, { 0x1FE2, { 0x03A5, 0x0308, 0x0300 } },
    { 0x1FE3, { 0x03A5, 0x0308, 0x0301 } }, { 0x1FE4, { 0x03A1, 0x0313 } },
    { 0x1FE6, { 0x03A5, 0x0342 } },         { 0x1FE7, { 0x03A5, 0x0308, 0x0342 } },
    { 0x1FF2, { 0x1FFA, 0x0399 } },         { 0x1FF3, { 0x03A9, 0x0399 } },
    { 0x1FF4, { 0x038F, 0x0399 } },         { 0x1FF6, { 0x03A9, 0x0342 } },
    { 0x1FF7, { 0x03A9, 0x0342, 0x0399 } }, { 0x1FFC, { 0x03A9, 0x0399 } },
    { 0xFB00, { 0x0046, 0x0046 } },         { 0xFB01, { 0x0046, 0x0049 } },
    { 0xFB02, { 0x0046, 0x004C } },         { 0xFB03, { 0x0046, 0x0046, 0x0049 } },
    { 0xFB04, { 0x0046, 0x0046, 0x004C } }, { 0xFB05, { 0x0053, 0x0054 } },
    { 0xFB06, { 0x0053, 0x0054 } },         { 0xFB13, { 0x0544, 0x0546 } },
    { 0xFB14, { 0x0544, 0x0535 } },         { 0xFB15, { 0x0544, 0x053B } },
    { 0xFB16, { 0x054E, 0x0546 } },         { 0xFB17, { 0x0544, 0x053D } },
};

static size_t upper_code(uint32_t code, uint32_t to[4])
{
    size_t low = 0;
    size_t high = sizeof growing / sizeof growing[0];
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (growing[middle].code < code)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == sizeof growing / sizeof growing[0] || growing[low].code != code) {
        to[0] = (uint32_t)utf8proc_toupper((utf8proc_int32_t)code);
        return 1;
    }
    size_t n = 0;
    for (; n < 3 && growing[low].upper[n]; n++)
        to[n] = growing[low].upper[n];
    return n;
}

static size_t lower_code(uint32_t code, uint32_t to[4])
{
    if (code == DOTTED_I) {
        to[0] = 'i';
        to[1] = DOT_ABOVE;
        return 2;
    }
    to[0] = (uint32_t)utf8proc_tolower((utf8proc_int32_t)code);
    return 1;
}

size_t unicode_fold_code(uint32_t code, uint32_t folded[4])
{
    utf8proc_int32_t to[4];
    utf8proc_ssize_t n = 0;
    if (code < 0x80) {
        folded[0] = code >= 'A' && code <= 'Z' ? code + 32 : code;
        return 1;
    }
    if (code != UTF8_INVALID)
        n = utf8proc_decompose_char((utf8proc_int32_t)code, to, 4, UTF8PROC_CASEFOLD,
                                    NULL);
    if (n < 1 || n > 4) {
        folded[0] = code;
        return 1;
    }
    for (utf8proc_ssize_t i = 0; i < n; i++)
        folded[i] = (uint32_t)to[i];
    return (size_t)n;
}

struct mapping {
    size_t (*code)(uint32_t code, uint32_t to[4]);
    char first; /* the 26 ASCII letters from here on change their case */
};

/* Copy the ASCII characters at the start of the text; returns how many. */
static size_t map_ascii(struct buf *out, struct span text, char first)
{
    size_t n = 0;
    while (n < text.len && (unsigned char)text.ptr[n] < 0x80)
        n++;
    char *room = n ? buf_room(out, n) : NULL;
    if (!room)
        return n;
    for (size_t i = 0; i < n; i++) {
        char c = text.ptr[i];
        room[i] = (unsigned char)(c - first) < 26 ? (char)(c ^ 0x20) : c;
    }
    buf_added(out, n);
    return n;
}

static void map_code(struct buf *out, uint32_t code, const struct mapping *mapping)
{
    uint32_t to[4];
    size_t n = mapping->code(code, to);
    for (size_t i = 0; i < n; i++)
        buf_add_code(out, to[i]);
}

static bool map_text(struct buf *out, struct span text, const struct mapping *mapping)
{
    for (;;) {
        text = span_from(text, map_ascii(out, text, mapping->first));
        if (text.len == 0)
            return !out->is_full;
        uint32_t code;
        size_t length = utf8_decode(text.ptr, text.len, &code);
        if (code == UTF8_INVALID)
            buf_add(out, text.ptr, length);
        else
            map_code(out, code, mapping);
        text = span_from(text, length);
    }
}

bool unicode_upper(struct buf *out, struct span text)
{
    static const struct mapping mapping = { upper_code, 'a' };
    return map_text(out, text, &mapping);
}

bool unicode_casefold(struct buf *out, struct span text)
{
    static const struct mapping mapping = { unicode_fold_code, 'A' };
    return map_text(out, text, &mapping);
}

/* Passed over when looking for the letters around a sigma. */
static bool is_ignorable(uint32_t code)
{
    static const uint16_t marks[] = { '\'',   '.',    ':',    0xB7,   0x387,  0x55F,
                                      0x5F4,  0x2018, 0x2019, 0x2024, 0x2027, 0xFE13,
                                      0xFE52, 0xFE55, 0xFF07, 0xFF0E, 0xFF1A };
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++)
        if (marks[i] == code)
            return true;
    switch (utf8proc_category((utf8proc_int32_t)code)) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_SK:
        return true;
    default:
        return false;
    }
}

static bool is_cased(uint32_t code)
{
    switch (utf8proc_category((utf8proc_int32_t)code)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
        return true;
    default:
        return code == 0xAA || code == 0xBA || (code >= 0x2160 && code <= 0x217F) ||
               (code >= 0x24B6 && code <= 0x24E9) ||
               (code >= 0x1F130 && code <= 0x1F149) ||
               (code >= 0x1F150 && code <= 0x1F169) ||
               (code >= 0x1F170 && code <= 0x1F189);
    }
}

/* Whether the text starts, ignorable characters aside, with a cased letter. */
static bool starts_cased(struct span text)
{
    while (text.len > 0) {
        uint32_t code;
        size_t length = utf8_decode(text.ptr, text.len, &code);
        if (code == UTF8_INVALID)
            return false;
        if (!is_ignorable(code))
            return is_cased(code);
        text = span_from(text, length);
    }
    return false;
}

/* The same for its end; `was_cased` is what holds before the text. */
static bool ends_cased(struct span text, bool was_cased)
{
    while (text.len > 0) {
        uint32_t code;
        size_t length = utf8_decode(text.ptr, text.len, &code);
        if (code == UTF8_INVALID || !is_ignorable(code))
            was_cased = code != UTF8_INVALID && is_cased(code);
        text = span_from(text, length);
    }
    return was_cased;
}

bool unicode_lower(struct buf *out, struct span text)
{
    static const struct mapping mapping = { lower_code, 'A' };
    static const char sigma[] = "\xCE\xA3";
    bool is_after_cased = false;
    const char *found = text.len ? memmem(text.ptr, text.len, sigma, 2) : NULL;
    while (found) {
        struct span before = { text.ptr, (size_t)(found - text.ptr) };
        struct span after = { found + 2, text.len - before.len - 2 };
        map_text(out, before, &mapping);
        bool is_final = ends_cased(before, is_after_cased) && !starts_cased(after);
        buf_add_code(out, is_final ? FINAL_SIGMA : SIGMA + 0x20);
        is_after_cased = true;
        text = after;
        found = text.len ? memmem(text.ptr, text.len, sigma, 2) : NULL;
    }
    return map_text(out, text, &mapping);
}
