/* task.c - see task.h for the model.
 *
 * Results never cross stacks at wake time: the operation is a userdata on the
 * parked coroutine's own stack and its continuation pushes the results after
 * the resume, inside protected mode, where a memory error can be raised. */
#include "host/task.h"
#include "base/buf.h"
#include "base/mem.h"
#include "host/bind.h"
#include "host/stop.h"
#include "host/watch.h"
#include "io/loop.h"
#include <assert.h>
#include <lauxlib.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum state { READY, RUNNING, PARKED, ENDING };

struct task {
    lua_State *co;
    int co_ref; /* registry anchor of co */
    int nargs;  /* arguments for the first resume */
    enum state state;
    bool is_cancelled;
    bool is_shielded; /* parked on something that cancellation must not stop */
    bool keeps_time;  /* its clock is not handed to the parent */
    bool is_late;     /* cancelled by its own deadline */
    bool is_watched;  /* runs user code */
    bool has_deadline;
    bool is_standing; /* its deadline stands, with left_s to go */
    double left_s;
    size_t effects,
        queued; /* on the way below the deadline, and those that wait in line */
    struct timer deadline;
    int status, nres; /* of the body, while ENDING waits for children */
    struct wait *on;  /* what it is parked on */
    struct wait *due; /* what it will take the result of when it goes on */
    struct wait join; /* the wait for its children */
    struct task *parent, *first, *last, *next, *prev;
    struct task *next_ready;
    size_t kids;
    uint64_t ordinal; /* place among all children the parent ever had */
    uint64_t spawned; /* children so far */
    unsigned depth;
    int error_ref; /* error of the failed child of smallest ordinal */
    uint64_t error_ordinal;
    double error_time, kids_time; /* clocks of that child, and of those that ended well */
    int results_ref; /* the parent's table for results, and the place in it */
    lua_Integer index;
    int locals_ref;
    double time;
    char *slot;
};

enum { NAMED_MAX = 5 /* slots in a list for people */ };
enum { IDLE_MAX = 256, LOCALS = 8 /* names most tasks come to have */ };

/* Coroutines of tasks that ended well, with the stacks they grew, for the next tasks. */
static struct {
    lua_State *co;
    int co_ref;
} idle[IDLE_MAX];
static size_t idle_n;

static lua_State *main_state; /* resumes come from here */
static struct task *root, *current;
static struct queue {
    struct task *first, *last;
} ready, ready_later;
static size_t live;
static int root_ref = LUA_NOREF; /* what the root ended with */
static bool root_ok;
static char cancel_key; /* its address is the registry key of the cancel error */

static struct task **slot_of(lua_State *co)
{
    return (struct task **)lua_getextraspace(co);
}

static void make_ready(struct task *t, struct queue *q)
{
    t->state = READY;
    t->next_ready = NULL;
    if (q->last)
        q->last->next_ready = t;
    else
        q->first = t;
    q->last = t;
}

static bool has_ready(void)
{
    return ready.first || ready_later.first;
}

/* The next of `first`, or of `second` when there is none. */
static struct task *take_ready(struct queue *first, struct queue *second)
{
    struct queue *q = first->first ? first : second;
    struct task *t = q->first;
    q->first = t->next_ready;
    if (!q->first)
        q->last = NULL;
    return t;
}

static void wake(struct wait *w, struct queue *q)
{
    struct task *t = w->task;
    if (!t)
        return;
    w->task = NULL;
    t->on = NULL;
    make_ready(t, q);
}

void task_wake(struct wait *w)
{
    wake(w, &ready);
}

void task_wake_later(struct wait *w)
{
    wake(w, &ready_later);
}

static void push_cancelled(lua_State *L)
{
    lua_rawgetp(L, LUA_REGISTRYINDEX, &cancel_key);
}

static int raise_cancelled(lua_State *L)
{
    push_cancelled(L);
    return lua_error(L);
}

struct task *task_self(lua_State *L)
{
    struct task *t = *slot_of(L);
    if (!t)
        luaL_error(L, "cannot wait here: not inside a task (a plain coroutine cannot "
                      "wait; use task.map)");
    return t;
}

#define CANNOT_WAIT                                                                      \
    "cannot wait here: inside a callback of a C function (gsub, sort, a metamethod) or " \
    "while a module loads"

void task_check(lua_State *L)
{
    struct task *t = task_self(L);
    if (!lua_isyieldable(L))
        luaL_error(L, CANNOT_WAIT);
    if (t->is_cancelled)
        raise_cancelled(L);
}

/* The continuation to run was saved above the caller's values. */
static int parked_k(lua_State *L, int status, lua_KContext ctx)
{
    struct task *t = *slot_of(L);
    lua_KFunction k = (lua_KFunction)lua_touserdata(L, -1);
    struct wait *w = t->due;
    lua_pop(L, 1);
    t->due = NULL;
    if (t->is_cancelled && !t->is_shielded) {
        if (w && w->cancel)
            w->cancel(w);
        return raise_cancelled(L);
    }
    t->is_shielded = false;
    return k(L, status, ctx);
}

static int park(lua_State *L, struct wait *w, lua_KFunction k, lua_KContext ctx)
{
    struct task *t = *slot_of(L);
    assert(t && t == current && !w->task); /* task_check came first */
    w->task = t;
    t->on = t->due = w;
    t->state = PARKED;
    lua_pushlightuserdata(L, (void *)k);
    return lua_yieldk(L, 0, ctx, parked_k);
}

int task_park(lua_State *L, struct wait *w, lua_KFunction k, lua_KContext ctx)
{
    return park(L, w, k, ctx);
}

int task_park_shielded(lua_State *L, struct wait *w, lua_KFunction k, lua_KContext ctx)
{
    (*slot_of(L))->is_shielded = true;
    return park(L, w, k, ctx);
}

bool task_before(const struct task *a, const struct task *b)
{
    const struct task *x = a;
    const struct task *y = b;
    while (x->depth > y->depth)
        x = x->parent;
    while (y->depth > x->depth)
        y = y->parent;
    if (x == y) /* one is above the other */
        return a->depth < b->depth;
    while (x->parent != y->parent) {
        x = x->parent;
        y = y->parent;
    }
    return x->ordinal < y->ordinal;
}

const char *task_slot(const struct task *t)
{
    return t->slot;
}

double task_time(const struct task *t)
{
    return t->time;
}

void task_set_time(struct task *t, double unix_s)
{
    if (unix_s > t->time)
        t->time = unix_s;
}

void task_set_watched(lua_State *L, bool is_watched)
{
    struct task *t = task_self(L);
    t->is_watched = is_watched;
    if (is_watched)
        watch_begin(t->slot);
    else
        watch_end();
}

void task_push_locals(lua_State *L, struct task *t)
{
    if (t->locals_ref == LUA_NOREF) {
        lua_createtable(L, 0, LOCALS);
        t->locals_ref = luaL_ref(L, LUA_REGISTRYINDEX);
    }
    lua_rawgeti(L, LUA_REGISTRYINDEX, t->locals_ref);
}

size_t task_count(void)
{
    return live;
}

/* ---------------------------------------------------------------- the tree */

static void link_child(struct task *t, struct task *parent)
{
    t->parent = parent;
    t->ordinal = ++parent->spawned;
    t->depth = parent->depth + 1;
    t->time = parent->time;
    t->prev = parent->last;
    if (parent->last)
        parent->last->next = t;
    else
        parent->first = t;
    parent->last = t;
    parent->kids++;
    t->is_cancelled = parent->is_cancelled;
    t->is_watched = parent->is_watched;
}

static void unlink_child(struct task *t)
{
    struct task *p = t->parent;
    *(t->prev ? &t->prev->next : &p->first) = t->next;
    *(t->next ? &t->next->prev : &p->last) = t->prev;
    p->kids--;
}

static char *child_slot(const struct task *parent, const char *label)
{
    size_t head = parent ? strlen(parent->slot) : 0;
    size_t tail = strlen(label);
    char *slot = mem_new(head + tail + 2);
    memcpy(slot, parent ? parent->slot : "", head);
    size_t gap = head && tail;
    slot[head] = '/';
    memcpy(slot + head + gap, label, tail + 1);
    return slot;
}

static void take_coroutine(lua_State *L, struct task *t)
{
    if (idle_n) {
        idle_n--;
        t->co = idle[idle_n].co;
        t->co_ref = idle[idle_n].co_ref;
    } else {
        t->co = lua_newthread(L);
        t->co_ref = luaL_ref(L, LUA_REGISTRYINDEX);
    }
}

static void give_coroutine(struct task *t)
{
    if (t->status != LUA_OK || idle_n == IDLE_MAX) {
        luaL_unref(main_state, LUA_REGISTRYINDEX, t->co_ref);
        return;
    }
    lua_settop(t->co, 0);
    lua_sethook(t->co, NULL, 0, 0); /* the watch's, which came too late */
    idle[idle_n].co = t->co;
    idle[idle_n].co_ref = t->co_ref;
    idle_n++;
}

static struct task *task_new(lua_State *L, struct task *parent, const char *label)
{
    struct task *t = mem_new(sizeof *t);
    take_coroutine(L, t);
    t->error_ref = t->results_ref = t->locals_ref = LUA_NOREF;
    t->slot = child_slot(parent, label);
    *slot_of(t->co) = t;
    if (parent)
        link_child(t, parent);
    live++;
    return t;
}

static void task_free(struct task *t)
{
    *slot_of(t->co) = NULL;
    timer_stop(&t->deadline);
    give_coroutine(t);
    luaL_unref(main_state, LUA_REGISTRYINDEX, t->error_ref);
    luaL_unref(main_state, LUA_REGISTRYINDEX, t->results_ref);
    luaL_unref(main_state, LUA_REGISTRYINDEX, t->locals_ref);
    mem_free(t->slot);
    mem_free(t);
    live--;
}

/* Deep and sticky. A join ends by itself when the children have. */
static void cancel(struct task *t)
{
    if (t->is_cancelled)
        return;
    t->is_cancelled = true;
    for (struct task *k = t->first; k; k = k->next)
        cancel(k);
    struct wait *w = t->on;
    if (!w || t->is_shielded)
        return;
    t->due = NULL;
    if (w->cancel)
        w->cancel(w);
    task_wake(w);
}

static void cancel_behind(struct task *parent, uint64_t ordinal)
{
    for (struct task *k = parent->last; k && k->ordinal > ordinal; k = k->prev)
        cancel(k);
}

void task_cancel_all(void)
{
    if (root)
        cancel(root);
}

/* Does it wait, and for something else than its children? */
static bool waits_itself(const struct task *t)
{
    return t->on && t->on != &t->join;
}

static size_t list_waiting(const struct task *t, size_t n, struct buf *out)
{
    if (waits_itself(t) && n++ < NAMED_MAX)
        buf_add_format(out, "%s%s", n > 1 ? ", " : "", *t->slot ? t->slot : "(main)");
    for (const struct task *k = t->first; k; k = k->next)
        n = list_waiting(k, n, out);
    return n;
}

void task_list_waiting(struct buf *out)
{
    size_t n = root ? list_waiting(root, 0, out) : 0;
    if (n > NAMED_MAX)
        buf_add_format(out, " and %zu more", n - NAMED_MAX);
}

/* ------------------------------------------------------------------ ending */

/* Runs protected: text of an error object whose __tostring may raise. */
static int error_text(lua_State *L)
{
    luaL_tolstring(L, 1, NULL);
    return 1;
}

/* Replace the error on top of t->co by one that can cross tasks: a table stays,
 * anything else becomes an err of kind `bug` with a traceback. */
static void push_error(struct task *t)
{
    lua_State *L = main_state;
    if (lua_type(t->co, -1) == LUA_TTABLE) {
        lua_xmove(t->co, L, 1);
        return;
    }
    lua_pushcfunction(L, error_text);
    lua_xmove(t->co, L, 1);
    if (lua_pcall(L, 1, 1, 0) != LUA_OK) {
        lua_pop(L, 1);
        lua_pushliteral(L, "(an error object that cannot be shown)");
    }
    struct err e;
    err_set(&e, ERR_BUG, "%s", lua_tostring(L, -1));
    bind_push_err(L, &e);              /* text err */
    luaL_traceback(L, t->co, NULL, 0); /* text err trace */
    lua_setfield(L, -2, "traceback");
    lua_remove(L, -2); /* err */
}

/* The error of child t is on top of main_state; it is popped. */
static void give_error(struct task *p, const struct task *t)
{
    uint64_t ordinal = t->ordinal;
    if (p->error_ref != LUA_NOREF && p->error_ordinal < ordinal) {
        lua_pop(main_state, 1);
        return;
    }
    luaL_unref(main_state, LUA_REGISTRYINDEX, p->error_ref);
    p->error_ref = luaL_ref(main_state, LUA_REGISTRYINDEX);
    p->error_ordinal = ordinal;
    p->error_time = t->time;
    cancel_behind(p, ordinal);
}

static bool is_cancel_error(struct task *t)
{
    push_cancelled(t->co);
    bool same = lua_rawequal(t->co, -1, -2);
    lua_pop(t->co, 1);
    return same;
}

/* The root's outcome stays in the registry until task_result asks for it. */
static void keep_root_outcome(struct task *t)
{
    root_ok = t->status == LUA_OK;
    if (root_ok) {
        lua_settop(t->co, t->nres ? lua_gettop(t->co) - t->nres + 1 : 0);
        if (!t->nres)
            lua_pushnil(t->co);
        lua_xmove(t->co, main_state, 1);
    } else {
        push_error(t);
    }
    root_ref = luaL_ref(main_state, LUA_REGISTRYINDEX);
    root = NULL;
}

static void give_results(struct task *t)
{
    if (t->results_ref == LUA_NOREF || t->nres == 0)
        return;
    lua_State *L = main_state;
    luaL_checkstack(L, t->nres + 2, NULL);
    lua_rawgeti(L, LUA_REGISTRYINDEX, t->results_ref);
    if (t->index > 0) { /* a place in a list: the first result only */
        lua_settop(t->co, lua_gettop(t->co) - t->nres + 1);
        lua_xmove(t->co, L, 1);
        lua_rawseti(L, -2, t->index);
    } else { /* all results */
        for (int i = t->nres; i >= 1; i--) {
            lua_xmove(t->co, L, 1);
            lua_rawseti(L, -2, i);
        }
        lua_pushinteger(L, t->nres);
        lua_setfield(L, -2, "n");
    }
    lua_pop(L, 1);
}

static void finish(struct task *t)
{
    struct task *p = t->parent;
    if (!p) {
        keep_root_outcome(t);
    } else if (t->status == LUA_OK) {
        give_results(t);
        if (!t->keeps_time && t->time > p->kids_time)
            p->kids_time = t->time;
    } else if (!is_cancel_error(t)) {
        push_error(t);
        give_error(p, t);
    }
    if (t->status != LUA_OK)
        lua_resetthread(t->co); /* closes pending <close> variables */
    if (p)
        unlink_child(t);
    task_free(t);
    if (!p)
        return;
    if (p->on == &p->join)
        task_wake(&p->join); /* it looks at its own condition */
    else if (p->state == ENDING && p->kids == 0)
        finish(p);
}

/* The body is over; children may still live. */
static void body_ended(struct task *t, int status, int nres)
{
    t->status = status;
    t->nres = nres;
    t->state = ENDING;
    cancel_behind(t, 0);
    if (t->kids == 0)
        finish(t);
}

static void resume(struct task *t)
{
    int nres = 0;
    int n = t->nargs;
    t->nargs = 0;
    t->state = RUNNING;
    current = t;
    watch_running(t->co);
    if (t->is_watched)
        watch_begin(t->slot);
    int status = lua_resume(t->co, main_state, n, &nres);
    watch_end();
    watch_running(NULL);
    current = NULL;
    if (status == LUA_YIELD && t->state == RUNNING) { /* a bare coroutine.yield() */
        lua_settop(t->co, 0);
        lua_pushliteral(t->co, "a task must not call coroutine.yield");
        status = LUA_ERRRUN;
    }
    if (status != LUA_YIELD)
        body_ended(t, status, nres);
}

bool task_run_ready(int most)
{
    for (int i = 1; i < most && has_ready(); i++)
        resume(take_ready(&ready, &ready_later));
    if (has_ready())
        resume(take_ready(&ready_later, &ready));
    return has_ready();
}

void task_start(lua_State *L, int nargs, double unix_s)
{
    main_state = L;
    *slot_of(L) = NULL; /* lua_newthread copies the main thread's extra space */
    root = task_new(L, NULL, "");
    root->time = unix_s;
    root->nargs = nargs;
    lua_xmove(L, root->co, nargs + 1);
    make_ready(root, &ready);
}

bool task_result(lua_State *L)
{
    lua_rawgeti(L, LUA_REGISTRYINDEX, root_ref);
    luaL_unref(L, LUA_REGISTRYINDEX, root_ref);
    root_ref = LUA_NOREF;
    return root_ok;
}

/* ---------------------------------------------------------------- Lua side */

/* spawn(label, results, index, f, ...): start f(...) as a child. `label` is the
 * rest of its slot. Results: index > 0, the first one goes to results[index];
 * 0, all of them and n; results nil, nowhere. */
static int l_spawn(lua_State *L)
{
    struct task *p = task_self(L);
    const char *label = luaL_checkstring(L, 1);
    lua_Integer index = luaL_checkinteger(L, 3);
    luaL_checktype(L, 4, LUA_TFUNCTION);
    int nargs = lua_gettop(L) - 4;
    struct task *t = task_new(L, p, label);
    luaL_checkstack(t->co, nargs + 4, "too many arguments");
    lua_xmove(L, t->co, nargs + 1);
    t->nargs = nargs;
    t->index = index;
    if (!lua_isnil(L, 2)) {
        lua_pushvalue(L, 2);
        t->results_ref = luaL_ref(L, LUA_REGISTRYINDEX);
    }
    make_ready(t, &ready);
    return 0;
}

static int join_k(lua_State *L, int status, lua_KContext ctx)
{
    struct task *t = task_self(L);
    size_t below = (size_t)ctx;
    if (t->kids > below)
        return task_park_shielded(L, &t->join, join_k, ctx);
    t->is_shielded = false;
    if (t->kids == 0 && t->is_cancelled)
        return raise_cancelled(L);
    if (t->kids == 0) /* not before: what starts later must not see who ended first */
        task_set_time(t, t->error_ref == LUA_NOREF ? t->kids_time : t->error_time);
    if (t->kids == 0 && t->error_ref != LUA_NOREF) {
        lua_rawgeti(L, LUA_REGISTRYINDEX, t->error_ref);
        luaL_unref(L, LUA_REGISTRYINDEX, t->error_ref);
        t->error_ref = LUA_NOREF;
        return lua_error(L);
    }
    lua_pushinteger(L, (lua_Integer)t->kids);
    return 1;
}

/* Raise unless the task may wait, cancelled or not. */
static void check_place(lua_State *L)
{
    task_self(L);
    if (!lua_isyieldable(L))
        luaL_error(L, CANNOT_WAIT);
}

/* join(n): wait until at most n children are alive. With none left it raises what
 * the smallest failed child raised, or `cancelled`. */
static int l_join(lua_State *L)
{
    check_place(L);
    lua_Integer below = luaL_optinteger(L, 1, 0);
    luaL_argcheck(L, below >= 0, 1, "must not be negative");
    return join_k(L, LUA_OK, (lua_KContext)below);
}

static int room_k(lua_State *L, int status, lua_KContext ctx)
{
    struct task *t = task_self(L);
    if (t->kids >= (size_t)ctx)
        return task_park_shielded(L, &t->join, room_k, ctx);
    t->is_shielded = false;
    return 0;
}

/* room(n): wait until fewer than n children are alive, to start the next one. */
static int l_room(lua_State *L)
{
    check_place(L);
    lua_Integer most = luaL_checkinteger(L, 1);
    luaL_argcheck(L, most > 0, 1, "must be positive");
    return room_k(L, LUA_OK, (lua_KContext)most);
}

/* stopped(): should no more children be started (one failed, or cancelled)? */
static int l_stopped(lua_State *L)
{
    struct task *t = task_self(L);
    lua_pushboolean(L, t->is_cancelled || t->error_ref != LUA_NOREF);
    return 1;
}

/* cancel_behind(index): cancel the children whose index is greater. */
static int l_cancel_behind(lua_State *L)
{
    lua_Integer index = luaL_checkinteger(L, 1);
    for (struct task *k = task_self(L)->first; k; k = k->next)
        if (k->index > index)
            cancel(k);
    return 0;
}

/* still(f, ...) -> what f gives; nothing in it may wait. */
static int l_still(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TFUNCTION);
    lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
    return lua_gettop(L);
}

static int l_slot(lua_State *L)
{
    lua_pushstring(L, task_self(L)->slot);
    return 1;
}

static int l_locals(lua_State *L)
{
    task_push_locals(L, task_self(L));
    return 1;
}

/* parent_locals(n): the table of the n-th ancestor (1 = parent), nil above the root. */
static int l_parent_locals(lua_State *L)
{
    struct task *t = task_self(L);
    for (lua_Integer n = luaL_optinteger(L, 1, 1); n > 0 && t; n--)
        t = t->parent;
    if (!t)
        return 0;
    task_push_locals(L, t);
    return 1;
}

static int l_time(lua_State *L)
{
    lua_pushnumber(L, task_self(L)->time);
    return 1;
}

/* set_time(unix_s): the task has received something that was complete then. */
static int l_set_time(lua_State *L)
{
    task_set_time(task_self(L), luaL_checknumber(L, 1));
    return 0;
}

/* keep_time(): the clock of the calling task stays its own when it ends. */
static int l_keep_time(lua_State *L)
{
    task_self(L)->keeps_time = true;
    return 0;
}

/* While the program is stopping what waits is held back, which is not its being late. */
static void deadline_over(struct timer *timer)
{
    if (stop_is_asked())
        return;
    struct task *t = (struct task *)((char *)timer - offsetof(struct task, deadline));
    t->is_late = !t->is_cancelled;
    cancel(t);
}

/* deadline(seconds): cancel the calling task then, and all below it. */
static int l_deadline(lua_State *L)
{
    double seconds = luaL_checknumber(L, 1);
    luaL_argcheck(L, seconds > 0, 1, "must be positive");
    struct task *t = task_self(L);
    t->has_deadline = true;
    t->is_standing = false;
    t->effects = t->queued = 0;
    timer_start(&t->deadline, seconds, deadline_over);
    return 0;
}

/* The deadline stands while all that is on the way waits in line: how long that takes
 * depends on what else is run, and is no work of this task's. */
static void deadline_move(struct task *t)
{
    bool stands = t->queued > 0 && t->queued >= t->effects;
    if (stands && timer_is_running(&t->deadline)) {
        t->left_s = t->deadline.due - loop_now();
        t->is_standing = true;
        timer_stop(&t->deadline);
    } else if (!stands && t->is_standing) {
        t->is_standing = false;
        timer_start(&t->deadline, t->left_s, deadline_over);
    }
}

/* The task at or above t that has a deadline, or NULL. */
static struct task *deadline_of(struct task *t)
{
    while (t && !t->has_deadline)
        t = t->parent;
    return t;
}

/* One more or one less; a deadline that was set in between has not counted the first. */
static void count(size_t *n, lua_Integer change)
{
    if (change > 0 || *n > 0)
        *n += change > 0 ? 1 : (size_t)-1;
}

/* effect(1 or -1): one begins or has ended, for the deadline of the calling task. */
static int l_effect(lua_State *L)
{
    struct task *t = deadline_of(task_self(L));
    if (t) {
        count(&t->effects, luaL_checkinteger(L, 1));
        deadline_move(t);
    }
    return 0;
}

/* queue(1 or -1): an effect waits in line from here on, or no more. */
static int l_queue(lua_State *L)
{
    struct task *t = deadline_of(task_self(L));
    if (t) {
        count(&t->queued, luaL_checkinteger(L, 1));
        deadline_move(t);
    }
    return 0;
}

/* end_deadline(): take the deadline back; true when it was over before. */
static int l_end_deadline(lua_State *L)
{
    struct task *t = task_self(L);
    timer_stop(&t->deadline);
    t->has_deadline = t->is_standing = false;
    lua_pushboolean(L, t->is_late);
    return 1;
}

static int l_is_task(lua_State *L)
{
    lua_pushboolean(L, *slot_of(L) != NULL && lua_isyieldable(L));
    return 1;
}

static int l_count(lua_State *L)
{
    lua_pushinteger(L, (lua_Integer)live);
    return 1;
}

/* ----------------------------------------------------------------- signals */

#define SIGNAL_TYPE "rt.task.signal"

/* A place where one task waits for a word of another. */
struct signal {
    struct wait wait;
    bool is_raised;
};

static int signal_k(lua_State *L, int status, lua_KContext ctx)
{
    struct signal *s = (struct signal *)ctx;
    s->is_raised = false;
    return 0;
}

static int l_signal_wait(lua_State *L)
{
    struct signal *s = luaL_checkudata(L, 1, SIGNAL_TYPE);
    task_check(L);
    if (s->wait.task)
        return luaL_error(L, "another task waits on this signal");
    if (s->is_raised)
        return signal_k(L, LUA_OK, (lua_KContext)s);
    return task_park(L, &s->wait, signal_k, (lua_KContext)s);
}

static int l_signal_raise(lua_State *L)
{
    struct signal *s = luaL_checkudata(L, 1, SIGNAL_TYPE);
    s->is_raised = true;
    task_wake(&s->wait);
    return 0;
}

/* signal(): for one waiter at a time; :raise() before :wait() is not lost. */
static int l_signal(lua_State *L)
{
    bind_new(L, SIGNAL_TYPE, sizeof(struct signal));
    return 1;
}

static const luaL_Reg signal_methods[] = { { "wait", l_signal_wait },
                                           { "raise", l_signal_raise },
                                           { NULL, NULL } };

static const luaL_Reg functions[] = {
    { "spawn", l_spawn },
    { "join", l_join },
    { "room", l_room },
    { "stopped", l_stopped },
    { "cancel_behind", l_cancel_behind },
    { "still", l_still },
    { "slot", l_slot },
    { "locals", l_locals },
    { "parent_locals", l_parent_locals },
    { "time", l_time },
    { "set_time", l_set_time },
    { "keep_time", l_keep_time },
    { "deadline", l_deadline },
    { "end_deadline", l_end_deadline },
    { "effect", l_effect },
    { "queue", l_queue },
    { "is_task", l_is_task },
    { "count", l_count },
    { "signal", l_signal },
    { NULL, NULL },
};

int luaopen_rt_task(lua_State *L)
{
    bind_type(L, SIGNAL_TYPE, signal_methods, NULL);
    struct err e;
    err_set(&e, ERR_CANCELLED, "cancelled");
    bind_push_err(L, &e);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &cancel_key);
    luaL_newlib(L, functions);
    push_cancelled(L);
    lua_setfield(L, -2, "cancelled");
    return 1;
}
