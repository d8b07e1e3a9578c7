/* state.c - see state.h. */
#include "host/state.h"
#include "base/buf.h"
#include "host/chunks.h"
#include "host/modules.h"
#include "host/order.h"
#include "host/pool.h"
#include "host/show.h"
#include "host/strings.h"
#include "host/tables.h"
#include "host/version.h"
#include "io/file.h"
#include <lauxlib.h>
#include <lualib.h>
#include <stdio.h>
#include <string.h>

static char require_key;

static const luaL_Reg modules[] = {
#define MODULE(name) { #name, luaopen_rt_##name },
    RT_MODULES(MODULE)
#undef MODULE
        { NULL, NULL },
};

/* open(name) -> the rt module `name`, or nil. Opened once. */
static int l_open(lua_State *L)
{
    const char *name = luaL_checkstring(L, 1);
    luaL_getsubtable(L, LUA_REGISTRYINDEX, "skillopt.rt");
    if (lua_getfield(L, -1, name) != LUA_TNIL)
        return 1;
    lua_pop(L, 1);
    for (const luaL_Reg *m = modules; m->name; m++) {
        if (strcmp(m->name, name) != 0)
            continue;
        lua_pushcfunction(L, m->func);
        lua_call(L, 0, 1);
        lua_pushvalue(L, -1);
        lua_setfield(L, -3, name);
        return 1;
    }
    return 0;
}

static void open_libraries(lua_State *L)
{
    static const luaL_Reg libraries[] = {
        { LUA_GNAME, luaopen_base },
        { LUA_TABLIBNAME, luaopen_table },
        { LUA_STRLIBNAME, luaopen_string },
        { LUA_MATHLIBNAME, luaopen_math },
        { LUA_UTF8LIBNAME, luaopen_utf8 },
        { LUA_COLIBNAME, luaopen_coroutine },
        { LUA_DBLIBNAME, luaopen_debug },
        { LUA_OSLIBNAME, luaopen_os },
        { NULL, NULL },
    };
    for (const luaL_Reg *l = libraries; l->name; l++) {
        luaL_requiref(L, l->name, l->func, 1);
        lua_pop(L, 1);
    }
    order_install(L);
    show_install(L);
    strings_install(L);
    tables_install(L);
}

/* Message handler: text errors get a traceback, tables stay as they are. */
static int with_traceback(lua_State *L)
{
    if (lua_type(L, 1) == LUA_TSTRING)
        luaL_traceback(L, L, lua_tostring(L, 1), 1);
    return 1;
}

void state_take_error(lua_State *L, struct err *e)
{
    enum err_kind kind = ERR_BUG;
    if (lua_type(L, -1) == LUA_TTABLE) {
        lua_getfield(L, -1, "kind");
        const char *word = lua_tostring(L, -1);
        kind = word ? err_kind_of(word) : ERR_BUG;
        lua_pop(L, 1);
        lua_getfield(L, -1, "hint");
        lua_getfield(L, -2, "message");
        const char *message = lua_tostring(L, -1);
        const char *hint = lua_tostring(L, -2);
        err_set(e, kind ? kind : ERR_BUG, "%s", message ? message : "(no message)");
        if (hint)
            err_hint(e, "%s", hint);
        lua_pop(L, 3);
        return;
    }
    const char *text = lua_tostring(L, -1);
    err_set(e, kind, "%s", text ? text : "(an error object that is not text)");
    lua_pop(L, 1);
}

/* The path below the home folder, NULL when it is not below it. */
static const char *below(const char *home, const char *path)
{
    size_t n = strlen(home);
    return strncmp(path, home, n) == 0 && path[n] == '/' ? path + n + 1 : NULL;
}

/* compile(text, path, env) -> the function, or nil and a message. The home folder is an
 * upvalue. */
static int l_compile(lua_State *L)
{
    size_t n;
    const char *text = luaL_checklstring(L, 1, &n);
    const char *path = luaL_checkstring(L, 2);
    luaL_checktype(L, 3, LUA_TTABLE);
    const char *name = below(lua_tostring(L, lua_upvalueindex(1)), path);
    const char *chunk_name = lua_pushfstring(L, "@%s", path);
    if (chunk_load(L, text, n, name, chunk_name, NULL) != LUA_OK) {
        luaL_pushfail(L);
        lua_insert(L, -2);
        return 2;
    }
    lua_pushvalue(L, 3);
    lua_setupvalue(L, -2, 1); /* _ENV */
    return 1;
}

/* ready(path, env) -> the function of a file that is what was compiled, or nil. */
static int l_ready(lua_State *L)
{
    const char *path = luaL_checkstring(L, 1);
    luaL_checktype(L, 2, LUA_TTABLE);
    const char *name = below(lua_tostring(L, lua_upvalueindex(1)), path);
    const char *chunk_name = lua_pushfstring(L, "@%s", path);
    if (!chunk_load_file(L, path, name, chunk_name))
        return 0;
    lua_pushvalue(L, 2);
    lua_setupvalue(L, -2, 1); /* _ENV */
    return 1;
}

/* Push the loader's function, or a message. */
static bool push_loader(lua_State *L, const char *home)
{
    struct buf path = { 0 };
    struct buf text = { 0 };
    struct err e;
    buf_add_format(&path, "@%s/lua/skillopt/loader.lua", home);
    const char *chunk_name = buf_text(&path);
    bool ok = file_read(chunk_name + 1, &text, &e);
    if (ok)
        ok = chunk_load(L, buf_text(&text), text.len, below(home, chunk_name + 1),
                        chunk_name, NULL) == LUA_OK;
    else
        lua_pushstring(L, e.message);
    buf_free(&path);
    buf_free(&text);
    return ok;
}

static bool run_loader(lua_State *L, const char *home, struct err *e)
{
    lua_pushcfunction(L, with_traceback);
    bool ok = push_loader(L, home);
    if (ok) {
        lua_pushstring(L, home);
        lua_pushcfunction(L, l_open);
        lua_pushstring(L, home);
        lua_pushcclosure(L, l_compile, 1);
        lua_pushstring(L, home);
        lua_pushcclosure(L, l_ready, 1);
        lua_pushstring(L, version_number());
        lua_pushstring(L, version_commit());
        ok = lua_pcall(L, 6, 1, -8) == LUA_OK;
    }
    if (ok)
        lua_rawsetp(L, LUA_REGISTRYINDEX, &require_key);
    else
        state_take_error(L, e);
    lua_settop(L, 0);
    return ok;
}

static int on_panic(lua_State *L)
{
    const char *text = lua_tostring(L, -1);
    fprintf(stderr, "skillopt: unprotected error in Lua: %s\n",
            text ? text : "(no text)");
    return 0; /* Lua aborts */
}

void state_free(lua_State *L)
{
    void *pool;
    lua_getallocf(L, &pool);
    lua_close(L);
    pool_free(pool);
}

/* Of the collector, in percent: what a start makes stays, until skillopt/main.lua sets
 * Lua's own. */
enum { LOADING_PAUSE = 1000 };

lua_State *state_new(const char *home, struct err *e)
{
    lua_State *L = lua_newstate(pool_resize, pool_new());
    if (!L) {
        err_set(e, ERR_LIMIT, "no memory for Lua");
        return NULL;
    }
    lua_atpanic(L, on_panic);
    *(void **)lua_getextraspace(L) = NULL; /* no task runs on the main thread */
    lua_gc(L, LUA_GCINC, LOADING_PAUSE, 0, 0);
    open_libraries(L);
    if (run_loader(L, home, e))
        return L;
    state_free(L);
    return NULL;
}

bool state_require(lua_State *L, const char *module, struct err *e)
{
    lua_pushcfunction(L, with_traceback);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &require_key);
    lua_pushstring(L, module);
    bool ok = lua_pcall(L, 1, 1, -3) == LUA_OK;
    if (!ok)
        state_take_error(L, e);
    lua_remove(L, ok ? -2 : -1);
    return ok;
}
