/* library.c - see library.h. */
#include "base/library.h"
#include <openssl/opensslv.h>
#include <stdio.h>

struct library library_of(const char *name, const char *version)
{
    struct library out = { .name = name };
    snprintf(out.version, sizeof out.version, "%s", version);
    return out;
}

struct library library_openssl(void)
{
    return library_of("OpenSSL", OPENSSL_VERSION_STR);
}
