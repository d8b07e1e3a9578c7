/* curl_late.c - see curl_late.h. */
#include "io/curl_late.h"
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#define SONAME "libcurl.so.4"

struct curl_late curl;

static const struct {
    const char *name;
    size_t place;
} functions[] = {
#define CURL_ENTRY(name) { "curl_" #name, offsetof(struct curl_late, name) },
    CURL_FUNCTIONS(CURL_ENTRY)
#undef CURL_ENTRY
};

bool curl_load(struct err *e)
{
    static bool is_loaded;
    if (is_loaded)
        return true;
    void *library = dlopen(SONAME, RTLD_LAZY | RTLD_LOCAL);
    bool ok = library != NULL;
    for (size_t i = 0; ok && i < sizeof functions / sizeof functions[0]; i++) {
        void *f = dlsym(library, functions[i].name);
        ok = f != NULL;
        memcpy((char *)&curl + functions[i].place, &f, sizeof f);
    }
    is_loaded = ok;
    if (ok)
        return true;
    err_set(e, ERR_IO, "cannot use libcurl: %s", dlerror());
    return err_hint(e, "install it (Debian: libcurl4)");
}
