/* sink.h - a userdata that takes the bytes of an answer as they come.
 *
 * Its metatable has `__sink`, a light userdata that points to a static sink_type.
 * rt.http feeds it; what the bytes mean is the sink's business. */
#pragma once
#include "io/http.h"
#include <stddef.h>

#define SINK_FIELD "__sink"

struct sink_type {
    /* `self` is the userdata; runs inside the loop: no Lua, no long work. */
    enum http_next (*feed)(void *self, int status, const char *p, size_t n);
};
