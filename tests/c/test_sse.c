/* Server-sent events in pieces of any size. */
#include "base/buf.h"
#include "check.h"
#include "text/sse.h"
#include <stdio.h>
#include <string.h>

/* Each event becomes "name=data|". */
static bool note(void *arg, const struct sse_event *event)
{
    struct buf *out = arg;
    buf_add_format(out, "%s=", event->name);
    buf_add(out, event->data, event->data_len);
    buf_add_char(out, '|');
    return strcmp(event->data, "stop") != 0;
}

static void check_pieces(const char *p, size_t n, size_t piece, const char *want)
{
    struct sse s = { 0 };
    struct buf out = { 0 };
    struct err e = { 0 };
    for (size_t i = 0; i < n; i += piece)
        CHECK(sse_feed(&s, p + i, n - i < piece ? n - i : piece, note, &out, &e));
    CHECK(sse_end(&s, note, &out, &e));
    CHECK_TEXT(buf_text(&out), want);
    sse_fini(&s);
    buf_free(&out);
}

static void check_events(const char *text, const char *want)
{
    size_t n = strlen(text);
    for (size_t piece = 1; piece <= n; piece++)
        check_pieces(text, n, piece, want);
}

static void test_line_ends(void)
{
    check_events("data: a\n\ndata: b\n\n", "=a|=b|");
    check_events("data: a\r\n\r\ndata: b\r\n\r\n", "=a|=b|");
    check_events("data: a\r\rdata: b\r\r", "=a|=b|");
    check_events("data: a\r\n\ndata: b\n\r\n", "=a|=b|");
}

static void test_fields(void)
{
    check_events("data:a\n\n", "=a|");
    check_events("data:  a\n\n", "= a|");
    check_events("event: x\ndata: a\n\ndata: b\n\n", "x=a|=b|");
    check_events("id: 3\nretry: 10\nother: y\ndata: a\n\n", "=a|");
    check_events("data\n\n", "=|");
    check_events("datum: a\n\n", "");
    check_events("data: a: b\n\n", "=a: b|");
}

static void test_joined(void)
{
    check_events("data: a\ndata: b\ndata:\ndata: c\n\n", "=a\nb\n\nc|");
    check_events("data:\ndata: c\n\n", "=\nc|");
}

static void test_comments(void)
{
    check_events(": hello\n\n:\n\ndata: a\n: in between\ndata: b\n\n", "=a\nb|");
    check_events("event: ping\n\ndata: a\n\n", "=a|");
    check_events("data: : keepalive\n\n", "=: keepalive|");
}

static void test_start(void)
{
    check_events("\xEF\xBB\xBF"
                 "data: a\n\n",
                 "=a|");
    check_events("data: a\n\n\xEF\xBB\xBF"
                 "data: b\n\n",
                 "=a|");
}

static void test_end(void)
{
    check_events("data: a", "=a|");
    check_events("data: a\n", "=a|");
    check_events("data: a\r\n", "=a|");
    check_events("data: a\n\n: bye", "=a|");
    check_events("", "");
}

static void test_stop(void)
{
    check_events("data: a\n\ndata: stop\n\ndata: b\n\n", "=a|=stop|");
}

static void test_bytes(void)
{
    struct sse s = { 0 };
    struct buf out = { 0 };
    struct err e = { 0 };
    CHECK(sse_feed(&s, "data: a\0b\xFF\n\n", 12, note, &out, &e));
    CHECK_INT(out.len, 6);
    CHECK(memcmp(out.ptr, "=a\0b\xFF|", 6) == 0);
    sse_fini(&s);
    buf_free(&out);
}

/* Feed `text` in pieces of seven bytes until it is refused. */
static bool is_refused(const char *text, size_t times)
{
    struct sse s = { .max = 100 };
    struct buf out = { 0 };
    struct err e = { 0 };
    bool ok = true;
    for (size_t i = 0; i < times && ok; i++)
        ok = sse_feed(&s, text, strlen(text), note, &out, &e);
    bool still = ok || !sse_feed(&s, "\n\n", 2, note, &out, &e);
    CHECK(still);
    CHECK_TEXT(buf_text(&out), "");
    CHECK(ok || e.kind == ERR_LIMIT);
    sse_fini(&s);
    buf_free(&out);
    return !ok;
}

static void test_limits(void)
{
    CHECK(is_refused("data:xx", 20));
    CHECK(is_refused("data: x\n", 60));
    CHECK(!is_refused("data: x\n", 40));
    CHECK(!is_refused(": x\n", 10000));
}

static void test_case(void)
{
    char text[4096];
    FILE *f = fopen("tests/cases/e03_sse_keepalive.sse", "rb");
    if (!CHECK(f))
        return;
    size_t n = fread(text, 1, sizeof text - 1, f);
    text[n] = '\0';
    fclose(f);
    const char *want =
        "ping=|=: keepalive|"
        "={\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"},"
        "\"finish_reason\":null}]}|"
        "={\"choices\":[{\"index\":0,\"delta\":{\"content\":\"caf\"}}]}|"
        "={\"choices\":[{\"index\":0,\n\"delta\":{\"content\":\"\xC3\xA9 "
        "<answer>Ada</answer>\"},"
        "\"finish_reason\":\"stop\"}]}|"
        "={\"choices\":[],\"usage\":{\"prompt_tokens\":11,\"completion_tokens\":6,"
        "\"total_tokens\":17}}|"
        "=[DONE]|";
    check_events(text, want);
}

int main(void)
{
    check_run("lines end with LF, CRLF, CR or a mixture", test_line_ends);
    check_run("fields have one optional blank, unknown ones are passed over",
              test_fields);
    check_run("data lines of one event are joined", test_joined);
    check_run("comments and events without data are no events", test_comments);
    check_run("a byte order mark counts only at the start", test_start);
    check_run("the last event needs no empty line", test_end);
    check_run("nothing is called after the callback said stop", test_stop);
    check_run("zero bytes and invalid UTF-8 pass through", test_bytes);
    check_run("an endless line or event is refused, endless comments are not",
              test_limits);
    check_run("a stream with keep-alives of every kind gives its events", test_case);
    return check_end();
}
