/* bind.h - the few moves every rt module makes.
 *
 * A binding converts, calls the room below and converts back. What the world
 * answers goes out as `nil, err`, err being a table {kind, message, hint, retry}
 * that prints as "kind: message (hint)"; what the caller got wrong is raised. */
#pragma once
#include "base/err.h"
#include <lua.h>

/* Push nil and the err table; returns 2, so `return bind_err(L, &e)` works. */
int bind_err(lua_State *L, const struct err *e);

/* Push the err table alone. */
void bind_push_err(lua_State *L, const struct err *e);

/* Options table at `index` (nil or absent counts as empty): raise for a name that
 * is not in the NULL-terminated list, naming the nearest one. */
void bind_opts(lua_State *L, int index, const char *const names[]);

/* One option of a checked table. The number is raised as misuse when outside
 * min..max. The text belongs to the table; *n may be NULL. */
bool bind_opt_bool(lua_State *L, int index, const char *name, bool otherwise);
lua_Integer bind_opt_integer(lua_State *L, int index, const char *name,
                             lua_Integer otherwise, lua_Integer min, lua_Integer max);
double bind_opt_number(lua_State *L, int index, const char *name, double otherwise,
                       double min, double max);
const char *bind_opt_text(lua_State *L, int index, const char *name,
                          const char *otherwise, size_t *n);

/* Replace a frozen table at `index` by its content; anything else stays. */
void bind_thaw(lua_State *L, int index);

/* Empty userdata (zeroed, `size` bytes) with the metatable registered under
 * `type` set before anything is acquired. */
void *bind_new(lua_State *L, const char *type, size_t size);

/* Register a userdata type: `methods` as __index, `release` as __gc and __close
 * (may be NULL; runs twice without harm). Safe to call again. */
struct luaL_Reg;
void bind_type(lua_State *L, const char *type, const struct luaL_Reg *methods,
               lua_CFunction release);

/* The word nearest to `word` in a NULL-terminated list, or NULL when nothing is
 * near (edit distance above a third of its length). */
const char *bind_nearest(const char *word, const char *const list[]);
