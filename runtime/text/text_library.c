/* text_library.c - see text_library.h. */
#include "text/text_library.h"
#include <utf8proc.h>
#include <yaml.h>

struct library text_library_yaml(void)
{
    return library_of("libyaml", yaml_get_version_string());
}

struct library text_library_utf8proc(void)
{
    return library_of("utf8proc", utf8proc_version());
}
