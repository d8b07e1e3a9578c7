/* watch.c - see watch.h. */
#include "host/watch.h"
#include "host/bind.h"
#include "host/pool.h"
#include <assert.h>
#include <lauxlib.h>
#include <lualib.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { EXIT_LIMIT = 70, TICK_MS = 100, WATCH_SIGNAL = SIGVTALRM };

static const size_t MEMORY_MAX = (size_t)4 << 30;

/* Odd while a stretch is watched; another number for each. */
static _Atomic uint64_t stretch;
static _Atomic uint64_t asked; /* the stretch that is to end */
static atomic_bool is_final;   /* it did not end when it was asked to */
static _Atomic double patience_s = 10;

/* Of the loop's thread; its signal handler reads them. */
static lua_State *volatile running;
static const char *volatile slot = "";
static volatile sig_atomic_t is_due;
static void *pool; /* Lua's memory */

static pthread_t loop_thread, thread;
static bool is_started;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t end_bell;
static bool is_ending; /* under lock */

/* ---------------------------------------------------------------- stretches */

void watch_running(lua_State *co)
{
    running = co;
}

void watch_begin(const char *of)
{
    slot = of;
    is_due = 0;
    atomic_store(&stretch, (atomic_load(&stretch) | 1) + 2);
    if (pool)
        pool_guard(pool, true);
}

void watch_end(void)
{
    is_due = 0;
    atomic_store(&stretch, (atomic_load(&stretch) | 1) + 1);
    if (pool)
        pool_guard(pool, false);
}

/* Where the code is: level 0 in a hook, or the first Lua function above. */
static void push_place(lua_State *L)
{
    luaL_where(L, 0);
    if (*lua_tostring(L, -1))
        return;
    lua_pop(L, 1);
    luaL_where(L, 1);
}

int watch_raise(lua_State *L)
{
    struct err e;
    double seconds = atomic_load(&patience_s);
    push_place(L);
    err_set(&e, ERR_LIMIT,
            "%s: %sthe code ran for %.3g s without waiting for anything; it was ended",
            *slot ? slot : "(main)", lua_tostring(L, -1), seconds);
    watch_begin(slot); /* what cleans up has as long again */
    bind_push_err(L, &e);
    lua_pushboolean(L, true);
    lua_setfield(L, -2, "runaway");
    luaL_traceback(L, L, NULL, 0);
    lua_setfield(L, -2, "traceback");
    return lua_error(L);
}

void watch_check(lua_State *L)
{
    if (is_due)
        watch_raise(L);
}

const volatile sig_atomic_t *watch_flag(void)
{
    return &is_due;
}

static void on_hook(lua_State *L, lua_Debug *where)
{
    lua_sethook(L, NULL, 0, 0);
    watch_check(L);
}

/* ------------------------------------------------------------------ handler */

static void say(const char *text)
{
    ssize_t n = write(STDERR_FILENO, text, strlen(text));
    (void)n; /* nobody is left to be told */
}

static void end_process(void)
{
    say("\nskillopt: limit: ");
    say(*slot ? slot : "(main)");
    say(" runs on inside one call that cannot be ended; the process ends (what was "
        "answered is on file)\n");
    _exit(EXIT_LIMIT);
}

/* On the loop's thread, between any two instructions. */
static void on_signal(int number)
{
    if (!running || atomic_load(&stretch) != atomic_load(&asked))
        return;
    if (atomic_load(&is_final))
        end_process();
    is_due = 1;
    lua_sethook(running, on_hook, LUA_MASKCALL | LUA_MASKRET | LUA_MASKCOUNT, 1);
}

/* ------------------------------------------------------------------- thread */

static double cpu_time(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* By a clock that nobody sets back, else nothing would be watched until it has caught up.
 */
static void make_bell(void)
{
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&end_bell, &attr);
    pthread_condattr_destroy(&attr);
}

/* Wait for a tick; false when the thread is to end. */
static bool wait_tick(void)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += TICK_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    pthread_mutex_lock(&lock);
    if (!is_ending)
        pthread_cond_timedwait(&end_bell, &lock, &until);
    bool goes_on = !is_ending;
    pthread_mutex_unlock(&lock);
    return goes_on;
}

/* Ask the stretch to end; again at each tick, since a hook can come too early. */
static void ask(uint64_t which, bool finally)
{
    atomic_store(&asked, which);
    atomic_store(&is_final, finally);
    pthread_kill(loop_thread, WATCH_SIGNAL);
}

static void *watch(void *arg)
{
    clockid_t clock;
    if (pthread_getcpuclockid(loop_thread, &clock) != 0)
        return NULL;
    uint64_t seen = 0;
    double since = 0;
    while (wait_tick()) {
        uint64_t now = atomic_load(&stretch);
        if (now != seen) {
            seen = now;
            since = cpu_time(clock);
            continue;
        }
        double spent = cpu_time(clock) - since;
        double patience = atomic_load(&patience_s);
        if ((now & 1) && spent > patience)
            ask(now, spent > 2 * patience + 1);
    }
    return NULL;
}

/* ------------------------------------------------------------------ coroutines */

/* The original function is upvalue 1, the coroutine its first argument. */
static int l_tracked(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTHREAD);
    lua_State *before = running;
    lua_State *co = lua_tothread(L, 1);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    watch_running(co);
    int status = lua_pcall(L, lua_gettop(L) - 1, LUA_MULTRET, 0);
    watch_running(before);
    return status == LUA_OK ? lua_gettop(L) : lua_error(L);
}

/* upvalues: coroutine.resume as it is tracked, coroutine.close, the coroutine */
static int l_wrapped(lua_State *L)
{
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_pushvalue(L, lua_upvalueindex(3));
    lua_insert(L, 2);
    lua_call(L, lua_gettop(L) - 1, LUA_MULTRET); /* ok results... */
    if (lua_toboolean(L, 1))
        return lua_gettop(L) - 1;
    lua_settop(L, 2);
    if (lua_status(lua_tothread(L, lua_upvalueindex(3))) > LUA_YIELD) {
        lua_pushvalue(L, lua_upvalueindex(2));
        lua_pushvalue(L, lua_upvalueindex(3));
        lua_call(L, 1, 2); /* ok err false closing_err: what was open is closed */
        if (!lua_isnil(L, -1))
            return lua_error(L);
        lua_settop(L, 2);
    }
    return lua_error(L);
}

/* coroutine.wrap; upvalues: resume, close */
static int l_wrap(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TFUNCTION);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_pushvalue(L, lua_upvalueindex(2));
    lua_State *co = lua_newthread(L);
    lua_pushvalue(L, 1);
    lua_xmove(L, co, 1);
    lua_pushcclosure(L, l_wrapped, 3);
    return 1;
}

static void track(lua_State *L, const char *name)
{
    lua_getfield(L, -1, name);
    lua_pushcclosure(L, l_tracked, 1);
    lua_setfield(L, -2, name);
}

static void track_coroutines(lua_State *L)
{
    lua_getglobal(L, LUA_COLIBNAME);
    track(L, "resume");
    track(L, "close");
    lua_getfield(L, -1, "resume");
    lua_getfield(L, -2, "close");
    lua_pushcclosure(L, l_wrap, 2);
    lua_setfield(L, -2, "wrap");
    lua_pop(L, 1);
}

/* ------------------------------------------------------------- start and end */

/* Half of the machine at most: the other half is the system's and the journal's. */
static size_t memory_ceiling(void)
{
    long pages = sysconf(_SC_PHYS_PAGES);
    long page = sysconf(_SC_PAGESIZE);
    if (pages <= 0 || page <= 0)
        return MEMORY_MAX;
    size_t half = (size_t)pages / 2 * (size_t)page;
    return half < MEMORY_MAX ? half : MEMORY_MAX;
}

bool watch_start(lua_State *L, struct err *e)
{
    assert(!is_started);
    lua_getallocf(L, &pool);
    pool_set_max(pool, memory_ceiling());
    track_coroutines(L);
    loop_thread = pthread_self();
    struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
    sigemptyset(&action.sa_mask);
    sigaction(WATCH_SIGNAL, &action, NULL);
    make_bell();
    is_ending = false;
    sigset_t all;
    sigset_t before;
    sigfillset(&all); /* signals are for the loop's thread */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = pthread_create(&thread, NULL, watch, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (rc != 0)
        return err_set(e, ERR_LIMIT, "cannot start a thread: %s", strerror(rc));
    is_started = true;
    return true;
}

void watch_stop(void)
{
    if (!is_started)
        return;
    pthread_mutex_lock(&lock);
    is_ending = true;
    pthread_cond_signal(&end_bell);
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    pthread_cond_destroy(&end_bell);
    is_started = false;
    pool = NULL;
    running = NULL;
}

double watch_patience(double seconds)
{
    double before = atomic_load(&patience_s);
    if (seconds > 0)
        atomic_store(&patience_s, seconds);
    return before;
}

size_t watch_memory(size_t bytes)
{
    return pool ? pool_set_max(pool, bytes) : 0;
}
