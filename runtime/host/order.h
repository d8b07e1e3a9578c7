/* order.h - one order for pairs, next and sort.
 *
 * `pairs` and `next` walk integers, then floats, then strings by byte, then
 * booleans, over a snapshot of the keys; keys of other types raise. `table.sort`
 * is stable and raises when its comparator contradicts itself. So nothing a
 * script computes can depend on hash seeds, addresses or the clock. */
#pragma once
#include <lua.h>

/* Replace `pairs`, `next` and `table.sort` in the globals of L; the originals of
 * next and pairs stay in the registry as rt.raw's. */
void order_install(lua_State *L);

/* rt.raw: `next` and `pairs` as Lua has them, for folds in which order cannot be
 * seen, and `set` = rawset that also writes frozen tables. */
int luaopen_rt_raw(lua_State *L);
