/* rt_process.c - rt.process: a child process, waited for. */
#include "host/bind.h"
#include "host/modules.h"
#include "host/task.h"
#include "io/process.h"
#include "io/scratch.h"
#include <lauxlib.h>
#include <stddef.h>
#include <string.h>

#define CHILD_TYPE   "rt.process.child"
#define SCRATCH_TYPE "rt.process.scratch"

enum { WORDS_MAX = 4096, OUTPUT_USUAL = 1 << 20, FILE_USUAL = 64 << 20 };
#define TIME_MAX_S 1e6

static const char *const STATES[] = { "exit", "signal", "timeout", "output" };

struct child {
    struct process *process;
    struct wait wait;
};

static void child_done(void *arg)
{
    task_wake(&((struct child *)arg)->wait);
}

static void child_drop(struct child *c)
{
    process_free(c->process);
    c->process = NULL;
}

static void child_cancel(struct wait *w)
{
    child_drop((struct child *)((char *)w - offsetof(struct child, wait)));
}

static int child_release(lua_State *L)
{
    child_drop(luaL_checkudata(L, 1, CHILD_TYPE));
    return 0;
}

/* --- the request ---------------------------------------------------------------- */

/* The texts of the list under `name`, NULL behind them; the array and what it points to
 * stay on the stack. */
static const char *const *read_words(lua_State *L, const char *name)
{
    if (lua_getfield(L, 1, name) != LUA_TTABLE)
        luaL_error(L, "option '%s' must be a list of texts", name);
    lua_Unsigned n = lua_rawlen(L, -1);
    if (n > WORDS_MAX)
        luaL_error(L, "option '%s' is too long", name);
    const char **words =
        lua_newuserdatauv(L, (n + 1) * sizeof *words, 0); /* list words */
    for (lua_Unsigned i = 0; i < n; i++) {
        size_t len;
        lua_rawgeti(L, -2, (lua_Integer)i + 1);
        bool is_text = lua_type(L, -1) == LUA_TSTRING;
        words[i] = is_text ? lua_tolstring(L, -1, &len) : NULL;
        if (!is_text || strlen(words[i]) != len)
            luaL_error(L, "option '%s' must be a list of texts without zero bytes", name);
        lua_pop(L, 1); /* the list keeps it */
    }
    words[n] = NULL;
    return words;
}

static void read_request(lua_State *L, struct process_request *r)
{
    static const char *const names[] = { "argv",  "env",        "file_max",  "folder",
                                         "input", "output_max", "timeout_s", NULL };
    luaL_checktype(L, 1, LUA_TTABLE);
    bind_opts(L, 1, names);
    r->argv = read_words(L, "argv");
    luaL_argcheck(L, r->argv[0] && r->argv[0][0], 1, "argv must name a program");
    r->env = read_words(L, "env");
    r->folder = bind_opt_text(L, 1, "folder", NULL, NULL);
    luaL_argcheck(L, r->folder, 1, "option 'folder' is missing");
    r->input = bind_opt_text(L, 1, "input", "", &r->input_len);
    luaL_argcheck(L, r->input_len <= INT32_MAX, 1, "the input is too long");
    r->timeout_s = bind_opt_number(L, 1, "timeout_s", 60, 0.001, TIME_MAX_S);
    r->output_max =
        (size_t)bind_opt_integer(L, 1, "output_max", OUTPUT_USUAL, 0, 1 << 30);
    r->file_max = bind_opt_integer(L, 1, "file_max", FILE_USUAL, 0, LUA_MAXINTEGER);
}

/* --- the answer ----------------------------------------------------------------- */

static int run_k(lua_State *L, int status, lua_KContext ctx)
{
    struct child *c = (struct child *)ctx;
    struct process_result r;
    struct err e = { 0 };
    if (!process_result(c->process, &r, &e)) {
        child_drop(c);
        return bind_err(L, &e);
    }
    lua_createtable(L, 0, 4);
    lua_pushstring(L, STATES[r.state]);
    lua_setfield(L, -2, "state");
    lua_pushlstring(L, r.out, r.out_len);
    lua_setfield(L, -2, "stdout");
    lua_pushlstring(L, r.errors, r.errors_len);
    lua_setfield(L, -2, "stderr");
    if (r.state == PROCESS_EXIT || r.state == PROCESS_SIGNAL) {
        lua_pushinteger(L, r.code);
        lua_setfield(L, -2, "code");
    }
    child_drop(c);
    return 1;
}

/* run{argv = ..., env = ..., folder = ..., ...} -> answer | nil, err */
static int l_run(lua_State *L)
{
    struct process_request r = { .done = child_done };
    struct err e = { 0 };
    lua_settop(L, 1);
    read_request(L, &r);
    task_check(L);
    struct child *c = bind_new(L, CHILD_TYPE, sizeof *c);
    c->wait.cancel = child_cancel;
    r.arg = c;
    c->process = process_start(&r, &e);
    if (!c->process)
        return bind_err(L, &e);
    return task_park(L, &c->wait, run_k, (lua_KContext)c);
}

/* --- the scratch folder --------------------------------------------------------- */

struct holder {
    struct scratch *scratch;
};

static int holder_release(lua_State *L)
{
    struct holder *h = luaL_checkudata(L, 1, SCRATCH_TYPE);
    scratch_close(h->scratch);
    h->scratch = NULL;
    return 0;
}

/* scratch() -> path | nil, err. One folder a program, made when it is first asked for. */
static int l_scratch(lua_State *L)
{
    struct err e = { 0 };
    struct holder *h;
    if (lua_getfield(L, LUA_REGISTRYINDEX, "rt.process.folder") == LUA_TUSERDATA) {
        h = luaL_checkudata(L, -1, SCRATCH_TYPE);
    } else {
        h = bind_new(L, SCRATCH_TYPE, sizeof *h);
        h->scratch = scratch_open(&e);
        if (!h->scratch)
            return bind_err(L, &e);
        lua_setfield(L, LUA_REGISTRYINDEX, "rt.process.folder");
    }
    lua_pushstring(L, scratch_path(h->scratch));
    return 1;
}

int luaopen_rt_process(lua_State *L)
{
    static const luaL_Reg functions[] = { { "run", l_run },
                                          { "scratch", l_scratch },
                                          { NULL, NULL } };
    bind_type(L, CHILD_TYPE, NULL, child_release);
    bind_type(L, SCRATCH_TYPE, NULL, holder_release);
    luaL_newlib(L, functions);
    return 1;
}
