/* show.c - see show.h. */
#include "host/show.h"
#include <lauxlib.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

const char *show_push(lua_State *L, int index, size_t *n)
{
    index = lua_absindex(L, index);
    int type = lua_type(L, index);
    bool plain = type == LUA_TNIL || type == LUA_TBOOLEAN || type == LUA_TNUMBER ||
                 type == LUA_TSTRING;
    if (plain || luaL_getmetafield(L, index, "__tostring") != LUA_TNIL) {
        if (!plain)
            lua_pop(L, 1);
        return luaL_tolstring(L, index, n);
    }
    if (luaL_getmetafield(L, index, "__name") != LUA_TSTRING)
        lua_pushstring(L, lua_typename(L, type));
    return lua_tolstring(L, -1, n);
}

static int l_tostring(lua_State *L)
{
    luaL_checkany(L, 1);
    show_push(L, 1, NULL);
    return 1;
}

static int l_print(lua_State *L)
{
    int n = lua_gettop(L);
    for (int i = 1; i <= n; i++) {
        size_t length;
        const char *text = show_push(L, i, &length);
        if (i > 1)
            fputc('\t', stderr);
        fwrite(text, 1, length, stderr);
        lua_pop(L, 1);
    }
    fputc('\n', stderr);
    return 0;
}

static bool has_address_format(const char *format)
{
    for (const char *p = strchr(format, '%'); p; p = strchr(p, '%')) {
        p += 1 + strspn(p + 1, "-+ #0123456789.");
        if (*p == 'p')
            return true;
        if (*p)
            p++;
    }
    return false;
}

/* upvalue: string.format as Lua has it */
static int l_format(lua_State *L)
{
    const char *format = luaL_checkstring(L, 1);
    if (has_address_format(format))
        return luaL_argerror(L, 1, "'%p' would show an address");
    int n = lua_gettop(L);
    for (int i = 2; i <= n; i++) {
        int type = lua_type(L, i);
        if (type < LUA_TTABLE && type != LUA_TLIGHTUSERDATA)
            continue;
        show_push(L, i, NULL);
        lua_replace(L, i);
    }
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, n, 1);
    return 1;
}

void show_install(lua_State *L)
{
    lua_pushcfunction(L, l_tostring);
    lua_setglobal(L, "tostring");
    lua_pushcfunction(L, l_print);
    lua_setglobal(L, "print");
    lua_getglobal(L, "string");
    lua_getfield(L, -1, "format");
    lua_pushcclosure(L, l_format, 1);
    lua_setfield(L, -2, "format");
    lua_pop(L, 1);
}
