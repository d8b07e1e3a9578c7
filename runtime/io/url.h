/* url.h - the few facts about an http(s) address that the program needs itself.
 *
 * Pure functions on text; libcurl does the rest. What comes back points into the
 * address given. */
#pragma once
#include "base/err.h"
#include <stdbool.h>
#include <stddef.h>

struct url {
    const char *scheme; /* "http" or "https" in whatever case it was written */
    size_t scheme_len;
    const char *host; /* without user, port and, for IPv6, brackets */
    size_t host_len;
    const char *port; /* digits; length 0 when none is given */
    size_t port_len;
};

enum { URL_ORIGIN_MAX = 300, URL_MAX = 16384 };

/* False with e->kind = ERR_CONFIG unless `text` is an http or https address with a
 * host and without blanks or control characters. */
bool url_split(const char *text, struct url *u, struct err *e);

/* "scheme://host[:port]", cut at URL_ORIGIN_MAX: fit for messages, since user, path
 * and query (which may hold keys) are not in it. */
void url_origin(const struct url *u, char origin[URL_ORIGIN_MAX]);

/* This machine: localhost, *.localhost, 127.0.0.0/8, ::1. */
bool url_is_loopback(const struct url *u);
