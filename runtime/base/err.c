/* err.c - see err.h. */
#include "base/err.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const names[ERR_KIND_COUNT] = { [ERR_NONE] = "",
#define ERR_NAME(id, name) [ERR_##id] = (name),
                                                   ERR_KINDS(ERR_NAME)
#undef ERR_NAME
};

/* A text cut by vsnprintf may end inside a UTF-8 sequence: drop that piece. */
static void cut_clean(char *text, size_t size, int wanted)
{
    if (wanted < 0 || (size_t)wanted < size)
        return;
    size_t n = size - 1;
    size_t start = n;
    while (start > 0 && ((unsigned char)text[start - 1] & 0xC0) == 0x80)
        start--;
    if (start > 0 && (unsigned char)text[start - 1] >= 0xC0)
        text[start - 1] = '\0';
}

bool err_set(struct err *e, enum err_kind kind, const char *format, ...)
{
    if (!e)
        return false;
    e->kind = kind;
    e->retry = err_is_weather(kind);
    e->hint[0] = '\0';
    va_list args;
    va_start(args, format);
    int wanted = vsnprintf(e->message, sizeof e->message, format, args);
    va_end(args);
    cut_clean(e->message, sizeof e->message, wanted);
    return false;
}

bool err_hint(struct err *e, const char *format, ...)
{
    if (!e)
        return false;
    va_list args;
    va_start(args, format);
    int wanted = vsnprintf(e->hint, sizeof e->hint, format, args);
    va_end(args);
    cut_clean(e->hint, sizeof e->hint, wanted);
    return false;
}

const char *err_kind_name(enum err_kind kind)
{
    return kind >= 0 && kind < ERR_KIND_COUNT ? names[kind] : "";
}

enum err_kind err_kind_of(const char *name)
{
    for (int i = 1; i < ERR_KIND_COUNT; i++)
        if (strcmp(names[i], name) == 0)
            return (enum err_kind)i;
    return ERR_NONE;
}

bool err_is_weather(enum err_kind kind)
{
    switch (kind) {
    case ERR_NETWORK:
    case ERR_TIMEOUT:
    case ERR_RATE_LIMIT:
    case ERR_SERVER:
    case ERR_PARSE:
    case ERR_PROCESS:
    case ERR_SANDBOX:
        return true;
    default:
        return false;
    }
}
