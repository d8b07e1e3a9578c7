/* rt_archive.c - rt.archive: what is in a ZIP archive. */
#include "host/bind.h"
#include "host/modules.h"
#include "io/archive.h"
#include <lauxlib.h>
#include <stdint.h>

#define ARCHIVE_TYPE "rt.archive"
#define ENTRY_TYPE   "rt.archive.entry"

/* Bytes of one entry unless said otherwise. */
enum { ENTRY_USUAL = 64 << 20 };

struct handle {
    struct archive *archive;
    int bytes; /* what the archive looks into, held in the registry */
};

static int archive_release(lua_State *L)
{
    struct handle *h = luaL_checkudata(L, 1, ARCHIVE_TYPE);
    if (!h->archive)
        return 0;
    archive_close(h->archive);
    h->archive = NULL;
    luaL_unref(L, LUA_REGISTRYINDEX, h->bytes);
    return 0;
}

static int entry_release(lua_State *L)
{
    buf_free(luaL_checkudata(L, 1, ENTRY_TYPE));
    return 0;
}

static struct archive *check_archive(lua_State *L)
{
    struct handle *h = luaL_checkudata(L, 1, ARCHIVE_TYPE);
    luaL_argcheck(L, h->archive, 1, "the archive is closed");
    return h->archive;
}

/* open(bytes) -> archive | nil, err */
static int l_open(lua_State *L)
{
    size_t n;
    struct err e = { 0 };
    const char *bytes = luaL_checklstring(L, 1, &n);
    struct handle *h = bind_new(L, ARCHIVE_TYPE, sizeof *h);
    h->archive = archive_open(bytes, n, &e);
    if (!h->archive)
        return bind_err(L, &e);
    lua_pushvalue(L, 1);
    h->bytes = luaL_ref(L, LUA_REGISTRYINDEX);
    return 1;
}

/* archive:names() -> {name, ...} */
static int l_names(lua_State *L)
{
    const struct archive *a = check_archive(L);
    size_t count = archive_count(a);
    lua_createtable(L, (int)count, 0);
    for (size_t i = 0; i < count; i++) {
        lua_pushstring(L, archive_name(a, i));
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    return 1;
}

/* archive:read(index, {max = bytes}) -> bytes | nil, err */
static int l_read(lua_State *L)
{
    static const char *const names[] = { "max", NULL };
    struct err e = { 0 };
    struct archive *a = check_archive(L);
    lua_Integer index = luaL_checkinteger(L, 2);
    luaL_argcheck(L, index >= 1 && (size_t)index <= archive_count(a), 2,
                  "there is no such entry");
    bind_opts(L, 3, names);
    lua_Integer max =
        bind_opt_integer(L, 3, "max", ENTRY_USUAL, 1, (lua_Integer)BUF_DEFAULT_MAX);
    struct buf *out = bind_new(L, ENTRY_TYPE, sizeof *out);
    out->max = (size_t)max;
    if (!archive_read(a, (size_t)index - 1, out, &e))
        return bind_err(L, &e);
    lua_pushlstring(L, buf_text(out), out->len);
    buf_free(out);
    return 1;
}

static const luaL_Reg methods[] = {
    { "close", archive_release },
    { "names", l_names },
    { "read", l_read },
    { NULL, NULL },
};

static const luaL_Reg functions[] = { { "open", l_open }, { NULL, NULL } };

int luaopen_rt_archive(lua_State *L)
{
    bind_type(L, ARCHIVE_TYPE, methods, archive_release);
    bind_type(L, ENTRY_TYPE, NULL, entry_release);
    luaL_newlib(L, functions);
    return 1;
}
