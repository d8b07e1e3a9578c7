/* http.c - see http.h.
 *
 * libcurl tells which descriptors it waits for; they stand in an epoll set of
 * our own, which is one descriptor of the loop: cheaper than one libuv handle a
 * connection, and nothing has to be closed later. Deadlines are our own timers,
 * since libcurl counts silence in whole seconds and not before the first byte. */
#include "io/http.h"
#include "base/buf.h"
#include "base/fault.h"
#include "base/mem.h"
#include "io/curl_late.h"
#include "io/http_fault.h"
#include "io/loop.h"
#include "io/url.h"
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

enum {
    POOL_MAX = 512,         /* idle handles kept */
    POOL_BODY_MAX = 32768,  /* larger bodies are not kept with them */
    EVENTS_A_TURN = 32,     /* the rest comes in the next turn: sending goes on */
    RECEIVE_BUFFER = 8192,  /* a call in flight costs this much */
    UPLOAD_BUFFER = 16384,  /* libcurl's least */
    CONNECTIONS_MAX = 16384 /* idle ones kept */
};
#define CONNECT_DEFAULT_S 30.0
#define GRACE_S           1.0

enum call_state { CALL_IDLE, CALL_ACTIVE, CALL_DONE };

struct http_call {
    CURL *easy;
    enum call_state state;
    struct http_call *next_free;

    enum http_next (*on_chunk)(void *arg, int status, const char *p, size_t n);
    void (*done)(void *arg);
    void *arg;

    struct curl_slist *lines; /* request headers, kept while `lines_key` is the same */
    struct buf lines_key;
    struct buf headers, body; /* of the answer */
    size_t header_count, received;

    struct timer timer;
    double end_at, connect_at, idle_s; /* INFINITY: none */
    double timeout_s, connect_timeout_s;
    double last_news; /* when bytes last moved */
    curl_off_t uploaded;

    enum http_end end;
    CURLcode code;
    int open_errno; /* why no socket could be made; libcurl does not keep it */
    bool is_last;   /* on_chunk needs no more */
    size_t max_body;
    char detail[CURL_ERROR_SIZE];
};

/* A mark for libcurl: this descriptor is already in the epoll set. */
static char is_watched;

static struct http {
    bool is_open;
    CURLM *multi;
    CURLSH *share;
    int epoll;
    uv_poll_t *poll; /* closes later than we do, so on the heap */
    struct timer timer;
    struct http_call *free_calls;
    size_t free_n, in_flight;
    const char *certificates; /* SSL_CERT_FILE */
} http;

/* ---- ends */

static void call_end(struct http_call *c, enum http_end end, CURLcode code)
{
    assert(c->state == CALL_ACTIVE);
    curl.multi_remove_handle(http.multi, c->easy);
    timer_stop(&c->timer);
    c->state = CALL_DONE;
    if (c->end == HTTP_END_CURL) /* how a finished stream is closed does not matter */
        c->end = c->is_last ? HTTP_END_ENOUGH : end;
    c->code = code;
    http.in_flight--;
    c->done(c->arg);
}

/* Handles whose transfer has ended; outside of libcurl's callbacks. */
static void collect_ended(void)
{
    int left;
    for (CURLMsg *m = curl.multi_info_read(http.multi, &left); m;
         m = curl.multi_info_read(http.multi, &left)) {
        CURLcode code = m->data.result;
        struct http_call *c = NULL;
        curl.easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, (char **)&c);
        call_end(c, HTTP_END_CURL, code);
    }
}

/* ---- deadlines */

static bool call_is_connecting(const struct http_call *c)
{
    curl_off_t ready = 0;
    curl.easy_getinfo(c->easy, CURLINFO_PRETRANSFER_TIME_T, &ready);
    return ready == 0;
}

static double call_next_deadline(const struct http_call *c)
{
    return fmin(fmin(c->end_at, c->connect_at), c->last_news + c->idle_s);
}

static void call_note_upload(struct http_call *c, double now)
{
    curl_off_t uploaded = 0;
    curl.easy_getinfo(c->easy, CURLINFO_SIZE_UPLOAD_T, &uploaded);
    if (uploaded != c->uploaded)
        c->last_news = now;
    c->uploaded = uploaded;
}

static void on_deadline(struct timer *t)
{
    struct http_call *c =
        (struct http_call *)((char *)t - offsetof(struct http_call, timer));
    double now = loop_now();
    call_note_upload(c, now);
    if (c->connect_at <= now && !call_is_connecting(c))
        c->connect_at = INFINITY;
    if (c->end_at <= now)
        call_end(c, HTTP_END_TIMEOUT, CURLE_OK);
    else if (c->connect_at <= now)
        call_end(c, HTTP_END_CONNECT_TIMEOUT, CURLE_OK);
    else if (c->last_news + c->idle_s <= now)
        call_end(c, HTTP_END_IDLE_TIMEOUT, CURLE_OK);
    else
        timer_start(t, call_next_deadline(c) - now, on_deadline);
}

/* ---- libcurl's callbacks: they record, and end their own transfer */

/* Returned instead of the number of bytes: libcurl ends the transfer. */
enum { STOP_TRANSFER = 0 };

static void call_allow_end(struct http_call *c)
{
    if (c->is_last)
        return;
    c->is_last = true;
    c->end_at = fmin(c->end_at, c->last_news + GRACE_S);
    timer_start(&c->timer, GRACE_S, on_deadline);
}

static size_t give_chunk(struct http_call *c, const char *p, size_t n)
{
    long status = 0;
    curl.easy_getinfo(c->easy, CURLINFO_RESPONSE_CODE, &status);
    switch (c->on_chunk(c->arg, (int)status, p, n)) {
    case HTTP_ENOUGH:
        c->end = HTTP_END_ENOUGH;
        return STOP_TRANSFER;
    case HTTP_LAST:
        call_allow_end(c);
        return n;
    default:
        return n;
    }
}

static size_t on_body(char *p, size_t one, size_t n, void *arg)
{
    struct http_call *c = arg;
    c->last_news = loop_now();
    if (!fault_pass(FAULT_RECEIVE))
        return STOP_TRANSFER;
    if (n > c->max_body - c->received) {
        c->end = HTTP_END_BODY_LIMIT;
        return STOP_TRANSFER;
    }
    c->received += n;
    if (c->on_chunk)
        return give_chunk(c, p, n);
    return buf_add(&c->body, p, n) ? n : STOP_TRANSFER;
}

static void headers_clear(struct http_call *c)
{
    buf_clear(&c->headers);
    c->header_count = 0;
}

/* "Name: value" as two texts; lines without a colon (status, folded) are no header. */
static void header_add(struct http_call *c, const char *line, size_t n)
{
    const char *colon = memchr(line, ':', n);
    if (!colon || colon == line || isspace((unsigned char)line[0]))
        return;
    const char *value = colon + 1;
    const char *end = line + n;
    while (value < end && isspace((unsigned char)*value))
        value++;
    while (end > value && isspace((unsigned char)end[-1]))
        end--;
    size_t start = c->headers.len;
    buf_add(&c->headers, line, (size_t)(colon - line));
    for (size_t i = start; i < c->headers.len; i++)
        c->headers.ptr[i] = (char)tolower((unsigned char)c->headers.ptr[i]);
    buf_add_char(&c->headers, '\0');
    buf_add(&c->headers, value, (size_t)(end - value));
    buf_add_char(&c->headers, '\0');
    c->header_count++;
}

static size_t on_header(char *line, size_t one, size_t n, void *arg)
{
    struct http_call *c = arg;
    c->last_news = loop_now();
    if (n > 5 && strncasecmp(line, "HTTP/", 5) == 0)
        headers_clear(c);
    else if (!memchr(line, '\0', n))
        header_add(c, line, n);
    if (!c->headers.is_full)
        return n;
    c->end = HTTP_END_HEADER_LIMIT;
    return STOP_TRANSFER;
}

static curl_socket_t on_open(void *arg, curlsocktype purpose, struct curl_sockaddr *a)
{
    struct http_call *c = arg;
    int fd = socket(a->family, a->socktype | SOCK_CLOEXEC, a->protocol);
    c->open_errno = fd < 0 ? errno : 0;
    return fd < 0 ? CURL_SOCKET_BAD : fd;
}

/* The second try is for a descriptor that was closed and came again. */
static void watch(curl_socket_t fd, int what, bool is_known)
{
    struct epoll_event event = { .data.fd = fd };
    event.events =
        (what & CURL_POLL_IN ? EPOLLIN : 0u) | (what & CURL_POLL_OUT ? EPOLLOUT : 0u);
    if (epoll_ctl(http.epoll, is_known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &event) < 0)
        epoll_ctl(http.epoll, is_known ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, fd, &event);
}

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *arg, void *mark)
{
    if (what == CURL_POLL_REMOVE) {
        epoll_ctl(http.epoll, EPOLL_CTL_DEL, fd, NULL); /* fails when it is closed */
        return 0;
    }
    watch(fd, what, mark != NULL);
    if (!mark)
        curl.multi_assign(http.multi, fd, &is_watched);
    return 0;
}

static void on_time(struct timer *t)
{
    int running;
    curl.multi_socket_action(http.multi, CURL_SOCKET_TIMEOUT, 0, &running);
    collect_ended();
}

static int on_timeout(CURLM *multi, long ms, void *arg)
{
    if (ms < 0)
        timer_stop(&http.timer);
    else
        timer_start(&http.timer, (double)ms / 1000, on_time);
    return 0;
}

static int select_flags(uint32_t events)
{
    return (events & (EPOLLIN | EPOLLHUP) ? CURL_CSELECT_IN : 0) |
           (events & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
           (events & EPOLLERR ? CURL_CSELECT_ERR : 0);
}

static void on_poll(uv_poll_t *poll, int status, int events)
{
    struct epoll_event ready[EVENTS_A_TURN];
    int n = epoll_wait(http.epoll, ready, EVENTS_A_TURN, 0);
    for (int i = 0; i < n; i++) {
        int running;
        curl.multi_socket_action(http.multi, ready[i].data.fd,
                                 select_flags(ready[i].events), &running);
    }
    collect_ended();
}

/* ---- setting up */

/* A call is an open file; the soft limit is often 1,024. */
static void raise_file_limit(void)
{
    struct rlimit r;
    const rlim_t wanted = 65536;
    if (getrlimit(RLIMIT_NOFILE, &r) < 0 || r.rlim_cur >= wanted)
        return;
    r.rlim_cur = r.rlim_max < wanted ? r.rlim_max : wanted;
    setrlimit(RLIMIT_NOFILE, &r);
}

static bool poll_open(struct err *e)
{
    http.epoll = epoll_create1(EPOLL_CLOEXEC);
    if (http.epoll < 0)
        return err_set(e, ERR_LIMIT, "cannot watch connections: too many open files");
    http.poll = mem_new(sizeof *http.poll);
    if (uv_poll_init(loop_uv(), http.poll, http.epoll) < 0) {
        mem_free(http.poll);
        close(http.epoll);
        return err_set(e, ERR_IO, "cannot watch connections");
    }
    uv_poll_start(http.poll, UV_READABLE, on_poll);
    return true;
}

static void multi_open(void)
{
    curl.global_init(CURL_GLOBAL_DEFAULT);
    http.multi = curl.multi_init();
    http.share = curl.share_init();
    assert(http.multi && http.share);
    curl.share_setopt(http.share, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION);
    curl.multi_setopt(http.multi, CURLMOPT_SOCKETFUNCTION, on_socket);
    curl.multi_setopt(http.multi, CURLMOPT_TIMERFUNCTION, on_timeout);
    curl.multi_setopt(http.multi, CURLMOPT_MAXCONNECTS, (long)CONNECTIONS_MAX);
}

static bool http_open(struct err *e)
{
    if (http.is_open)
        return true;
    raise_file_limit();
    if (!curl_load(e) || !poll_open(e))
        return false;
    multi_open();
    http.certificates = getenv("SSL_CERT_FILE");
    http.is_open = true;
    return true;
}

/* ---- one call */

static struct http_call *call_take(void)
{
    struct http_call *c = http.free_calls;
    if (c) {
        http.free_calls = c->next_free;
        http.free_n--;
        return c;
    }
    c = mem_new(sizeof *c);
    c->easy = curl.easy_init();
    assert(c->easy);
    c->headers.max = HTTP_MAX_HEADERS;
    return c;
}

static void call_destroy(struct http_call *c)
{
    curl.easy_cleanup(c->easy);
    curl.slist_free_all(c->lines);
    buf_free(&c->lines_key);
    buf_free(&c->headers);
    buf_free(&c->body);
    mem_free(c);
}

static void call_give_back(struct http_call *c)
{
    if (c->body.cap > POOL_BODY_MAX)
        buf_free(&c->body);
    if (http.free_n >= POOL_MAX) {
        call_destroy(c);
        return;
    }
    c->state = CALL_IDLE;
    c->next_free = http.free_calls;
    http.free_calls = c;
    http.free_n++;
}

static bool is_token(const char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isalnum((unsigned char)p[i]) && !strchr("!#$%&'*+-.^_`|~", p[i]))
            return false;
    return n > 0;
}

static bool header_is_sane(const char *line)
{
    const char *colon = strchr(line, ':');
    if (!colon || !is_token(line, (size_t)(colon - line)))
        return false;
    for (const unsigned char *p = (const unsigned char *)colon; *p; p++)
        if ((*p < ' ' && *p != '\t') || *p == 0x7F)
            return false;
    return true;
}

static bool request_is_sane(const struct http_request *r, struct err *e)
{
    if (r->method && !is_token(r->method, strlen(r->method)))
        return err_set(e, ERR_USAGE, "the method is not a word");
    for (size_t i = 0; r->headers && r->headers[i]; i++)
        if (!header_is_sane(r->headers[i]))
            return err_set(e, ERR_USAGE, "header %zu is not a line 'Name: value'", i + 1);
    return true;
}

static bool header_is(const char *line, const char *name)
{
    size_t n = strlen(name);
    return strncasecmp(line, name, n) == 0 && line[n] == ':';
}

/* An empty value takes a header out that libcurl would add. */
static void lines_build(struct http_call *c, const char *const *headers)
{
    curl.slist_free_all(c->lines);
    c->lines = curl.slist_append(NULL, "Expect:");
    bool has_type = false;
    for (size_t i = 0; headers && headers[i]; i++) {
        has_type = has_type || header_is(headers[i], "content-type");
        c->lines = curl.slist_append(c->lines, headers[i]);
    }
    if (!has_type)
        c->lines = curl.slist_append(c->lines, "Content-Type:");
}

/* Most calls of a handle have the headers of the one before. */
static void call_set_headers(struct http_call *c, const char *const *headers)
{
    struct buf key = { 0 };
    for (size_t i = 0; headers && headers[i]; i++)
        buf_add(&key, headers[i], strlen(headers[i]) + 1);
    bool is_same = c->lines && key.len == c->lines_key.len &&
                   (key.len == 0 || memcmp(key.ptr, c->lines_key.ptr, key.len) == 0);
    if (is_same) {
        buf_free(&key);
    } else {
        lines_build(c, headers);
        buf_free(&c->lines_key);
        c->lines_key = key;
    }
    curl.easy_setopt(c->easy, CURLOPT_HTTPHEADER, c->lines);
}

static void call_set_method(struct http_call *c, const struct http_request *r)
{
    const char *method = r->method ? r->method : r->body ? "POST" : "GET";
    bool is_post = strcmp(method, "POST") == 0;
    if (r->body || is_post) {
        curl.easy_setopt(c->easy, CURLOPT_POST, 1L);
        curl.easy_setopt(c->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)r->body_len);
        curl.easy_setopt(c->easy, CURLOPT_POSTFIELDS, r->body ? r->body : "");
    }
    if (strcmp(method, "HEAD") == 0)
        curl.easy_setopt(c->easy, CURLOPT_NOBODY, 1L);
    else if (!is_post && strcmp(method, "GET") != 0)
        curl.easy_setopt(c->easy, CURLOPT_CUSTOMREQUEST, method);
}

static void call_set_callbacks(struct http_call *c)
{
    curl.easy_setopt(c->easy, CURLOPT_PRIVATE, c);
    curl.easy_setopt(c->easy, CURLOPT_WRITEFUNCTION, on_body);
    curl.easy_setopt(c->easy, CURLOPT_WRITEDATA, c);
    curl.easy_setopt(c->easy, CURLOPT_HEADERFUNCTION, on_header);
    curl.easy_setopt(c->easy, CURLOPT_HEADERDATA, c);
    curl.easy_setopt(c->easy, CURLOPT_OPENSOCKETFUNCTION, on_open);
    curl.easy_setopt(c->easy, CURLOPT_OPENSOCKETDATA, c);
    curl.easy_setopt(c->easy, CURLOPT_ERRORBUFFER, c->detail);
}

static void call_set_options(struct http_call *c, const struct url *u)
{
    CURL *easy = c->easy;
    curl.easy_setopt(easy, CURLOPT_SHARE, http.share);
    curl.easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl.easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
    curl.easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "gzip");
    curl.easy_setopt(easy, CURLOPT_USERAGENT, "skillopt/" SKILLOPT_VERSION);
    curl.easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl.easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
    curl.easy_setopt(easy, CURLOPT_NOPROGRESS, 1L);
    curl.easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    curl.easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    curl.easy_setopt(easy, CURLOPT_DNS_CACHE_TIMEOUT, 300L);
    curl.easy_setopt(easy, CURLOPT_BUFFERSIZE, (long)RECEIVE_BUFFER);
    curl.easy_setopt(easy, CURLOPT_UPLOAD_BUFFERSIZE, (long)UPLOAD_BUFFER);
    curl.easy_setopt(easy, CURLOPT_MAXFILESIZE_LARGE, (curl_off_t)c->max_body);
    if (c->connect_timeout_s > 300) /* else libcurl's own limit would be the shorter */
        curl.easy_setopt(easy, CURLOPT_CONNECTTIMEOUT, (long)c->connect_timeout_s + 1);
    if (url_is_loopback(u))
        curl.easy_setopt(easy, CURLOPT_PROXY, "");
    if (http.certificates)
        curl.easy_setopt(easy, CURLOPT_CAINFO, http.certificates);
}

static double limit_or(double limit_s, double otherwise_s)
{
    return limit_s > 0 ? limit_s : otherwise_s;
}

static void call_set_state(struct http_call *c, const struct http_request *r)
{
    c->on_chunk = r->on_chunk;
    c->done = r->done;
    c->arg = r->arg;
    headers_clear(c);
    buf_clear(&c->body);
    c->max_body = r->max_body ? r->max_body : HTTP_MAX_BODY;
    c->body.max = c->max_body;
    c->received = 0;
    c->timeout_s = limit_or(r->timeout_s, INFINITY);
    c->connect_timeout_s = limit_or(r->connect_timeout_s, CONNECT_DEFAULT_S);
    c->idle_s = limit_or(r->idle_timeout_s, INFINITY);
    c->uploaded = 0;
    c->open_errno = 0;
    c->end = HTTP_END_CURL;
    c->is_last = false;
    c->detail[0] = '\0';
}

static void call_begin(struct http_call *c)
{
    double now = loop_now();
    c->last_news = now;
    c->end_at = now + c->timeout_s;
    c->connect_at = now + c->connect_timeout_s;
    c->state = CALL_ACTIVE;
    http.in_flight++;
    CURLMcode rc = curl.multi_add_handle(http.multi, c->easy);
    assert(rc == CURLM_OK);
    timer_start(&c->timer, call_next_deadline(c) - now, on_deadline);
}

static bool can_send(const struct url *u, struct err *e)
{
    char origin[URL_ORIGIN_MAX];
    if (fault_pass(FAULT_SEND))
        return true;
    int code = errno;
    url_origin(u, origin);
    return err_set(e, ERR_NETWORK, "cannot send to %s: %s", origin, strerror(code));
}

struct http_call *http_start(const struct http_request *r, struct err *e)
{
    assert(r->done);
    struct url u;
    if (!url_split(r->url, &u, e) || !request_is_sane(r, e) || !http_open(e))
        return NULL;
    if (!can_send(&u, e))
        return NULL;
    struct http_call *c = call_take();
    curl.easy_reset(c->easy);
    call_set_state(c, r);
    call_set_callbacks(c);
    call_set_options(c, &u);
    call_set_headers(c, r->headers);
    call_set_method(c, r);
    curl.easy_setopt(c->easy, CURLOPT_URL, r->url);
    call_begin(c);
    return c;
}

void http_call_free(struct http_call *c)
{
    if (!c)
        return;
    if (c->state == CALL_ACTIVE) {
        curl.multi_remove_handle(http.multi, c->easy);
        timer_stop(&c->timer);
        http.in_flight--;
    }
    call_give_back(c);
}

/* ---- results */

static double time_of(const struct http_call *c, CURLINFO what)
{
    curl_off_t us = 0;
    curl.easy_getinfo(c->easy, what, &us);
    return (double)us / 1e6;
}

static void result_fill_figures(const struct http_call *c, struct http_result *r)
{
    long head_in = 0, head_out = 0, connects = 0;
    curl_off_t in = 0, out = 0;
    curl.easy_getinfo(c->easy, CURLINFO_HEADER_SIZE, &head_in);
    curl.easy_getinfo(c->easy, CURLINFO_REQUEST_SIZE, &head_out);
    curl.easy_getinfo(c->easy, CURLINFO_NUM_CONNECTS, &connects);
    curl.easy_getinfo(c->easy, CURLINFO_SIZE_DOWNLOAD_T, &in);
    curl.easy_getinfo(c->easy, CURLINFO_SIZE_UPLOAD_T, &out);
    r->bytes_in = (uint64_t)(head_in + in);
    r->bytes_out = (uint64_t)(head_out + out);
    r->is_reused = connects == 0;
    r->connect_s = time_of(c, CURLINFO_PRETRANSFER_TIME_T);
    r->first_byte_s = time_of(c, CURLINFO_STARTTRANSFER_TIME_T);
    r->total_s = time_of(c, CURLINFO_TOTAL_TIME_T);
}

static bool call_judge(const struct http_call *c, struct err *e)
{
    if (c->end == HTTP_END_CURL && c->code == CURLE_OK)
        return true;
    long os_error = 0;
    const char *text = NULL;
    struct url u;
    char origin[URL_ORIGIN_MAX] = "the server";
    curl.easy_getinfo(c->easy, CURLINFO_OS_ERRNO, &os_error);
    curl.easy_getinfo(c->easy, CURLINFO_EFFECTIVE_URL, &text);
    if (text && url_split(text, &u, NULL))
        url_origin(&u, origin);
    struct http_fault f = { .end = c->end, .curl_code = c->code, .detail = c->detail };
    f.os_error = c->open_errno ? c->open_errno : (int)os_error;
    f.origin = origin;
    f.max_body = c->max_body;
    f.received = c->received;
    f.limit_s = c->end == HTTP_END_TIMEOUT           ? c->timeout_s
                : c->end == HTTP_END_CONNECT_TIMEOUT ? c->connect_timeout_s
                                                     : c->idle_s;
    return http_fault_judge(&f, e);
}

bool http_call_result(struct http_call *c, struct http_result *result, struct err *e)
{
    assert(c->state == CALL_DONE);
    long status = 0;
    *result = (struct http_result){ 0 };
    curl.easy_getinfo(c->easy, CURLINFO_RESPONSE_CODE, &status);
    result->status = (int)status;
    result->headers = buf_text(&c->headers);
    result->header_count = c->header_count;
    result->body = buf_text(&c->body);
    result->body_len = c->body.len;
    result_fill_figures(c, result);
    return call_judge(c, e);
}

const char *http_result_header(const struct http_result *r, const char *name)
{
    const char *p = r->headers;
    for (size_t i = 0; i < r->header_count; i++) {
        const char *value = p + strlen(p) + 1;
        if (strcmp(p, name) == 0)
            return value;
        p = value + strlen(value) + 1;
    }
    return NULL;
}

size_t http_in_flight(void)
{
    return http.in_flight;
}

/* ---- taking down */

static void on_closed(uv_handle_t *h)
{
    mem_free(h);
}

void http_fini(void)
{
    if (!http.is_open)
        return;
    assert(http.in_flight == 0);
    while (http.free_calls) {
        struct http_call *c = http.free_calls;
        http.free_calls = c->next_free;
        call_destroy(c);
    }
    curl.multi_cleanup(http.multi);
    curl.share_cleanup(http.share);
    curl.global_cleanup();
    timer_stop(&http.timer);
    uv_close((uv_handle_t *)http.poll, on_closed);
    close(http.epoll);
    http = (struct http){ 0 };
}
