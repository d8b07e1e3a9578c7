/* io_library.c - see io_library.h. */
#include "io/io_library.h"
#include "io/curl_late.h"
#include "io/zip_late.h"
#include <sqlite3.h>
#include <uv.h>
#include <zstd.h>

struct library io_library_curl(void)
{
    if (!curl_load(NULL))
        return library_of("libcurl", "not installed");
    return library_of("libcurl", curl.version_info(CURLVERSION_NOW)->version);
}

struct library io_library_uv(void)
{
    return library_of("libuv", uv_version_string());
}

struct library io_library_sqlite(void)
{
    return library_of("SQLite", sqlite3_libversion());
}

struct library io_library_zstd(void)
{
    return library_of("zstd", ZSTD_versionString());
}

struct library io_library_zip(void)
{
    if (!zip_load(NULL))
        return library_of("libzip", "not installed");
    return library_of("libzip", zip.libzip_version());
}
