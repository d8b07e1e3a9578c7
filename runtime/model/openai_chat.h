/* openai_chat.h - the Chat Completions wire format and its dialects.
 *
 * Build writes a request as JSON, parse reads an answer, a stream reads an answer that
 * comes as events. What servers do differently is in struct openai_quirks, filled by
 * the provider's table and, after a 400 that names a parameter, by openai_chat_adapt.
 * Pure functions on bytes: no clock, no network. */
#pragma once
#include "base/buf.h"
#include "model/answer.h"
#include "model/chat.h"
#include "text/sse.h"

/* Parameters a server may not take. */
#define OPENAI_PARAMS(X)                                                                 \
    X(MAX_TOKENS, "max_tokens")                                                          \
    X(TEMPERATURE, "temperature")                                                        \
    X(TOP_P, "top_p")                                                                    \
    X(SEED, "seed")                                                                      \
    X(STOP, "stop")                                                                      \
    X(REASONING_EFFORT, "reasoning_effort")                                              \
    X(THINKING, "thinking")                                                              \
    X(RESPONSE_FORMAT, "response_format")                                                \
    X(TOOL_CHOICE, "tool_choice")                                                        \
    X(STREAM_OPTIONS, "stream_options")

enum openai_param {
#define OPENAI_PARAM(id, name) OPENAI_##id,
    OPENAI_PARAMS(OPENAI_PARAM)
#undef OPENAI_PARAM
        OPENAI_PARAM_COUNT
};

/* How thinking is switched, when the request says on or off. */
#define OPENAI_THINKINGS(X)                                                              \
    X(NONE, "none")                     /* it cannot: nothing is sent */                 \
    X(TEMPLATE, "chat_template_kwargs") /* {"enable_thinking": true} in there */         \
    X(FLAG, "enable_thinking")          /* true or false */                              \
    X(ADAPTIVE, "adaptive")             /* "thinking": {"type": "adaptive"} */           \
    X(ENABLED, "enabled")               /* "thinking": {"type": "enabled"} */            \
    X(EFFORT, "reasoning_effort")       /* off: "none"; on: nothing is sent */

enum openai_thinking {
#define OPENAI_THINKING(id, name) OPENAI_THINKING_##id,
    OPENAI_THINKINGS(OPENAI_THINKING)
#undef OPENAI_THINKING
        OPENAI_THINKING_COUNT
};

/* Zeroed: the plain dialect of 2023 with max_tokens and without thinking. */
struct openai_quirks {
    bool is_max_completion_tokens; /* the name of the output limit */
    bool is_developer;             /* system messages have the role `developer` */
    bool is_strict;                /* schemas are sent as strict ones */
    bool is_schema_unknown;        /* a schema is sent as "any JSON object" */
    bool is_effort_without_tools;  /* no reasoning_effort beside tools */
    unsigned omitted;              /* bits 1 << enum openai_param */
    enum openai_thinking thinking;
    const struct value *extra; /* object of fields that replace or add; may be NULL */
};

/* Append the body. False with kind data (a text is not UTF-8) or limit. */
bool openai_chat_build(const struct chat_request *r, const struct openai_quirks *q,
                       struct buf *out, struct err *e);

/* Read a whole answer. Everything in *r belongs to d (which is not emptied) or to the
 * answer. False with the fault filled; then r->usage alone may be used. */
bool openai_chat_parse(const struct answer *a, const struct chat_reading *how,
                       struct value_doc *d, struct chat_reply *r, struct fault *f);

/* Change the quirks so that the refused parameter `param` is not sent that way again;
 * `message` are the server's words. False when that would not help: unknown parameter,
 * or the complaint is about its value. */
bool openai_chat_adapt(struct openai_quirks *q, const char *param, const char *message);

/* --- streams --------------------------------------------------------------------- */

enum openai_progress {
    OPENAI_MORE,  /* go on */
    OPENAI_LAST,  /* the reply is complete; what follows does not matter */
    OPENAI_ENOUGH /* it cannot become a reply any more */
};

struct openai_stream;
struct openai_stream *openai_stream_new(void);
void openai_stream_free(struct openai_stream *s);

/* Take bytes of the body in any pieces. A body that is no event stream (an error, or
 * a server that does not stream) is collected and parsed as a whole at the end. */
enum openai_progress openai_stream_feed(struct openai_stream *s, const char *p, size_t n);

/* No more bytes come. As openai_chat_parse; `a` gives status and headers, its body is
 * not looked at. A stream without its end is a network fault. The reply points into
 * `d` and into the stream. Once for each stream. */
bool openai_stream_end(struct openai_stream *s, const struct answer *a,
                       const struct chat_reading *how, struct value_doc *d,
                       struct chat_reply *r, struct fault *f);

const char *openai_param_name(enum openai_param param);
const char *openai_thinking_name(enum openai_thinking thinking);
