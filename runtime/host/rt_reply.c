/* rt_reply.c - the JSON in a model's reply, for Lua. */
#include "host/bind.h"
#include "host/convert.h"
#include "host/modules.h"
#include "text/reply.h"
#include <lauxlib.h>

enum { WANT_MAX = 32 };

/* The option `want`, a list of keys, as a NULL-terminated array; the texts belong to
 * the table. False when the option is absent. */
static bool read_want(lua_State *L, int index, const char *want[WANT_MAX + 1])
{
    if (lua_getfield(L, index, "want") == LUA_TNIL) {
        lua_pop(L, 1);
        return false;
    }
    luaL_argcheck(L, lua_istable(L, -1), index, "option 'want' must be a list of keys");
    lua_Integer n = luaL_len(L, -1);
    luaL_argcheck(L, n <= WANT_MAX, index, "option 'want' has too many keys");
    for (lua_Integer i = 0; i < n; i++) {
        bool is_text = lua_geti(L, -1, i + 1) == LUA_TSTRING;
        luaL_argcheck(L, is_text, index, "option 'want' must be a list of keys");
        want[i] = lua_tostring(L, -1);
        lua_pop(L, 1);
    }
    want[n] = NULL;
    lua_pop(L, 1);
    return n > 0;
}

static int fail(lua_State *L, enum reply_reason reason, const struct err *e)
{
    int n = bind_err(L, e);
    lua_pushstring(L, reply_reason_name(reason));
    lua_setfield(L, -2, "reason");
    return n;
}

/* reply.extract(text, options) */
static int l_extract(lua_State *L)
{
    static const char *const names[] = { "want", "array", NULL };
    const char *want[WANT_MAX + 1];
    struct reply_rules rules = { 0 };
    enum reply_reason reason;
    struct err e;
    size_t n;
    const char *text = luaL_checklstring(L, 1, &n);
    bind_opts(L, 2, names);
    if (!lua_isnoneornil(L, 2)) {
        rules.want = read_want(L, 2, want) ? want : NULL;
        rules.allow_array = bind_opt_bool(L, 2, "array", false);
    }
    struct value_doc *doc = convert_doc(L);
    const struct value *v = reply_extract(doc, text, n, &rules, &reason, &e);
    if (!v)
        return fail(L, reason, &e);
    convert_push(L, v);
    value_doc_clear(doc);
    return 1;
}

static const luaL_Reg functions[] = {
    { "extract", l_extract },
    { NULL, NULL },
};

int luaopen_rt_reply(lua_State *L)
{
    luaL_newlib(L, functions);
    return 1;
}
