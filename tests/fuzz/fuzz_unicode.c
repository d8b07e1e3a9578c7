/* fuzz_unicode.c - texts of any bytes through everything that cuts or maps them. */
#include "base/utf8.h"
#include "text/length.h"
#include "text/plain.h"
#include "text/unicode.h"
#include <assert.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_mapping(bool (*change)(struct buf *out, struct span text),
                          struct span text)
{
    struct buf once = { 0 };
    struct buf twice = { 0 };
    assert(change(&once, text));
    assert(change(&twice, span_of(&once)));
    assert(span_equals(span_of(&once), span_of(&twice)));
    if (utf8_is_valid(text.ptr, text.len))
        assert(utf8_is_valid(buf_text(&once), once.len));
    buf_free(&once);
    buf_free(&twice);
}

static void check_pieces(struct span text,
                         bool (*next)(struct span *rest, struct span *piece))
{
    struct span rest = text;
    struct span piece;
    const char *end = text.ptr;
    while (next(&rest, &piece)) {
        assert(piece.ptr >= end && piece.ptr + piece.len <= text.ptr + text.len);
        end = piece.ptr + piece.len;
        assert(rest.ptr >= end);
    }
}

static void check_lengths(struct span text, size_t max)
{
    struct buf out = { 0 };
    size_t removed = length_fit_middle(&out, text, max, SPAN(".."));
    assert(length_tokens(span_of(&out)) <= max);
    assert(removed == 0 || length_tokens(text) > max);
    buf_clear(&out);
    assert(length_fit_pieces(&out, text, max, SPAN("a")));
    assert(utf8_length(buf_text(&out), out.len) <= max + sizeof("\n...[truncated]") - 1);
    struct span head = unicode_slice(text, 0, max);
    struct span tail = unicode_slice(text, max, SIZE_MAX);
    assert(head.len + tail.len == text.len);
    size_t sum = length_tokens(head) + length_tokens(tail);
    assert(sum == length_tokens(text) || sum == length_tokens(text) + 1);
    buf_free(&out);
}

/* The walk finds what a search from place to place finds. */
static void check_walk(struct span text, struct span find)
{
    struct plain_walk walk;
    size_t at;
    size_t from = 0;
    plain_walk_start(&walk, text, find);
    while (plain_walk_next(&walk, &at)) {
        assert(at == plain_find(text, find, from));
        from = at + 1;
    }
    assert(from > text.len || plain_find(text, find, from) == PLAIN_NONE);
    plain_walk_end(&walk);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    size_t max = data[0];
    struct span text = { (const char *)data + 1, size - 1 };
    struct span secret = unicode_slice(text, max % 7, 16);
    struct buf out = { 0 };
    check_mapping(unicode_lower, text);
    check_mapping(unicode_casefold, text);
    check_mapping(unicode_nfc, text);
    check_mapping(unicode_collapse, text);
    unicode_upper(&out, text);
    check_pieces(text, unicode_next_word);
    check_pieces(text, unicode_next_line);
    check_lengths(text, max);
    check_walk(text, span_between(text, 0, 1 + max % text.len));
    buf_clear(&out);
    plain_scrub(&out, text, &secret, 1);
    assert(utf8_length(secret.ptr, secret.len) < 16 ||
           memchr(secret.ptr, '*', secret.len) ||
           plain_find(span_of(&out), secret, 0) == PLAIN_NONE);
    buf_free(&out);
    return 0;
}
