/* rt_stdout.c - what the program says: its output, and the complaints beside it. */
#include "host/bind.h"
#include "host/live.h"
#include "host/modules.h"
#include <errno.h>
#include <lauxlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Why the standard output could not be written the first time; 0 when it always was, or
 * when nobody reads it any more. */
static int output_fault;

static bool put(lua_State *L, FILE *file)
{
    size_t n;
    const char *text = luaL_checklstring(L, 1, &n);
    live_hide();
    bool ok = fwrite(text, 1, n, file) == n && fflush(file) == 0;
    lua_pushboolean(L, ok);
    return ok;
}

/* write(text) -> boolean: is it out? A closed pipe is no reason to end a run. */
static int l_write(lua_State *L)
{
    bool is_lost = !put(L, stdout) && errno != EPIPE && errno != EBADF;
    if (is_lost && !output_fault)
        output_fault = errno;
    return 1;
}

/* fault() -> text | nil: why some of what was written is not there. */
static int l_fault(lua_State *L)
{
    if (!output_fault)
        return 0;
    lua_pushstring(L, strerror(output_fault));
    return 1;
}

/* error(text) -> boolean: to the standard error stream. */
static int l_error(lua_State *L)
{
    put(L, stderr);
    return 1;
}

/* is_terminal() -> boolean: is the standard output a terminal? */
static int l_is_terminal(lua_State *L)
{
    lua_pushboolean(L, isatty(STDOUT_FILENO));
    return 1;
}

/* columns() -> integer: width of the terminal, 80 when it does not say. */
static int l_columns(lua_State *L)
{
    struct winsize size = { 0 };
    int ok = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
    lua_pushinteger(L, ok == 0 && size.ws_col > 0 ? size.ws_col : 80);
    return 1;
}

/* live(text): the line at the bottom; "" takes it away. */
static int l_live(lua_State *L)
{
    size_t n;
    const char *text = luaL_checklstring(L, 1, &n);
    if (n > 0)
        live_show(text, n);
    else
        live_hide();
    return 0;
}

static const luaL_Reg functions[] = {
    { "write", l_write },     { "error", l_error },
    { "fault", l_fault },     { "is_terminal", l_is_terminal },
    { "columns", l_columns }, { "live", l_live },
    { NULL, NULL },
};

int luaopen_rt_stdout(lua_State *L)
{
    luaL_newlib(L, functions);
    return 1;
}
