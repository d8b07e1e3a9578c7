/* rt_template.c - prompt files for Lua. */
#include "host/bind.h"
#include "host/convert.h"
#include "host/modules.h"
#include "text/template.h"
#include <lauxlib.h>
#include <string.h>

#define TEMPLATE_TYPE "skillopt.template"

struct handle {
    struct template *template;
    struct buf system, user; /* the messages being made */
};

static struct handle *check_handle(lua_State *L)
{
    struct handle *h = luaL_checkudata(L, 1, TEMPLATE_TYPE);
    luaL_argcheck(L, h->template, 1, "the template is closed");
    return h;
}

static int release(lua_State *L)
{
    struct handle *h = luaL_checkudata(L, 1, TEMPLATE_TYPE);
    template_free(h->template);
    buf_free(&h->system);
    buf_free(&h->user);
    h->template = NULL;
    return 0;
}

/* template.parse(text, options) */
static int l_parse(lua_State *L)
{
    static const char *const names[] = { "name", NULL };
    size_t n;
    struct err e;
    const char *text = luaL_checklstring(L, 1, &n);
    bind_opts(L, 2, names);
    const char *name = bind_opt_text(L, 2, "name", NULL, NULL);
    struct handle *h = bind_new(L, TEMPLATE_TYPE, sizeof *h);
    h->template = template_parse(text, n, &e);
    return h->template ? 1 : convert_named_err(L, name, &e);
}

/* template:inputs() */
static int l_inputs(lua_State *L)
{
    const struct template *t = check_handle(L)->template;
    size_t n = template_input_count(t);
    lua_createtable(L, 0, (int)n);
    for (size_t i = 0; i < n; i++) {
        lua_pushstring(L, template_input_doc(t, i));
        lua_setfield(L, -2, template_input_name(t, i));
    }
    return 1;
}

/* Take the values from the table at 2; false with words when one is missing. */
static bool read_values(lua_State *L, const struct template *t,
                        struct template_text values[], struct err *e)
{
    for (size_t i = 0; i < template_input_count(t); i++) {
        const char *name = template_input_name(t, i);
        int type = lua_getfield(L, 2, name);
        if (type == LUA_TNIL)
            return err_set(e, ERR_CONFIG, "the input '%s' is missing", name);
        if (type != LUA_TSTRING)
            luaL_argerror(L, 2, lua_pushfstring(L, "input '%s' must be a string", name));
        values[i].ptr = lua_tolstring(L, -1, &values[i].len);
        lua_pop(L, 1);
    }
    return true;
}

static bool check_names(lua_State *L, const struct template *t, struct err *e)
{
    const char *names[TEMPLATE_MAX_INPUTS + 1] = { 0 };
    for (size_t i = 0; i < template_input_count(t); i++)
        names[i] = template_input_name(t, i);
    lua_pushnil(L);
    while (lua_next(L, 2)) {
        lua_pop(L, 1);
        luaL_argcheck(L, lua_type(L, -1) == LUA_TSTRING, 2, "inputs must have names");
        const char *name = lua_tostring(L, -1);
        size_t i = 0;
        while (names[i] && strcmp(names[i], name) != 0)
            i++;
        if (names[i])
            continue;
        const char *near = bind_nearest(name, names);
        err_set(e, ERR_CONFIG, "the prompt has no input '%s'", name);
        return near ? err_hint(e, "did you mean '%s'?", near) : false;
    }
    return true;
}

static void push_messages(lua_State *L, const struct handle *h)
{
    lua_createtable(L, 0, 2);
    lua_pushlstring(L, buf_text(&h->system), h->system.len);
    lua_setfield(L, -2, "system");
    lua_pushlstring(L, buf_text(&h->user), h->user.len);
    lua_setfield(L, -2, "user");
}

/* template:render(values) */
static int l_render(lua_State *L)
{
    struct template_text values[TEMPLATE_MAX_INPUTS];
    struct err e;
    struct handle *h = check_handle(L);
    luaL_checktype(L, 2, LUA_TTABLE);
    lua_settop(L, 2);
    if (!check_names(L, h->template, &e) || !read_values(L, h->template, values, &e))
        return bind_err(L, &e);
    bool ok = template_render(h->template, values, &h->system, &h->user, &e);
    if (ok)
        push_messages(L, h);
    buf_free(&h->system);
    buf_free(&h->user);
    return ok ? 1 : bind_err(L, &e);
}

static const luaL_Reg methods[] = {
    { "inputs", l_inputs },
    { "render", l_render },
    { NULL, NULL },
};

static const luaL_Reg functions[] = {
    { "parse", l_parse },
    { NULL, NULL },
};

int luaopen_rt_template(lua_State *L)
{
    bind_type(L, TEMPLATE_TYPE, methods, release);
    luaL_newlib(L, functions);
    return 1;
}
