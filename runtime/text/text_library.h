/* text_library.h - versions of the libraries that this room uses. */
#pragma once
#include "base/library.h"

struct library text_library_yaml(void);
struct library text_library_utf8proc(void);
