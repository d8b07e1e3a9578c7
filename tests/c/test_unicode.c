/* test_unicode.c - characters, plain search and lengths on bytes of any kind. */
#include "check.h"
#include "text/length.h"
#include "text/plain.h"
#include "text/unicode.h"

static struct buf out;

static const char *changed(bool (*change)(struct buf *out, struct span text),
                           const char *text)
{
    buf_clear(&out);
    change(&out, (struct span){ text, strlen(text) });
    return buf_text(&out);
}

static void classes(void)
{
    CHECK(unicode_is_space(0x3000) && unicode_is_space(0x1F) &&
          !unicode_is_space(0x200B));
    CHECK(unicode_is_break(0x1E) && !unicode_is_break(0x1F) && unicode_is_break(0x2029));
    CHECK(unicode_is_word(0xBD) && unicode_is_word('_') && !unicode_is_word(0x301));
    CHECK(!unicode_is_space(UINT32_MAX) && !unicode_is_word(UINT32_MAX));
}

static void invalid_bytes(void)
{
    struct span stripped = unicode_strip(SPAN(" \xE2\x80 "));
    CHECK_INT(stripped.len, 2);
    CHECK_TEXT(changed(unicode_lower, "A\xFF\xCE"), "a\xFF\xCE");
    CHECK_TEXT(changed(unicode_upper, "a\xC3"), "A\xC3");
    CHECK_TEXT(changed(unicode_casefold, "\xED\xA0\x80S"), "\xED\xA0\x80s");
    CHECK_TEXT(changed(unicode_nfc, "e\xCC\x81\xCC"), "\xC3\xA9\xCC");
    CHECK_TEXT(changed(unicode_collapse, "\xA0 \xA0"), "\xA0 \xA0");
}

static void empty_texts(void)
{
    struct span rest = SPAN("");
    struct span piece;
    CHECK_INT(unicode_strip(rest).len, 0);
    CHECK(!unicode_next_word(&rest, &piece));
    CHECK(!unicode_next_line(&rest, &piece));
    CHECK_INT(unicode_slice(SPAN("ab"), 5, 3).len, 0);
    CHECK_TEXT(changed(unicode_nfc, ""), "");
    CHECK_INT(length_tokens(rest), 0);
}

static void full_buffers(void)
{
    struct buf small = { .max = 3 };
    CHECK(!unicode_lower(&small, SPAN("ABCD")));
    CHECK(small.is_full);
    buf_clear(&small);
    CHECK(!plain_replace(&small, SPAN("aa"), SPAN("a"), SPAN("bcd"), SIZE_MAX, NULL));
    CHECK(!length_fit_pieces(&small, SPAN("abcdef"), 2, SPAN("|")));
    buf_free(&small);
}

static void walk(void)
{
    struct plain_walk w;
    size_t at;
    static const size_t want[] = { 1, 3, 8 };
    size_t n = 0;
    plain_walk_start(&w, SPAN("xabababyaba"), SPAN("aba"));
    for (; n < 3 && plain_walk_next(&w, &at); n++)
        CHECK_INT(at, want[n]);
    CHECK(!plain_walk_next(&w, &at));
    plain_walk_end(&w);
    CHECK_INT(n, 3);
    plain_walk_start(&w, SPAN("ab"), SPAN("abc"));
    CHECK(!plain_walk_next(&w, &at));
    plain_walk_end(&w);
}

int main(void)
{
    check_run("blanks, breaks and word characters are CPython's", classes);
    check_run("invalid bytes stay as they are", invalid_bytes);
    check_run("empty texts have no pieces", empty_texts);
    check_run("a full buffer is reported", full_buffers);
    check_run("a walk finds overlapping places", walk);
    buf_free(&out);
    return check_end();
}
