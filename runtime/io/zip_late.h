/* zip_late.h - libzip, loaded when the first archive is opened.
 *
 * It brings OpenSSL and two packers with it. Its functions are called as zip.fread() for
 * zip_fread(). Not thread safe. */
#pragma once
#include "base/err.h"
#include <zip.h>

#define ZIP_FUNCTIONS(X)                                                                 \
    X(discard)                                                                           \
    X(error_fini)                                                                        \
    X(error_init)                                                                        \
    X(error_strerror)                                                                    \
    X(fclose)                                                                            \
    X(file_get_error)                                                                    \
    X(fopen_index)                                                                       \
    X(fread)                                                                             \
    X(get_name)                                                                          \
    X(get_num_entries)                                                                   \
    X(libzip_version)                                                                    \
    X(open_from_source)                                                                  \
    X(source_buffer_create)                                                              \
    X(source_free)                                                                       \
    X(strerror)

struct zip_late {
#define ZIP_MEMBER(name) __typeof__ (&zip_##name)(name);
    ZIP_FUNCTIONS(ZIP_MEMBER)
#undef ZIP_MEMBER
};

extern struct zip_late zip;

/* Load it; at once when it is loaded. ERR_IO when it is not installed or another one.
 * It stays loaded until the process ends. */
bool zip_load(struct err *e);
