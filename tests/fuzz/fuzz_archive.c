/* Any bytes are an archive or none; entries are read up to a ceiling. */
#include "io/archive.h"
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct archive *a = archive_open((const char *)data, n, NULL);
    if (!a)
        return 0;
    for (size_t i = 0; i < archive_count(a) && i < 64; i++) {
        struct buf out = { .max = 65536 };
        (void)archive_name(a, i);
        (void)archive_read(a, i, &out, NULL);
        buf_free(&out);
    }
    archive_close(a);
    return 0;
}
