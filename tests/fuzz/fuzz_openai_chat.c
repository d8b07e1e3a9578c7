/* Any answer, whole or as a stream in any pieces, gives a reply or a fault, and the same
 * one each time. The first line of the input is mode, status and header values. */
#include "base/utf8.h"
#include "model/openai_chat.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* Every header has the same value: that of the input. */
static const char *header(void *arg, const char *name)
{
    return *(const char *)arg ? arg : NULL;
}

static void check_span(struct span s)
{
    assert(s.ptr);
    assert(utf8_is_valid(s.ptr, s.len));
}

static void check_result(bool ok, const struct chat_reply *r, const struct fault *f)
{
    if (!ok) {
        assert(f->err.kind != ERR_NONE && f->err.message[0]);
        assert(utf8_is_valid(f->err.message, strlen(f->err.message)));
        assert(utf8_is_valid(f->param, strlen(f->param)));
        return;
    }
    check_span(r->text);
    check_span(r->reasoning);
    check_span(r->refusal);
    assert(r->usage.completion >= 0);
    assert(r->usage.prompt > 0 || r->usage.is_estimated);
    for (size_t i = 0; i < r->call_count; i++) {
        assert(r->calls[i].id.len > 0 && r->calls[i].arguments.len > 0);
        check_span(r->calls[i].arguments);
    }
}

static void parse_whole(const struct answer *a, const struct chat_reading *how)
{
    struct value_doc d = { 0 };
    struct chat_reply r;
    struct fault f;
    bool ok = openai_chat_parse(a, how, &d, &r, &f);
    check_result(ok, &r, &f);
    if (!ok) {
        struct openai_quirks q = { 0 };
        openai_chat_adapt(&q, f.param, f.err.message);
        assert(!openai_chat_adapt(&q, f.param, f.err.message) || q.is_schema_unknown ||
               q.is_developer);
    }
    value_doc_free(&d);
}

struct outcome {
    bool ok;
    int kind;
    size_t text, reasoning, calls;
};

static struct outcome parse_stream(const struct answer *a, const struct chat_reading *how,
                                   size_t piece)
{
    struct value_doc d = { 0 };
    struct chat_reply r;
    struct fault f = { 0 };
    struct openai_stream *s = openai_stream_new();
    for (size_t i = 0; i < a->body.len; i += piece) {
        size_t left = a->body.len - i;
        openai_stream_feed(s, a->body.ptr + i, left < piece ? left : piece);
    }
    bool ok = openai_stream_end(s, a, how, &d, &r, &f);
    check_result(ok, &r, &f);
    struct outcome o = { ok, ok ? (int)r.outcome : (int)f.err.kind, 0, 0, 0 };
    if (ok)
        o = (struct outcome){ ok, o.kind, r.text.len, r.reasoning.len, r.call_count };
    openai_stream_free(s);
    value_doc_free(&d);
    return o;
}

static void check_same(struct outcome a, struct outcome b)
{
    assert(a.ok == b.ok && a.kind == b.kind && a.text == b.text);
    assert(a.reasoning == b.reasoning && a.calls == b.calls);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    char line[128];
    const uint8_t *end = memchr(data, '\n', n < sizeof line ? n : sizeof line - 1);
    if (!end || end - data < 5)
        return 0;
    size_t length = (size_t)(end - data);
    memcpy(line, data, length);
    line[length] = '\0';
    struct answer a = { .header = header, .arg = line + 5, .wall_s = 1.7e9 };
    a.body = (struct span){ (const char *)end + 1, n - length - 1 };
    a.status = 100 * (line[1] % 6) + line[2] % 100;
    struct chat_reading how = { .keep_think = line[3] & 1, .prompt_tokens = line[4] };
    if (line[0] & 1) {
        parse_whole(&a, &how);
        return 0;
    }
    check_same(parse_stream(&a, &how, a.body.len + 1), parse_stream(&a, &how, 1));
    check_same(parse_stream(&a, &how, 3), parse_stream(&a, &how, 7));
    return 0;
}
