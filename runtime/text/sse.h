/* sse.h - server-sent events out of bytes that come in any pieces.
 *
 * Lines end with LF, CRLF or CR; `data:` lines of one event are joined by LF; an
 * empty line ends an event; comments (lines that start with a colon), `id`, `retry`
 * and unknown fields are passed over. The blank behind a field's colon and a byte
 * order mark at the very start are no content. Bytes are not checked: UTF-8 cannot be
 * split by this parser because it only ever cuts at line ends.
 *
 * A zeroed parser is valid and empty; it owns the unfinished event. */
#pragma once
#include "base/buf.h"
#include "base/err.h"

/* Both texts end with a zero byte and live until the callback returns. */
struct sse_event {
    const char *name; /* "" when the event has none */
    const char *data; /* may be "": some servers keep a connection alive that way */
    size_t data_len;
};

/* False: no more events are wanted. */
typedef bool sse_fn(void *arg, const struct sse_event *event);

/* Fields are private but for `max`. */
struct sse {
    size_t max; /* bytes of one event, 0 = SSE_DEFAULT_MAX */
    struct buf line, name, data;
    bool has_data;
    bool is_after_cr; /* a LF that follows belongs to it */
    bool is_started;  /* the first line is over */
    bool is_stopped;  /* the callback wants no more */
};

#define SSE_DEFAULT_MAX ((size_t)16 << 20)

/* Take n bytes; `fn` is called for each event that is complete. False with kind limit
 * when an event is too long. What comes after a stop is passed over. */
bool sse_feed(struct sse *s, const char *p, size_t n, sse_fn *fn, void *arg,
              struct err *e);

/* No more bytes come: an event whose empty line is missing is complete as well. */
bool sse_end(struct sse *s, sse_fn *fn, void *arg, struct err *e);

void sse_fini(struct sse *s);
