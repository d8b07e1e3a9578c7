/* image.h - pictures on their way into a request.
 *
 * An image comes as an address (http, https, data), as base64 text, or as the bytes of
 * a file; which of them it is can be seen, since no picture file consists of base64
 * characters only. Pure functions on bytes. */
#pragma once
#include "base/buf.h"
#include "text/span.h"
#include <stdbool.h>

bool image_is_address(struct span image);

/* Append it as base64 text (no line breaks); not for addresses. False when full. */
bool image_add_base64(struct buf *out, struct span image);

/* Append an address: the given one, or "data:TYPE;base64,...". False when full. */
bool image_add_address(struct buf *out, struct span image, struct span type);
