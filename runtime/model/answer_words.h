/* answer_words.h - how servers spell things in the text of an error.
 *
 * Tables of spellings, one fact one line; `text` is in lower case. Pure. */
#pragma once
#include "text/span.h"
#include <stdbool.h>

enum words_topic {
    WORDS_TOO_LONG, /* the prompt does not fit into the context */
    WORDS_FILTERED, /* a content filter said no */
    WORDS_NO_CREDIT /* the account has nothing left: waiting does not help */
};

bool words_are_about(enum words_topic topic, struct span text);

/* The HTTP status that a word inside an error object stands for, or 0. */
int words_status(struct span text);

/* The name of the request parameter that a complaint is about, or NULL. */
const char *words_parameter(struct span text);
