/* http.h - requests in flight, by the thousand, on the one loop.
 *
 * http_start hands a request to libcurl and returns at once; the call's `done`
 * runs on the loop's thread when the whole answer is there or cannot come. One
 * connection pool, one DNS cache and one TLS session cache serve all calls;
 * handles are pooled. An answer with any status is a result, an error is only
 * what kept the answer away: network (name, connection, TLS, cut bodies),
 * timeout, limit (size, open files). Redirects are not followed. Proxies come from the
 * environment, but never for this machine's own addresses.
 *
 * The caller owns a call from http_start to http_call_free; results point into
 * it. The first http_start sets everything up, http_fini takes it down. */
#pragma once
#include "base/err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct http_call;

/* What on_chunk wants next: more; nothing important (the call succeeds at its end
 * or a second later, whichever comes first); nothing (it succeeds now). */
enum http_next { HTTP_MORE, HTTP_LAST, HTTP_ENOUGH };

enum { HTTP_MAX_HEADERS = 65536 };
#define HTTP_MAX_BODY ((size_t)64 << 20)

/* Zeroed fields mean what is said in brackets. */
struct http_request {
    const char *url;
    const char *method;         /* a token [POST with a body, GET without] */
    const char *const *headers; /* lines "Name: value", NULL behind the last [none] */
    const char *body;           /* not copied: lives until done or http_call_free */
    size_t body_len;
    double timeout_s;         /* for the whole call [no limit] */
    double connect_timeout_s; /* until name, connection and TLS are done [30] */
    double idle_timeout_s;    /* longest silence, upload included [no limit] */
    size_t max_body;          /* bytes of the answer, decoded [HTTP_MAX_BODY] */

    /* Bytes of the answer as they come, instead of a collected body [collect].
     * Must not start or free calls. Gets the bytes whatever the status is. */
    enum http_next (*on_chunk)(void *arg, int status, const char *p, size_t n);

    /* The end, once, never inside http_start; must be given. May free the call. */
    void (*done)(void *arg);
    void *arg; /* for both */
};

struct http_result {
    int status;
    const char *headers; /* name, zero byte, value, zero byte, ...; names lower-case */
    size_t header_count;
    const char *body; /* zero byte behind it */
    size_t body_len;
    double connect_s;    /* until the connection was ready */
    double first_byte_s; /* until the first byte of the answer */
    double total_s;
    uint64_t bytes_in, bytes_out; /* on the wire, headers included, TLS not */
    bool is_reused;               /* no new connection was made */
};

/* NULL when the request is not usable (config: address; usage: header, method). */
struct http_call *http_start(const struct http_request *r, struct err *e);

/* After done: true and the result, or false and what kept the answer away. The
 * result lives until http_call_free; timings and bytes are set in both cases. */
bool http_call_result(struct http_call *c, struct http_result *result, struct err *e);

/* The value of the first header of that (lower-case) name, or NULL. */
const char *http_result_header(const struct http_result *r, const char *name);

/* Ends a call that is still in flight without calling done. NULL is fine. */
void http_call_free(struct http_call *c);

/* Calls in flight. */
size_t http_in_flight(void);

/* Everything down; no call may be left. Before loop_fini. */
void http_fini(void);
