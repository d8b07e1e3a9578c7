/* zip_late.c - see zip_late.h. */
#include "io/zip_late.h"
#include "io/late.h"

struct zip_late zip;

static const struct late_function functions[] = {
#define ZIP_ENTRY(name) { "zip_" #name, offsetof(struct zip_late, name) },
    ZIP_FUNCTIONS(ZIP_ENTRY)
#undef ZIP_ENTRY
};

/* SKILLOPT_LIBZIP: the name of the library that it was built with. */
static const struct late_library library = { SKILLOPT_LIBZIP, "libzip4", functions,
                                             sizeof functions / sizeof functions[0] };

bool zip_load(struct err *e)
{
    static bool is_loaded;
    is_loaded = is_loaded || late_load(&library, &zip, e);
    return is_loaded;
}
