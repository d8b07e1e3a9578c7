/* tables.c - see tables.h. */
#include "host/tables.h"
#include "host/watch.h"
#include <lauxlib.h>
#include <lualib.h>
#include <stdbool.h>

/* What an argument must be able to do when it is no table. */
enum { CAN_READ = 1, CAN_WRITE = 2, CAN_COUNT = 4 };

static bool has_field(lua_State *L, int index, const char *name)
{
    if (luaL_getmetafield(L, index, name) == LUA_TNIL)
        return false;
    lua_pop(L, 1);
    return true;
}

static void check_list(lua_State *L, int index, int needs)
{
    if (lua_istable(L, index))
        return;
    bool is_fit = (!(needs & CAN_READ) || has_field(L, index, "__index")) &&
                  (!(needs & CAN_WRITE) || has_field(L, index, "__newindex")) &&
                  (!(needs & CAN_COUNT) || has_field(L, index, "__len"));
    if (!is_fit)
        luaL_checktype(L, index, LUA_TTABLE);
}

static lua_Integer check_length(lua_State *L, int index, int needs)
{
    check_list(L, index, needs | CAN_COUNT);
    return luaL_len(L, index);
}

/* Once in a while in a loop over `i`. */
static void look_up(lua_State *L, lua_Integer i)
{
    if ((i & 1023) == 0)
        watch_check(L);
}

/* to[j] = from[i] */
static void copy(lua_State *L, int from, lua_Integer i, int to, lua_Integer j)
{
    look_up(L, i);
    lua_geti(L, from, i);
    lua_seti(L, to, j);
}

/* table.insert(list, [place,] value) */
static int l_insert(lua_State *L)
{
    lua_Unsigned end = (lua_Unsigned)check_length(L, 1, CAN_READ | CAN_WRITE) + 1;
    lua_Integer place = (lua_Integer)end;
    switch (lua_gettop(L)) {
    case 2:
        break;
    case 3:
        place = luaL_checkinteger(L, 2);
        luaL_argcheck(L, (lua_Unsigned)place - 1 < end, 2, "position out of bounds");
        for (lua_Integer i = (lua_Integer)end; i > place; i--)
            copy(L, 1, i - 1, 1, i);
        break;
    default:
        return luaL_error(L, "'insert' takes a list, a place or none, and a value");
    }
    lua_seti(L, 1, place);
    return 0;
}

/* table.remove(list [, place]) */
static int l_remove(lua_State *L)
{
    lua_Integer n = check_length(L, 1, CAN_READ | CAN_WRITE);
    lua_Integer place = luaL_optinteger(L, 2, n);
    if (place != n)
        luaL_argcheck(L, (lua_Unsigned)n + 1 - (lua_Unsigned)place <= (lua_Unsigned)n, 2,
                      "position out of bounds");
    lua_geti(L, 1, place);
    for (; place < n; place++)
        copy(L, 1, place + 1, 1, place);
    lua_pushnil(L);
    lua_seti(L, 1, place);
    return 1;
}

/* table.move(from, first, last, place [, to]) */
static int l_move(lua_State *L)
{
    lua_Integer first = luaL_checkinteger(L, 2);
    lua_Integer last = luaL_checkinteger(L, 3);
    lua_Integer place = luaL_checkinteger(L, 4);
    int to = lua_isnoneornil(L, 5) ? 1 : 5;
    check_list(L, 1, CAN_READ);
    check_list(L, to, CAN_WRITE);
    if (last < first) {
        lua_pushvalue(L, to);
        return 1;
    }
    luaL_argcheck(L, first > 0 || last < LUA_MAXINTEGER + first, 3, "too many elements");
    lua_Integer n = last - first + 1;
    luaL_argcheck(L, place <= LUA_MAXINTEGER - n + 1, 4, "it would go beyond all places");
    bool is_overlap = place > first && place <= last;
    if (is_overlap && (to == 1 || lua_compare(L, 1, to, LUA_OPEQ))) {
        for (lua_Integer i = n - 1; i >= 0; i--)
            copy(L, 1, first + i, to, place + i);
    } else {
        for (lua_Integer i = 0; i < n; i++)
            copy(L, 1, first + i, to, place + i);
    }
    lua_pushvalue(L, to);
    return 1;
}

static void add_element(lua_State *L, luaL_Buffer *out, lua_Integer i)
{
    look_up(L, i);
    lua_geti(L, 1, i);
    if (!lua_isstring(L, -1))
        luaL_error(L, "'concat' takes texts and numbers; there is a %s at %I",
                   luaL_typename(L, -1), (LUAI_UACINT)i);
    luaL_addvalue(out);
}

/* table.concat(list [, between [, first [, last]]]) */
static int l_concat(lua_State *L)
{
    lua_Integer n = check_length(L, 1, CAN_READ);
    size_t length;
    const char *between = luaL_optlstring(L, 2, "", &length);
    lua_Integer i = luaL_optinteger(L, 3, 1);
    lua_Integer last = luaL_optinteger(L, 4, n);
    luaL_Buffer out;
    luaL_buffinit(L, &out);
    for (; i < last; i++) {
        add_element(L, &out, i);
        luaL_addlstring(&out, between, length);
    }
    if (i == last)
        add_element(L, &out, i);
    luaL_pushresult(&out);
    return 1;
}

void tables_install(lua_State *L)
{
    static const luaL_Reg functions[] = {
        { "insert", l_insert }, { "remove", l_remove }, { "move", l_move },
        { "concat", l_concat }, { NULL, NULL },
    };
    lua_getglobal(L, LUA_TABLIBNAME);
    luaL_setfuncs(L, functions, 0);
    lua_pop(L, 1);
}
