/* A template that parses renders, and empty values leave no placeholder behind. */
#include "text/template.h"
#include <assert.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void render(const struct template *t, const char *value)
{
    struct template_text values[TEMPLATE_MAX_INPUTS];
    struct buf system = { 0 }, user = { 0 };
    size_t n = template_input_count(t);
    assert(n <= TEMPLATE_MAX_INPUTS);
    for (size_t i = 0; i < n; i++) {
        assert(template_input_name(t, i)[0] && template_input_doc(t, i));
        values[i] = (struct template_text){ value, strlen(value) };
    }
    bool ok = template_render(t, values, &system, &user, NULL);
    assert(ok);
    if (!*value)
        assert(!strstr(buf_text(&system), "{{a}}") && !strstr(buf_text(&user), "{{a}}"));
    buf_free(&system);
    buf_free(&user);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct err e = { 0 };
    struct template *t = template_parse((const char *)data, n, &e);
    if (t) {
        render(t, "");
        render(t, "{{a}}\n{{#a}}\n");
    } else {
        assert(e.kind != ERR_NONE && e.message[0]);
    }
    template_free(t);
    return 0;
}
