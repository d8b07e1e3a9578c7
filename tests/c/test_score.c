/* test_score.c - marks of answers on bytes of any kind. */
#include "check.h"
#include "text/score/answer.h"
#include "text/score/tagged.h"

static void scratch(void)
{
    struct answer a = { 0 };
    for (int i = 0; i < 3; i++) {
        answer_read(&a, SPAN("The Lake  \xC3\x89tang!"));
        CHECK(answer_equals(&a, SPAN("lake \xC3\xA9tang")));
        CHECK(answer_f1(&a, SPAN("lake")) == 2.0 / 3);
        CHECK(answer_overlaps(&a, SPAN("a lake")));
        CHECK(!answer_overlaps(&a, SPAN("the")));
    }
    answer_free(&a);
    CHECK(a.own.words == NULL);
}

static void zero_bytes(void)
{
    struct answer a = { 0 };
    answer_read(&a, SPAN("a\0b"));
    CHECK(answer_equals(&a, SPAN("\0b")));
    CHECK(!answer_equals(&a, SPAN("b")));
    answer_free(&a);
}

static void invalid_bytes(void)
{
    struct buf out = { 0 };
    answer_normalize(&out, SPAN("A\xFFthe\xE2 the."));
    CHECK_TEXT(buf_text(&out), "\xFF \xE2");
    buf_free(&out);
}

static void hostile_tags(void)
{
    struct buf text = { 0 };
    struct span content;
    for (int i = 0; i < 100000; i++)
        buf_add_text(&text, "<answer></answe<answer>");
    CHECK(!tagged_find(span_of(&text), SPAN("answer"), &content));
    CHECK_INT(tagged_as_reference(span_of(&text), SPAN("answer")).len, text.len);
    buf_add_text(&text, "x</answer>");
    CHECK(tagged_find(span_of(&text), SPAN("answer"), &content));
    CHECK_INT(content.len, 1);
    buf_free(&text);
}

int main(void)
{
    check_run("an answer's memory serves one answer after the other", scratch);
    check_run("a zero byte is a character like any other", zero_bytes);
    check_run("invalid bytes are characters that end words", invalid_bytes);
    check_run("many open tags are searched once", hostile_tags);
    return check_end();
}
