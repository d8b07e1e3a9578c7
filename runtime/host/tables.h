/* tables.h - the functions of `table` that loop over what a length or a range says.
 *
 * A length can be anything (`__len`, a table with holes), and Lua's own loops over it
 * know no end. `insert`, `remove`, `move` and `concat` are Lua 5.4's, metamethods
 * included, and end when the watched stretch is to end. */
#pragma once
#include <lua.h>

/* Replace these functions in the table `table` of L. */
void tables_install(lua_State *L);
