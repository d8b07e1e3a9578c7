/* url.c - see url.h. */
#include "io/url.h"
#include <stdio.h>
#include <string.h>
#include <strings.h>

static bool refuse(struct err *e, const char *what)
{
    err_set(e, ERR_CONFIG, "not a usable address: %s", what);
    return err_hint(e,
                    "an address looks like https://host/v1 or http://127.0.0.1:8000/v1");
}

static bool split_scheme(const char *text, struct url *u)
{
    const char *end = strstr(text, "://");
    if (!end)
        return false;
    u->scheme = text;
    u->scheme_len = (size_t)(end - text);
    return (u->scheme_len == 4 && strncasecmp(text, "http", 4) == 0) ||
           (u->scheme_len == 5 && strncasecmp(text, "https", 5) == 0);
}

static bool split_port(const char *p, const char *end, struct url *u)
{
    u->port = p;
    u->port_len = 0;
    if (p == end)
        return true;
    if (*p != ':')
        return false;
    u->port = p + 1;
    u->port_len = (size_t)(end - u->port);
    return u->port_len <= 5 && strspn(u->port, "0123456789") >= u->port_len;
}

static bool split_host(const char *p, const char *end, struct url *u)
{
    if (p < end && *p == '[') {
        const char *close = memchr(p, ']', (size_t)(end - p));
        if (!close)
            return false;
        u->host = p + 1;
        u->host_len = (size_t)(close - u->host);
        return u->host_len && split_port(close + 1, end, u);
    }
    const char *colon = memchr(p, ':', (size_t)(end - p));
    u->host = p;
    u->host_len = (size_t)((colon ? colon : end) - p);
    return u->host_len && split_port(p + u->host_len, end, u);
}

static bool has_odd_bytes(const char *text)
{
    for (const unsigned char *p = (const unsigned char *)text; *p; p++)
        if (*p <= ' ' || *p == 0x7F)
            return true;
    return false;
}

bool url_split(const char *text, struct url *u, struct err *e)
{
    if (strlen(text) > URL_MAX)
        return refuse(e, "it is too long");
    if (has_odd_bytes(text))
        return refuse(e, "it has blanks or control characters");
    if (!split_scheme(text, u))
        return refuse(e, "it does not begin with http:// or https://");
    const char *authority = u->scheme + u->scheme_len + 3;
    const char *end = authority + strcspn(authority, "/?#\\");
    const char *at = memrchr(authority, '@', (size_t)(end - authority));
    if (!split_host(at ? at + 1 : authority, end, u))
        return refuse(e, "its host or port cannot be read");
    return true;
}

void url_origin(const struct url *u, char origin[URL_ORIGIN_MAX])
{
    bool is_v6 = memchr(u->host, ':', u->host_len) != NULL;
    snprintf(origin, URL_ORIGIN_MAX, "%.*s://%s%.*s%s%s%.*s", (int)u->scheme_len,
             u->scheme, is_v6 ? "[" : "", (int)u->host_len, u->host, is_v6 ? "]" : "",
             u->port_len ? ":" : "", (int)u->port_len, u->port);
}

static bool host_is(const struct url *u, const char *name)
{
    return u->host_len == strlen(name) && strncasecmp(u->host, name, u->host_len) == 0;
}

bool url_is_loopback(const struct url *u)
{
    static const char TAIL[] = ".localhost";
    const size_t tail = sizeof TAIL - 1;
    if (host_is(u, "localhost") || host_is(u, "::1"))
        return true;
    if (u->host_len > tail && strncasecmp(u->host + u->host_len - tail, TAIL, tail) == 0)
        return true;
    return u->host_len > 4 && strncmp(u->host, "127.", 4) == 0 &&
           strspn(u->host, "0123456789.") >= u->host_len;
}
