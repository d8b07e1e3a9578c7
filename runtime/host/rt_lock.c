/* rt_lock.c - rt.lock: who may work in a run folder. */
#include "host/bind.h"
#include "host/modules.h"
#include "io/lock.h"
#include "io/loop.h"
#include <lauxlib.h>
#include <stddef.h>

#define LOCK_TYPE "rt.lock.held"

struct held {
    struct lock *lock;
    struct timer beat;
};

static void beat(struct timer *t)
{
    struct held *h = (struct held *)((char *)t - offsetof(struct held, beat));
    lock_beat(h->lock, loop_wall());
    timer_start(t, LOCK_BEAT_S, beat);
}

static int held_release(lua_State *L)
{
    struct held *h = luaL_checkudata(L, 1, LOCK_TYPE);
    timer_stop(&h->beat);
    lock_release(h->lock);
    h->lock = NULL;
    return 0;
}

/* acquire(path, {shared = boolean}) -> lock, note | nil, err. `note` says that a lock
 * was left behind by a process that ended, "" otherwise. */
static int l_acquire(lua_State *L)
{
    static const char *const names[] = { "shared", NULL };
    const char *path = luaL_checkstring(L, 1);
    bind_opts(L, 2, names);
    bool is_shared = bind_opt_bool(L, 2, "shared", false);
    struct held *h = bind_new(L, LOCK_TYPE, sizeof *h);
    struct lock_self self = lock_self_now();
    char note[LOCK_NOTE_MAX];
    struct err e = { 0 };
    h->lock =
        lock_acquire(path, is_shared ? LOCK_SHARED : LOCK_EXCLUSIVE, &self, note, &e);
    if (!h->lock)
        return bind_err(L, &e);
    h->beat.is_background = true;
    if (!is_shared)
        timer_start(&h->beat, LOCK_BEAT_S, beat);
    lua_pushstring(L, note);
    return 2;
}

static const luaL_Reg methods[] = { { "release", held_release }, { NULL, NULL } };

static const luaL_Reg functions[] = { { "acquire", l_acquire }, { NULL, NULL } };

int luaopen_rt_lock(lua_State *L)
{
    bind_type(L, LOCK_TYPE, methods, held_release);
    luaL_newlib(L, functions);
    return 1;
}
