/* state.h - the one Lua state: libraries, rt modules, the loader.
 *
 * The state has Lua's libraries with ordered `pairs`, stable `sort` and text
 * without addresses. lua/skillopt/loader.lua is run first; it is handed what it
 * needs (home folder, rt modules, what compiles a file) and returns the function that
 * finds modules. Everything else is Lua's business. */
#pragma once
#include "base/err.h"
#include <lua.h>

/* A new state with the loader run, or NULL. `home` is paths_home's. */
lua_State *state_new(const char *home, struct err *e);

/* Close the state and give its memory back. */
void state_free(lua_State *L);

/* Push the module's value; false and the error in `e`. For the start of main and
 * for test programs. */
bool state_require(lua_State *L, const char *module, struct err *e);

/* Fill `e` from the error value on top of the stack, and pop it. */
void state_take_error(lua_State *L, struct err *e);
