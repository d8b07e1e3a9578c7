/* span.h - a piece of somebody else's text.
 *
 * A span never owns its bytes and is passed by value; it is as long-lived as the
 * text it points into. */
#pragma once
#include "base/buf.h"
#include <string.h>

struct span {
    const char *ptr; /* never NULL */
    size_t len;      /* bytes */
};

#define SPAN(literal) ((struct span){ (literal), sizeof(literal) - 1 })

/* The text of a buf, until it changes. */
static inline struct span span_of(const struct buf *b)
{
    return (struct span){ buf_text(b), b->len };
}

/* From byte `start` to the end, to byte `end`. */
static inline struct span span_from(struct span s, size_t start)
{
    return (struct span){ s.ptr + start, s.len - start };
}

static inline struct span span_between(struct span s, size_t start, size_t end)
{
    return (struct span){ s.ptr + start, end - start };
}

static inline bool span_equals(struct span a, struct span b)
{
    return a.len == b.len && memcmp(a.ptr, b.ptr, a.len) == 0;
}

static inline bool span_starts(struct span s, struct span start)
{
    return s.len >= start.len && memcmp(s.ptr, start.ptr, start.len) == 0;
}

static inline bool span_add(struct buf *out, struct span s)
{
    return buf_add(out, s.ptr, s.len);
}
