/* late.h - libraries that are loaded when they are first needed.
 *
 * Loading a library costs every start of the program, and most commands need few of
 * them. A late library has a struct of pointers to its functions, which stand in it as
 * `zip.fread` for zip_fread; its header names them in a list of X(fread). */
#pragma once
#include "base/err.h"
#include <stddef.h>

struct late_function {
    const char *name;
    size_t place; /* of its pointer in the struct */
};

struct late_library {
    const char *soname, *package; /* as the system has it, as Debian has it */
    const struct late_function *functions;
    size_t count;
};

/* Load it and fill in the struct. ERR_IO when it is not installed or another one than
 * it was built with. It stays loaded until the process ends. */
bool late_load(const struct late_library *library, void *functions, struct err *e);
