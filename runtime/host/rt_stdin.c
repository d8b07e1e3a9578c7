/* rt_stdin.c - rt.stdin: lines that somebody types. */
#include "base/buf.h"
#include "host/bind.h"
#include "host/modules.h"
#include "host/stop.h"
#include <errno.h>
#include <lauxlib.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#define INPUT_TYPE "rt.stdin.input"

enum { LINE_MAX_BYTES = 65536, PIECE = 4096 };

/* What has come and was not asked for yet. */
struct input {
    struct buf rest;
};

static int input_release(lua_State *L)
{
    struct input *in = luaL_checkudata(L, 1, INPUT_TYPE);
    buf_free(&in->rest);
    return 0;
}

/* Wait for more; false at the end of the input, and with kind cancelled after an
 * interrupt. */
static bool fill(struct input *in, struct err *e)
{
    struct pollfd p = { .fd = STDIN_FILENO, .events = POLLIN };
    if (stop_wait_for_input(&p) < 0 && errno == EINTR)
        return err_set(e, ERR_CANCELLED, "interrupted");
    char piece[PIECE];
    ssize_t n = read(STDIN_FILENO, piece, sizeof piece);
    if (n < 0)
        return err_set(e, ERR_IO, "reading the input: %s", strerror(errno));
    if (n > 0 && !buf_add(&in->rest, piece, (size_t)n))
        return err_set(e, ERR_LIMIT, "a line of the input has more than %d bytes",
                       LINE_MAX_BYTES);
    return n > 0;
}

/* Push the first n bytes and forget them and `skipped` ones behind them. */
static int give(lua_State *L, struct input *in, size_t n, size_t skipped)
{
    lua_pushlstring(L, buf_text(&in->rest), n);
    size_t left = in->rest.len - n - skipped;
    memmove(in->rest.ptr, in->rest.ptr + n + skipped, left);
    in->rest.len = left;
    return 1;
}

/* line() -> text without its line break | nil at the end | nil, err. Nothing else runs
 * meanwhile. */
static int l_line(lua_State *L)
{
    struct err e = { 0 };
    struct input *in = luaL_checkudata(L, lua_upvalueindex(1), INPUT_TYPE);
    for (;;) {
        const char *at = in->rest.len ? memchr(in->rest.ptr, '\n', in->rest.len) : NULL;
        if (at)
            return give(L, in, (size_t)(at - in->rest.ptr), 1);
        if (!fill(in, &e))
            break;
    }
    if (e.kind)
        return bind_err(L, &e);
    if (in->rest.len)
        return give(L, in, in->rest.len, 0);
    lua_pushnil(L);
    return 1;
}

/* is_terminal() -> boolean: does a person type? */
static int l_is_terminal(lua_State *L)
{
    lua_pushboolean(L, isatty(STDIN_FILENO));
    return 1;
}

static const luaL_Reg functions[] = {
    { "is_terminal", l_is_terminal },
    { "line", l_line },
    { NULL, NULL },
};

int luaopen_rt_stdin(lua_State *L)
{
    bind_type(L, INPUT_TYPE, NULL, input_release);
    luaL_newlibtable(L, functions);
    struct input *in = bind_new(L, INPUT_TYPE, sizeof *in);
    in->rest.max = LINE_MAX_BYTES;
    luaL_setfuncs(L, functions, 1);
    return 1;
}
