/* http_fault.h - why an answer did not come, as an err.
 *
 * Turns libcurl's code and the facts of one call into kind, words and hint. Pure. */
#pragma once
#include "base/err.h"
#include <stddef.h>

/* Our own reasons for ending a call; HTTP_END_CURL means: libcurl's code says it. */
enum http_end {
    HTTP_END_CURL,
    HTTP_END_ENOUGH,
    HTTP_END_TIMEOUT,
    HTTP_END_CONNECT_TIMEOUT,
    HTTP_END_IDLE_TIMEOUT,
    HTTP_END_BODY_LIMIT,
    HTTP_END_HEADER_LIMIT
};

struct http_fault {
    enum http_end end;
    int curl_code;      /* CURLcode */
    int os_error;       /* errno of the last system call, 0 when unknown */
    const char *detail; /* libcurl's words, may be "" */
    const char *origin; /* "https://host:port" */
    double limit_s;     /* of the timeout that ended it */
    size_t max_body;
    size_t received; /* bytes of the body that came */
};

/* True when there is no fault; else fills e. */
bool http_fault_judge(const struct http_fault *f, struct err *e);
