/* rt_ledger.c - rt.ledger: what calls cost, and leave to make the next one.
 *
 * `reserve` parks the task while the call does not fit but others are still to be
 * settled; those that wait are asked again in program order. An intent that is closed
 * without a word (an error, a cancellation) is settled at its worst case. */
#include "host/bind.h"
#include "host/modules.h"
#include "host/task.h"
#include "run/ledger.h"
#include <lauxlib.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#define LEDGER_TYPE "rt.ledger"
#define INTENT_TYPE "rt.ledger.intent"

struct holder {
    struct ledger *ledger;
    struct intent *first; /* those that wait, in program order */
    struct err err;       /* why the last one was refused */
};

struct intent {
    struct ledger_intent intent;
    struct ledger_call call; /* texts of the task's own table, kept by a user value */
    struct ledger_usage worst;
    struct wait wait;
    struct task *task;
    struct holder *holder; /* kept alive by a user value */
    struct intent *next;
    bool is_waiting, is_refused;
};

static int holder_release(lua_State *L)
{
    struct holder *h = luaL_checkudata(L, 1, LEDGER_TYPE);
    ledger_free(h->ledger);
    h->ledger = NULL;
    return 0;
}

static struct ledger *ledger_at(lua_State *L, int index)
{
    return ((struct holder *)luaL_checkudata(L, index, LEDGER_TYPE))->ledger;
}

/* new{cost, tokens, calls} -> ledger; negative or absent: no cap. cost in dollars. */
static int l_new(lua_State *L)
{
    static const char *const names[] = { "cost", "tokens", "calls", NULL };
    bind_opts(L, 1, names);
    double cost = bind_opt_number(L, 1, "cost", -1, -1, 1e9);
    struct ledger_caps caps = {
        .nano = cost < 0 ? -1 : (int64_t)llround(cost * 1e9),
        .tokens = bind_opt_integer(L, 1, "tokens", -1, -1, INT64_MAX / 4),
        .calls = bind_opt_integer(L, 1, "calls", -1, -1, INT64_MAX / 4),
    };
    struct holder *h = bind_new(L, LEDGER_TYPE, sizeof *h);
    h->ledger = ledger_new(&caps);
    return 1;
}

/* ledger:price(model, {input, output, cached_input}) -> true | nil, err */
static int l_price(lua_State *L)
{
    static const char *const names[] = { "input", "output", "cached_input", NULL };
    struct ledger *l = ledger_at(L, 1);
    const char *model = luaL_checkstring(L, 2);
    luaL_checktype(L, 3, LUA_TTABLE);
    bind_opts(L, 3, names);
    struct ledger_price p = {
        .input = bind_opt_number(L, 3, "input", 0, 0, 1e9),
        .output = bind_opt_number(L, 3, "output", 0, 0, 1e9),
        .cached_input = bind_opt_number(L, 3, "cached_input", -1, -1, 1e9),
    };
    struct err e = { 0 };
    if (!ledger_set_price(l, model, &p, &e))
        return bind_err(L, &e);
    lua_pushboolean(L, true);
    return 1;
}

/* ledger:check(model) -> true | nil, err */
static int l_check(lua_State *L)
{
    struct err e = { 0 };
    if (!ledger_check_model(ledger_at(L, 1), luaL_checkstring(L, 2), &e))
        return bind_err(L, &e);
    lua_pushboolean(L, true);
    return 1;
}

static int64_t tokens_in(lua_State *L, int index, const char *name)
{
    return bind_opt_integer(L, index, name, 0, 0, INT64_MAX / 4);
}

/* A usage as replies have it; other fields of the table are left alone. */
static struct ledger_usage usage_at(lua_State *L, int index)
{
    luaL_checktype(L, index, LUA_TTABLE);
    return (struct ledger_usage){
        .prompt = tokens_in(L, index, "prompt_tokens"),
        .completion = tokens_in(L, index, "completion_tokens"),
        .reasoning = tokens_in(L, index, "reasoning_tokens"),
        .cached = tokens_in(L, index, "cached_tokens"),
        .is_estimated = bind_opt_bool(L, index, "estimated", false),
    };
}

/* Who calls, from the table at `index`, whose texts must outlive the result. */
static struct ledger_call call_at(lua_State *L, int index)
{
    luaL_checktype(L, index, LUA_TTABLE);
    return (struct ledger_call){
        .role = bind_opt_text(L, index, "role", "", NULL),
        .stage = bind_opt_text(L, index, "stage", "", NULL),
        .model = bind_opt_text(L, index, "model", "", NULL),
    };
}

/* ledger:add(call, usage, {lost}) counts a call of an earlier life of the run. */
static int l_add(lua_State *L)
{
    static const char *const names[] = { "lost", NULL };
    struct ledger *l = ledger_at(L, 1);
    struct ledger_call call = call_at(L, 2);
    struct ledger_usage usage = usage_at(L, 3);
    bind_opts(L, 4, names);
    ledger_add(l, &call, &usage, bind_opt_bool(L, 4, "lost", false));
    return 0;
}

/* ---- waiting ---- */

/* Go, wait, or refuse; false while it has to wait. */
static bool decide(struct intent *i)
{
    enum ledger_answer answer = ledger_reserve(i->holder->ledger, &i->call, &i->worst,
                                               &i->intent, &i->holder->err);
    i->is_refused = answer == LEDGER_STOP;
    return answer != LEDGER_WAIT;
}

/* Ask for those that wait, first in program order first, until one has to wait on. */
static void ask_again(struct holder *h)
{
    while (h->ledger && h->first && decide(h->first)) {
        struct intent *i = h->first;
        h->first = i->next;
        i->is_waiting = false;
        task_wake(&i->wait);
    }
}

static void enqueue(struct intent *i)
{
    struct intent **at = &i->holder->first;
    while (*at && !task_before(i->task, (*at)->task))
        at = &(*at)->next;
    i->next = *at;
    *at = i;
    i->is_waiting = true;
}

static void dequeue(struct intent *i)
{
    struct intent **at = &i->holder->first;
    while (*at && *at != i)
        at = &(*at)->next;
    if (*at)
        *at = i->next;
    i->is_waiting = false;
}

static void intent_cancel(struct wait *w)
{
    struct intent *i = (struct intent *)((char *)w - offsetof(struct intent, wait));
    if (i->is_waiting)
        dequeue(i);
    ledger_release(i->holder->ledger, &i->intent);
    ask_again(i->holder);
}

/* The intent is on top: it, or the reason why there is none. */
static int decided(lua_State *L, const struct intent *i)
{
    return i->is_refused ? bind_err(L, &i->holder->err) : 1;
}

static int reserve_k(lua_State *L, int status, lua_KContext ctx)
{
    return decided(L, (const struct intent *)ctx);
}

/* ledger:reserve(call, usage) -> intent | nil, err: `usage` is the worst case. */
static int l_reserve(lua_State *L)
{
    struct holder *h = luaL_checkudata(L, 1, LEDGER_TYPE);
    struct ledger_call call = call_at(L, 2);
    struct ledger_usage worst = usage_at(L, 3);
    task_check(L);
    lua_settop(L, 2);
    struct intent *i = lua_newuserdatauv(L, sizeof *i, 2);
    memset(i, 0, sizeof *i);
    luaL_setmetatable(L, INTENT_TYPE);
    lua_pushvalue(L, 1);
    lua_setiuservalue(L, -2, 1);
    lua_pushvalue(L, 2);
    lua_setiuservalue(L, -2, 2);
    i->call = call;
    i->worst = worst;
    i->holder = h;
    i->task = task_self(L);
    i->wait.cancel = intent_cancel;
    bool has_turn = !h->first || task_before(i->task, h->first->task);
    if (has_turn && decide(i))
        return decided(L, i);
    enqueue(i);
    return task_park(L, &i->wait, reserve_k, (lua_KContext)i);
}

/* intent:settle(usage): the call has ended; without usage it counts at its worst. */
static int l_settle(lua_State *L)
{
    struct intent *i = luaL_checkudata(L, 1, INTENT_TYPE);
    struct ledger_usage usage = { 0 };
    bool is_known = !lua_isnoneornil(L, 2);
    if (is_known)
        usage = usage_at(L, 2);
    if (i->holder->ledger)
        ledger_settle(i->holder->ledger, &i->intent, is_known ? &usage : NULL);
    ask_again(i->holder);
    return 0;
}

/* intent:release(): the call cost nothing. */
static int l_release(lua_State *L)
{
    struct intent *i = luaL_checkudata(L, 1, INTENT_TYPE);
    if (i->holder->ledger)
        ledger_release(i->holder->ledger, &i->intent);
    ask_again(i->holder);
    return 0;
}

static int intent_release(lua_State *L)
{
    lua_settop(L, 1);
    return l_settle(L);
}

/* ---- totals ---- */

static void set_integer(lua_State *L, const char *name, int64_t n)
{
    lua_pushinteger(L, n);
    lua_setfield(L, -2, name);
}

static void push_sum(lua_State *L, struct ledger_sum s)
{
    lua_createtable(L, 0, 3);
    lua_pushnumber(L, (double)s.nano / 1e9);
    lua_setfield(L, -2, "cost");
    set_integer(L, "tokens", s.tokens);
    set_integer(L, "calls", s.calls);
}

/* ledger:spent() -> settled, reserved: {cost, tokens, calls} each */
static int l_spent(lua_State *L)
{
    struct ledger *l = ledger_at(L, 1);
    push_sum(L, ledger_spent(l));
    push_sum(L, ledger_reserved(l));
    return 2;
}

/* ledger:rows() -> {{role, stage, calls, ...}}, by role and stage */
static int l_rows(lua_State *L)
{
    struct ledger *l = ledger_at(L, 1);
    lua_newtable(L);
    struct ledger_row row;
    for (size_t i = 0; ledger_row(l, i, &row); i++) {
        lua_createtable(L, 0, 9);
        lua_pushstring(L, row.role);
        lua_setfield(L, -2, "role");
        lua_pushstring(L, row.stage);
        lua_setfield(L, -2, "stage");
        set_integer(L, "calls", row.calls);
        set_integer(L, "lost", row.lost);
        set_integer(L, "estimated", row.estimated);
        set_integer(L, "unpriced", row.unpriced);
        set_integer(L, "prompt_tokens", row.prompt);
        set_integer(L, "completion_tokens", row.completion);
        lua_pushnumber(L, (double)row.nano / 1e9);
        lua_setfield(L, -2, "cost");
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    return 1;
}

/* ledger:cost(model, usage) -> dollars, or nil for a model without a price */
static int l_cost(lua_State *L)
{
    struct ledger *l = ledger_at(L, 1);
    const char *model = luaL_checkstring(L, 2);
    struct ledger_usage usage = usage_at(L, 3);
    if (!ledger_price(l, model))
        return 0;
    lua_pushnumber(L, (double)ledger_cost(l, model, &usage) / 1e9);
    return 1;
}

static const luaL_Reg ledger_methods[] = { { "add", l_add },         { "check", l_check },
                                           { "cost", l_cost },       { "price", l_price },
                                           { "reserve", l_reserve }, { "rows", l_rows },
                                           { "spent", l_spent },     { NULL, NULL } };

static const luaL_Reg intent_methods[] = { { "settle", l_settle },
                                           { "release", l_release },
                                           { NULL, NULL } };

static const luaL_Reg functions[] = { { "new", l_new }, { NULL, NULL } };

int luaopen_rt_ledger(lua_State *L)
{
    bind_type(L, LEDGER_TYPE, ledger_methods, holder_release);
    bind_type(L, INTENT_TYPE, intent_methods, intent_release);
    luaL_newlib(L, functions);
    return 1;
}
