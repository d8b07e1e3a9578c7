/* rt_watch.c - rt.watch: how long user code may run on, how much it may hold, and what
 * the process has open. */
#include "host/modules.h"
#include "host/task.h"
#include "host/watch.h"
#include <dirent.h>
#include <lauxlib.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* patience([seconds]) -> what it was. */
static int l_patience(lua_State *L)
{
    double seconds = luaL_optnumber(L, 1, 0);
    luaL_argcheck(L, lua_isnoneornil(L, 1) || seconds > 0, 1, "must be positive");
    lua_pushnumber(L, watch_patience(seconds));
    return 1;
}

/* memory([bytes]) -> what it was. */
static int l_memory(lua_State *L)
{
    lua_Integer bytes = luaL_optinteger(L, 1, 0);
    luaL_argcheck(L, lua_isnoneornil(L, 1) || bytes > 0, 1, "must be positive");
    lua_pushinteger(L, (lua_Integer)watch_memory((size_t)bytes));
    return 1;
}

/* on() and off(): is the calling task running user code? Its children begin as it is. */
static int l_on(lua_State *L)
{
    task_set_watched(L, true);
    return 0;
}

static int l_off(lua_State *L)
{
    task_set_watched(L, false);
    return 0;
}

/* Push the path of descriptor `fd`; false for what is no file: sockets, pipes, devices.
 */
static bool push_file(lua_State *L, const char *fd)
{
    char link[64];
    char path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%s", fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    struct stat s;
    if (n < 0 || stat(link, &s) < 0 || !(S_ISREG(s.st_mode) || S_ISDIR(s.st_mode)))
        return false;
    lua_pushlstring(L, path, (size_t)n);
    return true;
}

/* files() -> {fd = path}: the files and folders this process has open. */
static int l_files(lua_State *L)
{
    lua_newtable(L);
    DIR *dir = opendir("/proc/self/fd");
    if (!dir)
        return 1;
    for (struct dirent *d = readdir(dir); d; d = readdir(dir)) {
        bool is_own = strtol(d->d_name, NULL, 10) == dirfd(dir);
        if (!is_own && push_file(L, d->d_name))
            lua_setfield(L, -2, d->d_name);
    }
    closedir(dir);
    return 1;
}

static const luaL_Reg functions[] = {
    { "patience", l_patience }, { "memory", l_memory }, { "on", l_on },
    { "off", l_off },           { "files", l_files },   { NULL, NULL },
};

int luaopen_rt_watch(lua_State *L)
{
    luaL_newlib(L, functions);
    return 1;
}
