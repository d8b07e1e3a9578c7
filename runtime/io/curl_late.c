/* curl_late.c - see curl_late.h. */
#include "io/curl_late.h"
#include "io/late.h"

struct curl_late curl;

static const struct late_function functions[] = {
#define CURL_ENTRY(name) { "curl_" #name, offsetof(struct curl_late, name) },
    CURL_FUNCTIONS(CURL_ENTRY)
#undef CURL_ENTRY
};

static const struct late_library library = { "libcurl.so.4", "libcurl4", functions,
                                             sizeof functions / sizeof functions[0] };

bool curl_load(struct err *e)
{
    static bool is_loaded;
    is_loaded = is_loaded || late_load(&library, &curl, e);
    return is_loaded;
}
