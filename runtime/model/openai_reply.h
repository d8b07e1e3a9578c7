/* openai_reply.h - the parts of a Chat Completions answer, whole or in deltas.
 *
 * Shared by the parser of whole answers and that of streams; private to both. Texts
 * stay where they were read; what has to be made goes into the value_doc. */
#pragma once
#include "base/buf.h"
#include "model/chat.h"
#include "text/value.h"

enum { OPENAI_CALLS_MAX = 1024 };

/* The words of a finish_reason. False when the word tells of an error. */
bool openai_finish(struct span word, enum chat_finish *finish);

/* Usage in any of the known shapes; `u` keeps what the object does not say. */
void openai_usage(const struct value *usage, struct chat_usage *u);

/* The usage object of an answer or a chunk, or NULL. */
const struct value *openai_find_usage(const struct value *answer);

/* Append the texts of a message or a delta: a string, a list of parts, or (for
 * anything else but null) its JSON. Reasoning has several names; the first counts. */
void openai_add_content(const struct value *message, struct buf *text,
                        struct buf *reasoning, struct buf *refusal);

/* Append the arguments of a call, which may come as an object. */
void openai_add_arguments(const struct value *function, struct buf *out);
