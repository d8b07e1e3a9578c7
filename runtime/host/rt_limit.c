/* rt_limit.c - rt.limit: places at an endpoint, given in program order.
 *
 * `enter` parks the task until it has a place and returns an entry; the entry's
 * `leave` says how the call ended. An entry that is closed without it (an error, a
 * cancellation) gives its place back with nothing learnt. */
#include "host/bind.h"
#include "host/modules.h"
#include "host/task.h"
#include "io/loop.h"
#include "run/limit.h"
#include "run/retry.h"
#include <lauxlib.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#define LIMIT_TYPE "rt.limit"
#define ENTRY_TYPE "rt.limit.entry"

struct holder {
    struct limit *limit;
    struct timer timer;
};

struct entry {
    struct limit_ticket ticket;
    struct wait wait;
    struct task *task;
    struct holder *holder; /* kept alive by the entry's user value */
    enum { ENTRY_NEW, ENTRY_WAITING, ENTRY_STARTED, ENTRY_OVER } state;
};

static struct entry *entry_of(const struct limit_ticket *t)
{
    return (struct entry *)((char *)t - offsetof(struct entry, ticket));
}

static bool before(const struct limit_ticket *a, const struct limit_ticket *b)
{
    return task_before(entry_of(a)->task, entry_of(b)->task);
}

static void start_waiting(struct holder *h);

static void timer_over(struct timer *t)
{
    start_waiting((struct holder *)((char *)t - offsetof(struct holder, timer)));
}

/* Give places to those that may start, and look again when time brings more. */
static void start_waiting(struct holder *h)
{
    double now = loop_now();
    double again = INFINITY;
    struct limit_ticket *t = limit_next(h->limit, now, &again);
    for (; t; t = limit_next(h->limit, now, &again)) {
        entry_of(t)->state = ENTRY_STARTED;
        task_wake(&entry_of(t)->wait);
    }
    if (isfinite(again))
        timer_start(&h->timer, again - now, timer_over);
    else
        timer_stop(&h->timer);
}

static int holder_release(lua_State *L)
{
    struct holder *h = luaL_checkudata(L, 1, LIMIT_TYPE);
    timer_stop(&h->timer);
    limit_free(h->limit);
    h->limit = NULL;
    return 0;
}

/* new{max, rpm, tpm} -> limit */
static int l_new(lua_State *L)
{
    static const char *const names[] = { "max", "rpm", "tpm", NULL };
    luaL_checktype(L, 1, LUA_TTABLE);
    bind_opts(L, 1, names);
    struct limit_options o = {
        .ceiling = (int)bind_opt_integer(L, 1, "max", 64, 1, 1000000),
        .rpm = bind_opt_number(L, 1, "rpm", 0, 0, 1e9),
        .tpm = bind_opt_number(L, 1, "tpm", 0, 0, 1e12),
        .before = before,
    };
    struct holder *h = bind_new(L, LIMIT_TYPE, sizeof *h);
    h->limit = limit_new(&o);
    return 1;
}

static void over(struct entry *entry, const struct limit_outcome *o)
{
    if (entry->state != ENTRY_STARTED)
        return;
    entry->state = ENTRY_OVER;
    if (!entry->holder->limit)
        return;
    limit_done(entry->holder->limit, &entry->ticket, o, loop_now());
    start_waiting(entry->holder);
}

/* Leave the line, or give the place back with nothing learnt. */
static void entry_drop(struct entry *entry)
{
    struct limit_outcome o = { .end = LIMIT_NEUTRAL,
                               .tokens = -1,
                               .requests = LIMIT_UNKNOWN,
                               .allowed_tokens = LIMIT_UNKNOWN };
    if (entry->state == ENTRY_WAITING) {
        limit_cancel(entry->holder->limit, &entry->ticket);
        entry->state = ENTRY_OVER;
    }
    over(entry, &o);
}

static void entry_cancel(struct wait *w)
{
    entry_drop((struct entry *)((char *)w - offsetof(struct entry, wait)));
}

static int enter_k(lua_State *L, int status, lua_KContext ctx)
{
    return 1; /* the entry is on top */
}

/* limit:enter([tokens]) -> entry, once there is a place. */
static int l_enter(lua_State *L)
{
    struct holder *h = luaL_checkudata(L, 1, LIMIT_TYPE);
    double tokens = luaL_optnumber(L, 2, 0);
    task_check(L);
    lua_settop(L, 1);
    struct entry *entry = lua_newuserdatauv(L, sizeof *entry, 1);
    memset(entry, 0, sizeof *entry);
    luaL_setmetatable(L, ENTRY_TYPE);
    lua_pushvalue(L, 1);
    lua_setiuservalue(L, -2, 1);
    entry->task = task_self(L);
    entry->holder = h;
    entry->ticket.tokens = tokens;
    entry->wait.cancel = entry_cancel;
    entry->state = ENTRY_WAITING;
    limit_want(h->limit, &entry->ticket);
    start_waiting(h);
    if (entry->state == ENTRY_STARTED)
        return 1;
    return task_park(L, &entry->wait, enter_k, 0);
}

static int entry_release(lua_State *L)
{
    entry_drop(luaL_checkudata(L, 1, ENTRY_TYPE));
    return 0;
}

/* A table {limit, remaining, reset_s} in field `name` of the table on top. */
static struct limit_allowance allowance(lua_State *L, const char *name)
{
    struct limit_allowance a = LIMIT_UNKNOWN;
    if (lua_getfield(L, -1, name) == LUA_TTABLE) {
        a.limit = bind_opt_number(L, lua_gettop(L), "limit", -1, -1, 1e15);
        a.remaining = bind_opt_number(L, lua_gettop(L), "remaining", -1, -1e15, 1e15);
        a.reset_s = bind_opt_number(L, lua_gettop(L), "reset_s", -1, -1e15, 1e15);
    }
    lua_pop(L, 1);
    return a;
}

/* entry:leave{outcome, tokens, retry_after_s, limits = {requests, tokens}}: the call
 * has ended. Outcomes: ok rate_limited fault neutral unused. */
static int l_leave(lua_State *L)
{
    static const char *const words[] = { "ok",      "rate_limited", "fault",
                                         "neutral", "unused",       NULL };
    static const char *const names[] = { "outcome", "tokens", "retry_after_s", "limits",
                                         NULL };
    struct entry *entry = luaL_checkudata(L, 1, ENTRY_TYPE);
    luaL_checktype(L, 2, LUA_TTABLE);
    bind_opts(L, 2, names);
    struct limit_outcome o = { .tokens = bind_opt_number(L, 2, "tokens", -1, -1, 1e15),
                               .requests = LIMIT_UNKNOWN,
                               .allowed_tokens = LIMIT_UNKNOWN };
    o.retry_after_s = bind_opt_number(L, 2, "retry_after_s", 0, -1e9, 1e9);
    lua_getfield(L, 2, "outcome");
    o.end = (enum limit_end)luaL_checkoption(L, lua_gettop(L), NULL, words);
    if (lua_getfield(L, 2, "limits") == LUA_TTABLE) {
        o.requests = allowance(L, "requests");
        o.allowed_tokens = allowance(L, "tokens");
    }
    over(entry, &o);
    return 0;
}

/* limit:view() -> {in_flight, window, waiting, is_alone, paused_s} */
static int l_view(lua_State *L)
{
    struct holder *h = luaL_checkudata(L, 1, LIMIT_TYPE);
    struct limit_view v = limit_look(h->limit);
    double paused = v.paused_until - loop_now();
    lua_createtable(L, 0, 5);
    lua_pushinteger(L, v.in_flight);
    lua_setfield(L, -2, "in_flight");
    lua_pushinteger(L, v.window);
    lua_setfield(L, -2, "window");
    lua_pushinteger(L, v.waiting);
    lua_setfield(L, -2, "waiting");
    lua_pushboolean(L, v.is_alone);
    lua_setfield(L, -2, "is_alone");
    lua_pushnumber(L, paused > 0 ? paused : 0);
    lua_setfield(L, -2, "paused_s");
    return 1;
}

/* retry_delay{kind, attempt, key, elapsed_s, retry_after_s, max_attempts} -> seconds to
 * wait before the next try, or nil: give up. */
static int l_retry_delay(lua_State *L)
{
    static const char *const names[] = { "kind",      "attempt",       "key",
                                         "elapsed_s", "retry_after_s", "max_attempts",
                                         NULL };
    luaL_checktype(L, 1, LUA_TTABLE);
    bind_opts(L, 1, names);
    struct retry_policy policy = retry_defaults;
    int most = (int)bind_opt_integer(L, 1, "max_attempts", 0, 0, 1000);
    for (int i = 0; most > 0 && i < RETRY_CLASS_COUNT; i++)
        if (policy.attempts[i] > 1)
            policy.attempts[i] = most;
    struct retry_try one = {
        .kind = err_kind_of(bind_opt_text(L, 1, "kind", "", NULL)),
        .attempt = (int)bind_opt_integer(L, 1, "attempt", 1, 1, 1000000),
        .elapsed_s = bind_opt_number(L, 1, "elapsed_s", 0, 0, 1e12),
        .retry_after_s = bind_opt_number(L, 1, "retry_after_s", 0, -1e9, 1e9),
        .key = bind_opt_text(L, 1, "key", "", NULL),
    };
    double delay = retry_delay(&policy, &one);
    if (delay < 0)
        return 0;
    lua_pushnumber(L, delay);
    return 1;
}

static const luaL_Reg limit_methods[] = { { "enter", l_enter },
                                          { "view", l_view },
                                          { NULL, NULL } };

static const luaL_Reg entry_methods[] = { { "leave", l_leave }, { NULL, NULL } };

static const luaL_Reg functions[] = { { "new", l_new },
                                      { "retry_delay", l_retry_delay },
                                      { NULL, NULL } };

int luaopen_rt_limit(lua_State *L)
{
    bind_type(L, LIMIT_TYPE, limit_methods, holder_release);
    bind_type(L, ENTRY_TYPE, entry_methods, entry_release);
    luaL_newlib(L, functions);
    return 1;
}
