/* late.c - see late.h. */
#include "io/late.h"
#include <dlfcn.h>
#include <string.h>

bool late_load(const struct late_library *library, void *functions, struct err *e)
{
    void *handle = dlopen(library->soname, RTLD_LAZY | RTLD_LOCAL);
    bool ok = handle != NULL;
    for (size_t i = 0; ok && i < library->count; i++) {
        void *f = dlsym(handle, library->functions[i].name);
        ok = f != NULL;
        memcpy((char *)functions + library->functions[i].place, &f, sizeof f);
    }
    if (ok)
        return true;
    err_set(e, ERR_IO, "cannot use %s: %s", library->soname, dlerror());
    return err_hint(e, "install it (Debian: %s)", library->package);
}
