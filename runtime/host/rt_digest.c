/* rt_digest.c - SHA-256 for Lua. */
#include "base/digest.h"
#include "host/modules.h"
#include <lauxlib.h>

enum { SHORT_HEX = 16 };

static int push_hex(lua_State *L, size_t length)
{
    size_t n;
    const char *text = luaL_checklstring(L, 1, &n);
    struct digest d = digest_of(text, n);
    char hex[DIGEST_HEX + 1];
    digest_hex(&d, hex);
    lua_pushlstring(L, hex, length);
    return 1;
}

static int l_sha256(lua_State *L)
{
    return push_hex(L, DIGEST_HEX);
}

/* digest.short(text) is the name under which the reference's files list a text. */
static int l_short(lua_State *L)
{
    return push_hex(L, SHORT_HEX);
}

static const luaL_Reg functions[] = {
    { "sha256", l_sha256 },
    { "short", l_short },
    { NULL, NULL },
};

int luaopen_rt_digest(lua_State *L)
{
    luaL_newlib(L, functions);
    return 1;
}
