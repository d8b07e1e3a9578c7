/* Our pattern functions and Lua's own say the same. First byte: where find and match
 * start; second: how long the pattern is; then the pattern; the rest is the subject. */
#include "../c/pattern_twins.h"
#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static struct twins twins;
    if (!twins.ours)
        twins = twins_new();
    if (n < 2)
        return 0;
    const char *text = (const char *)data + 2;
    size_t length = data[1] < n - 2 ? data[1] : n - 2;
    struct span pattern = { text, length };
    struct span subject = { text + length, n - 2 - length };
    if (subject.len > 200)
        subject.len = 200;
    assert(twins_agree(&twins, subject, pattern, (int)data[0] - 20));
    return 0;
}
