/* rt_spool.c - rt.spool: texts that wait on disk until their turn comes. */
#include "host/bind.h"
#include "host/modules.h"
#include "io/spool.h"
#include <lauxlib.h>

#define SPOOL_TYPE "rt.spool"

struct handle {
    struct spool *spool;
};

static int handle_release(lua_State *L)
{
    struct handle *h = luaL_checkudata(L, 1, SPOOL_TYPE);
    spool_free(h->spool);
    h->spool = NULL;
    return 0;
}

static struct spool *spool_check(lua_State *L)
{
    struct handle *h = luaL_checkudata(L, 1, SPOOL_TYPE);
    luaL_argcheck(L, h->spool, 1, "the spool is closed");
    return h->spool;
}

/* new(folder) -> spool: its file is made there once it is needed. */
static int l_new(lua_State *L)
{
    const char *folder = luaL_checkstring(L, 1);
    struct handle *h = bind_new(L, SPOOL_TYPE, sizeof *h);
    h->spool = spool_new(folder);
    return 1;
}

/* spool:add(text) -> place | nil, err */
static int l_add(lua_State *L)
{
    struct spool *s = spool_check(L);
    size_t n;
    const char *text = luaL_checklstring(L, 2, &n);
    int64_t place;
    struct err e = { 0 };
    if (!spool_add(s, text, n, &place, &e))
        return bind_err(L, &e);
    lua_pushinteger(L, place);
    return 1;
}

/* spool:read(place) -> text | nil, err */
static int l_read(lua_State *L)
{
    struct spool *s = spool_check(L);
    struct buf text = { 0 };
    struct err e = { 0 };
    bool ok = spool_read(s, luaL_checkinteger(L, 2), &text, &e);
    if (ok)
        lua_pushlstring(L, buf_text(&text), text.len);
    buf_free(&text);
    return ok ? 1 : bind_err(L, &e);
}

static const luaL_Reg methods[] = {
    { "add", l_add }, { "read", l_read }, { "close", handle_release }, { NULL, NULL }
};

static const luaL_Reg functions[] = { { "new", l_new }, { NULL, NULL } };

int luaopen_rt_spool(lua_State *L)
{
    bind_type(L, SPOOL_TYPE, methods, handle_release);
    luaL_newlib(L, functions);
    return 1;
}
