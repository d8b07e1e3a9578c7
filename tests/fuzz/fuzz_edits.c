/* fuzz_edits.c - a document and edits made of the input: regions survive whatever is
 * done to the body, and body and document can be had from each other.
 *
 * The input is pieces between zero bytes: the document, then op, target, content of
 * one edit after the other. In all of them the bytes 1 to 4 stand for the markers. */
#include "base/err.h"
#include "text/edit.h"
#include "text/skill.h"
#include <assert.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct span next_piece(struct span *rest)
{
    const char *end = rest->len ? memchr(rest->ptr, 0, rest->len) : NULL;
    size_t n = end ? (size_t)(end - rest->ptr) : rest->len;
    struct span piece = span_between(*rest, 0, n);
    *rest = span_from(*rest, end ? n + 1 : n);
    return piece;
}

static void add_text(struct buf *out, struct span piece)
{
    static const char *const markers[] = { "<!-- SLOW_UPDATE_START -->",
                                           "<!-- SLOW_UPDATE_END -->",
                                           "<!-- APPENDIX_START -->",
                                           "<!-- APPENDIX_END -->" };
    for (size_t i = 0; i < piece.len; i++) {
        unsigned char c = (unsigned char)piece.ptr[i];
        if (c >= 1 && c <= 4)
            buf_add_text(out, markers[c - 1]);
        else
            buf_add_char(out, (char)c);
    }
}

static void check_body(struct span text)
{
    struct buf body = { 0 };
    struct buf again = { 0 };
    struct buf other = { 0 };
    struct err e;
    assert(skill_body(&body, text, &e));
    assert(skill_set_body(&again, text, span_of(&body), &e));
    assert(span_equals(span_of(&again), text));
    buf_add_text(&body, "x");
    assert(skill_set_body(&other, text, span_of(&body), &e));
    for (int kind = 0; kind < SKILL_KIND_COUNT; kind++) {
        struct span a;
        struct span b;
        bool has_a = skill_region(text, (enum skill_kind)kind, &a);
        assert(skill_region(span_of(&other), (enum skill_kind)kind, &b) == has_a);
        assert(!has_a || span_equals(a, b));
    }
    buf_free(&body);
    buf_free(&again);
    buf_free(&other);
}

/* A document without the region has the key of one with an empty one. */
static void check_essence(struct span text)
{
    struct buf empty = { 0 };
    struct buf dropped = { 0 };
    struct buf a = { 0 };
    struct buf b = { 0 };
    skill_drop_region(&dropped, text, SKILL_SLOW_UPDATE);
    skill_set_region(&empty, span_of(&dropped), SKILL_SLOW_UPDATE, SPAN(""));
    skill_essence(&a, span_of(&dropped));
    skill_essence(&b, span_of(&empty));
    assert(span_equals(span_of(&a), span_of(&b)));
    buf_free(&empty);
    buf_free(&dropped);
    buf_free(&a);
    buf_free(&b);
}

static void check_regions(struct span text, struct span content)
{
    struct buf clean = { 0 };
    struct buf out = { 0 };
    struct span got;
    skill_clean(&clean, content);
    assert(skill_set_region(&out, text, SKILL_SLOW_UPDATE, content));
    assert(skill_region(span_of(&out), SKILL_SLOW_UPDATE, &got));
    if (!memchr(text.ptr, '\r', text.len) && !memchr(content.ptr, '\r', content.len))
        assert(span_equals(got, unicode_strip(span_of(&clean))));
    assert(!(skill_problems(span_of(&out)) & 1u << SKILL_REGION_TWICE) ||
           skill_problems(text) & 1u << SKILL_REGION_TWICE);
    check_essence(text);
    buf_free(&clean);
    buf_free(&out);
}

static void check_same_regions(struct span before, struct span after)
{
    struct skill_scan a = { .text = before };
    struct skill_scan b = { .text = after };
    struct skill_part x;
    struct skill_part y;
    while (skill_next_region(&a, &x)) {
        assert(skill_next_region(&b, &y));
        assert(span_equals(span_between(before, x.start, x.end),
                           span_between(after, y.start, y.end)));
    }
    assert(!skill_next_region(&b, &y));
}

static void run_edit(struct buf *text, struct edit_row *row, struct span *rest)
{
    struct buf parts[3] = { { 0 } };
    for (int i = 0; i < 3; i++)
        add_text(&parts[i], next_piece(rest));
    static const char *const ops[] = { "append", "insert_after", "replace", "delete" };
    const char *op = ops[parts[0].len ? (unsigned char)parts[0].ptr[0] % 4 : 0];
    struct edit edit = {
        { op, strlen(op) }, span_of(&parts[1]), span_of(&parts[2]), false
    };
    struct buf before = { 0 };
    span_add(&before, span_of(text));
    edit_apply(text, &edit, 1 << 16, row);
    bool is_same = span_equals(span_of(&before), span_of(text));
    assert((row->fate == EDIT_APPLIED) == !is_same);
    check_same_regions(span_of(&before), span_of(text));
    check_regions(span_of(text), span_of(&parts[2]));
    buf_free(&before);
    for (int i = 0; i < 3; i++)
        buf_free(&parts[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct span rest = { (const char *)data, size };
    struct buf text = { 0 };
    struct edit_row row = { 0 };
    struct span yaml;
    size_t end;
    if (size == 0)
        return 0;
    add_text(&text, next_piece(&rest));
    check_body(span_of(&text));
    skill_front_matter(span_of(&text), &yaml, &end);
    while (rest.len > 0)
        run_edit(&text, &row, &rest);
    check_body(span_of(&text));
    edit_row_free(&row);
    buf_free(&text);
    return 0;
}
