/* What is read under any rules can be written, and reads back the same. */
#include "text/json.h"
#include <assert.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static bool canonical(const struct value *v, struct buf *out)
{
    struct json_writer w;
    json_begin(&w, out, JSON_CANONICAL);
    json_value(&w, v);
    return json_end(&w, NULL);
}

static void check_again(const struct value *v, enum json_style style)
{
    struct value_doc d = { 0 };
    struct buf first = { 0 }, text = { 0 }, second = { 0 };
    struct json_writer w;
    json_begin(&w, &text, style);
    json_value(&w, v);
    if (json_end(&w, NULL)) { /* false for NaN and infinities */
        const struct value *again = json_read(&d, text.ptr, text.len, NULL, NULL);
        bool ok = again && canonical(v, &first) && canonical(again, &second);
        assert(ok && first.len == second.len &&
               memcmp(first.ptr, second.ptr, first.len) == 0);
    }
    buf_free(&first);
    buf_free(&text);
    buf_free(&second);
    value_doc_free(&d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (n < 2)
        return 0;
    struct value_doc d = { .max = 1 << 24 };
    struct json_piece piece;
    struct err e;
    struct json_rules rules = {
        .allow_nan = data[0] & 1,
        .allow_bom = data[0] & 2,
        .fix_utf8 = data[0] & 4,
        .big = (enum json_big)((data[0] >> 3) % 3),
        .repairs = data[1],
    };
    const char *text = (const char *)data + 2;
    const struct value *v = json_read(&d, text, n - 2, &rules, &e);
    if (v) {
        check_again(v, JSON_LINE);
        check_again(v, JSON_INDENT);
    }
    rules.fix_utf8 = false;
    v = json_read_piece(&d, text, n - 2, &rules, &piece, &e);
    assert(piece.used <= n - 2 && (v != NULL) == (piece.fault == JSON_FAULT_NONE));
    assert((piece.repaired & ~rules.repairs) == 0);
    value_doc_free(&d);
    return 0;
}
