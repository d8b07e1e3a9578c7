/* rt_flow.c - see rt_flow.h. */
#include "host/rt_flow.h"
#include "base/mem.h"
#include "base/rng.h"
#include "host/bind.h"
#include "host/modules.h"
#include "host/stop.h"
#include "host/task.h"
#include "io/loop.h"
#include <lauxlib.h>
#include <stddef.h>

#define NAP_TYPE "rt.flow.nap"

static int l_now(lua_State *L)
{
    lua_pushnumber(L, loop_now());
    return 1;
}

static int l_wall(lua_State *L)
{
    lua_pushnumber(L, loop_wall());
    return 1;
}

/* ------------------------------------------------------------------- sleep */

struct nap {
    struct timer timer;
    struct wait wait;
};

static void nap_over(struct timer *t)
{
    task_wake(&((struct nap *)((char *)t - offsetof(struct nap, timer)))->wait);
}

static void nap_cancel(struct wait *w)
{
    timer_stop(&((struct nap *)((char *)w - offsetof(struct nap, wait)))->timer);
}

static int nap_release(lua_State *L)
{
    timer_stop(&((struct nap *)luaL_checkudata(L, 1, NAP_TYPE))->timer);
    return 0;
}

static int nap_k(lua_State *L, int status, lua_KContext ctx)
{
    return 0;
}

static int nap_for(lua_State *L, bool is_background)
{
    double seconds = luaL_checknumber(L, 1);
    luaL_argcheck(L, seconds >= 0, 1, "must not be negative");
    task_check(L);
    struct nap *nap = bind_new(L, NAP_TYPE, sizeof *nap);
    nap->wait.cancel = nap_cancel;
    nap->timer.is_background = is_background;
    timer_start(&nap->timer, seconds, nap_over);
    return task_park(L, &nap->wait, nap_k, 0);
}

static int l_sleep(lua_State *L)
{
    return nap_for(L, false);
}

/* tick(seconds): as sleep, for what only looks at others: it is no sign that the program
 * goes on. */
static int l_tick(lua_State *L)
{
    return nap_for(L, true);
}

/* -------------------------------------------------------------------- stop */

static int l_is_stopping(lua_State *L)
{
    lua_pushboolean(L, stop_is_asked());
    return 1;
}

/* hold(): wait for cancellation; a task that must not send anything new. */
static int l_hold(lua_State *L)
{
    task_check(L);
    struct nap *nap = bind_new(L, NAP_TYPE, sizeof *nap);
    return task_park(L, &nap->wait, nap_k, 0);
}

/* flight(change): +1 before something is sent, -1 when its answer is stored. */
static int l_flight(lua_State *L)
{
    stop_count_flight((int)luaL_checkinteger(L, 1));
    return 0;
}

static int l_flights(lua_State *L)
{
    lua_pushinteger(L, stop_flights());
    return 1;
}

/* ------------------------------------------------------------------- defer */

enum { DEFERRED_MAX = 1 << 24 };

static struct wait **deferred;
static size_t deferred_n, deferred_cap;
static struct rng dice;

static void deferred_cancel(struct wait *w)
{
    for (size_t i = 0; i < deferred_n; i++)
        if (deferred[i] == w)
            deferred[i] = deferred[--deferred_n];
}

/* disorder(seed): draw from this seed from now on. */
static int l_disorder(lua_State *L)
{
    rng_seed(&dice, luaL_checkinteger(L, 1));
    return 0;
}

static int l_defer(lua_State *L)
{
    task_check(L);
    if (deferred_n >= DEFERRED_MAX)
        return luaL_error(L, "too many deferred tasks");
    struct nap *nap = bind_new(L, NAP_TYPE, sizeof *nap);
    nap->wait.cancel = deferred_cancel;
    if (deferred_n == deferred_cap) {
        deferred_cap = deferred_cap ? 2 * deferred_cap : 64;
        /* NOLINTNEXTLINE(bugprone-sizeof-expression): a list of pointers */
        deferred = mem_grow(deferred, deferred_cap * sizeof *deferred);
    }
    deferred[deferred_n++] = &nap->wait;
    return task_park(L, &nap->wait, nap_k, 0);
}

bool flow_wake_deferred(void)
{
    if (deferred_n == 0) {
        mem_free(deferred);
        deferred = NULL;
        deferred_cap = 0;
        return false;
    }
    size_t i = (size_t)rng_below(&dice, deferred_n);
    struct wait *w = deferred[i];
    deferred[i] = deferred[--deferred_n];
    task_wake(w);
    return true;
}

static const luaL_Reg functions[] = {
    { "now", l_now },         { "wall", l_wall },
    { "sleep", l_sleep },     { "is_stopping", l_is_stopping },
    { "hold", l_hold },       { "flight", l_flight },
    { "flights", l_flights }, { "disorder", l_disorder },
    { "defer", l_defer },     { "tick", l_tick },
    { NULL, NULL },
};

int luaopen_rt_flow(lua_State *L)
{
    bind_type(L, NAP_TYPE, NULL, nap_release);
    rng_seed(&dice, 0);
    luaL_newlib(L, functions);
    return 1;
}
