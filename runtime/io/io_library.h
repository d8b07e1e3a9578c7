/* io_library.h - versions of the libraries that this room uses. */
#pragma once
#include "base/library.h"

struct library io_library_curl(void);
struct library io_library_uv(void);
struct library io_library_sqlite(void);
struct library io_library_zstd(void);
struct library io_library_zip(void);
