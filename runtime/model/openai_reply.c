/* openai_reply.c - see openai_reply.h; and the parser of whole answers. */
#include "model/openai_reply.h"
#include "model/openai_chat.h"
#include "text/json.h"
#include <strings.h>

static struct span text_of(const struct value *v)
{
    const char *text = value_text(v);
    return text ? (struct span){ text, v->count } : CHAT_NONE;
}

static struct span text_in(const struct value *object, const char *name)
{
    return text_of(value_get(object, name));
}

/* --- finish and usage ------------------------------------------------------------ */

bool openai_finish(struct span word, enum chat_finish *finish)
{
    static const struct {
        const char *word;
        enum chat_finish finish;
    } list[] = {
        { "stop", CHAT_FINISH_STOP },
        { "length", CHAT_FINISH_LENGTH },
        { "tool_calls", CHAT_FINISH_TOOL_CALLS },
        { "content_filter", CHAT_FINISH_CONTENT_FILTER },
        { "function_call", CHAT_FINISH_TOOL_CALLS },
        { "tool_use", CHAT_FINISH_TOOL_CALLS },
        { "end_turn", CHAT_FINISH_STOP },
        { "eos", CHAT_FINISH_STOP },
        { "stop_sequence", CHAT_FINISH_STOP },
        { "complete", CHAT_FINISH_STOP },
        { "max_tokens", CHAT_FINISH_LENGTH },
        { "max_output_tokens", CHAT_FINISH_LENGTH },
        { "model_length", CHAT_FINISH_LENGTH },
        { "model_context_window_exceeded", CHAT_FINISH_LENGTH },
        { "safety", CHAT_FINISH_CONTENT_FILTER },
        { "sensitive", CHAT_FINISH_CONTENT_FILTER },
        { "recitation", CHAT_FINISH_CONTENT_FILTER },
        { "prohibited_content", CHAT_FINISH_CONTENT_FILTER },
    };
    static const char *const errors[] = { "error", "abort", "network_error",
                                          "insufficient_system_resource" };
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
        if (strcasecmp(word.ptr, list[i].word) == 0)
            *finish = list[i].finish;
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
        if (strcasecmp(word.ptr, errors[i]) == 0)
            return false;
    /* Some add what the filter saw: "content_filter: HATE". */
    if (strncasecmp(word.ptr, "content_filter", 14) == 0)
        *finish = CHAT_FINISH_CONTENT_FILTER;
    return true;
}

/* A count under the first name that has one, or `otherwise`. */
static int64_t count_in(const struct value *object, const char *const names[],
                        int64_t otherwise)
{
    for (size_t i = 0; names[i]; i++) {
        int64_t n = value_integer_or(object, names[i], -1);
        if (n >= 0)
            return n;
    }
    return otherwise;
}

static const struct value *object_in(const struct value *object, const char *a,
                                     const char *b)
{
    const struct value *v = value_get(object, a);
    return value_is(v, VALUE_OBJECT) ? v : value_get(object, b);
}

/* Servers that count reasoning apart show it in the total only. */
static void add_hidden(const struct value *usage, struct chat_usage *u)
{
    int64_t total = value_integer_or(usage, "total_tokens", -1);
    if (u->prompt < 0 || total < u->prompt)
        return;
    int64_t rest = total - u->prompt;
    if (u->completion >= 0 && rest > u->completion && u->reasoning < 0)
        u->reasoning = rest - u->completion;
    if (rest > u->completion)
        u->completion = rest;
}

void openai_usage(const struct value *usage, struct chat_usage *u)
{
    static const char *const prompt[] = { "prompt_tokens", "input_tokens", NULL };
    static const char *const completion[] = { "completion_tokens", "output_tokens",
                                              NULL };
    static const char *const cached[] = { "cached_tokens", NULL };
    static const char *const cached_flat[] = { "prompt_cache_hit_tokens", "cached_tokens",
                                               NULL };
    static const char *const reasoning[] = { "reasoning_tokens", NULL };
    if (!value_is(usage, VALUE_OBJECT))
        return;
    const struct value *in =
        object_in(usage, "prompt_tokens_details", "input_tokens_details");
    const struct value *out =
        object_in(usage, "completion_tokens_details", "output_tokens_details");
    u->prompt = count_in(usage, prompt, u->prompt);
    u->completion = count_in(usage, completion, u->completion);
    u->cached = count_in(in, cached, count_in(usage, cached_flat, u->cached));
    u->reasoning = count_in(out, reasoning, count_in(usage, reasoning, u->reasoning));
    add_hidden(usage, u);
}

const struct value *openai_find_usage(const struct value *answer)
{
    const struct value *usage = value_get(answer, "usage");
    if (!value_is(usage, VALUE_OBJECT))
        usage = value_get(value_get(answer, "x_groq"), "usage");
    return value_is(usage, VALUE_OBJECT) ? usage : NULL;
}

/* --- content --------------------------------------------------------------------- */

static void add_json(const struct value *v, struct buf *out)
{
    struct json_writer w;
    json_begin(&w, out, JSON_LINE);
    json_value(&w, v);
    json_end(&w, NULL);
}

static bool is_type(const struct value *part, const char *type)
{
    return strcmp(value_text_or(part, "type", "text"), type) == 0;
}

/* {"type": "thinking", "thinking": "..." or [{"text": "..."}]} */
static void add_thinking_part(const struct value *part, struct buf *reasoning)
{
    const struct value *inner = value_get(part, "thinking");
    span_add(reasoning, text_of(inner));
    span_add(reasoning, text_in(part, "text"));
    for (size_t i = 0; i < value_count(inner); i++)
        span_add(reasoning, text_in(value_at(inner, i), "text"));
}

static void add_part(const struct value *part, struct buf *text, struct buf *reasoning,
                     struct buf *refusal)
{
    if (value_is(part, VALUE_TEXT))
        span_add(text, text_of(part));
    else if (is_type(part, "thinking") || is_type(part, "reasoning"))
        add_thinking_part(part, reasoning);
    else if (is_type(part, "refusal"))
        span_add(refusal, text_in(part, "refusal"));
    else
        span_add(text, text_in(part, "text"));
}

static void add_reasoning(const struct value *message, struct buf *reasoning)
{
    static const char *const names[] = { "reasoning", "reasoning_content", "thinking" };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct span s = text_in(message, names[i]);
        if (s.len) {
            span_add(reasoning, s);
            return;
        }
    }
    const struct value *details = value_get(message, "reasoning_details");
    for (size_t i = 0; i < value_count(details); i++) {
        span_add(reasoning, text_in(value_at(details, i), "text"));
        span_add(reasoning, text_in(value_at(details, i), "summary"));
    }
}

void openai_add_content(const struct value *message, struct buf *text,
                        struct buf *reasoning, struct buf *refusal)
{
    const struct value *content = value_get(message, "content");
    add_reasoning(message, reasoning);
    span_add(refusal, text_in(message, "refusal"));
    if (value_is(content, VALUE_TEXT))
        span_add(text, text_of(content));
    else if (value_is(content, VALUE_ARRAY))
        for (size_t i = 0; i < content->count; i++)
            add_part(&content->items[i], text, reasoning, refusal);
    else if (content && content->kind != VALUE_NULL)
        add_json(content, text);
}

void openai_add_arguments(const struct value *function, struct buf *out)
{
    const struct value *arguments = value_get(function, "arguments");
    if (value_is(arguments, VALUE_TEXT))
        span_add(out, text_of(arguments));
    else if (arguments && arguments->kind != VALUE_NULL)
        add_json(arguments, out);
}

/* --- whole answers --------------------------------------------------------------- */

static bool keep(struct value_doc *d, struct buf *b, struct span *out)
{
    *out = CHAT_NONE;
    if (b->len == 0)
        return !b->is_full;
    const char *copy = b->is_full ? NULL : value_copy(d, b->ptr, b->len);
    if (copy)
        *out = (struct span){ copy, b->len };
    return copy != NULL;
}

/* The common shape needs no copies. */
static bool is_simple(const struct value *message)
{
    const struct value *content = value_get(message, "content");
    return (value_is(content, VALUE_TEXT) || value_is(content, VALUE_NULL)) &&
           !value_get(message, "reasoning_details");
}

static bool read_texts(const struct value *message, struct value_doc *d,
                       struct chat_reply *r)
{
    struct buf text = { 0 }, reasoning = { 0 }, refusal = { 0 };
    if (is_simple(message)) {
        add_reasoning(message, &reasoning);
        r->text = text_in(message, "content");
        r->refusal = text_in(message, "refusal");
    } else {
        openai_add_content(message, &text, &reasoning, &refusal);
        if (!keep(d, &text, &r->text) || !keep(d, &refusal, &r->refusal))
            reasoning.is_full = true;
    }
    bool ok = keep(d, &reasoning, &r->reasoning);
    buf_free(&text);
    buf_free(&reasoning);
    buf_free(&refusal);
    return ok;
}

static bool read_call(const struct value *call, struct value_doc *d,
                      struct chat_call *out)
{
    const struct value *function = value_get(call, "function");
    if (!value_is(function, VALUE_OBJECT))
        function = call;
    out->id = text_in(call, "id");
    out->name = text_in(function, "name");
    out->arguments = text_in(function, "arguments");
    if (value_is(value_get(function, "arguments"), VALUE_TEXT))
        return true;
    struct buf arguments = { 0 };
    openai_add_arguments(function, &arguments);
    bool ok = keep(d, &arguments, &out->arguments);
    buf_free(&arguments);
    return ok;
}

static bool read_calls(const struct value *message, struct value_doc *d,
                       struct chat_reply *r)
{
    const struct value *calls = value_get(message, "tool_calls");
    const struct value *old = value_get(message, "function_call");
    size_t n = value_is(calls, VALUE_ARRAY) ? calls->count : 0;
    bool is_old = n == 0 && value_is(old, VALUE_OBJECT);
    if (n + is_old == 0)
        return true;
    struct chat_call *out =
        n <= OPENAI_CALLS_MAX ? value_alloc(d, (n + is_old) * sizeof *out) : NULL;
    if (!out)
        return false;
    for (size_t i = 0; i < n; i++)
        if (!read_call(&calls->items[i], d, &out[i]))
            return false;
    if (is_old && !read_call(old, d, out))
        return false;
    r->calls = out;
    r->call_count = n + is_old;
    return true;
}

static bool fail_shape(const struct answer *a, const char *what, struct fault *f)
{
    fault_set(f, ERR_SERVER, what);
    f->status = a->status;
    return false;
}

static bool read_choice(const struct answer *a, const struct value *v,
                        struct value_doc *d, struct chat_reply *r, struct fault *f)
{
    const struct value *choice = value_at(value_get(v, "choices"), 0);
    const struct value *message = value_get(choice, "message");
    struct span word = text_in(choice, "finish_reason");
    if (!openai_finish(word, &r->finish)) {
        if (!answer_judge_object(a, choice, f))
            fail_shape(a, "the server ended the reply with an error", f);
        return false;
    }
    if (!value_is(message, VALUE_OBJECT))
        return fail_shape(a, "the answer has no message", f);
    r->model = text_in(v, "model");
    r->id = text_in(v, "id");
    if (!read_texts(message, d, r) || !read_calls(message, d, r)) {
        fault_set(f, ERR_LIMIT, "the answer is too large");
        return false;
    }
    return true;
}

static bool read_body(const struct answer *a, struct value_doc *d, struct chat_reply *r,
                      struct fault *f)
{
    struct json_rules rules = { .fix_utf8 = true, .allow_bom = true, .allow_nan = true };
    struct err e;
    const struct value *v = json_read(d, a->body.ptr, a->body.len, &rules, &e);
    if (!v || v->kind != VALUE_OBJECT) {
        if (v)
            err_set(&e, ERR_PARSE, "it is no object but %s", value_kind_name(v->kind));
        answer_judge_foreign(a, &e, f);
        return false;
    }
    openai_usage(openai_find_usage(v), &r->usage);
    if (answer_judge_object(a, v, f))
        return false;
    if (value_count(value_get(v, "choices")) == 0)
        return fail_shape(a, "the answer has no choices", f);
    return read_choice(a, v, d, r, f);
}

bool openai_chat_parse(const struct answer *a, const struct chat_reading *how,
                       struct value_doc *d, struct chat_reply *r, struct fault *f)
{
    *r = (struct chat_reply){ CHAT_NONE,          CHAT_NONE,
                              CHAT_NONE,          .usage = CHAT_USAGE_UNKNOWN,
                              .model = CHAT_NONE, .id = CHAT_NONE };
    if (a->status < 200 || a->status >= 300) {
        answer_judge(a, d, f);
        return false;
    }
    if (!read_body(a, d, r, f))
        return false;
    if (chat_reply_finish(d, r, how, &f->err))
        return true;
    fault_set(f, ERR_LIMIT, "the answer is too large");
    return false;
}
