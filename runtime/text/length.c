/* length.c - see length.h. */
#include "text/length.h"
#include "base/buf.h"
#include "base/utf8.h"
#include "text/plain.h"
#include <assert.h>

enum { TOKEN = 4 }; /* quarters */

static size_t weight_of(uint32_t code, size_t length)
{
    static const size_t weights[] = { 0, 1, 2, 4, 8 };
    return code == UTF8_INVALID ? TOKEN : weights[length];
}

/* Bytes of the longest leading part of at most `max` quarters. */
static size_t leading(struct span text, size_t max, size_t *weight)
{
    size_t i = 0;
    *weight = 0;
    while (i < text.len) {
        uint32_t code;
        size_t length = utf8_decode(text.ptr + i, text.len - i, &code);
        size_t more = weight_of(code, length);
        if (more > max - *weight)
            break;
        *weight += more;
        i += length;
    }
    return i;
}

static size_t weight(struct span text)
{
    size_t sum;
    leading(text, SIZE_MAX, &sum);
    return sum;
}

size_t length_tokens(struct span text)
{
    return (weight(text) + TOKEN - 1) / TOKEN;
}

/* Bytes to leave out so that the rest weighs at most `max`. */
static size_t leading_beyond(struct span text, size_t max)
{
    size_t rest = weight(text);
    size_t i = 0;
    while (rest > max) {
        uint32_t code;
        size_t length = utf8_decode(text.ptr + i, text.len - i, &code);
        rest -= weight_of(code, length);
        i += length;
    }
    return i;
}

size_t length_fit_middle(struct buf *out, struct span text, size_t max, struct span mark)
{
    size_t room = max > SIZE_MAX / TOKEN ? SIZE_MAX : max * TOKEN;
    if (weight(text) <= room) {
        span_add(out, text);
        return 0;
    }
    size_t mark_weight = weight(mark);
    bool has_mark = mark_weight < room;
    size_t used;
    size_t head = leading(text, has_mark ? (room - mark_weight + 1) / 2 : room, &used);
    struct span rest = span_from(text, head);
    size_t cut = has_mark ? leading_beyond(rest, room - mark_weight - used) : rest.len;
    buf_add(out, text.ptr, head);
    if (has_mark)
        span_add(out, mark);
    buf_add(out, rest.ptr + cut, rest.len - cut);
    return utf8_length(rest.ptr, cut);
}

/* Start and end of the leading pieces that fit; equal when none does. */
static struct span whole_pieces(struct span text, size_t max, struct span border)
{
    size_t border_length = utf8_length(border.ptr, border.len);
    size_t start = 0;
    size_t kept = 0; /* end of what is kept */
    size_t count = 0;
    for (size_t piece = 0; piece <= text.len;) {
        size_t end = plain_find(text, border, piece);
        if (end == PLAIN_NONE)
            end = text.len;
        size_t more = utf8_length(text.ptr + piece, end - piece);
        if (kept > start)
            more += border_length;
        else
            start = kept = piece;
        if (more > max - count)
            break;
        count += more;
        kept = end;
        piece = end + border.len;
    }
    return span_between(text, start, kept);
}

bool length_fit_pieces(struct buf *out, struct span text, size_t max, struct span border)
{
    assert(border.len > 0);
    if (utf8_length(text.ptr, text.len) <= max)
        return span_add(out, text);
    struct span kept = whole_pieces(text, max, border);
    if (kept.len > 0)
        return span_add(out, kept);
    buf_add(out, text.ptr, utf8_offset(text.ptr, text.len, max));
    return buf_add_text(out, "\n...[truncated]");
}
