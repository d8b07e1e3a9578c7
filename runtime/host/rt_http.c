/* rt_http.c - rt.http: one request, waited for. */
#include "base/mem.h"
#include "host/bind.h"
#include "host/modules.h"
#include "host/task.h"
#include "io/http.h"
#include <lauxlib.h>
#include <stddef.h>
#include <string.h>

#define CALL_TYPE "rt.http.call"

enum { HEADERS_MAX = 100 };

/* Lives on the stack of the waiting task; the body is kept by the options table. */
struct call {
    struct wait wait;
    struct http_call *http;
    char **headers; /* lines, NULL behind the last */
};

static void call_done(void *arg)
{
    task_wake(&((struct call *)arg)->wait);
}

static void call_close(struct call *c)
{
    http_call_free(c->http);
    c->http = NULL;
    for (size_t i = 0; c->headers && c->headers[i]; i++)
        mem_free(c->headers[i]);
    mem_free(c->headers);
    c->headers = NULL;
}

static int call_release(lua_State *L)
{
    call_close(luaL_checkudata(L, 1, CALL_TYPE));
    return 0;
}

static void call_cancel(struct wait *w)
{
    struct call *c = (struct call *)((char *)w - offsetof(struct call, wait));
    http_call_free(c->http);
    c->http = NULL;
}

static char *header_line(lua_State *L, const char *name, const char *value)
{
    size_t n;
    lua_pushfstring(L, "%s: %s", name, value);
    const char *line = lua_tolstring(L, -1, &n);
    char *copy = mem_copy(line, n);
    lua_pop(L, 1);
    return copy;
}

/* Field `headers` of the table at 1: a table name -> value. */
static void read_headers(lua_State *L, struct call *c)
{
    if (lua_getfield(L, 1, "headers") == LUA_TNIL) {
        lua_pop(L, 1);
        return;
    }
    luaL_argcheck(L, lua_istable(L, -1), 1, "headers must be a table");
    c->headers = mem_new_array(HEADERS_MAX + 1, sizeof *c->headers);
    size_t n = 0;
    lua_pushnil(L);
    while (lua_next(L, -2)) { /* headers name value */
        bool ok = lua_type(L, -2) == LUA_TSTRING && lua_type(L, -1) == LUA_TSTRING;
        luaL_argcheck(L, ok && n < HEADERS_MAX, 1,
                      "headers map names to texts, at most 100");
        c->headers[n++] = header_line(L, lua_tostring(L, -2), lua_tostring(L, -1));
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
}

static void push_result(lua_State *L, const struct http_result *r)
{
    lua_createtable(L, 0, 6);
    lua_pushinteger(L, r->status);
    lua_setfield(L, -2, "status");
    lua_pushlstring(L, r->body, r->body_len);
    lua_setfield(L, -2, "body");
    lua_pushnumber(L, r->total_s);
    lua_setfield(L, -2, "elapsed_s");
    lua_pushboolean(L, r->is_reused);
    lua_setfield(L, -2, "is_reused");
    lua_createtable(L, 0, (int)r->header_count);
    const char *p = r->headers;
    for (size_t i = 0; i < r->header_count; i++) {
        const char *value = p + strlen(p) + 1;
        if (lua_getfield(L, -1, p) == LUA_TNIL) { /* the first of a name counts */
            lua_pushstring(L, value);
            lua_setfield(L, -3, p);
        }
        lua_pop(L, 1);
        p = value + strlen(value) + 1;
    }
    lua_setfield(L, -2, "headers");
}

static int request_k(lua_State *L, int status, lua_KContext ctx)
{
    struct call *c = (struct call *)ctx;
    struct http_result result;
    struct err e = { 0 };
    bool ok = http_call_result(c->http, &result, &e);
    if (ok)
        push_result(L, &result);
    call_close(c);
    return ok ? 1 : bind_err(L, &e);
}

/* request{url, method, headers, body, timeout_s, connect_timeout_s, idle_timeout_s,
 * max_body} -> {status, headers, body, elapsed_s, is_reused} | nil, err */
static int l_request(lua_State *L)
{
    static const char *const names[] = {
        "url",
        "method",
        "headers",
        "body",
        "timeout_s",
        "connect_timeout_s",
        "idle_timeout_s",
        "max_body",
        NULL,
    };
    luaL_checktype(L, 1, LUA_TTABLE);
    bind_opts(L, 1, names);
    task_check(L);
    lua_settop(L, 1);
    struct call *c = bind_new(L, CALL_TYPE, sizeof *c);
    read_headers(L, c);
    struct http_request r = {
        .url = bind_opt_text(L, 1, "url", NULL, NULL),
        .method = bind_opt_text(L, 1, "method", NULL, NULL),
        .headers = (const char *const *)c->headers,
        .timeout_s = bind_opt_number(L, 1, "timeout_s", 0, 0, 1e6),
        .connect_timeout_s = bind_opt_number(L, 1, "connect_timeout_s", 0, 0, 1e6),
        .idle_timeout_s = bind_opt_number(L, 1, "idle_timeout_s", 0, 0, 1e6),
        .max_body =
            (size_t)bind_opt_integer(L, 1, "max_body", 0, 0, (lua_Integer)1 << 32),
        .done = call_done,
        .arg = c,
    };
    luaL_argcheck(L, r.url, 1, "url is missing");
    r.body = bind_opt_text(L, 1, "body", NULL, &r.body_len);
    c->wait.cancel = call_cancel;
    struct err e = { 0 };
    c->http = http_start(&r, &e);
    if (!c->http)
        return bind_err(L, &e);
    return task_park(L, &c->wait, request_k, (lua_KContext)c);
}

/* in_flight() -> integer */
static int l_in_flight(lua_State *L)
{
    lua_pushinteger(L, (lua_Integer)http_in_flight());
    return 1;
}

static const luaL_Reg functions[] = { { "request", l_request },
                                      { "in_flight", l_in_flight },
                                      { NULL, NULL } };

int luaopen_rt_http(lua_State *L)
{
    bind_type(L, CALL_TYPE, NULL, call_release);
    luaL_newlib(L, functions);
    return 1;
}
