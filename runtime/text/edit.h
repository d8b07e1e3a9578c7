/* edit.h - changes of a skill's body, one by one, each with a fate.
 *
 * An edit names an operation, for most of them a target - text of the body that
 * occurs there once - and a content. It is applied as a whole or not at all; what
 * became of it is its row. No character has a special meaning. Ends of lines are
 * compared and written as the document has them: where it has both kinds the
 * target may use either, and the content is written as it is. */
#pragma once
#include "text/span.h"

/* APPEND adds a paragraph before the first protected region, or at the end;
 * INSERT_AFTER adds one behind the line in which the target ends; REPLACE puts the
 * content for the target, DELETE nothing. */
enum edit_op { EDIT_UNKNOWN, EDIT_APPEND, EDIT_INSERT_AFTER, EDIT_REPLACE, EDIT_DELETE };

#define EDIT_FATES(X)                                                                    \
    X(APPLIED, "applied")                                                                \
    X(ANCHOR_MISSING, "anchor_missing")     /* the target does not occur */              \
    X(ANCHOR_AMBIGUOUS, "anchor_ambiguous") /* it occurs more than once */               \
    X(PROTECTED, "protected")         /* it occurs only where a region is touched */     \
    X(NO_CHANGE, "no_change")         /* the text would be the same */                   \
    X(EMPTY_TARGET, "empty_target")   /* the operation needs one */                      \
    X(EMPTY_CONTENT, "empty_content") /* nothing to add */                               \
    X(UNKNOWN_OP, "unknown_op")                                                          \
    X(MALFORMED, "malformed") /* not an object, or a field of another type */            \
    X(OVER_SIZE, "over_size") /* the text would grow beyond the limit */

enum edit_fate {
#define EDIT_ENUM(id, name) EDIT_##id,
    EDIT_FATES(EDIT_ENUM)
#undef EDIT_ENUM
        EDIT_FATE_COUNT
};

const char *edit_fate_name(enum edit_fate fate);

struct edit {
    struct span op, target, content; /* as proposed; a missing one is empty */
    bool is_malformed;
};

struct edit_row {
    enum edit_op op;
    enum edit_fate fate;
    const char *status; /* the reference's word where it has one; static */
    size_t matches;     /* places in the body where the target occurs */
    struct buf content; /* stripped, without region markers */
    struct buf near;    /* how the missing target differs from what is there, or "" */
};

/* The operation with this name, in any case and with blanks around it; its name. */
enum edit_op edit_op_of(struct span word);
const char *edit_op_name(enum edit_op op);

/* Change `text` (a whole document) and fill `row`, whose buffers are used again.
 * An edit that makes the text longer is not applied when it then has more than
 * `max_tokens` tokens, as length.h estimates them. */
void edit_apply(struct buf *text, const struct edit *edit, size_t max_tokens,
                struct edit_row *row);

void edit_row_free(struct edit_row *row);
