/* show.h - values as text without addresses.
 *
 * `tostring`, `print` and `string.format("%s")` of a table, function, userdata or
 * thread give its type name (or what __tostring says), never an address, and
 * "%p" raises: the same run prints the same bytes. `print` writes to stderr, so
 * that what a script prints is never mistaken for the program's output. */
#pragma once
#include <lua.h>

void show_install(lua_State *L);

/* Push the text of the value at `index`, as tostring does. */
const char *show_push(lua_State *L, int index, size_t *n);
