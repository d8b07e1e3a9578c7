/* version.h - what this program is and what it runs with. */
#pragma once
#include "base/library.h"
#include <stddef.h>

enum { VERSION_LIBRARIES = 9 };

/* "0.1.0" */
const char *version_number(void);

/* Commit the binary was built from, "unknown" outside of a checkout. */
const char *version_commit(void);

/* The libraries, always in the same order. */
void version_libraries(struct library out[VERSION_LIBRARIES]);
