/* rt_json.c - JSON for Lua. */
#include "host/bind.h"
#include "host/convert.h"
#include "host/modules.h"
#include <lauxlib.h>
#include <math.h>

enum { ROUND_MAX = 22 };

static void read_rules(lua_State *L, int index, struct json_rules *rules,
                       const char **name)
{
    static const char *const names[] = { "allow_big", "allow_bom", "allow_nan", "depth",
                                         "fix_utf8",  "name",      NULL };
    bind_opts(L, index, names);
    if (bind_opt_bool(L, index, "allow_big", false))
        rules->big = JSON_BIG_DOUBLE;
    rules->allow_bom = bind_opt_bool(L, index, "allow_bom", false);
    rules->allow_nan = bind_opt_bool(L, index, "allow_nan", false);
    rules->fix_utf8 = bind_opt_bool(L, index, "fix_utf8", false);
    rules->depth =
        (unsigned)bind_opt_integer(L, index, "depth", JSON_MAX_DEPTH, 1, JSON_MAX_DEPTH);
    *name = bind_opt_text(L, index, "name", NULL, NULL);
}

/* json.decode(text, options) */
static int l_decode(lua_State *L)
{
    size_t n;
    const char *text = luaL_checklstring(L, 1, &n);
    struct json_rules rules = { .big = JSON_BIG_EXACT };
    const char *name = NULL;
    if (!lua_isnoneornil(L, 2))
        read_rules(L, 2, &rules, &name);
    struct err e;
    struct value_doc *doc = convert_doc(L);
    const struct value *v = json_read(doc, text, n, &rules, &e);
    if (!v)
        return convert_named_err(L, name, &e);
    convert_push(L, v);
    value_doc_clear(doc);
    return 1;
}

/* json.extent(text, at) -> place behind the value that begins at `at`, or nil */
static int l_extent(lua_State *L)
{
    size_t n;
    const char *text = luaL_checklstring(L, 1, &n);
    lua_Integer at = luaL_checkinteger(L, 2);
    luaL_argcheck(L, at >= 1, 2, "must be 1 or more");
    size_t end = json_extent(text, n, (size_t)at - 1);
    if (end == 0)
        lua_pushnil(L);
    else
        lua_pushinteger(L, (lua_Integer)end + 1);
    return 1;
}

static int encode(lua_State *L, enum json_style style, int order)
{
    struct err e;
    struct json_writer w;
    struct buf *out = convert_buf(L);
    json_begin(&w, out, style);
    convert_write(L, 1, &w, order);
    if (!json_end(&w, &e))
        return luaL_argerror(L, 1, e.message);
    lua_pushlstring(L, buf_text(out), out->len);
    return 1;
}

/* json.encode(value, options) */
static int l_encode(lua_State *L)
{
    static const char *const names[] = { "indent", "keys", NULL };
    int order = 0;
    luaL_checkany(L, 1);
    lua_settop(L, 2);
    if (lua_isnil(L, 2))
        return encode(L, JSON_LINE, 0);
    bind_opts(L, 2, names);
    bool indent = bind_opt_bool(L, 2, "indent", false);
    if (lua_getfield(L, 2, "keys") != LUA_TNIL) {
        order = lua_gettop(L);
        convert_check_order(L, 2, order);
    }
    return encode(L, indent ? JSON_INDENT : JSON_LINE, order);
}

/* json.canonical(value) */
static int l_canonical(lua_State *L)
{
    luaL_checkany(L, 1);
    return encode(L, JSON_CANONICAL, 0);
}

static int mark(lua_State *L, void (*set)(lua_State *))
{
    if (lua_isnoneornil(L, 1))
        lua_newtable(L);
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    luaL_argcheck(L, convert_may_mark(L, 1), 1, "has a metatable of its own");
    set(L);
    return 1;
}

static int l_array(lua_State *L)
{
    return mark(L, convert_mark_array);
}

static int l_object(lua_State *L)
{
    return mark(L, convert_mark_object);
}

static int l_is_array(lua_State *L)
{
    luaL_checkany(L, 1);
    lua_pushboolean(L, convert_shape(L, 1) == CONVERT_ARRAY);
    return 1;
}

static int l_is_object(lua_State *L)
{
    luaL_checkany(L, 1);
    lua_pushboolean(L, convert_shape(L, 1) == CONVERT_OBJECT);
    return 1;
}

/* json.format_number(x) */
static int l_format_number(lua_State *L)
{
    char text[JSON_NUMBER_MAX];
    double d = luaL_checknumber(L, 1);
    if (lua_isinteger(L, 1))
        lua_pushfstring(L, "%I", (LUAI_UACINT)lua_tointeger(L, 1));
    else
        lua_pushlstring(L, text, json_format_double(d, text));
    return 1;
}

/* json.round(x, digits): an integer when digits is absent or 0. */
static int l_round(lua_State *L)
{
    double d = luaL_checknumber(L, 1);
    lua_Integer digits = luaL_optinteger(L, 2, 0);
    luaL_argcheck(L, digits >= 0 && digits <= ROUND_MAX, 2, "must be from 0 to 22");
    if (lua_isinteger(L, 1)) {
        lua_settop(L, 1);
        return 1;
    }
    double rounded = json_round(d, (int)digits);
    if (digits > 0) {
        lua_pushnumber(L, rounded);
        return 1;
    }
    luaL_argcheck(L, rounded >= -9223372036854775808.0 && rounded < 9223372036854775808.0,
                  1, "has no integer representation");
    lua_pushinteger(L, (lua_Integer)rounded);
    return 1;
}

static const luaL_Reg functions[] = {
    { "decode", l_decode },
    { "encode", l_encode },
    { "canonical", l_canonical },
    { "array", l_array },
    { "object", l_object },
    { "is_array", l_is_array },
    { "is_object", l_is_object },
    { "format_number", l_format_number },
    { "extent", l_extent },
    { "round", l_round },
    { NULL, NULL },
};

int luaopen_rt_json(lua_State *L)
{
    luaL_newlib(L, functions);
    convert_push_null(L);
    lua_setfield(L, -2, "null");
    return 1;
}
