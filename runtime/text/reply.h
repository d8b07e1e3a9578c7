/* reply.h - the JSON object in a model's prose.
 *
 * The text is walked once from the left. Where an object starts (a brace and a quote),
 * it is read by the JSON reader itself, so braces and fences inside its strings end
 * nothing. Prose in braces is no object. Text in think blocks is never looked at: a
 * block is <think>...</think>, all before a closing tag without its opening one, and
 * all behind an opening one without its closing one.
 *
 * What counts is the one object that has a wanted key; if there is none, the one array
 * of objects (when arrays are allowed); if there is none, the one object. Two that
 * differ are ambiguous; the same object twice is one. A faulty object is repaired (see
 * json.h) only when nothing else could be meant. Nothing is taken from a reply that
 * ends inside an object: the rest is unknown. */
#pragma once
#include "base/err.h"
#include "text/value.h"

enum reply_reason {
    REPLY_FOUND,
    REPLY_NONE,      /* no JSON object in the text */
    REPLY_AMBIGUOUS, /* several that could be meant */
    REPLY_MALFORMED, /* one beyond repair */
    REPLY_TRUNCATED, /* the text ends inside one, or inside a think block */
    REPLY_TOO_DEEP   /* nesting above JSON_MAX_DEPTH */
};

struct reply_rules {
    const char *const *want; /* keys, NULL-terminated; NULL: any object will do */
    bool allow_array;        /* a top-level array may be the result */
};

/* Find it. `rules` may be NULL. Integers outside int64 are doubles; NaN and infinities
 * are not JSON. The result belongs to the doc. NULL with a reason and an error of kind
 * parse (limit when the text is too long). Invalid UTF-8 is read as U+FFFD. */
const struct value *reply_extract(struct value_doc *d, const char *text, size_t n,
                                  const struct reply_rules *rules,
                                  enum reply_reason *reason, struct err *e);

/* "found", "none", "ambiguous", "malformed", "truncated", "too_deep". */
const char *reply_reason_name(enum reply_reason reason);
