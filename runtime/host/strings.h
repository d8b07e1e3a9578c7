/* strings.h - the functions of `string` that a script could hang in, of our own.
 *
 * `find`, `match`, `gmatch` and `gsub` match with text/pattern: they end when the
 * watched stretch is to end, and with an err of kind `limit` after PATTERN_STEPS_MAX
 * steps. `rep` of nothing is nothing, at once; what would be too large is a `limit` as
 * well. All else is as in Lua 5.4. */
#pragma once
#include <lua.h>

/* Replace these functions in the table `string` of L. */
void strings_install(lua_State *L);
