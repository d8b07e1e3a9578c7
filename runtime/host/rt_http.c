/* rt_http.c - one HTTP request, waited for. */
#include "host/bind.h"
#include "host/modules.h"
#include "host/sink.h"
#include "host/task.h"
#include "io/http.h"
#include <lauxlib.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define CALL_TYPE "rt.http.call"

enum { HEADERS_MAX = 64 };
#define TIME_MAX_S 1e7
#define BODY_MAX   ((lua_Integer)1 << 30)

/* Userdata: owned by the waiting coroutine's stack, where the body lies as well. */
struct call {
    struct http_call *http;
    struct wait wait;
    const struct sink_type *sink;
    void *sink_self;
};

static void call_done(void *arg)
{
    task_wake_later(&((struct call *)arg)->wait);
}

static enum http_next call_chunk(void *arg, int status, const char *p, size_t n)
{
    struct call *c = arg;
    return c->sink->feed(c->sink_self, status, p, n);
}

static void call_drop(struct call *c)
{
    http_call_free(c->http);
    c->http = NULL;
}

static void call_cancel(struct wait *w)
{
    call_drop((struct call *)((char *)w - offsetof(struct call, wait)));
}

static int call_release(lua_State *L)
{
    call_drop(luaL_checkudata(L, 1, CALL_TYPE));
    return 0;
}

/* --- the request ---------------------------------------------------------------- */

static int compare_lines(const void *a, const void *b)
{
    return strcasecmp(*(const char *const *)a, *(const char *const *)b);
}

/* The lines stay on the stack; sorted, so that equal requests are equal bytes. */
static void read_headers(lua_State *L, int index, const char *lines[HEADERS_MAX + 1])
{
    size_t n = 0;
    lines[0] = NULL;
    if (lua_getfield(L, index, "headers") == LUA_TNIL)
        return;
    if (lua_type(L, -1) != LUA_TTABLE)
        luaL_argerror(L, index, "option 'headers' must be a table");
    luaL_checkstack(L, HEADERS_MAX + 8, "too many headers");
    bind_thaw(L, -1);
    int table = lua_gettop(L);
    lua_pushnil(L);
    while (lua_next(L, table)) { /* ... lines, name, value */
        if (lua_type(L, -2) != LUA_TSTRING || lua_type(L, -1) != LUA_TSTRING)
            luaL_argerror(L, index, "headers are names with texts");
        if (n == HEADERS_MAX)
            luaL_argerror(L, index, "too many headers");
        if (strlen(lua_tostring(L, -1)) != lua_rawlen(L, -1))
            luaL_argerror(L, index, "a header has a zero byte");
        lines[n++] =
            lua_pushfstring(L, "%s: %s", lua_tostring(L, -2), lua_tostring(L, -1));
        lua_replace(L, -2); /* ... lines, name, line */
        lua_insert(L, -2);
    }
    lines[n] = NULL;
    qsort(lines, n, sizeof lines[0], compare_lines);
}

static void read_sink(lua_State *L, int index, struct call *c)
{
    if (lua_getfield(L, index, "into") == LUA_TNIL)
        return;
    if (lua_type(L, -1) != LUA_TUSERDATA ||
        luaL_getmetafield(L, -1, SINK_FIELD) != LUA_TLIGHTUSERDATA)
        luaL_argerror(L, index, "option 'into' must be a stream parser");
    c->sink = lua_touserdata(L, -1);
    c->sink_self = lua_touserdata(L, -2);
    lua_pop(L, 1); /* the parser stays on the stack */
}

static void read_request(lua_State *L, int index, struct http_request *r)
{
    static const char *const names[] = {
        "body",    "connect_timeout_s",
        "headers", "idle_timeout_s",
        "into",    "max_body",
        "method",  "timeout_s",
        "url",     NULL,
    };
    luaL_checktype(L, index, LUA_TTABLE);
    bind_opts(L, index, names);
    r->url = bind_opt_text(L, index, "url", NULL, NULL);
    luaL_argcheck(L, r->url, index, "option 'url' is missing");
    r->method = bind_opt_text(L, index, "method", NULL, NULL);
    r->body = bind_opt_text(L, index, "body", NULL, &r->body_len);
    r->timeout_s = bind_opt_number(L, index, "timeout_s", 0, 0, TIME_MAX_S);
    r->connect_timeout_s =
        bind_opt_number(L, index, "connect_timeout_s", 0, 0, TIME_MAX_S);
    r->idle_timeout_s = bind_opt_number(L, index, "idle_timeout_s", 0, 0, TIME_MAX_S);
    r->max_body = (size_t)bind_opt_integer(L, index, "max_body", 0, 0, BODY_MAX);
}

/* --- the answer ----------------------------------------------------------------- */

/* A name that comes again has its values joined by a comma. */
static void push_headers(lua_State *L, const struct http_result *r)
{
    const char *p = r->headers;
    lua_createtable(L, 0, (int)r->header_count);
    for (size_t i = 0; i < r->header_count; i++) {
        const char *value = p + strlen(p) + 1;
        lua_pushstring(L, p);
        lua_pushvalue(L, -1);
        if (lua_rawget(L, -3) == LUA_TNIL) /* t name old */
            lua_pushstring(L, value);
        else
            lua_pushfstring(L, "%s, %s", lua_tostring(L, -1), value);
        lua_replace(L, -2);
        lua_rawset(L, -3);
        p = value + strlen(value) + 1;
    }
}

static void set_number(lua_State *L, const char *name, double n)
{
    lua_pushnumber(L, n);
    lua_setfield(L, -2, name);
}

static void set_integer(lua_State *L, const char *name, lua_Integer n)
{
    lua_pushinteger(L, n);
    lua_setfield(L, -2, name);
}

static void set_figures(lua_State *L, const struct http_result *r)
{
    set_number(L, "elapsed_s", r->total_s);
    set_number(L, "first_byte_s", r->first_byte_s);
    set_number(L, "connect_s", r->connect_s);
    set_integer(L, "bytes_in", (lua_Integer)r->bytes_in);
    set_integer(L, "bytes_out", (lua_Integer)r->bytes_out);
    lua_pushboolean(L, r->is_reused);
    lua_setfield(L, -2, "is_reused");
}

static int request_k(lua_State *L, int status, lua_KContext ctx)
{
    struct call *c = (struct call *)ctx;
    struct http_result r;
    struct err e;
    if (!http_call_result(c->http, &r, &e)) {
        call_drop(c);
        bind_err(L, &e);
        lua_pushboolean(L, r.bytes_out == 0);
        lua_setfield(L, -2, "is_unsent");
        return 2;
    }
    lua_createtable(L, 0, 8);
    set_integer(L, "status", r.status);
    push_headers(L, &r);
    lua_setfield(L, -2, "headers");
    if (!c->sink) {
        lua_pushlstring(L, r.body, r.body_len);
        lua_setfield(L, -2, "body");
    }
    set_figures(L, &r);
    call_drop(c);
    return 1;
}

/* http.request{url = ..., ...} */
static int l_request(lua_State *L)
{
    struct http_request r = { .done = call_done };
    const char *lines[HEADERS_MAX + 1];
    struct err e;
    lua_settop(L, 1);
    read_request(L, 1, &r);
    task_check(L);
    lua_getfield(L, 1, "body"); /* the option table may change while we wait */
    struct call *c = bind_new(L, CALL_TYPE, sizeof *c);
    c->wait.cancel = call_cancel;
    read_sink(L, 1, c);
    read_headers(L, 1, lines);
    r.arg = c;
    r.headers = lines;
    r.on_chunk = c->sink ? call_chunk : NULL;
    c->http = http_start(&r, &e);
    if (!c->http)
        return e.kind == ERR_USAGE ? luaL_argerror(L, 1, e.message) : bind_err(L, &e);
    return task_park(L, &c->wait, request_k, (lua_KContext)c);
}

/* http.in_flight() -> integer */
static int l_in_flight(lua_State *L)
{
    lua_pushinteger(L, (lua_Integer)http_in_flight());
    return 1;
}

int luaopen_rt_http(lua_State *L)
{
    static const luaL_Reg functions[] = { { "request", l_request },
                                          { "in_flight", l_in_flight },
                                          { NULL, NULL } };
    bind_type(L, CALL_TYPE, NULL, call_release);
    luaL_newlib(L, functions);
    return 1;
}
