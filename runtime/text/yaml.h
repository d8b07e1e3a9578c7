/* yaml.h - YAML 1.1 in, as the reference reads it.
 *
 * Plain scalars resolve to the types of YAML 1.1: 017 is 15, 0x1F is 31, 2:1:7 is 7267,
 * 1_000 is 1000, yes/no/on/off are booleans, ~ and nothing are null; 5e-1, 1e5 and -.5
 * (a float needs a point, its exponent a sign) are text, and so are timestamps.
 * A key that is no text is taken as written (`1: a` has the key "1", `on: a` the key
 * "on"); one that stands twice in a mapping is an error. `<<` merges, aliases share their
 * anchor's value. Tags other than those of the JSON types are refused. Every value
 * knows its line and column. */
#pragma once
#include "base/err.h"
#include "text/value.h"

enum {
    YAML_MAX_SIZE = 16 << 20, /* bytes of text */
    YAML_MAX_DEPTH = 200,     /* of nesting, aliases followed */
    YAML_MAX_NODES = 1 << 20, /* values, those behind aliases counted each time */
    YAML_MAX_ANCHORS = 256
};

/* Read the one document of a text: UTF-8, with or without BOM, any line ends; an empty
 * text is null. The result belongs to the doc. NULL on error, with kind parse (limit
 * when too large) and a message that starts "line 3, column 7: ". */
const struct value *yaml_read(struct value_doc *d, const char *text, size_t n,
                              struct err *e);

/* What a plain scalar of these bytes is: null, bool, integer, double, or text (then
 * out->text is the argument). False for a number that does not fit. */
bool yaml_resolve(const char *text, size_t n, struct value *out);
