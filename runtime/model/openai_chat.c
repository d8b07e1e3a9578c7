/* openai_chat.c - building requests; see openai_chat.h. */
#include "model/openai_chat.h"
#include "model/image.h"
#include "text/json.h"
#include <math.h>

const char *openai_param_name(enum openai_param param)
{
    static const char *const names[] = {
#define PARAM_NAME(id, name) name,
        OPENAI_PARAMS(PARAM_NAME)
#undef PARAM_NAME
    };
    return names[param];
}

const char *openai_thinking_name(enum openai_thinking thinking)
{
    static const char *const names[] = {
#define THINKING_NAME(id, name) name,
        OPENAI_THINKINGS(THINKING_NAME)
#undef THINKING_NAME
    };
    return names[thinking];
}

/* What the functions below write with. */
struct build {
    struct json_writer w;
    const struct chat_request *r;
    const struct openai_quirks *q;
};

/* Write the name of a field unless the provider's extra fields have their own. */
static bool field(struct build *b, const char *name)
{
    if (value_get(b->q->extra, name))
        return false;
    json_key(&b->w, name);
    return true;
}

static bool param(struct build *b, enum openai_param p, const char *name)
{
    return !(b->q->omitted & 1u << p) && field(b, name);
}

static void write_span(struct json_writer *w, struct span s)
{
    json_text_n(w, s.ptr, s.len);
}

static void member(struct json_writer *w, const char *name, struct span s)
{
    json_key(w, name);
    write_span(w, s);
}

/* --- messages -------------------------------------------------------------------- */

static void write_image(struct json_writer *w, const struct chat_part *part)
{
    struct buf address = { 0 };
    if (!image_add_address(&address, part->text, part->type))
        json_refuse(w, "the image is too large");
    json_object(w);
    member(w, "type", SPAN("image_url"));
    json_key(w, "image_url");
    json_object(w);
    member(w, "url", span_of(&address));
    if (part->detail.len)
        member(w, "detail", part->detail);
    json_object_end(w);
    json_object_end(w);
    buf_free(&address);
}

static void write_part(struct json_writer *w, const struct chat_part *part)
{
    if (part->is_image) {
        write_image(w, part);
        return;
    }
    json_object(w);
    member(w, "type", SPAN("text"));
    member(w, "text", part->text);
    json_object_end(w);
}

/* One text goes as a plain string: not every server takes lists. */
static void write_content(struct json_writer *w, const struct chat_message *m)
{
    json_key(w, "content");
    if (m->part_count == 1 && !m->parts[0].is_image) {
        write_span(w, m->parts[0].text);
    } else if (m->part_count == 0 && m->call_count > 0) {
        json_null(w);
    } else if (m->part_count == 0) {
        json_text(w, "");
    } else {
        json_array(w);
        for (size_t i = 0; i < m->part_count; i++)
            write_part(w, &m->parts[i]);
        json_array_end(w);
    }
}

static void write_call(struct json_writer *w, const struct chat_call *call)
{
    json_object(w);
    member(w, "id", call->id);
    member(w, "type", SPAN("function"));
    json_key(w, "function");
    json_object(w);
    member(w, "name", call->name);
    member(w, "arguments", call->arguments);
    json_object_end(w);
    json_object_end(w);
}

static void write_message(struct build *b, const struct chat_message *m)
{
    struct json_writer *w = &b->w;
    bool is_developer = m->role == CHAT_SYSTEM && b->q->is_developer;
    json_object(w);
    json_key(w, "role");
    json_text(w, is_developer ? "developer" : chat_role_name(m->role));
    if (m->name.len)
        member(w, "name", m->name);
    if (m->call_id.len)
        member(w, "tool_call_id", m->call_id);
    write_content(w, m);
    if (m->call_count > 0) {
        json_key(w, "tool_calls");
        json_array(w);
        for (size_t i = 0; i < m->call_count; i++)
            write_call(w, &m->calls[i]);
        json_array_end(w);
    }
    json_object_end(w);
}

/* --- parameters ------------------------------------------------------------------ */

static void write_sampling(struct build *b)
{
    const struct chat_params *p = &b->r->params;
    const char *limit =
        b->q->is_max_completion_tokens ? "max_completion_tokens" : "max_tokens";
    if (p->max_tokens > 0 && param(b, OPENAI_MAX_TOKENS, limit))
        json_integer(&b->w, p->max_tokens);
    if (!isnan(p->temperature) && param(b, OPENAI_TEMPERATURE, "temperature"))
        json_double(&b->w, p->temperature);
    if (!isnan(p->top_p) && param(b, OPENAI_TOP_P, "top_p"))
        json_double(&b->w, p->top_p);
    if (p->has_seed && param(b, OPENAI_SEED, "seed"))
        json_integer(&b->w, p->seed);
    if (p->stop_count > 0 && param(b, OPENAI_STOP, "stop")) {
        json_array(&b->w);
        for (size_t i = 0; i < p->stop_count; i++)
            write_span(&b->w, p->stops[i]);
        json_array_end(&b->w);
    }
}

static void write_thinking_type(struct build *b, const char *type)
{
    if (!param(b, OPENAI_THINKING, "thinking"))
        return;
    json_object(&b->w);
    json_key(&b->w, "type");
    json_text(&b->w, type);
    json_object_end(&b->w);
}

static void write_thinking(struct build *b)
{
    bool is_on = b->r->params.thinking == CHAT_THINKING_ON;
    if (b->r->params.thinking == CHAT_THINKING_DEFAULT)
        return;
    switch (b->q->thinking) {
    case OPENAI_THINKING_TEMPLATE:
        if (!param(b, OPENAI_THINKING, "chat_template_kwargs"))
            return;
        json_object(&b->w);
        json_key(&b->w, "enable_thinking");
        json_bool(&b->w, is_on);
        json_object_end(&b->w);
        return;
    case OPENAI_THINKING_FLAG:
        if (param(b, OPENAI_THINKING, "enable_thinking"))
            json_bool(&b->w, is_on);
        return;
    case OPENAI_THINKING_ADAPTIVE:
        write_thinking_type(b, is_on ? "adaptive" : "disabled");
        return;
    case OPENAI_THINKING_ENABLED:
        write_thinking_type(b, is_on ? "enabled" : "disabled");
        return;
    default:
        return;
    }
}

static void write_effort(struct build *b)
{
    const struct chat_params *p = &b->r->params;
    bool is_off =
        b->q->thinking == OPENAI_THINKING_EFFORT && p->thinking == CHAT_THINKING_OFF;
    struct span effort = is_off ? SPAN("none") : p->reasoning_effort;
    if (effort.len == 0 || (b->r->tool_count > 0 && b->q->is_effort_without_tools))
        return;
    if (param(b, OPENAI_REASONING_EFFORT, "reasoning_effort"))
        write_span(&b->w, effort);
}

static void write_schema(struct build *b)
{
    struct json_writer *w = &b->w;
    member(w, "type", SPAN("json_schema"));
    json_key(w, "json_schema");
    json_object(w);
    member(w, "name", SPAN("reply"));
    json_key(w, "schema");
    json_raw(w, b->r->schema.ptr, b->r->schema.len);
    if (b->q->is_strict) {
        json_key(w, "strict");
        json_bool(w, true);
    }
    json_object_end(w);
}

static void write_format(struct build *b)
{
    if (b->r->format == CHAT_FORMAT_TEXT ||
        !param(b, OPENAI_RESPONSE_FORMAT, "response_format"))
        return;
    json_object(&b->w);
    if (b->r->format == CHAT_FORMAT_SCHEMA && !b->q->is_schema_unknown)
        write_schema(b);
    else
        member(&b->w, "type", SPAN("json_object"));
    json_object_end(&b->w);
}

/* --- tools ----------------------------------------------------------------------- */

static void write_tool(struct json_writer *w, const struct chat_tool *tool)
{
    json_object(w);
    member(w, "type", SPAN("function"));
    json_key(w, "function");
    json_object(w);
    member(w, "name", tool->name);
    member(w, "description", tool->description);
    json_key(w, "parameters");
    json_raw(w, tool->parameters.ptr, tool->parameters.len);
    json_object_end(w);
    json_object_end(w);
}

static void write_choice(struct build *b)
{
    static const char *const words[] = { "auto", "none", "required" };
    struct span choice = b->r->params.tool_choice;
    if (choice.len == 0 || !param(b, OPENAI_TOOL_CHOICE, "tool_choice"))
        return;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (span_equals(choice, (struct span){ words[i], strlen(words[i]) })) {
            write_span(&b->w, choice);
            return;
        }
    json_object(&b->w);
    member(&b->w, "type", SPAN("function"));
    json_key(&b->w, "function");
    json_object(&b->w);
    member(&b->w, "name", choice);
    json_object_end(&b->w);
    json_object_end(&b->w);
}

static void write_tools(struct build *b)
{
    if (b->r->tool_count == 0)
        return;
    if (field(b, "tools")) {
        json_array(&b->w);
        for (size_t i = 0; i < b->r->tool_count; i++)
            write_tool(&b->w, &b->r->tools[i]);
        json_array_end(&b->w);
    }
    write_choice(b);
}

static void write_stream(struct build *b)
{
    if (!b->r->is_stream)
        return;
    if (field(b, "stream"))
        json_bool(&b->w, true);
    if (!param(b, OPENAI_STREAM_OPTIONS, "stream_options"))
        return;
    json_object(&b->w);
    json_key(&b->w, "include_usage");
    json_bool(&b->w, true);
    json_object_end(&b->w);
}

static void write_extra(struct build *b)
{
    const struct value *extra = b->q->extra;
    if (!value_is(extra, VALUE_OBJECT))
        return;
    for (size_t i = 0; i < extra->count; i++) {
        json_key_n(&b->w, extra->entries[i].key, extra->entries[i].key_length);
        json_value(&b->w, &extra->entries[i].value);
    }
}

bool openai_chat_build(const struct chat_request *r, const struct openai_quirks *q,
                       struct buf *out, struct err *e)
{
    struct build b = { .r = r, .q = q };
    json_begin(&b.w, out, JSON_LINE);
    json_object(&b.w);
    if (field(&b, "model"))
        write_span(&b.w, r->model);
    if (field(&b, "messages")) {
        json_array(&b.w);
        for (size_t i = 0; i < r->message_count; i++)
            write_message(&b, &r->messages[i]);
        json_array_end(&b.w);
    }
    write_sampling(&b);
    write_effort(&b);
    write_thinking(&b);
    write_format(&b);
    write_tools(&b);
    write_stream(&b);
    write_extra(&b);
    json_object_end(&b.w);
    return json_end(&b.w, e);
}

/* --- adapting -------------------------------------------------------------------- */

/* A value out of range is a mistake to be told, not a parameter to be left out. */
static bool is_about_value(const char *message)
{
    static const char *const words[] = { "too large",       "too small",
                                         "at most",         "at least",
                                         "maximum of",      "minimum of",
                                         "must be between", "less than or equal",
                                         "greater than" };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcasestr(message, words[i]))
            return true;
    return false;
}

/* The parameter a wire name belongs to ("response_format.type" is one of
 * response_format); OPENAI_PARAM_COUNT when none. */
static enum openai_param param_of(const char *name)
{
    size_t n = strcspn(name, ".[");
    struct span head = { name, n };
    if (span_equals(head, SPAN("max_completion_tokens")))
        return OPENAI_MAX_TOKENS;
    if (span_equals(head, SPAN("chat_template_kwargs")) ||
        span_equals(head, SPAN("enable_thinking")))
        return OPENAI_THINKING;
    for (enum openai_param p = 0; p < OPENAI_PARAM_COUNT; p++)
        if (strlen(openai_param_name(p)) == n &&
            memcmp(openai_param_name(p), name, n) == 0)
            return p;
    return OPENAI_PARAM_COUNT;
}

static bool is_role_name(const char *name)
{
    size_t n = strlen(name);
    return strncmp(name, "messages[", 9) == 0 && n > 5 &&
           strcmp(name + n - 5, ".role") == 0;
}

/* Only the name in use can be the refused one. */
static bool adapt_limit(struct openai_quirks *q, bool is_new_refused)
{
    if (q->is_max_completion_tokens != is_new_refused)
        return false;
    q->is_max_completion_tokens = !is_new_refused;
    return true;
}

bool openai_chat_adapt(struct openai_quirks *q, const char *name, const char *message)
{
    enum openai_param p = param_of(name);
    if (is_about_value(message))
        return false;
    if (is_role_name(name) && !q->is_developer) {
        q->is_developer = true;
        return true;
    }
    if (p == OPENAI_PARAM_COUNT || q->omitted & 1u << p)
        return false;
    if (p == OPENAI_MAX_TOKENS)
        return adapt_limit(q, strncmp(name, "max_completion_tokens", 21) == 0);
    if (p == OPENAI_RESPONSE_FORMAT && strstr(message, "json_object"))
        q->is_schema_unknown = true;
    else
        q->omitted |= 1u << p;
    return true;
}
