/* rt_model.c - wire formats of model calls: bytes out, bytes in. */
#include "host/bind.h"
#include "host/convert.h"
#include "host/modules.h"
#include "host/rt_model_request.h"
#include "host/sink.h"
#include "io/loop.h"
#include "model/openai_chat.h"
#include <lauxlib.h>

#define STREAM_TYPE "rt.model.openai_stream"

/* --- replies and faults ---------------------------------------------------------- */

static void set_text(lua_State *L, const char *name, struct span s)
{
    lua_pushlstring(L, s.ptr, s.len);
    lua_setfield(L, -2, name);
}

static void set_text_if(lua_State *L, const char *name, struct span s)
{
    if (s.len)
        set_text(L, name, s);
}

static void set_count_if(lua_State *L, const char *name, int64_t n)
{
    if (n < 0)
        return;
    lua_pushinteger(L, n);
    lua_setfield(L, -2, name);
}

static void set_usage(lua_State *L, const struct chat_usage *u)
{
    lua_createtable(L, 0, 5);
    set_count_if(L, "prompt_tokens", u->prompt);
    set_count_if(L, "completion_tokens", u->completion);
    set_count_if(L, "reasoning_tokens", u->reasoning);
    set_count_if(L, "cached_tokens", u->cached);
    if (u->is_estimated) {
        lua_pushboolean(L, true);
        lua_setfield(L, -2, "estimated");
    }
    lua_setfield(L, -2, "usage");
}

static void set_calls(lua_State *L, const struct chat_reply *r)
{
    if (r->call_count == 0)
        return;
    lua_createtable(L, (int)r->call_count, 0);
    for (size_t i = 0; i < r->call_count; i++) {
        lua_createtable(L, 0, 3);
        set_text(L, "id", r->calls[i].id);
        set_text(L, "name", r->calls[i].name);
        set_text(L, "arguments", r->calls[i].arguments);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    convert_mark_array(L);
    lua_setfield(L, -2, "tool_calls");
}

static void set_number_if(lua_State *L, const char *name, double n)
{
    if (n < 0)
        return;
    lua_pushnumber(L, n);
    lua_setfield(L, -2, name);
}

/* One kind of allowance in the table on top; nothing when the server does not say. */
static void set_allowance(lua_State *L, const char *name,
                          const struct answer_allowance *allowance)
{
    if (allowance->limit < 0 && allowance->remaining < 0 && allowance->reset_s < 0)
        return;
    lua_createtable(L, 0, 3);
    set_number_if(L, "limit", allowance->limit);
    set_number_if(L, "remaining", allowance->remaining);
    set_number_if(L, "reset_s", allowance->reset_s);
    lua_setfield(L, -2, name);
}

static void set_limits(lua_State *L, const struct answer *a)
{
    struct answer_limits limits = answer_limits(a);
    if (!limits.is_given)
        return;
    lua_createtable(L, 0, 2);
    set_allowance(L, "requests", &limits.requests);
    set_allowance(L, "tokens", &limits.tokens);
    lua_setfield(L, -2, "limits");
}

static int push_reply(lua_State *L, const struct answer *a, const struct chat_reply *r)
{
    lua_createtable(L, 0, 9);
    set_text(L, "text", r->text);
    set_text_if(L, "reasoning", r->reasoning);
    set_text_if(L, "model", r->model);
    set_text_if(L, "id", r->id);
    lua_pushstring(L, chat_finish_name(r->finish));
    lua_setfield(L, -2, "finish");
    lua_pushstring(L, chat_outcome_name(r->outcome));
    lua_setfield(L, -2, "outcome");
    set_calls(L, r);
    set_usage(L, &r->usage);
    set_limits(L, a);
    if (r->has_call_markup) {
        lua_pushboolean(L, true);
        lua_setfield(L, -2, "call_markup");
    }
    return 1;
}

static int push_fault(lua_State *L, const struct answer *a, const struct fault *f,
                      const struct chat_usage *u)
{
    bind_err(L, &f->err); /* nil err */
    lua_pushinteger(L, f->status);
    lua_setfield(L, -2, "status");
    if (f->retry_after_s >= 0) {
        lua_pushnumber(L, f->retry_after_s);
        lua_setfield(L, -2, "retry_after_s");
    }
    set_text_if(L, "param", (struct span){ f->param, strlen(f->param) });
    set_text_if(L, "code", (struct span){ f->code, strlen(f->code) });
    set_limits(L, a);
    if (u->prompt >= 0 || u->completion >= 0)
        set_usage(L, u);
    return 2;
}

/* Refused and filtered replies are answers without a text to work on: errors whose kind
 * says so. */
static int push_denied(lua_State *L, const struct answer *a, const struct chat_reply *r)
{
    struct fault f = { .status = a->status, .retry_after_s = -1 };
    char words[300];
    answer_clean(r->refusal.len ? r->refusal : r->text, words, sizeof words);
    if (r->outcome == CHAT_REFUSED)
        err_set(&f.err, ERR_REFUSED, "the model refused: %s", words);
    else
        err_set(&f.err, ERR_FILTERED, "a content filter stopped the reply%s%s",
                words[0] ? " after: " : "", words);
    return push_fault(L, a, &f, &r->usage);
}

static int push_result(lua_State *L, bool ok, const struct answer *a,
                       const struct chat_reply *r, const struct fault *f)
{
    if (!ok)
        return push_fault(L, a, f, &r->usage);
    if (r->outcome == CHAT_REFUSED || r->outcome == CHAT_FILTERED)
        return push_denied(L, a, r);
    return push_reply(L, a, r);
}

/* --- answers --------------------------------------------------------------------- */

struct header_table {
    lua_State *L;
    int index;
};

/* The table holds the text after it is popped. */
static const char *table_header(void *arg, const char *name)
{
    struct header_table *h = arg;
    const char *value = NULL;
    if (lua_getfield(h->L, h->index, name) == LUA_TSTRING)
        value = lua_tostring(h->L, -1);
    lua_pop(h->L, 1);
    return value;
}

static struct answer read_answer(lua_State *L, int status, int headers,
                                 struct header_table *h)
{
    struct answer a = { .wall_s = loop_wall(), .body = { "", 0 } };
    lua_Integer n = luaL_checkinteger(L, status);
    luaL_argcheck(L, n >= 0 && n <= 999, status, "must be an HTTP status");
    a.status = (int)n;
    if (lua_isnoneornil(L, headers))
        return a;
    luaL_checktype(L, headers, LUA_TTABLE);
    *h = (struct header_table){ L, headers };
    a.header = table_header;
    a.arg = h;
    return a;
}

static struct chat_reading read_reading(lua_State *L, int index)
{
    static const char *const names[] = { "keep_think", "prompt_tokens", NULL };
    bind_opts(L, index, names);
    return (struct chat_reading){
        .keep_think = bind_opt_bool(L, index, "keep_think", false),
        .prompt_tokens = bind_opt_integer(L, index, "prompt_tokens", 0, 0, INT64_MAX),
    };
}

/* openai_chat.parse(status, headers, body, options) */
static int l_parse(lua_State *L)
{
    struct header_table h;
    struct chat_reply r;
    struct fault f;
    lua_settop(L, 4);
    struct answer a = read_answer(L, 1, 2, &h);
    a.body.ptr = luaL_checklstring(L, 3, &a.body.len);
    struct chat_reading how = read_reading(L, 4);
    struct value_doc *d = convert_doc(L);
    bool ok = openai_chat_parse(&a, &how, d, &r, &f);
    int n = push_result(L, ok, &a, &r, &f);
    value_doc_clear(d);
    return n;
}

/* --- requests -------------------------------------------------------------------- */

/* openai_chat.build(request, quirks) */
static int l_build(lua_State *L)
{
    struct chat_request r;
    struct openai_quirks q;
    struct err e;
    lua_settop(L, 2);
    struct value_doc *d = convert_doc(L);
    model_read_request(L, 1, d, &r);
    model_read_quirks(L, 2, d, &q);
    struct buf *out = convert_buf(L);
    bool ok = openai_chat_build(&r, &q, out, &e);
    lua_Integer tokens = chat_request_tokens(&r);
    value_doc_clear(d);
    if (!ok)
        return bind_err(L, &e);
    lua_pushlstring(L, buf_text(out), out->len);
    lua_pushinteger(L, tokens);
    return 2;
}

/* openai_chat.adapt(quirks, err) */
static int l_adapt(lua_State *L)
{
    struct openai_quirks q;
    luaL_checktype(L, 1, LUA_TTABLE);
    luaL_checktype(L, 2, LUA_TTABLE);
    lua_settop(L, 2);
    lua_getfield(L, 2, "param");
    lua_getfield(L, 2, "message");
    model_read_quirks(L, 1, convert_doc(L), &q);
    struct openai_quirks before = q;
    const char *param = lua_tostring(L, 3);
    const char *message = lua_tostring(L, 4);
    bool is_changed = param && openai_chat_adapt(&q, param, message ? message : "");
    if (is_changed)
        model_write_quirks(L, 1, &before, &q);
    lua_pushboolean(L, is_changed);
    return 1;
}

/* --- streams --------------------------------------------------------------------- */

struct stream {
    struct openai_stream *parser; /* NULL when finished */
};

static int stream_release(lua_State *L)
{
    struct stream *s = luaL_checkudata(L, 1, STREAM_TYPE);
    openai_stream_free(s->parser);
    s->parser = NULL;
    return 0;
}

static struct stream *check_stream(lua_State *L)
{
    struct stream *s = luaL_checkudata(L, 1, STREAM_TYPE);
    luaL_argcheck(L, s->parser, 1, "the stream is finished");
    return s;
}

/* openai_chat.stream() */
static int l_stream(lua_State *L)
{
    struct stream *s = bind_new(L, STREAM_TYPE, sizeof *s);
    s->parser = openai_stream_new();
    return 1;
}

static int stream_feed(lua_State *L)
{
    static const char *const words[] = { "more", "last", "enough" };
    size_t n;
    struct stream *s = check_stream(L);
    const char *p = luaL_checklstring(L, 2, &n);
    lua_pushstring(L, words[openai_stream_feed(s->parser, p, n)]);
    return 1;
}

static int stream_finish(lua_State *L)
{
    struct header_table h;
    struct chat_reply r;
    struct fault f;
    lua_settop(L, 4);
    struct stream *s = check_stream(L);
    struct answer a = read_answer(L, 2, 3, &h);
    struct chat_reading how = read_reading(L, 4);
    struct value_doc *d = convert_doc(L);
    bool ok = openai_stream_end(s->parser, &a, &how, d, &r, &f);
    int n = push_result(L, ok, &a, &r, &f);
    value_doc_clear(d);
    openai_stream_free(s->parser);
    s->parser = NULL;
    return n;
}

static enum http_next sink_feed(void *self, int status, const char *p, size_t n)
{
    struct stream *s = self;
    if (!s->parser)
        return HTTP_ENOUGH;
    switch (openai_stream_feed(s->parser, p, n)) {
    case OPENAI_ENOUGH:
        return HTTP_ENOUGH;
    case OPENAI_LAST:
        return HTTP_LAST;
    default:
        return HTTP_MORE;
    }
}

static void stream_type(lua_State *L)
{
    static const luaL_Reg methods[] = { { "feed", stream_feed },
                                        { "finish", stream_finish },
                                        { NULL, NULL } };
    static const struct sink_type sink = { sink_feed };
    bind_type(L, STREAM_TYPE, methods, stream_release);
    luaL_getmetatable(L, STREAM_TYPE);
    lua_pushlightuserdata(L, (void *)&sink);
    lua_setfield(L, -2, SINK_FIELD);
    lua_pop(L, 1);
}

int luaopen_rt_model(lua_State *L)
{
    static const luaL_Reg functions[] = { { "build", l_build },
                                          { "parse", l_parse },
                                          { "adapt", l_adapt },
                                          { "stream", l_stream },
                                          { NULL, NULL } };
    stream_type(L);
    lua_newtable(L);
    luaL_newlib(L, functions);
    lua_setfield(L, -2, "openai_chat");
    return 1;
}
