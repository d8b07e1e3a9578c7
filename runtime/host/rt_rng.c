/* rt_rng.c - random streams for Lua, equal to CPython's. */
#include "host/rt_rng.h"
#include "host/bind.h"
#include "host/modules.h"
#include <lauxlib.h>

#define RNG_TYPE "rt.rng"

struct rng *rt_rng_check(lua_State *L, int index)
{
    return luaL_checkudata(L, index, RNG_TYPE);
}

/* stream:bits(k) is a number of k random bits; 64 bits may come out negative. */
static int l_bits(lua_State *L)
{
    struct rng *r = rt_rng_check(L, 1);
    lua_Integer k = luaL_checkinteger(L, 2);
    luaL_argcheck(L, k >= 0 && k <= 64, 2, "must be from 0 to 64");
    lua_pushinteger(L, (lua_Integer)rng_bits(r, (unsigned)k));
    return 1;
}

/* stream:below(n) is a whole number from 0 to n - 1. */
static int l_below(lua_State *L)
{
    struct rng *r = rt_rng_check(L, 1);
    lua_Integer n = luaL_checkinteger(L, 2);
    luaL_argcheck(L, n > 0, 2, "must be positive");
    lua_pushinteger(L, (lua_Integer)rng_below(r, (uint64_t)n));
    return 1;
}

static int l_random(lua_State *L)
{
    lua_pushnumber(L, rng_random(rt_rng_check(L, 1)));
    return 1;
}

/* stream:shuffle(list) puts the list itself in random order and returns it. */
static int l_shuffle(lua_State *L)
{
    struct rng *r = rt_rng_check(L, 1);
    luaL_checktype(L, 2, LUA_TTABLE);
    for (lua_Integer i = luaL_len(L, 2); i > 1; i--) {
        lua_Integer j = (lua_Integer)rng_below(r, (uint64_t)i) + 1;
        lua_geti(L, 2, i);
        lua_geti(L, 2, j);
        lua_seti(L, 2, i);
        lua_seti(L, 2, j);
    }
    lua_settop(L, 2);
    return 1;
}

static int l_choice(lua_State *L)
{
    struct rng *r = rt_rng_check(L, 1);
    luaL_checktype(L, 2, LUA_TTABLE);
    lua_Integer n = luaL_len(L, 2);
    luaL_argcheck(L, n > 0, 2, "must not be empty");
    lua_geti(L, 2, (lua_Integer)rng_below(r, (uint64_t)n) + 1);
    return 1;
}

/* stream:sample(list, k) is a new list of k entries from different places. */
static int l_sample(lua_State *L)
{
    struct rng *r = rt_rng_check(L, 1);
    luaL_checktype(L, 2, LUA_TTABLE);
    lua_Integer n = luaL_len(L, 2);
    lua_Integer k = luaL_checkinteger(L, 3);
    luaL_argcheck(L, n <= INT32_MAX, 2, "too long");
    luaL_argcheck(L, k >= 0 && k <= n, 3, "must be from 0 to the length of the list");
    size_t *picked = lua_newuserdatauv(L, (size_t)(k + 1) * sizeof *picked, 0);
    rng_sample(r, (size_t)n, picked, (size_t)k);
    lua_createtable(L, (int)k, 0);
    for (lua_Integer i = 0; i < k; i++) {
        lua_geti(L, 2, (lua_Integer)picked[i] + 1);
        lua_seti(L, -2, i + 1);
    }
    return 1;
}

static const luaL_Reg methods[] = {
    { "below", l_below },   { "bits", l_bits },       { "choice", l_choice },
    { "random", l_random }, { "shuffle", l_shuffle }, { "sample", l_sample },
    { NULL, NULL },
};

struct rng *rt_rng_new(lua_State *L)
{
    bind_type(L, RNG_TYPE, methods, NULL);
    return bind_new(L, RNG_TYPE, sizeof(struct rng));
}

static void seed_from_list(lua_State *L, struct rng *r, int index)
{
    enum { MAX = 4096 };
    lua_Integer n = luaL_len(L, index);
    luaL_argcheck(L, n > 0 && n <= MAX, index, "must have 1 to 4096 words");
    uint32_t *words = lua_newuserdatauv(L, (size_t)n * sizeof *words, 0);
    for (lua_Integer i = 0; i < n; i++) {
        lua_geti(L, index, i + 1);
        int is_integer;
        lua_Integer word = lua_tointegerx(L, -1, &is_integer);
        luaL_argcheck(L, is_integer && word >= 0 && word <= UINT32_MAX, index,
                      "words must be whole numbers from 0 to 4294967295");
        words[i] = (uint32_t)word;
        lua_pop(L, 1);
    }
    rng_seed_words(r, words, (size_t)n);
    lua_pop(L, 1);
}

/* rng.new(seed) or rng.new{word, ...}, least significant word first. */
static int l_new(lua_State *L)
{
    if (lua_type(L, 1) == LUA_TTABLE) {
        struct rng *r = rt_rng_new(L);
        seed_from_list(L, r, 1);
    } else {
        lua_Integer seed = luaL_checkinteger(L, 1);
        rng_seed(rt_rng_new(L), seed);
    }
    return 1;
}

static int l_from_text(lua_State *L)
{
    size_t n;
    const char *text = luaL_checklstring(L, 1, &n);
    rng_seed_text(rt_rng_new(L), text, n);
    return 1;
}

static const luaL_Reg functions[] = {
    { "from_text", l_from_text },
    { "new", l_new },
    { NULL, NULL },
};

int luaopen_rt_rng(lua_State *L)
{
    luaL_newlib(L, functions);
    return 1;
}
