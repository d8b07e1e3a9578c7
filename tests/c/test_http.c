/* Requests against a server that says anything, and the address rules. */
#include "base/mem.h"
#include "check.h"
#include "io/http.h"
#include "io/http_fault.h"
#include "io/loop.h"
#include "io/url.h"
#include "raw_server.h"
#include <stdio.h>

/* ---- what the server says */

#define HEAD_OK "HTTP/1.1 200 OK\r\n"

static const unsigned char GZIP[] = { 0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00,
                                      0x02, 0x03, 0xcb, 0x48, 0xcd, 0xc9, 0xc9, 0x57,
                                      0x48, 0xaf, 0xca, 0x2c, 0x00, 0x00, 0x19, 0x6a,
                                      0xd2, 0xdf, 0x0a, 0x00, 0x00, 0x00 };

struct canned {
    const char *path, *bytes;
    bool closes;
};

static const struct canned CANNED[] = {
    { "/short", HEAD_OK "Content-Length: 100\r\n\r\nabc", true },
    { "/chunk-bad", HEAD_OK "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nZZ\r\n",
      true },
    { "/chunk-cut", HEAD_OK "Transfer-Encoding: chunked\r\n\r\n5\r\nhel", true },
    { "/nothing", "", true },
    { "/garbage", "hello, I am no server\r\n\r\n", true },
    { "/limited",
      "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 7\r\nContent-Length: 4\r\n\r\nslow",
      false },
    { "/moved", "HTTP/1.1 302 Found\r\nLocation: /ok\r\nContent-Length: 0\r\n\r\n",
      false },
    { "/continued",
      "HTTP/1.1 100 Continue\r\nX-First: 1\r\n\r\n" HEAD_OK
      "X-Second:  two \r\nX-EMPTY:\r\nX-Second: three\r\nContent-Length: 2\r\n\r\nhi",
      false },
    { "/named-large", HEAD_OK "Content-Length: 1000000\r\n\r\nabc", false },
    { "/bad-gzip", HEAD_OK "Content-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc",
      false },
};

static void answer_large(int fd)
{
    char chunk[1024 + 16];
    raw_text(fd, HEAD_OK "Transfer-Encoding: chunked\r\n\r\n");
    memset(chunk, 'x', sizeof chunk);
    memcpy(chunk, "400\r\n", 5);
    memcpy(chunk + 5 + 1024, "\r\n", 2);
    for (int i = 0; i < 200; i++)
        raw_send(fd, chunk, 5 + 1024 + 2);
    raw_text(fd, "0\r\n\r\n");
}

static void answer_many_headers(int fd)
{
    char line[1024];
    raw_text(fd, HEAD_OK);
    memset(line, 'y', sizeof line);
    for (int i = 0; i < 200; i++) {
        raw_text(fd, "X-Long: ");
        raw_send(fd, line, sizeof line);
        raw_text(fd, "\r\n");
    }
    raw_text(fd, "Content-Length: 0\r\n\r\n");
}

static void answer_drip(int fd)
{
    raw_text(fd, HEAD_OK "Content-Length: 1000\r\n\r\n");
    for (int i = 0; i < 1000; i++) {
        raw_text(fd, ".");
        raw_wait(fd, 10);
        if (send(fd, "", 0, MSG_NOSIGNAL) < 0)
            break;
    }
    shutdown(fd, SHUT_RDWR);
}

static void answer_silent(int fd, const char *first)
{
    raw_text(fd, first);
    raw_wait(fd, 60000);
    shutdown(fd, SHUT_RDWR);
}

static void answer_echo(int fd, const struct raw_request *r)
{
    struct buf out = { 0 };
    size_t head = strlen(r->head);
    buf_add_format(&out, HEAD_OK "Content-Length: %zu\r\n\r\n", head + r->body.len);
    buf_add(&out, r->head, head);
    buf_add(&out, buf_text(&r->body), r->body.len);
    raw_send(fd, out.ptr, out.len);
    buf_free(&out);
}

static void answer_gzip(int fd)
{
    char head[128];
    snprintf(head, sizeof head,
             HEAD_OK "Content-Encoding: gzip\r\nContent-Length: %zu\r\n\r\n",
             sizeof GZIP);
    raw_text(fd, head);
    raw_send(fd, GZIP, sizeof GZIP);
}

static void answer_stream(int fd, const char *path)
{
    raw_text(fd, HEAD_OK "Transfer-Encoding: chunked\r\n\r\n3\r\none\r\n");
    raw_wait(fd, 5);
    raw_text(fd, "3\r\ntwo\r\n5\r\n.last\r\n");
    if (strcmp(path, "/stream-open") == 0)
        raw_wait(fd, 60000);
    else if (strcmp(path, "/stream-cut") == 0)
        shutdown(fd, SHUT_RDWR);
    else
        raw_text(fd, "0\r\n\r\n");
}

static void answer(int fd, const struct raw_request *r)
{
    for (size_t i = 0; i < sizeof CANNED / sizeof CANNED[0]; i++) {
        if (strcmp(r->path, CANNED[i].path) != 0)
            continue;
        raw_text(fd, CANNED[i].bytes);
        if (CANNED[i].closes)
            shutdown(fd, SHUT_RDWR);
        return;
    }
    if (strcmp(r->path, "/large") == 0)
        answer_large(fd);
    else if (strcmp(r->path, "/many-headers") == 0)
        answer_many_headers(fd);
    else if (strcmp(r->path, "/drip") == 0)
        answer_drip(fd);
    else if (strcmp(r->path, "/silent") == 0)
        answer_silent(fd, "");
    else if (strcmp(r->path, "/stalled") == 0)
        answer_silent(fd, HEAD_OK "Content-Length: 10\r\n\r\nabc");
    else if (strcmp(r->path, "/gzip") == 0)
        answer_gzip(fd);
    else if (strncmp(r->path, "/stream", 7) == 0)
        answer_stream(fd, r->path);
    else
        answer_echo(fd, r);
}

/* ---- one call and what came of it */

static struct trip {
    struct http_call *call;
    struct http_result result;
    struct err e;
    char url[256];
    int ends;
    bool is_ok;
    struct buf chunks;
    enum http_next last_wish; /* what on_chunk says to ".last" */
} trip;

static void trip_done(void *arg)
{
    ((struct trip *)arg)->ends++;
}

static enum http_next trip_chunk(void *arg, int status, const char *p, size_t n)
{
    struct trip *t = arg;
    buf_add_format(&t->chunks, "[%d]", status);
    buf_add(&t->chunks, p, n);
    return memmem(p, n, ".last", 5) ? t->last_wish : HTTP_MORE;
}

static struct http_request request_to(const char *path)
{
    snprintf(trip.url, sizeof trip.url, "http://127.0.0.1:%d%s", raw.port, path);
    return (struct http_request){ .url = trip.url, .done = trip_done, .arg = &trip };
}

static void trip_forget(void)
{
    http_call_free(trip.call);
    buf_free(&trip.chunks);
    trip = (struct trip){ 0 };
}

/* Start, turn until the end, read the result. The trip is kept until the next. */
static bool trip_go(const struct http_request *r)
{
    trip.call = http_start(r, &trip.e);
    if (!trip.call)
        return false;
    CHECK_INT(trip.ends, 0);
    while (!trip.ends)
        loop_turn(true);
    trip.is_ok = http_call_result(trip.call, &trip.result, &trip.e);
    return trip.is_ok;
}

static bool trip_get(const char *path)
{
    struct http_request r = request_to(path);
    return trip_go(&r);
}

static void check_fault(enum err_kind kind, const char *words)
{
    CHECK(!trip.is_ok);
    CHECK_TEXT(err_kind_name(trip.e.kind), err_kind_name(kind));
    if (!CHECK(strstr(trip.e.message, words)))
        CHECK_TEXT(trip.e.message, words);
}

/* ---- tests */

static void test_plain(void)
{
    CHECK(trip_get("/ok"));
    CHECK_INT(trip.result.status, 200);
    CHECK(strncmp(trip.result.body, "GET /ok HTTP/1.1\r\n", 18) == 0);
    CHECK(strcasestr(trip.result.body, "accept-encoding: gzip"));
    CHECK(strcasestr(trip.result.body, "user-agent: skillopt/"));
    CHECK(trip.result.bytes_in > trip.result.body_len);
    CHECK(trip.result.bytes_out > 0);
    CHECK(trip.result.total_s >= trip.result.first_byte_s);
    CHECK_INT(http_in_flight(), 0);
}

static void test_post(void)
{
    static const char *const lines[] = { "Content-Type: application/json", "X-A: 1",
                                         NULL };
    struct http_request r = request_to("/post");
    r.headers = lines;
    r.body = "a\0b";
    r.body_len = 3;
    CHECK(trip_go(&r));
    CHECK(strncmp(trip.result.body, "POST /post ", 11) == 0);
    CHECK(strstr(trip.result.body, "Content-Type: application/json\r\n"));
    CHECK(strstr(trip.result.body, "X-A: 1\r\n"));
    CHECK(!strcasestr(trip.result.body, "expect:"));
    CHECK(memcmp(trip.result.body + trip.result.body_len - 3, "a\0b", 3) == 0);
}

static void test_post_plain(void)
{
    struct http_request r = request_to("/post");
    r.body = "";
    CHECK(trip_go(&r));
    CHECK(strncmp(trip.result.body, "POST ", 5) == 0);
    CHECK(!strcasestr(trip.result.body, "content-type:"));
    CHECK(strcasestr(trip.result.body, "content-length: 0"));
}

static void test_large_post(void)
{
    struct http_request r = request_to("/post");
    size_t n = 3 << 20;
    char *body = mem_new(n);
    memset(body, 'q', n);
    r.body = body;
    r.body_len = n;
    CHECK(trip_go(&r));
    CHECK(trip.result.body_len > n);
    CHECK_INT(trip.result.body[trip.result.body_len - n], 'q');
    CHECK(!strcasestr(trip.result.body, "expect:"));
    trip_forget();
    mem_free(body);
}

static void test_methods(void)
{
    struct http_request r = request_to("/x");
    r.method = "DELETE";
    CHECK(trip_go(&r));
    CHECK(strncmp(trip.result.body, "DELETE /x ", 10) == 0);
    trip_forget();
    r = request_to("/x");
    r.method = "PUT";
    r.body = "abc";
    r.body_len = 3;
    CHECK(trip_go(&r));
    CHECK(strncmp(trip.result.body, "PUT /x ", 7) == 0);
    CHECK_TEXT(trip.result.body + trip.result.body_len - 3, "abc");
    trip_forget();
    r = request_to("/x");
    CHECK(trip_go(&r));
    CHECK(strncmp(trip.result.body, "GET /x ", 7) == 0);
}

static void test_headers(void)
{
    CHECK(trip_get("/continued"));
    CHECK_TEXT(trip.result.body, "hi");
    CHECK_INT(trip.result.header_count, 4);
    CHECK_TEXT(http_result_header(&trip.result, "x-second"), "two");
    CHECK_TEXT(http_result_header(&trip.result, "x-empty"), "");
    CHECK_TEXT(http_result_header(&trip.result, "content-length"), "2");
    CHECK(!http_result_header(&trip.result, "x-first"));
}

static void test_status(void)
{
    CHECK(trip_get("/limited"));
    CHECK_INT(trip.result.status, 429);
    CHECK_TEXT(http_result_header(&trip.result, "retry-after"), "7");
    CHECK_TEXT(trip.result.body, "slow");
    trip_forget();
    CHECK(trip_get("/moved"));
    CHECK_INT(trip.result.status, 302);
}

static void test_reuse(void)
{
    CHECK(trip_get("/ok"));
    trip_forget();
    size_t before = raw_accepted();
    for (int i = 0; i < 20; i++) {
        CHECK(trip_get("/ok"));
        CHECK(trip.result.is_reused);
        trip_forget();
    }
    CHECK_INT(raw_accepted(), before);
}

static void test_gzip(void)
{
    CHECK(trip_get("/gzip"));
    CHECK_TEXT(trip.result.body, "hello gzip");
    trip_forget();
    trip_get("/bad-gzip");
    check_fault(ERR_NETWORK, "ended before the answer was complete");
}

static void test_cut(void)
{
    static const char *const paths[] = { "/short", "/chunk-bad", "/chunk-cut",
                                         "/nothing" };
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        trip_get(paths[i]);
        check_fault(ERR_NETWORK, "ended before the answer was complete");
        CHECK(trip.e.retry);
        trip_forget();
    }
    trip_get("/garbage");
    check_fault(ERR_NETWORK, "127.0.0.1");
}

static void test_refused(void)
{
    struct http_request r = request_to("/");
    r.url = "http://user:secret@127.0.0.1:1/v1?key=secret";
    trip_go(&r);
    check_fault(ERR_NETWORK, "cannot connect to http://127.0.0.1:1: Connection refused");
    CHECK_TEXT(trip.e.hint, "is a server listening at http://127.0.0.1:1?");
    CHECK(!strstr(trip.e.message, "secret"));
}

static void test_unknown_host(void)
{
    struct http_request r = request_to("/");
    r.url = "http://no-such-host.invalid/";
    r.timeout_s = 20;
    trip_go(&r);
    check_fault(ERR_NETWORK, "cannot find the host of http://no-such-host.invalid");
}

static void test_no_tls(void)
{
    char url[64];
    struct http_request r = request_to("/");
    snprintf(url, sizeof url, "https://127.0.0.1:%d/", raw.port);
    r.url = url;
    r.timeout_s = 20;
    trip_go(&r);
    CHECK(!trip.is_ok);
    CHECK_TEXT(err_kind_name(trip.e.kind), "network");
}

static void test_addresses_refused(void)
{
    static const char *const bad[] = { "",          "127.0.0.1/x",        "ftp://host/",
                                       "http://",   "http://host:12x/",   "http://a b/",
                                       "http://[1", "file:///etc/passwd", "http://:80/",
                                       "http:/h",   "http://u@/",         "http://h\n/" };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct http_request r = request_to("/");
        r.url = bad[i];
        CHECK(!trip_go(&r));
        CHECK_TEXT(err_kind_name(trip.e.kind), "config");
        CHECK_INT(trip.ends, 0);
        trip_forget();
    }
}

static void test_injection(void)
{
    static const char *const bad[] = { "X: a\r\nY: b", "no colon", ": x", "A B: c" };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const char *lines[] = { "X-Fine: 1", bad[i], NULL };
        struct http_request r = request_to("/");
        r.headers = lines;
        CHECK(!trip_go(&r));
        CHECK_TEXT(trip.e.message, "header 2 is not a line 'Name: value'");
    }
    struct http_request r = request_to("/");
    r.method = "GET / HTTP/1.1\r\nX:";
    CHECK(!trip_go(&r));
    CHECK_TEXT(err_kind_name(trip.e.kind), "usage");
}

static void test_timeout(void)
{
    struct http_request r = request_to("/drip");
    r.timeout_s = 0.15;
    r.idle_timeout_s = 30;
    trip_go(&r);
    check_fault(ERR_TIMEOUT, "did not answer completely within 0.15 s");
    CHECK_INT(trip.result.status, 200);
}

static void test_idle(void)
{
    struct http_request r = request_to("/silent");
    r.idle_timeout_s = 0.1;
    r.timeout_s = 30;
    trip_go(&r);
    check_fault(ERR_TIMEOUT, "nothing came from http://127.0.0.1");
    trip_forget();
    r = request_to("/stalled");
    r.idle_timeout_s = 0.1;
    trip_go(&r);
    check_fault(ERR_TIMEOUT, "for 0.1 s");
    CHECK_INT(trip.result.status, 200);
}

/* The whole answer takes several times the allowed silence. */
static void test_slow_but_alive(void)
{
    struct http_request r = request_to("/drip");
    r.idle_timeout_s = 0.2;
    r.timeout_s = 0.7;
    trip_go(&r);
    check_fault(ERR_TIMEOUT, "did not answer completely within 0.7 s");
}

/* A listening socket whose queue is full does not complete connections. */
static void test_connect_timeout(void)
{
    struct sockaddr_in a = { .sin_family = AF_INET };
    socklen_t n = sizeof a;
    int fds[8], listener = socket(AF_INET, SOCK_STREAM, 0);
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    CHECK(bind(listener, (struct sockaddr *)&a, n) == 0 && listen(listener, 0) == 0);
    getsockname(listener, (struct sockaddr *)&a, &n);
    for (int i = 0; i < 8; i++) {
        fds[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        CHECK(connect(fds[i], (struct sockaddr *)&a, sizeof a) <= 0);
    }
    struct http_request r = request_to("/");
    char url[64];
    snprintf(url, sizeof url, "http://127.0.0.1:%d/", ntohs(a.sin_port));
    r.url = url;
    r.connect_timeout_s = 0.2;
    r.timeout_s = 60;
    trip_go(&r);
    check_fault(ERR_TIMEOUT, "within 0.2 s");
    CHECK(strstr(trip.e.message, "no connection to"));
    for (int i = 0; i < 8; i++)
        close(fds[i]);
    close(listener);
}

static void test_connect_limit_ends_with_connection(void)
{
    struct http_request r = request_to("/drip");
    r.connect_timeout_s = 0.1;
    r.timeout_s = 0.4;
    trip_go(&r);
    check_fault(ERR_TIMEOUT, "did not answer completely within 0.4 s");
}

static void test_body_limit(void)
{
    struct http_request r = request_to("/large");
    r.max_body = 10000;
    trip_go(&r);
    check_fault(ERR_LIMIT, "larger than 10000 bytes");
    CHECK(trip.result.body_len <= 10000);
    trip_forget();
    r = request_to("/named-large");
    r.max_body = 10000;
    trip_go(&r);
    check_fault(ERR_LIMIT, "larger than 10000 bytes");
    trip_forget();
    r = request_to("/large");
    r.max_body = 200 * 1024;
    CHECK(trip_go(&r));
    CHECK_INT(trip.result.body_len, 200 * 1024);
}

static void test_header_limit(void)
{
    trip_get("/many-headers");
    check_fault(ERR_LIMIT, "headers");
}

static void test_stream(void)
{
    struct http_request r = request_to("/stream");
    r.on_chunk = trip_chunk;
    CHECK(trip_go(&r));
    CHECK(strncmp(buf_text(&trip.chunks), "[200]one[200]two", 16) == 0);
    CHECK_INT(trip.result.body_len, 0);
}

static void test_stream_last(void)
{
    size_t before = raw_accepted();
    struct http_request r = request_to("/stream-open");
    r.on_chunk = trip_chunk;
    r.timeout_s = 30;
    trip.last_wish = HTTP_LAST;
    CHECK(trip_go(&r));
    CHECK(strstr(buf_text(&trip.chunks), ".last"));
    trip_forget();
    r = request_to("/stream");
    r.on_chunk = trip_chunk;
    trip.last_wish = HTTP_LAST;
    CHECK(trip_go(&r));
    CHECK(raw_accepted() <= before + 2);
}

static void test_stream_cut(void)
{
    struct http_request r = request_to("/stream-cut");
    r.on_chunk = trip_chunk;
    trip.last_wish = HTTP_LAST;
    CHECK(trip_go(&r));
    trip_forget();
    r = request_to("/stream-cut");
    r.on_chunk = trip_chunk;
    trip_go(&r);
    check_fault(ERR_NETWORK, "ended before the answer was complete");
}

static void test_stream_enough(void)
{
    struct http_request r = request_to("/stream-open");
    r.on_chunk = trip_chunk;
    r.timeout_s = 30;
    trip.last_wish = HTTP_ENOUGH;
    CHECK(trip_go(&r));
    CHECK_INT(trip.result.status, 200);
}

static void test_cancel(void)
{
    struct http_request r = request_to("/silent");
    trip.call = http_start(&r, &trip.e);
    CHECK(trip.call != NULL);
    CHECK_INT(http_in_flight(), 1);
    for (int i = 0; i < 5; i++)
        loop_turn(false);
    http_call_free(trip.call);
    trip.call = NULL;
    CHECK_INT(http_in_flight(), 0);
    loop_turn(false);
    CHECK_INT(trip.ends, 0);
}

static void test_no_proxy_for_loopback(void)
{
    setenv("http_proxy", "http://127.0.0.1:1", 1);
    CHECK(trip_get("/ok"));
    trip_forget();
    struct http_request r = request_to("/");
    r.url = "http://example.invalid/";
    r.timeout_s = 20;
    trip_go(&r);
    check_fault(ERR_NETWORK, "cannot connect");
    unsetenv("http_proxy");
}

static int many_ok, many_ends;

static void many_done(void *arg)
{
    many_ends++;
}

static void test_many(void)
{
    enum { N = 300 };
    struct http_call *calls[N];
    struct http_request r = request_to("/ok");
    r.done = many_done;
    for (int i = 0; i < N; i++)
        calls[i] = http_start(&r, &trip.e);
    CHECK_INT(http_in_flight(), N);
    while (many_ends < N)
        loop_turn(true);
    for (int i = 0; i < N; i++) {
        struct http_result result;
        many_ok += http_call_result(calls[i], &result, &trip.e) && result.status == 200;
        http_call_free(calls[i]);
    }
    CHECK_INT(many_ok, N);
    CHECK_INT(http_in_flight(), 0);
}

static void check_url(const char *text, const char *origin, bool is_loopback)
{
    struct url u;
    struct err e = { 0 };
    char got[URL_ORIGIN_MAX] = "";
    CHECK(url_split(text, &u, &e));
    url_origin(&u, got);
    CHECK_TEXT(got, origin);
    CHECK_INT(url_is_loopback(&u), is_loopback);
}

static void test_urls(void)
{
    check_url("https://api.example.com/v1", "https://api.example.com", false);
    check_url("HTTP://LocalHost:8000", "HTTP://LocalHost:8000", true);
    check_url("http://a.localhost/x", "http://a.localhost", true);
    check_url("http://notlocalhost/", "http://notlocalhost", false);
    check_url("http://[::1]:80/x?y#z", "http://[::1]:80", true);
    check_url("http://127.8.9.1?q", "http://127.8.9.1", true);
    check_url("http://127.0.0.1.evil.com/", "http://127.0.0.1.evil.com", false);
    check_url("http://me:pw@host:1/a@b", "http://host:1", false);
    check_url("http://127.0.0.1@evil.com/", "http://evil.com", false);
}

static void test_faults(void)
{
    struct err e = { 0 };
    struct http_fault f = { .curl_code = 60,
                            .detail = "self-signed",
                            .origin = "https://h" };
    CHECK(!http_fault_judge(&f, &e));
    CHECK_TEXT(err_kind_name(e.kind), "network");
    CHECK(!e.retry);
    CHECK(strstr(e.hint, "SSL_CERT_FILE"));
    f.curl_code = 7;
    f.os_error = 24;
    CHECK(!http_fault_judge(&f, &e));
    CHECK_TEXT(err_kind_name(e.kind), "limit");
    f.curl_code = 28;
    CHECK(!http_fault_judge(&f, &e));
    CHECK_TEXT(err_kind_name(e.kind), "timeout");
    f.curl_code = 5;
    CHECK(!http_fault_judge(&f, &e));
    CHECK(strstr(e.message, "proxy"));
    f.curl_code = 0;
    CHECK(http_fault_judge(&f, &e));
}

static void run(const char *name, void (*test)(void))
{
    check_run(name, test);
    trip_forget();
}

static void run_answers(void)
{
    run("a plain request gets its answer and figures", test_plain);
    run("a body with zero bytes and headers arrive as they are", test_post);
    run("an empty body is sent without a content type of its own", test_post_plain);
    run("a body of three megabytes is sent without Expect", test_large_post);
    run("methods do not leak from one call of a handle to the next", test_methods);
    run("headers are those of the final answer, names lower-case", test_headers);
    run("any status is an answer and redirects are not followed", test_status);
    run("connections are used again", test_reuse);
    run("gzip is decoded and broken gzip is a network error", test_gzip);
    run("pieces are given as they come", test_stream);
    run("a stream that is done but stays open ends after a short grace",
        test_stream_last);
    run("a cut behind the last piece that matters is no error", test_stream_cut);
    run("a stream can be ended at once", test_stream_enough);
    run("three hundred calls at once are all answered", test_many);
}

static void run_faults(void)
{
    run("a cut or malformed body is a network error, not an answer", test_cut);
    run("a refused connection is named without user, path and query", test_refused);
    run("an unknown host is a network error", test_unknown_host);
    run("a server without TLS is a network error", test_no_tls);
    run("an address that is not http(s) is refused at the start", test_addresses_refused);
    run("line breaks cannot be smuggled into headers or method", test_injection);
    run("the limit for the whole call is kept", test_timeout);
    run("silence before and within an answer ends the call", test_idle);
    run("slow bytes are no silence", test_slow_but_alive);
    run("the limit for connecting is kept", test_connect_timeout);
    run("the limit for connecting ends with the connection",
        test_connect_limit_ends_with_connection);
    run("a large answer is refused with and without a length", test_body_limit);
    run("large headers are refused", test_header_limit);
    run("a call freed in flight is gone and calls nothing", test_cancel);
    run("loopback is never asked through a proxy", test_no_proxy_for_loopback);
}

int main(void)
{
    struct err e = { 0 };
    unsetenv("http_proxy");
    unsetenv("https_proxy");
    unsetenv("all_proxy");
    if (!loop_init(&e) || !raw_start(answer))
        return 1;
    run_answers();
    run_faults();
    run("addresses are split and loopback is known", test_urls);
    run("faults get the right kind and a hint", test_faults);
    http_fini();
    raw_stop();
    loop_fini();
    return check_end();
}
