/* fuzz_score.c - marks and tags of replies of any bytes. The first line is the gold,
 * the rest the reply. */
#include "base/utf8.h"
#include "text/score/answer.h"
#include "text/score/tagged.h"
#include <assert.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_normalized(struct span text)
{
    struct buf once = { 0 };
    assert(answer_normalize(&once, text));
    struct span normal = span_of(&once);
    /* Deleted punctuation may have stood inside a blank when the bytes are no text. */
    if (utf8_is_valid(text.ptr, text.len))
        assert(span_equals(unicode_strip(normal), normal));
    buf_free(&once);
}

static void check_marks(struct span answer, struct span gold)
{
    struct answer a = { 0 };
    struct answer b = { 0 };
    answer_read(&a, answer);
    answer_read(&b, gold);
    double f1 = answer_f1(&a, gold);
    assert(f1 >= 0 && f1 <= 1);
    assert(answer_f1(&b, answer) == f1);
    assert(answer_equals(&a, gold) == answer_equals(&b, answer));
    assert(!answer_equals(&a, gold) || f1 == 1);
    assert(answer_overlaps(&a, gold) == answer_overlaps(&b, answer));
    assert(answer_equals(&a, answer));
    answer_free(&a);
    answer_free(&b);
}

static void check_tags(struct span reply)
{
    struct buf spoken = { 0 };
    struct buf line = { 0 };
    struct span content;
    struct span tag = SPAN("answer");
    assert(tagged_drop_thought(&spoken, reply));
    assert(spoken.len <= reply.len);
    if (tagged_find(span_of(&spoken), tag, &content)) {
        struct span inner;
        assert(!tagged_find(content, tag, &inner));
    }
    tagged_last_line(&line, span_of(&spoken), tag);
    assert(tagged_as_reference(reply, tag).len <= reply.len);
    buf_free(&spoken);
    buf_free(&line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct span text = { (const char *)data, size };
    const char *end = size ? memchr(data, '\n', size) : NULL;
    if (!end)
        return 0;
    size_t first = (size_t)(end - text.ptr);
    struct span gold = span_between(text, 0, first);
    struct span reply = span_from(text, first + 1);
    check_normalized(reply);
    check_marks(reply, gold);
    check_tags(reply);
    return 0;
}
