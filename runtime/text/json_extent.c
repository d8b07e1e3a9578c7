/* json_extent.c - see json.h: where a value ends, without reading it. */
#include "text/json.h"

static bool ends_scalar(char c)
{
    return c == ',' || c == ']' || c == '}' || c == ' ' || c == '\n' || c == '\r' ||
           c == '\t';
}

/* Behind the string whose quote stands at `at`, 0 when it does not end. */
static size_t string_end(const char *text, size_t n, size_t at)
{
    for (at++; at < n; at++) {
        if (text[at] == '"')
            return at + 1;
        if (text[at] == '\\')
            at++;
    }
    return 0;
}

static size_t container_end(const char *text, size_t n, size_t at)
{
    size_t depth = 0;
    while (at < n) {
        char c = text[at];
        if (c == '"') {
            at = string_end(text, n, at);
            if (at == 0)
                return 0;
            continue;
        }
        at++;
        if (c == '{' || c == '[')
            depth++;
        else if ((c == '}' || c == ']') && --depth == 0)
            return at;
    }
    return 0;
}

size_t json_extent(const char *text, size_t n, size_t at)
{
    if (at >= n)
        return 0;
    if (text[at] == '"')
        return string_end(text, n, at);
    if (text[at] == '{' || text[at] == '[')
        return container_end(text, n, at);
    while (at < n && !ends_scalar(text[at]))
        at++;
    return at < n ? at : 0;
}
