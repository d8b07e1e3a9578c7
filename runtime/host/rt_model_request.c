/* rt_model_request.c - see rt_model_request.h. */
#include "host/rt_model_request.h"
#include "host/bind.h"
#include "host/convert.h"
#include <lauxlib.h>
#include <math.h>

enum { LIST_MAX = 1 << 20 };

/* What is being read; `at` names the place for messages. */
struct reader {
    lua_State *L;
    struct value_doc *doc;
    char at[96];
};

static int refuse(struct reader *rd, const char *field, const char *what)
{
    return luaL_error(rd->L, "request: %s%s%s %s", rd->at,
                      rd->at[0] && field[0] ? "." : "", field, what);
}

static void *take(struct reader *rd, size_t count, size_t size)
{
    void *p = value_alloc(rd->doc, count * size + 1);
    if (!p)
        luaL_error(rd->L, "request: too large");
    return p;
}

/* --- fields of the table on top of the stack ------------------------------------- */

/* Push the field; false (and nothing pushed) when it is absent or null. */
static bool push_field(struct reader *rd, const char *name)
{
    int type = lua_getfield(rd->L, -1, name);
    if (type != LUA_TNIL && !convert_is_null(rd->L, -1))
        return true;
    lua_pop(rd->L, 1);
    return false;
}

/* The table holds the string after it is popped. */
static struct span text_on_top(struct reader *rd, const char *field)
{
    struct span s;
    if (lua_type(rd->L, -1) != LUA_TSTRING)
        refuse(rd, field, "must be a text");
    s.ptr = lua_tolstring(rd->L, -1, &s.len);
    return s;
}

static struct span read_text(struct reader *rd, const char *name)
{
    if (!push_field(rd, name))
        return CHAT_NONE;
    struct span s = text_on_top(rd, name);
    lua_pop(rd->L, 1);
    return s;
}

static struct span need_text(struct reader *rd, const char *name)
{
    struct span s = read_text(rd, name);
    if (s.len == 0)
        refuse(rd, name, "is missing");
    return s;
}

/* The value on top as JSON that belongs to the doc. */
static struct span json_on_top(struct reader *rd, const char *field)
{
    struct err e;
    struct span s = { "", 0 };
    struct buf *out = convert_buf(rd->L);
    if (!convert_encode(rd->L, -1, JSON_LINE, out, &e))
        refuse(rd, field, e.message);
    s.len = out->len;
    s.ptr = value_copy(rd->doc, buf_text(out), out->len);
    if (!s.ptr)
        refuse(rd, field, "is too large");
    return s;
}

static double read_number(struct reader *rd, const char *name)
{
    double n = NAN;
    if (!push_field(rd, name))
        return n;
    if (lua_type(rd->L, -1) != LUA_TNUMBER || !isfinite(lua_tonumber(rd->L, -1)))
        refuse(rd, name, "must be a number");
    n = lua_tonumber(rd->L, -1);
    lua_pop(rd->L, 1);
    return n;
}

static bool read_integer(struct reader *rd, const char *name, int64_t *out)
{
    int is_integer;
    if (!push_field(rd, name))
        return false;
    *out = lua_tointegerx(rd->L, -1, &is_integer);
    if (!is_integer)
        refuse(rd, name, "must be a whole number");
    lua_pop(rd->L, 1);
    return true;
}

/* How many items the list on top has. */
static size_t list_length(struct reader *rd, const char *field)
{
    if (lua_type(rd->L, -1) != LUA_TTABLE)
        refuse(rd, field, "must be a list");
    lua_Integer n = luaL_len(rd->L, -1);
    if (n < 0 || n > LIST_MAX)
        refuse(rd, field, "is too long");
    return (size_t)n;
}

/* Push item i (from 0), which must be a table. */
static void push_item(struct reader *rd, size_t i, const char *field)
{
    if (lua_geti(rd->L, -1, (lua_Integer)i + 1) != LUA_TTABLE)
        refuse(rd, field, "must be a list of tables");
}

/* --- messages -------------------------------------------------------------------- */

static void read_part(struct reader *rd, struct chat_part *part)
{
    *part = (struct chat_part){ false, read_text(rd, "text"), CHAT_NONE, CHAT_NONE };
    if (!push_field(rd, "image"))
        return;
    part->is_image = true;
    part->text = text_on_top(rd, "image");
    lua_pop(rd->L, 1);
    part->type = read_text(rd, "type");
    part->detail = read_text(rd, "detail");
    if (part->type.len == 0)
        part->type = SPAN("image/png");
}

/* The content on top: a text or a list of parts. */
static void read_content(struct reader *rd, struct chat_message *m)
{
    bool is_text = lua_type(rd->L, -1) == LUA_TSTRING;
    m->part_count = is_text ? 1 : list_length(rd, "content");
    struct chat_part *parts = take(rd, m->part_count, sizeof *parts);
    m->parts = parts;
    if (is_text) {
        *parts =
            (struct chat_part){ false, text_on_top(rd, "content"), CHAT_NONE, CHAT_NONE };
        return;
    }
    for (size_t i = 0; i < m->part_count; i++) {
        push_item(rd, i, "content");
        read_part(rd, &parts[i]);
        lua_pop(rd->L, 1);
    }
}

static struct span read_arguments(struct reader *rd)
{
    struct span s = SPAN("{}");
    if (!push_field(rd, "arguments"))
        return s;
    s = lua_type(rd->L, -1) == LUA_TSTRING ? text_on_top(rd, "arguments")
                                           : json_on_top(rd, "arguments");
    lua_pop(rd->L, 1);
    return s;
}

/* The list of calls on top. */
static void read_calls(struct reader *rd, struct chat_message *m)
{
    m->call_count = list_length(rd, "tool_calls");
    struct chat_call *calls = take(rd, m->call_count, sizeof *calls);
    m->calls = calls;
    for (size_t i = 0; i < m->call_count; i++) {
        push_item(rd, i, "tool_calls");
        calls[i].id = read_text(rd, "id");
        calls[i].name = read_text(rd, "name");
        calls[i].arguments = read_arguments(rd);
        lua_pop(rd->L, 1);
    }
}

static enum chat_role read_role(struct reader *rd)
{
    struct span word = need_text(rd, "role");
    for (enum chat_role role = 0; role < CHAT_ROLE_COUNT; role++)
        if (strcmp(word.ptr, chat_role_name(role)) == 0)
            return role;
    refuse(rd, "role", "must be system, user, assistant or tool");
    return CHAT_USER;
}

static void read_message(struct reader *rd, struct chat_message *m)
{
    *m = (struct chat_message){ .role = read_role(rd) };
    m->call_id = read_text(rd, "tool_call_id");
    m->name = read_text(rd, "name");
    if (push_field(rd, "content")) {
        read_content(rd, m);
        lua_pop(rd->L, 1);
    }
    if (push_field(rd, "tool_calls")) {
        read_calls(rd, m);
        lua_pop(rd->L, 1);
    }
}

static void read_messages(struct reader *rd, struct chat_request *r)
{
    if (!push_field(rd, "messages"))
        refuse(rd, "messages", "is missing");
    r->message_count = list_length(rd, "messages");
    struct chat_message *list = take(rd, r->message_count, sizeof *list);
    r->messages = list;
    for (size_t i = 0; i < r->message_count; i++) {
        push_item(rd, i, "messages");
        lua_Integer number = (lua_Integer)i + 1;
        snprintf(rd->at, sizeof rd->at, "messages[%lld]", (long long)number);
        read_message(rd, &list[i]);
        lua_pop(rd->L, 1);
    }
    rd->at[0] = '\0';
    lua_pop(rd->L, 1);
}

/* --- tools, parameters, format ---------------------------------------------------- */

static void read_tool(struct reader *rd, struct chat_tool *tool)
{
    tool->name = need_text(rd, "name");
    tool->description = read_text(rd, "description");
    tool->parameters = SPAN("{\"type\": \"object\", \"properties\": {}}");
    if (push_field(rd, "parameters")) {
        tool->parameters = json_on_top(rd, "parameters");
        lua_pop(rd->L, 1);
    }
}

static void read_tools(struct reader *rd, struct chat_request *r)
{
    if (!push_field(rd, "tools"))
        return;
    r->tool_count = list_length(rd, "tools");
    struct chat_tool *list = take(rd, r->tool_count, sizeof *list);
    r->tools = list;
    for (size_t i = 0; i < r->tool_count; i++) {
        push_item(rd, i, "tools");
        snprintf(rd->at, sizeof rd->at, "tools[%zu]", i + 1);
        read_tool(rd, &list[i]);
        lua_pop(rd->L, 1);
    }
    rd->at[0] = '\0';
    lua_pop(rd->L, 1);
}

static void read_stops(struct reader *rd, struct chat_params *p)
{
    if (!push_field(rd, "stop"))
        return;
    bool is_text = lua_type(rd->L, -1) == LUA_TSTRING;
    p->stop_count = is_text ? 1 : list_length(rd, "stop");
    struct span *stops = take(rd, p->stop_count, sizeof *stops);
    p->stops = stops;
    if (is_text)
        stops[0] = text_on_top(rd, "stop");
    for (size_t i = 0; i < p->stop_count && !is_text; i++) {
        lua_geti(rd->L, -1, (lua_Integer)i + 1);
        stops[i] = text_on_top(rd, "stop");
        lua_pop(rd->L, 1);
    }
    lua_pop(rd->L, 1);
}

static enum chat_thinking read_thinking(struct reader *rd)
{
    struct span word = read_text(rd, "thinking");
    if (word.len == 0 || span_equals(word, SPAN("server_default")))
        return CHAT_THINKING_DEFAULT;
    if (span_equals(word, SPAN("enabled")))
        return CHAT_THINKING_ON;
    if (!span_equals(word, SPAN("disabled")))
        refuse(rd, "thinking", "must be server_default, enabled or disabled");
    return CHAT_THINKING_OFF;
}

static void read_params(struct reader *rd, struct chat_params *p)
{
    static const char *const names[] = {
        "max_tokens",       "temperature", "top_p",       "seed", "stop",
        "reasoning_effort", "thinking",    "tool_choice", NULL,
    };
    *p = (struct chat_params){ .temperature = NAN,
                               .top_p = NAN,
                               .reasoning_effort = CHAT_NONE,
                               .tool_choice = CHAT_NONE };
    p->has_seed = read_integer(rd, "seed", &p->seed);
    if (!push_field(rd, "params"))
        return;
    bind_opts(rd->L, -1, names);
    snprintf(rd->at, sizeof rd->at, "params");
    if (read_integer(rd, "max_tokens", &p->max_tokens) && p->max_tokens < 1)
        refuse(rd, "max_tokens", "must be at least 1");
    p->temperature = read_number(rd, "temperature");
    p->top_p = read_number(rd, "top_p");
    p->has_seed = read_integer(rd, "seed", &p->seed) || p->has_seed;
    read_stops(rd, p);
    p->reasoning_effort = read_text(rd, "reasoning_effort");
    p->thinking = read_thinking(rd);
    p->tool_choice = read_text(rd, "tool_choice");
    rd->at[0] = '\0';
    lua_pop(rd->L, 1);
}

static void read_format(struct reader *rd, struct chat_request *r)
{
    r->schema = CHAT_NONE;
    if (!push_field(rd, "format"))
        return;
    if (lua_type(rd->L, -1) == LUA_TTABLE) {
        if (!push_field(rd, "schema"))
            refuse(rd, "format", "must be \"json\" or {schema = ...}");
        r->format = CHAT_FORMAT_SCHEMA;
        r->schema = json_on_top(rd, "format.schema");
        lua_pop(rd->L, 1);
    } else if (span_equals(text_on_top(rd, "format"), SPAN("json"))) {
        r->format = CHAT_FORMAT_JSON;
    } else {
        refuse(rd, "format", "must be \"json\" or {schema = ...}");
    }
    lua_pop(rd->L, 1);
}

void model_read_request(lua_State *L, int index, struct value_doc *d,
                        struct chat_request *r)
{
    static const char *const names[] = { "model",  "messages", "tools",
                                         "params", "format",   "seed",
                                         "stream", "provider", NULL };
    struct reader rd = { .L = L, .doc = d };
    luaL_checktype(L, index, LUA_TTABLE);
    bind_opts(L, index, names);
    luaL_checkstack(L, 16, "request too deep");
    *r = (struct chat_request){ .is_stream = bind_opt_bool(L, index, "stream", false) };
    lua_pushvalue(L, index);
    r->model = need_text(&rd, "model");
    read_messages(&rd, r);
    read_tools(&rd, r);
    read_params(&rd, &r->params);
    read_format(&rd, r);
    lua_pop(L, 1);
}

/* --- quirks ---------------------------------------------------------------------- */

static bool choose(lua_State *L, int index, const char *name, const char *const words[2])
{
    const char *word = bind_opt_text(L, index, name, words[0], NULL);
    if (strcmp(word, words[0]) != 0 && strcmp(word, words[1]) != 0)
        luaL_argerror(
            L, index,
            lua_pushfstring(L, "option '%s' must be %s or %s", name, words[0], words[1]));
    return strcmp(word, words[1]) == 0;
}

static const char *const LIMIT_NAMES[] = { "max_tokens", "max_completion_tokens" };
static const char *const ROLE_NAMES[] = { "system", "developer" };
static const char *const SCHEMA_NAMES[] = { "json_schema", "json_object" };

static enum openai_thinking choose_thinking(lua_State *L, int index)
{
    const char *word = bind_opt_text(L, index, "thinking", "none", NULL);
    for (enum openai_thinking t = 0; t < OPENAI_THINKING_COUNT; t++)
        if (strcmp(word, openai_thinking_name(t)) == 0)
            return t;
    luaL_argerror(L, index, "option 'thinking' is none of the known ways");
    return OPENAI_THINKING_NONE;
}

static unsigned omit_bit(lua_State *L, int index, const char *word)
{
    for (enum openai_param p = 0; word && p < OPENAI_PARAM_COUNT; p++)
        if (strcmp(word, openai_param_name(p)) == 0)
            return 1u << p;
    luaL_argerror(L, index, "option 'omit' is a list of parameter names");
    return 0;
}

static unsigned read_omit(lua_State *L, int index)
{
    unsigned omitted = 0;
    if (lua_getfield(L, index, "omit") != LUA_TNIL) {
        luaL_argexpected(L, lua_istable(L, -1), index, "omit = list");
        lua_Integer n = luaL_len(L, -1);
        for (lua_Integer i = 1; i <= n; i++) {
            lua_geti(L, -1, i);
            omitted |= omit_bit(L, index, lua_tostring(L, -1));
            lua_pop(L, 1);
        }
    }
    lua_pop(L, 1);
    return omitted;
}

static const struct value *read_extra(lua_State *L, int index, struct value_doc *d)
{
    const struct value *extra = NULL;
    if (lua_getfield(L, index, "extra") != LUA_TNIL) {
        struct reader rd = { .L = L, .doc = d, .at = "quirks" };
        struct span json = json_on_top(&rd, "extra");
        extra = json_read(d, json.ptr, json.len, NULL, NULL);
        if (value_count(extra) > 0 && !value_is(extra, VALUE_OBJECT))
            luaL_argerror(L, index, "option 'extra' must be a table of fields");
    }
    lua_pop(L, 1);
    return extra;
}

void model_read_quirks(lua_State *L, int index, struct value_doc *d,
                       struct openai_quirks *q)
{
    static const char *const names[] = {
        "token_parameter", "thinking",          "omit", "extra", "system_role", "schema",
        "strict",          "effort_with_tools", NULL,
    };
    *q = (struct openai_quirks){ 0 };
    if (lua_isnoneornil(L, index))
        return;
    bind_opts(L, index, names);
    q->is_max_completion_tokens = choose(L, index, "token_parameter", LIMIT_NAMES);
    q->is_developer = choose(L, index, "system_role", ROLE_NAMES);
    q->is_schema_unknown = choose(L, index, "schema", SCHEMA_NAMES);
    q->is_strict = bind_opt_bool(L, index, "strict", false);
    q->is_effort_without_tools = !bind_opt_bool(L, index, "effort_with_tools", true);
    q->thinking = choose_thinking(L, index);
    q->omitted = read_omit(L, index);
    q->extra = read_extra(L, index, d);
}

static void set_word(lua_State *L, int index, const char *name, const char *word)
{
    lua_pushstring(L, word);
    lua_setfield(L, index, name);
}

static void set_omit(lua_State *L, int index, unsigned omitted)
{
    lua_Integer n = 0;
    lua_newtable(L);
    for (enum openai_param p = 0; p < OPENAI_PARAM_COUNT; p++)
        if (omitted & 1u << p) {
            lua_pushstring(L, openai_param_name(p));
            lua_rawseti(L, -2, ++n);
        }
    lua_setfield(L, index, "omit");
}

void model_write_quirks(lua_State *L, int index, const struct openai_quirks *before,
                        const struct openai_quirks *q)
{
    if (before->is_max_completion_tokens != q->is_max_completion_tokens)
        set_word(L, index, "token_parameter", LIMIT_NAMES[q->is_max_completion_tokens]);
    if (before->is_developer != q->is_developer)
        set_word(L, index, "system_role", ROLE_NAMES[q->is_developer]);
    if (before->is_schema_unknown != q->is_schema_unknown)
        set_word(L, index, "schema", SCHEMA_NAMES[q->is_schema_unknown]);
    if (before->omitted != q->omitted)
        set_omit(L, index, q->omitted);
}
