/* rt_columns.c - rt.columns: long lists of numbers and of texts, outside Lua's heap.
 *
 * A number takes 9 bytes, a text its bytes and 8 (and up to 8 more once one is looked
 * for), where a Lua table needs 16 and 40 or more and its collector walks over them. */
#include "base/mem.h"
#include "base/texts.h"
#include "host/bind.h"
#include "host/modules.h"
#include <lauxlib.h>
#include <string.h>

#define NUMBERS_TYPE "rt.columns.numbers"
#define TEXTS_TYPE   "rt.columns.texts"

enum { NUMBERS_MAX = 1 << 30 };

enum kind { ABSENT, INTEGER, FLOAT };

union number {
    lua_Integer integer;
    lua_Number real;
};

struct numbers {
    size_t n, room;
    union number *values;
    unsigned char *kinds;
};

static int numbers_release(lua_State *L)
{
    struct numbers *c = luaL_checkudata(L, 1, NUMBERS_TYPE);
    mem_free(c->values);
    mem_free(c->kinds);
    *c = (struct numbers){ 0 };
    return 0;
}

/* numbers([n]) -> a list of n places without a number. */
static int l_numbers(lua_State *L)
{
    lua_Integer n = luaL_optinteger(L, 1, 0);
    luaL_argcheck(L, n >= 0 && n <= NUMBERS_MAX, 1, "must be from 0 to 2^30");
    struct numbers *c = bind_new(L, NUMBERS_TYPE, sizeof *c);
    c->n = c->room = (size_t)n;
    c->values = mem_new_array(c->room, sizeof *c->values);
    c->kinds = mem_new_array(c->room, 1);
    return 1;
}

static void numbers_set(lua_State *L, struct numbers *c, size_t at, int index)
{
    if (lua_isinteger(L, index)) {
        c->values[at].integer = lua_tointeger(L, index);
        c->kinds[at] = INTEGER;
    } else if (lua_type(L, index) == LUA_TNUMBER) {
        c->values[at].real = lua_tonumber(L, index);
        c->kinds[at] = FLOAT;
    } else {
        luaL_argcheck(L, lua_isnil(L, index), index, "must be a number or nil");
        c->kinds[at] = ABSENT;
    }
}

/* numbers:add(x) -> its place */
static int l_numbers_add(lua_State *L)
{
    struct numbers *c = luaL_checkudata(L, 1, NUMBERS_TYPE);
    luaL_checknumber(L, 2);
    luaL_argcheck(L, c->n < NUMBERS_MAX, 1, "is full");
    if (c->n == c->room) {
        c->room = c->room ? 2 * c->room : 64;
        c->values = mem_grow(c->values, c->room * sizeof *c->values);
        c->kinds = mem_grow(c->kinds, c->room);
    }
    numbers_set(L, c, c->n, 2);
    lua_pushinteger(L, (lua_Integer)++c->n);
    return 1;
}

/* numbers[i] -> number or nil; by name, a method. */
static int l_numbers_index(lua_State *L)
{
    struct numbers *c = luaL_checkudata(L, 1, NUMBERS_TYPE);
    if (lua_type(L, 2) == LUA_TSTRING) {
        lua_pushvalue(L, 2);
        lua_rawget(L, lua_upvalueindex(1));
        return 1;
    }
    size_t at = (size_t)luaL_checkinteger(L, 2) - 1;
    if (at >= c->n || c->kinds[at] == ABSENT)
        lua_pushnil(L);
    else if (c->kinds[at] == INTEGER)
        lua_pushinteger(L, c->values[at].integer);
    else
        lua_pushnumber(L, c->values[at].real);
    return 1;
}

static int l_numbers_newindex(lua_State *L)
{
    struct numbers *c = luaL_checkudata(L, 1, NUMBERS_TYPE);
    size_t at = (size_t)luaL_checkinteger(L, 2) - 1;
    luaL_argcheck(L, at < c->n, 2, "is no place of the list");
    lua_settop(L, 3);
    numbers_set(L, c, at, 3);
    return 0;
}

static int l_numbers_len(lua_State *L)
{
    struct numbers *c = luaL_checkudata(L, 1, NUMBERS_TYPE);
    lua_pushinteger(L, (lua_Integer)c->n);
    return 1;
}

/* ------------------------------------------------------------------- texts */

static int texts_release(lua_State *L)
{
    texts_free(luaL_checkudata(L, 1, TEXTS_TYPE));
    return 0;
}

/* texts() -> an empty list of texts. */
static int l_texts(lua_State *L)
{
    bind_new(L, TEXTS_TYPE, sizeof(struct texts));
    return 1;
}

/* texts:add(text) -> its place */
static int l_texts_add(lua_State *L)
{
    struct texts *t = luaL_checkudata(L, 1, TEXTS_TYPE);
    size_t n;
    const char *p = luaL_checklstring(L, 2, &n);
    size_t place = texts_add(t, p, n);
    luaL_argcheck(L, place != 0, 1, "is full");
    lua_pushinteger(L, (lua_Integer)place);
    return 1;
}

/* texts:find(text) -> place of the first such, or nil */
static int l_texts_find(lua_State *L)
{
    struct texts *t = luaL_checkudata(L, 1, TEXTS_TYPE);
    size_t n;
    const char *p = luaL_checklstring(L, 2, &n);
    size_t place = texts_find(t, p, n);
    if (place == 0)
        lua_pushnil(L);
    else
        lua_pushinteger(L, (lua_Integer)place);
    return 1;
}

static int l_texts_index(lua_State *L)
{
    struct texts *t = luaL_checkudata(L, 1, TEXTS_TYPE);
    if (lua_type(L, 2) == LUA_TSTRING) {
        lua_pushvalue(L, 2);
        lua_rawget(L, lua_upvalueindex(1));
        return 1;
    }
    size_t n = 0, at = (size_t)luaL_checkinteger(L, 2);
    if (at - 1 >= t->n) {
        lua_pushnil(L);
        return 1;
    }
    const char *p = texts_get(t, at, &n);
    lua_pushlstring(L, p, n);
    return 1;
}

static int l_texts_len(lua_State *L)
{
    struct texts *t = luaL_checkudata(L, 1, TEXTS_TYPE);
    lua_pushinteger(L, (lua_Integer)t->n);
    return 1;
}

static const luaL_Reg numbers_methods[] = { { "add", l_numbers_add }, { NULL, NULL } };

static const luaL_Reg texts_methods[] = { { "add", l_texts_add },
                                          { "find", l_texts_find },
                                          { NULL, NULL } };

static const luaL_Reg functions[] = { { "numbers", l_numbers },
                                      { "texts", l_texts },
                                      { NULL, NULL } };

/* A type whose places are read with t[i] and whose methods are found by name. */
static void list_type(lua_State *L, const char *type, const luaL_Reg *methods,
                      lua_CFunction release, const luaL_Reg *meta)
{
    bind_type(L, type, methods, release);
    luaL_getmetatable(L, type);     /* meta */
    lua_getfield(L, -1, "__index"); /* meta methods */
    lua_pushcclosure(L, meta[0].func, 1);
    lua_setfield(L, -2, "__index");
    luaL_setfuncs(L, meta + 1, 0);
    lua_pop(L, 1);
}

int luaopen_rt_columns(lua_State *L)
{
    static const luaL_Reg numbers_meta[] = { { "__index", l_numbers_index },
                                             { "__newindex", l_numbers_newindex },
                                             { "__len", l_numbers_len },
                                             { NULL, NULL } };
    static const luaL_Reg texts_meta[] = { { "__index", l_texts_index },
                                           { "__len", l_texts_len },
                                           { NULL, NULL } };
    list_type(L, NUMBERS_TYPE, numbers_methods, numbers_release, numbers_meta);
    list_type(L, TEXTS_TYPE, texts_methods, texts_release, texts_meta);
    luaL_newlib(L, functions);
    return 1;
}
