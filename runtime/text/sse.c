/* sse.c - see sse.h. */
#include "text/sse.h"
#include <string.h>

static bool too_long(struct err *e)
{
    return err_set(e, ERR_LIMIT, "an event of the stream is too long");
}

static void dispatch(struct sse *s, sse_fn *fn, void *arg)
{
    if (s->has_data) {
        struct sse_event event = { buf_text(&s->name), buf_text(&s->data), s->data.len };
        s->is_stopped = !fn(arg, &event);
    }
    buf_clear(&s->name);
    buf_clear(&s->data);
    s->has_data = false;
}

static bool is_field(const char *p, size_t n, const char *name)
{
    return n == strlen(name) && memcmp(p, name, n) == 0;
}

static void take_field(struct sse *s, const char *name, size_t n, const char *value,
                       size_t value_len)
{
    if (is_field(name, n, "data")) {
        if (s->has_data)
            buf_add_char(&s->data, '\n');
        s->has_data = true;
        buf_add(&s->data, value, value_len);
    } else if (is_field(name, n, "event")) {
        buf_clear(&s->name);
        buf_add(&s->name, value, value_len);
    }
}

static void take_line(struct sse *s, const char *p, size_t n, sse_fn *fn, void *arg)
{
    if (!s->is_started && n >= 3 && memcmp(p, "\xEF\xBB\xBF", 3) == 0) {
        p += 3;
        n -= 3;
    }
    s->is_started = true;
    if (n == 0) {
        dispatch(s, fn, arg);
        return;
    }
    const char *colon = memchr(p, ':', n);
    size_t name = colon ? (size_t)(colon - p) : n;
    size_t value = name + (colon != NULL);
    if (value < n && p[value] == ' ')
        value++;
    take_field(s, p, name, p + value, n - value);
}

/* A whole line: what was kept of it, then n bytes at p. */
static void end_line(struct sse *s, const char *p, size_t n, sse_fn *fn, void *arg)
{
    if (s->line.len == 0) {
        take_line(s, p, n, fn, arg);
        return;
    }
    if (buf_add(&s->line, p, n)) {
        take_line(s, s->line.ptr, s->line.len, fn, arg);
        buf_clear(&s->line);
    }
}

static size_t line_length(const char *p, size_t n)
{
    size_t i = 0;
    while (i < n && p[i] != '\n' && p[i] != '\r')
        i++;
    return i;
}

static bool is_full(const struct sse *s)
{
    return s->line.is_full || s->data.is_full || s->name.is_full;
}

bool sse_feed(struct sse *s, const char *p, size_t n, sse_fn *fn, void *arg,
              struct err *e)
{
    s->line.max = s->data.max = s->name.max = s->max ? s->max : SSE_DEFAULT_MAX;
    while (n > 0 && !s->is_stopped && !is_full(s)) {
        size_t skip = s->is_after_cr && *p == '\n';
        s->is_after_cr = false;
        p += skip;
        n -= skip;
        size_t length = line_length(p, n);
        if (length == n) {
            buf_add(&s->line, p, n);
            break;
        }
        s->is_after_cr = p[length] == '\r';
        end_line(s, p, length, fn, arg);
        p += length + 1;
        n -= length + 1;
    }
    return !is_full(s) || too_long(e);
}

bool sse_end(struct sse *s, sse_fn *fn, void *arg, struct err *e)
{
    if (is_full(s))
        return too_long(e);
    if (s->line.len > 0 && !s->is_stopped)
        end_line(s, "", 0, fn, arg);
    if (!s->is_stopped)
        dispatch(s, fn, arg);
    return !is_full(s) || too_long(e);
}

void sse_fini(struct sse *s)
{
    buf_free(&s->line);
    buf_free(&s->name);
    buf_free(&s->data);
    *s = (struct sse){ .max = s->max };
}
