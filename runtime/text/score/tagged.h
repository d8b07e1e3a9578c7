/* tagged.h - the answer a reply marks with a tag, as in <answer>Ada</answer>.
 *
 * Tags are a name in angle brackets, in any case, without blanks or attributes.
 * What a model thinks aloud is not what it answers: text in <think>, <thinking>,
 * <thought> or <reasoning> blocks does not count, nor does what follows one that
 * never ends, nor what stands before an end whose start the chat template swallowed. */
#pragma once
#include "text/unicode.h"

/* Append the text without thought. */
bool tagged_drop_thought(struct buf *out, struct span text);

/* The content, stripped, of the last complete and innermost pair of tags. An open
 * tag that is never closed counts for nothing. False when there is no pair. */
bool tagged_find(struct span text, struct span name, struct span *content);

/* Append the last line that is not blank, stripped, once tags of that name are
 * taken out of it. False when there is no such line. */
bool tagged_last_line(struct buf *out, struct span text, struct span name);

/* The reference's rule: the content of the last shortest pair, counted from the
 * first open tag on, thought included; without a pair the last line that is not
 * blank; else empty. */
struct span tagged_as_reference(struct span text, struct span name);
