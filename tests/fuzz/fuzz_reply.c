/* Any text gives an object, an allowed array, or a reason with words. */
#include "text/json.h"
#include "text/reply.h"
#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const char *const want[] = { "patch", "edits", NULL };
    if (n == 0)
        return 0;
    struct value_doc d = { .max = 1 << 24 };
    struct err e = { 0 };
    enum reply_reason reason;
    struct reply_rules rules = { .want = data[0] & 1 ? want : NULL,
                                 .allow_array = data[0] & 2 };
    const struct value *v =
        reply_extract(&d, (const char *)data + 1, n - 1, &rules, &reason, &e);
    assert((v != NULL) == (reason == REPLY_FOUND));
    if (v)
        assert(v->kind == VALUE_OBJECT || (rules.allow_array && v->kind == VALUE_ARRAY));
    else
        assert(e.message[0] && reply_reason_name(reason)[0]);
    value_doc_free(&d);
    return 0;
}
