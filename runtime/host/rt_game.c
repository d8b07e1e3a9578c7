/* rt_game.c - text games of the ALFWorld kind for Lua. */
#include "game/game.h"
#include "game/shared.h"
#include "host/bind.h"
#include "host/modules.h"
#include "host/watch.h"
#include <lauxlib.h>
#include <stdint.h>

#define GAME_TYPE   "rt.game"
#define SHARED_TYPE "rt.game.shared"
#define PLAN_TYPE   "rt.game.plan"

enum { NODES_USUAL = 100000, NODES_MAX = 10000000 };

struct handle {
    struct game *game;
    size_t max_steps; /* 0: play goes on */
};

/* What games of equal files have in common, one cache for each Lua state. */
struct cache {
    struct game_shared *shared;
};

static int cache_release(lua_State *L)
{
    struct cache *c = luaL_checkudata(L, 1, SHARED_TYPE);
    game_shared_free(c->shared);
    c->shared = NULL;
    return 0;
}

static int plan_release(lua_State *L)
{
    game_plan_free(luaL_checkudata(L, 1, PLAN_TYPE));
    return 0;
}

static int l_close(lua_State *L)
{
    struct handle *h = luaL_checkudata(L, 1, GAME_TYPE);
    game_close(h->game);
    h->game = NULL;
    return 0;
}

static struct handle *check_handle(lua_State *L)
{
    struct handle *h = luaL_checkudata(L, 1, GAME_TYPE);
    luaL_argcheck(L, h->game, 1, "the game is closed");
    return h;
}

static struct game *check_game(lua_State *L)
{
    return check_handle(L)->game;
}

static int push_observation(lua_State *L, const struct game *g)
{
    size_t n = 0;
    const char *text = game_observation(g, &n);
    lua_pushlstring(L, text, n);
    return 1;
}

/* An episode ends with its last step or the one that wins, never before the first. */
static bool is_done(const struct handle *h)
{
    size_t steps = game_steps(h->game);
    return steps > 0 && (game_won(h->game) || (h->max_steps && steps >= h->max_steps));
}

static int push_result(lua_State *L, const struct handle *h)
{
    lua_createtable(L, 0, 5);
    push_observation(L, h->game);
    lua_setfield(L, -2, "observation");
    lua_pushboolean(L, game_won(h->game));
    lua_setfield(L, -2, "won");
    lua_pushboolean(L, is_done(h));
    lua_setfield(L, -2, "done");
    lua_pushboolean(L, game_was_admissible(h->game));
    lua_setfield(L, -2, "admissible");
    lua_pushinteger(L, (lua_Integer)game_steps(h->game));
    lua_setfield(L, -2, "steps");
    return 1;
}

static int l_reset(lua_State *L)
{
    struct err e = { 0 };
    struct game *g = check_game(L);
    return game_reset(g, &e) ? push_observation(L, g) : bind_err(L, &e);
}

/* game:step(command). An episode that is over stands still. */
static int l_step(lua_State *L)
{
    size_t n = 0;
    struct err e = { 0 };
    struct handle *h = check_handle(L);
    const char *command = luaL_checklstring(L, 2, &n);
    bool is_over = h->max_steps && is_done(h);
    if (!is_over && !game_step(h->game, command, n, &e))
        return bind_err(L, &e);
    return push_result(L, h);
}

static int l_observation(lua_State *L)
{
    return push_observation(L, check_game(L));
}

static int l_admissible(lua_State *L)
{
    const struct game *g = check_game(L);
    size_t count = game_command_count(g);
    lua_createtable(L, (int)count, 0);
    for (size_t i = 0; i < count; i++) {
        size_t n = 0;
        const char *command = game_command(g, i, &n);
        lua_pushlstring(L, command, n);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    return 1;
}

static int l_won(lua_State *L)
{
    lua_pushboolean(L, game_won(check_game(L)));
    return 1;
}

static int l_steps(lua_State *L)
{
    lua_pushinteger(L, (lua_Integer)game_steps(check_game(L)));
    return 1;
}

static int l_progress(lua_State *L)
{
    struct err e = { 0 };
    struct game_progress p;
    if (!game_progress(check_game(L), &p, &e))
        return bind_err(L, &e);
    lua_createtable(L, 0, 2);
    lua_pushinteger(L, (lua_Integer)p.satisfied);
    lua_setfield(L, -2, "satisfied");
    lua_pushinteger(L, (lua_Integer)p.total);
    lua_setfield(L, -2, "total");
    return 1;
}

/* game:solve{max_nodes} -> {command, ..., nodes = integer} | nil, err */
static int l_solve(lua_State *L)
{
    static const char *const names[] = { "max_nodes", NULL };
    struct err e = { 0 };
    struct game *g = check_game(L);
    bind_opts(L, 2, names);
    size_t max_nodes =
        (size_t)bind_opt_integer(L, 2, "max_nodes", NODES_USUAL, 1, NODES_MAX);
    struct game_plan *plan = bind_new(L, PLAN_TYPE, sizeof *plan);
    if (!game_solve(g, max_nodes, watch_flag(), plan, &e)) {
        watch_check(L);
        return bind_err(L, &e);
    }
    lua_createtable(L, (int)plan->count, 1);
    for (size_t i = 0; i < plan->count; i++) {
        lua_pushstring(L, plan->commands[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    lua_pushinteger(L, (lua_Integer)plan->nodes);
    lua_setfield(L, -2, "nodes");
    game_plan_free(plan);
    return 1;
}

static int l_clone(lua_State *L)
{
    const struct handle *h = check_handle(L);
    struct handle *copy = bind_new(L, GAME_TYPE, sizeof *copy);
    copy->max_steps = h->max_steps;
    copy->game = game_clone(h->game);
    return 1;
}

/* game.open(bytes, {name, max_steps}) -> game | nil, err */
static int l_open(lua_State *L)
{
    static const char *const names[] = { "name", "max_steps", NULL };
    size_t n = 0;
    struct err e = { 0 };
    const char *bytes = luaL_checklstring(L, 1, &n);
    bind_opts(L, 2, names);
    const char *name = bind_opt_text(L, 2, "name", "game", NULL);
    lua_Integer max_steps = bind_opt_integer(L, 2, "max_steps", 0, 1, INT32_MAX);
    const struct cache *c = lua_touserdata(L, lua_upvalueindex(1));
    struct handle *h = bind_new(L, GAME_TYPE, sizeof *h);
    h->max_steps = (size_t)max_steps;
    h->game = game_open(bytes, n, name, c->shared, &e);
    return h->game ? 1 : bind_err(L, &e);
}

static const luaL_Reg methods[] = {
    { "admissible", l_admissible },
    { "clone", l_clone },
    { "close", l_close },
    { "observation", l_observation },
    { "progress", l_progress },
    { "reset", l_reset },
    { "solve", l_solve },
    { "step", l_step },
    { "steps", l_steps },
    { "won", l_won },
    { NULL, NULL },
};

static const luaL_Reg functions[] = { { "open", l_open }, { NULL, NULL } };

int luaopen_rt_game(lua_State *L)
{
    bind_type(L, GAME_TYPE, methods, l_close);
    bind_type(L, PLAN_TYPE, NULL, plan_release);
    bind_type(L, SHARED_TYPE, NULL, cache_release);
    luaL_newlibtable(L, functions);
    struct cache *c = bind_new(L, SHARED_TYPE, sizeof *c);
    c->shared = game_shared_new();
    luaL_setfuncs(L, functions, 1);
    return 1;
}
