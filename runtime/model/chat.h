/* chat.h - a model call without a provider: the request and the reply.
 *
 * A protocol (openai_chat.h) writes a request as bytes and reads bytes as a reply;
 * what both mean is said here once. Nothing here owns memory: requests point into
 * what their maker keeps, replies into the value_doc they were read into. An absent
 * text is an empty span, an absent number says so by the value named below. */
#pragma once
#include "base/err.h"
#include "text/span.h"
#include "text/value.h"
#include <stdbool.h>
#include <stdint.h>

#define CHAT_NONE ((struct span){ "", 0 })

/* --- request -------------------------------------------------------------------- */

#define CHAT_ROLES(X)                                                                    \
    X(SYSTEM, "system")                                                                  \
    X(USER, "user")                                                                      \
    X(ASSISTANT, "assistant")                                                            \
    X(TOOL, "tool")

enum chat_role {
#define CHAT_ROLE(id, name) CHAT_##id,
    CHAT_ROLES(CHAT_ROLE)
#undef CHAT_ROLE
        CHAT_ROLE_COUNT
};

struct chat_part {
    bool is_image;
    struct span text;   /* or the image: its address, its bytes, or these as base64 */
    struct span type;   /* of an image: "image/png" */
    struct span detail; /* of an image: "auto", "low", "high" */
};

struct chat_call {
    struct span id, name;
    struct span arguments; /* JSON as the model wrote it, not checked */
};

struct chat_message {
    enum chat_role role;
    const struct chat_part *parts;
    size_t part_count;
    const struct chat_call *calls; /* of an assistant */
    size_t call_count;
    struct span call_id; /* of a tool's result: the call it answers */
    struct span name;    /* of the speaker */
};

struct chat_tool {
    struct span name, description;
    struct span parameters; /* a JSON schema */
};

enum chat_thinking { CHAT_THINKING_DEFAULT, CHAT_THINKING_ON, CHAT_THINKING_OFF };

struct chat_params {
    int64_t max_tokens;        /* of the reply; 0: not sent */
    double temperature, top_p; /* NAN: not sent */
    bool has_seed;
    int64_t seed;
    const struct span *stops;
    size_t stop_count;
    struct span reasoning_effort;
    enum chat_thinking thinking;
    struct span tool_choice; /* "auto", "none", "required", or a tool's name */
};

enum chat_format { CHAT_FORMAT_TEXT, CHAT_FORMAT_JSON, CHAT_FORMAT_SCHEMA };

struct chat_request {
    struct span model;
    const struct chat_message *messages;
    size_t message_count;
    const struct chat_tool *tools;
    size_t tool_count;
    struct chat_params params;
    enum chat_format format;
    struct span schema; /* JSON, for CHAT_FORMAT_SCHEMA */
    bool is_stream;
};

/* --- reply ---------------------------------------------------------------------- */

#define CHAT_FINISHES(X)                                                                 \
    X(OTHER, "other")                                                                    \
    X(STOP, "stop")                                                                      \
    X(LENGTH, "length")                                                                  \
    X(TOOL_CALLS, "tool_calls")                                                          \
    X(CONTENT_FILTER, "content_filter")

enum chat_finish {
#define CHAT_FINISH(id, name) CHAT_FINISH_##id,
    CHAT_FINISHES(CHAT_FINISH)
#undef CHAT_FINISH
        CHAT_FINISH_COUNT
};

/* What a reply is good for. All of them are answers: stored, final. */
#define CHAT_OUTCOMES(X)                                                                 \
    X(OK, "ok")                                                                          \
    X(REFUSED, "refused")               /* the model says it will not */                 \
    X(FILTERED, "filtered")             /* somebody else says it may not */              \
    X(TRUNCATED, "truncated")           /* cut at the output limit */                    \
    X(EMPTY, "empty")                   /* no text and no calls */                       \
    X(REASONING_ONLY, "reasoning_only") /* the output was spent on reasoning */

enum chat_outcome {
#define CHAT_OUTCOME(id, name) CHAT_##id,
    CHAT_OUTCOMES(CHAT_OUTCOME)
#undef CHAT_OUTCOME
        CHAT_OUTCOME_COUNT
};

/* Tokens; -1: not known. Reasoning is part of completion, cached part of prompt. */
struct chat_usage {
    int64_t prompt, completion, reasoning, cached;
    bool is_estimated; /* prompt or completion was not measured */
};

#define CHAT_USAGE_UNKNOWN ((struct chat_usage){ -1, -1, -1, -1, false })

struct chat_reply {
    struct span text;      /* the answer alone */
    struct span reasoning; /* never graded, kept for the record */
    struct span refusal;
    const struct chat_call *calls;
    size_t call_count;
    enum chat_finish finish;
    enum chat_outcome outcome;
    struct chat_usage usage;
    struct span model, id; /* as the server names them */
    bool has_call_markup;  /* the text holds a call that no parser at the server saw */
};

/* How the reader wants it. */
struct chat_reading {
    bool keep_think;       /* think tags are part of the task: leave the text alone */
    int64_t prompt_tokens; /* estimate of the request; 0: none */
};

/* From what was received to what it means: take think blocks out of the text, give
 * calls without an id one, empty arguments become {}, fill in usage that was not
 * measured, and judge the outcome. New texts go into d. False when d is full. */
bool chat_reply_finish(struct value_doc *d, struct chat_reply *r,
                       const struct chat_reading *how, struct err *e);

/* Take the leading think blocks of *text off; false when there is none. A block that
 * does not end takes all. A closing tag without its opening one (the server's template
 * wrote that) ends a block that began at the start. *think is the inside of the
 * first to the last block. */
bool chat_split_think(struct span *text, struct span *think);

/* An estimate that leans high: a token for four ASCII bytes or for any other character.
 */
int64_t chat_text_tokens(struct span text);
int64_t chat_request_tokens(const struct chat_request *r);

const char *chat_role_name(enum chat_role role);
const char *chat_finish_name(enum chat_finish finish);
const char *chat_outcome_name(enum chat_outcome outcome);
