/* rt_rng.h - the generator behind a Lua random stream, for bindings that make
 * streams of their own (each task has one).
 *
 * A stream is a userdata that holds a `struct rng` by value; it may be seeded
 * again at any time through the pointer, which lives as long as the userdata. */
#pragma once
#include "base/rng.h"
#include <lua.h>

/* The stream at `index`; raises when it is something else. */
struct rng *rt_rng_check(lua_State *L, int index);

/* Push a new stream. It must be seeded before Lua sees it. Needs no module to
 * be open. */
struct rng *rt_rng_new(lua_State *L);
