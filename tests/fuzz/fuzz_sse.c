/* Any bytes, in any pieces, give the same events. */
#include "base/buf.h"
#include "text/sse.h"
#include <assert.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static bool note(void *arg, const struct sse_event *event)
{
    buf_add(arg, event->name, strlen(event->name));
    buf_add_char(arg, '=');
    buf_add(arg, event->data, event->data_len);
    buf_add_char(arg, '|');
    return event->data_len != 7;
}

static void feed(const char *p, size_t n, size_t piece, struct buf *out)
{
    struct sse s = { .max = 4096 };
    bool ok = true;
    for (size_t i = 0; i < n && ok; i += piece)
        ok = sse_feed(&s, p + i, n - i < piece ? n - i : piece, note, out, NULL);
    if (ok)
        sse_end(&s, note, out, NULL);
    sse_fini(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct buf whole = { 0 }, cut = { 0 };
    if (n == 0 || n > 3000) /* below the limit, which may fall at another byte */
        return 0;
    feed((const char *)data + 1, n - 1, n, &whole);
    feed((const char *)data + 1, n - 1, data[0] % 9 + 1u, &cut);
    assert(whole.len == cut.len);
    assert(whole.len == 0 || memcmp(whole.ptr, cut.ptr, whole.len) == 0);
    buf_free(&whole);
    buf_free(&cut);
    return 0;
}
