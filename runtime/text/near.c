/* near.c - see near.h. */
#include "text/near.h"
#include "base/utf8.h"
#include "text/plain.h"
#include "text/unicode.h"

/* The foldings, in the order in which they are named. */
enum { FORM = 1, QUOTES = 2, DASHES = 4, SPACES = 8, CASE = 16, ALL = 31 };

static const char *const names[] = { "Unicode form", "quotes", "dashes", "spaces",
                                     "letter case" };

/* The ASCII character that looks like this one, or the character itself. */
static uint32_t plain_quote(uint32_t code)
{
    switch (code) {
    case '`':
    case 0xB4:
    case 0x2018:
    case 0x2019:
    case 0x201A:
    case 0x201B:
    case 0x2032:
        return '\'';
    case 0xAB:
    case 0xBB:
    case 0x201C:
    case 0x201D:
    case 0x201E:
    case 0x201F:
    case 0x2033:
        return '"';
    default:
        return code;
    }
}

static uint32_t plain_dash(uint32_t code)
{
    return (code >= 0x2010 && code <= 0x2015) || code == 0x2212 ? '-' : code;
}

/* Takes no room: soft hyphen, zero-width space and joiners, word joiner, BOM. */
static bool is_invisible(uint32_t code)
{
    return code == 0xAD || (code >= 0x200B && code <= 0x200D) || code == 0x2060 ||
           code == 0xFEFF;
}

static void fold_codes(struct buf *out, struct span text, unsigned how)
{
    for (size_t i = 0; i < text.len;) {
        uint32_t code;
        size_t length = utf8_decode(text.ptr + i, text.len - i, &code);
        uint32_t folded = how & QUOTES ? plain_quote(code) : code;
        folded = how & DASHES ? plain_dash(folded) : folded;
        bool is_dropped = how & SPACES && is_invisible(code);
        if (!is_dropped && folded == code)
            buf_add(out, text.ptr + i, length);
        else if (!is_dropped)
            buf_add_code(out, folded);
        i += length;
    }
}

/* Replace *text by its folding; *spare is the room for it. */
static void pass(struct buf *text, struct buf *spare,
                 bool (*fold)(struct buf *out, struct span text))
{
    buf_clear(spare);
    fold(spare, span_of(text));
    struct buf kept = *text;
    *text = *spare;
    *spare = kept;
}

static void fold(struct buf *out, struct span text, unsigned how)
{
    struct buf spare = { 0 };
    fold_codes(out, text, how);
    if (how & FORM)
        pass(out, &spare, unicode_nfc);
    if (how & CASE)
        pass(out, &spare, unicode_casefold);
    if (how & SPACES)
        pass(out, &spare, unicode_collapse);
    buf_free(&spare);
}

static bool matches(struct span text, struct span find, unsigned how)
{
    struct buf folded = { 0 };
    struct buf wanted = { 0 };
    fold(&folded, text, how);
    fold(&wanted, find, how);
    bool found =
        wanted.len > 0 && plain_find(span_of(&folded), span_of(&wanted), 0) != PLAIN_NONE;
    buf_free(&folded);
    buf_free(&wanted);
    return found;
}

static void add_names(struct buf *out, unsigned how)
{
    int left = __builtin_popcount(how);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (!(how & 1u << i))
            continue;
        buf_add_text(out, names[i]);
        left--;
        buf_add_text(out, left > 1 ? ", " : left == 1 ? " and " : "");
    }
}

bool near_words(struct buf *out, struct span text, struct span find)
{
    if (!matches(text, find, ALL))
        return false;
    for (int count = 1; count <= 5; count++)
        for (unsigned how = 1; how <= ALL; how++)
            if (__builtin_popcount(how) == count && matches(text, find, how)) {
                add_names(out, how);
                return true;
            }
    return false;
}
