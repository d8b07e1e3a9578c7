/* Any bytes give a document of valid text or an error with words. */
#include "base/utf8.h"
#include "text/json.h"
#include "text/yaml.h"
#include <assert.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct value_doc d = { .max = 1 << 24 };
    struct buf out = { .max = 1 << 22 };
    struct err e = { 0 };
    const struct value *v = yaml_read(&d, (const char *)data, n, &e);
    if (v) {
        struct json_writer w;
        json_begin(&w, &out, JSON_LINE);
        json_value(&w, v);
        json_end(&w, NULL);
        assert(utf8_is_valid(buf_text(&out), out.len));
    } else {
        assert(e.kind != ERR_NONE && e.message[0]);
        assert(utf8_is_valid(e.message, strlen(e.message)));
    }
    buf_free(&out);
    value_doc_free(&d);
    return 0;
}
