/* bind.c - see bind.h. */
#include "host/bind.h"
#include <lauxlib.h>
#include <string.h>

#define ERR_TYPE "skillopt.err"

static int err_tostring(lua_State *L)
{
    lua_getfield(L, 1, "kind");
    lua_getfield(L, 1, "message");
    lua_getfield(L, 1, "hint");
    const char *kind = lua_tostring(L, -3);
    const char *message = lua_tostring(L, -2);
    const char *hint = lua_tostring(L, -1);
    if (hint && *hint)
        lua_pushfstring(L, "%s: %s (%s)", kind ? kind : "bug", message ? message : "",
                        hint);
    else
        lua_pushfstring(L, "%s: %s", kind ? kind : "bug", message ? message : "");
    return 1;
}

void bind_push_err(lua_State *L, const struct err *e)
{
    lua_createtable(L, 0, 4);
    lua_pushstring(L, err_kind_name(e->kind));
    lua_setfield(L, -2, "kind");
    lua_pushstring(L, e->message);
    lua_setfield(L, -2, "message");
    if (e->hint[0]) {
        lua_pushstring(L, e->hint);
        lua_setfield(L, -2, "hint");
    }
    lua_pushboolean(L, e->retry);
    lua_setfield(L, -2, "retry");
    if (luaL_newmetatable(L, ERR_TYPE)) {
        lua_pushcfunction(L, err_tostring);
        lua_setfield(L, -2, "__tostring");
    }
    lua_setmetatable(L, -2);
}

int bind_err(lua_State *L, const struct err *e)
{
    lua_pushnil(L);
    bind_push_err(L, e);
    return 2;
}

static size_t least(size_t a, size_t b, size_t c)
{
    size_t m = a < b ? a : b;
    return m < c ? m : c;
}

/* Levenshtein distance of two short words. */
static size_t distance(const char *a, const char *b)
{
    enum { MAX = 64 };
    size_t row[MAX + 1];
    size_t n = strlen(a);
    size_t m = strlen(b);
    if (n > MAX || m > MAX)
        return MAX;
    for (size_t j = 0; j <= m; j++)
        row[j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t corner = row[0];
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t up = row[j];
            row[j] = least(up + 1, row[j - 1] + 1, corner + (a[i - 1] != b[j - 1]));
            corner = up;
        }
    }
    return row[m];
}

const char *bind_nearest(const char *word, const char *const list[])
{
    const char *best = NULL;
    size_t best_distance = strlen(word) / 3 + 1;
    for (size_t i = 0; list[i]; i++) {
        size_t d = distance(word, list[i]);
        if (d < best_distance || (d == best_distance && !best)) {
            best = list[i];
            best_distance = d;
        }
    }
    return best;
}

static bool is_listed(const char *name, const char *const names[])
{
    for (size_t i = 0; names[i]; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

void bind_opts(lua_State *L, int index, const char *const names[])
{
    if (lua_isnoneornil(L, index))
        return;
    luaL_checktype(L, index, LUA_TTABLE);
    index = lua_absindex(L, index);
    lua_pushnil(L);
    while (lua_next(L, index)) { /* key value */
        lua_pop(L, 1);
        if (lua_type(L, -1) != LUA_TSTRING)
            luaL_argerror(L, index, "options must have names");
        const char *name = lua_tostring(L, -1);
        if (is_listed(name, names))
            continue;
        const char *near = bind_nearest(name, names);
        luaL_argerror(L, index,
                      near
                          ? lua_pushfstring(L, "unknown option '%s' (did you mean '%s'?)",
                                            name, near)
                          : lua_pushfstring(L, "unknown option '%s'", name));
    }
}

static bool opt_get(lua_State *L, int index, const char *name)
{
    if (lua_isnoneornil(L, index))
        return false;
    lua_getfield(L, index, name);
    if (!lua_isnil(L, -1))
        return true;
    lua_pop(L, 1);
    return false;
}

bool bind_opt_bool(lua_State *L, int index, const char *name, bool otherwise)
{
    if (!opt_get(L, index, name))
        return otherwise;
    if (!lua_isboolean(L, -1))
        luaL_argerror(L, index,
                      lua_pushfstring(L, "option '%s' must be a boolean", name));
    bool value = lua_toboolean(L, -1);
    lua_pop(L, 1);
    return value;
}

lua_Integer bind_opt_integer(lua_State *L, int index, const char *name,
                             lua_Integer otherwise, lua_Integer min, lua_Integer max)
{
    if (!opt_get(L, index, name))
        return otherwise;
    int is_integer;
    lua_Integer value = lua_tointegerx(L, -1, &is_integer);
    if (!is_integer || value < min || value > max)
        luaL_argerror(L, index,
                      lua_pushfstring(L,
                                      "option '%s' must be a whole number from %I to %I",
                                      name, (LUAI_UACINT)min, (LUAI_UACINT)max));
    lua_pop(L, 1);
    return value;
}

double bind_opt_number(lua_State *L, int index, const char *name, double otherwise,
                       double min, double max)
{
    if (!opt_get(L, index, name))
        return otherwise;
    double value = lua_tonumber(L, -1);
    if (lua_type(L, -1) != LUA_TNUMBER || !(value >= min && value <= max))
        luaL_argerror(L, index,
                      lua_pushfstring(L, "option '%s' must be a number from %f to %f",
                                      name, min, max));
    lua_pop(L, 1);
    return value;
}

const char *bind_opt_text(lua_State *L, int index, const char *name,
                          const char *otherwise, size_t *n)
{
    if (!opt_get(L, index, name)) {
        if (n)
            *n = otherwise ? strlen(otherwise) : 0;
        return otherwise;
    }
    if (lua_type(L, -1) != LUA_TSTRING)
        luaL_argerror(L, index, lua_pushfstring(L, "option '%s' must be a string", name));
    const char *text = lua_tolstring(L, -1, n);
    lua_pop(L, 1); /* the table still holds it */
    return text;
}

void bind_thaw(lua_State *L, int index)
{
    index = lua_absindex(L, index);
    int type = luaL_getmetafield(L, index, "__frozen");
    if (type == LUA_TTABLE)
        lua_replace(L, index);
    else if (type != LUA_TNIL)
        lua_pop(L, 1); /* a field of the user's own metatable */
}

void *bind_new(lua_State *L, const char *type, size_t size)
{
    void *p = lua_newuserdatauv(L, size, 0);
    memset(p, 0, size);
    luaL_setmetatable(L, type);
    return p;
}

void bind_type(lua_State *L, const char *type, const struct luaL_Reg *methods,
               lua_CFunction release)
{
    if (!luaL_newmetatable(L, type)) {
        lua_pop(L, 1);
        return;
    }
    if (methods) {
        lua_newtable(L);
        luaL_setfuncs(L, methods, 0);
        lua_setfield(L, -2, "__index");
    }
    if (release) {
        lua_pushcfunction(L, release);
        lua_setfield(L, -2, "__gc");
        lua_pushcfunction(L, release);
        lua_setfield(L, -2, "__close");
    }
    lua_pushliteral(L, "locked");
    lua_setfield(L, -2, "__metatable");
    lua_pop(L, 1);
}
