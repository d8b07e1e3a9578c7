/* lua_target.h - a fuzz target whose work is Lua: a file that returns a function which
 * takes the bytes and raises when something is wrong with what came of them. It runs in
 * the program's own state, with the library below the folder the target is started in. */
#pragma once
#include "host/state.h"
#include <lauxlib.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static lua_State *target_state(const char *path)
{
    struct err e = { 0 };
    const char *home = getenv("SKILLOPT_HOME");
    lua_State *L = state_new(home ? home : ".", &e);
    if (!L) {
        fprintf(stderr, "%s\n", e.message);
        exit(1);
    }
    if (luaL_loadfile(L, path) != LUA_OK || lua_pcall(L, 0, 1, 0) != LUA_OK) {
        state_take_error(L, &e);
        fprintf(stderr, "%s: %s\n", path, e.message);
        exit(1);
    }
    return L;
}

static int target_traceback(lua_State *L)
{
    luaL_traceback(L, L, luaL_tolstring(L, 1, NULL), 1);
    return 1;
}

/* Run the function of `path` on the bytes; an error ends the process as a finding. */
static void target_run(const char *path, const uint8_t *data, size_t n)
{
    static lua_State *L;
    if (!L)
        L = target_state(path);
    lua_settop(L, 1);
    lua_pushcfunction(L, target_traceback);
    lua_pushvalue(L, 1);
    lua_pushlstring(L, (const char *)data, n);
    if (lua_pcall(L, 1, 0, 2) == LUA_OK)
        return;
    fprintf(stderr, "%s\n", lua_tostring(L, -1));
    abort();
}
