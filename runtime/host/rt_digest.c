/* rt_digest.c - SHA-256 for Lua. */
#include "base/digest.h"
#include "host/convert.h"
#include "host/modules.h"
#include <lauxlib.h>

enum { SHORT_HEX = 16 };

static int push_hex(lua_State *L, const char *text, size_t n, size_t length)
{
    struct digest d = digest_of(text, n);
    char hex[DIGEST_HEX + 1];
    digest_hex(&d, hex);
    lua_pushlstring(L, hex, length);
    return 1;
}

static int l_sha256(lua_State *L)
{
    size_t n;
    const char *text = luaL_checklstring(L, 1, &n);
    return push_hex(L, text, n, DIGEST_HEX);
}

/* digest.short(text) is the name under which the reference's files list a text. */
static int l_short(lua_State *L)
{
    size_t n;
    const char *text = luaL_checklstring(L, 1, &n);
    return push_hex(L, text, n, SHORT_HEX);
}

/* digest.canonical(value) is that of json.canonical(value), which it does not make. */
static int l_canonical(lua_State *L)
{
    struct err e;
    struct buf *text = convert_buf(L);
    luaL_checkany(L, 1);
    if (!convert_encode(L, 1, JSON_CANONICAL, text, &e))
        return luaL_argerror(L, 1, e.message);
    return push_hex(L, buf_text(text), text->len, DIGEST_HEX);
}

static const luaL_Reg functions[] = {
    { "sha256", l_sha256 },
    { "short", l_short },
    { "canonical", l_canonical },
    { NULL, NULL },
};

int luaopen_rt_digest(lua_State *L)
{
    luaL_newlib(L, functions);
    return 1;
}
