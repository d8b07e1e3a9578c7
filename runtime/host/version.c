/* version.c - see version.h. The only file that is compiled with the commit. */
#include "host/version.h"
#include "io/io_library.h"
#include "text/text_library.h"
#include <lua.h>

const char *version_number(void)
{
    return SKILLOPT_VERSION;
}

const char *version_commit(void)
{
    return SKILLOPT_COMMIT;
}

/* Lua has no function that says its release: the header's is that of the library, since
 * releases of one version are not mixed. */
void version_libraries(struct library out[VERSION_LIBRARIES])
{
    size_t n = 0;
    out[n++] = library_of("Lua", LUA_VERSION_MAJOR "." LUA_VERSION_MINOR
                                                   "." LUA_VERSION_RELEASE);
    out[n++] = io_library_curl();
    out[n++] = text_library_yaml();
    out[n++] = io_library_uv();
    out[n++] = io_library_sqlite();
    out[n++] = io_library_zstd();
    out[n++] = library_openssl();
    out[n++] = text_library_utf8proc();
    out[n] = io_library_zip();
}
