/* place.c - see place.h. */
#include "game/place.h"
#include "base/utf8.h"
#include <stdarg.h>
#include <stdio.h>

enum { SHOWN_BYTES = 60 };

bool place_refuse(const struct place *at, size_t line, struct err *e, const char *format,
                  ...)
{
    char what[ERR_MESSAGE_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    if (!line)
        return err_set(e, ERR_DATA, "%s, %s: %s", at->file, at->part, what);
    return err_set(e, ERR_DATA, "%s, %s, line %zu: %s", at->file, at->part, line, what);
}

int place_clip(const char *text, size_t n)
{
    size_t end = 0;
    while (end < n) {
        uint32_t code = 0;
        size_t length = utf8_decode(text + end, n - end, &code);
        if (end + length > SHOWN_BYTES)
            break;
        end += length;
    }
    return (int)end;
}
