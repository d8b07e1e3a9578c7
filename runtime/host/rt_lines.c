/* rt_lines.c - files that grow by whole lines: events and logs.
 *
 * A line is written with one write call, so a killed process leaves at most one
 * torn line at the end, which the next start of the file removes. */
#include "base/fault.h"
#include "base/mem.h"
#include "host/bind.h"
#include "host/modules.h"
#include "io/file.h"
#include <errno.h>
#include <fcntl.h>
#include <lauxlib.h>
#include <string.h>
#include <unistd.h>

#define LINES_TYPE "rt.lines.file"

struct lines {
    int fd; /* plus 1, so that zeroed is closed */
    char *path;
};

static int lines_release(lua_State *L)
{
    struct lines *f = luaL_checkudata(L, 1, LINES_TYPE);
    if (f->fd)
        close(f->fd - 1);
    f->fd = 0;
    mem_free(f->path);
    f->path = NULL;
    return 0;
}

/* Cut a torn last line off. */
static void cut_torn(int fd)
{
    char block[4096];
    off_t end = lseek(fd, 0, SEEK_END);
    while (end > 0) {
        off_t start = end > (off_t)sizeof block ? end - (off_t)sizeof block : 0;
        ssize_t n = pread(fd, block, (size_t)(end - start), start);
        if (n <= 0)
            return;
        char *newline = memrchr(block, '\n', (size_t)n);
        if (newline) {
            if (ftruncate(fd, start + (newline - block) + 1) != 0)
                return;
            lseek(fd, 0, SEEK_END);
            return;
        }
        end = start;
    }
    if (ftruncate(fd, 0) == 0)
        lseek(fd, 0, SEEK_END);
}

/* open(path, {truncate = boolean}) -> file | nil, err */
static int l_open(lua_State *L)
{
    static const char *const names[] = { "truncate", NULL };
    const char *path = luaL_checkstring(L, 1);
    bind_opts(L, 2, names);
    bool truncate = bind_opt_bool(L, 2, "truncate", false);
    struct lines *f = bind_new(L, LINES_TYPE, sizeof *f);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | (truncate ? O_TRUNC : 0), 0666);
    if (fd < 0) {
        struct err e;
        file_err(&e, "open", path, errno);
        return bind_err(L, &e);
    }
    f->fd = fd + 1;
    f->path = mem_copy(path, strlen(path));
    if (!truncate)
        cut_torn(fd);
    return 1;
}

static bool write_all(int fd, const char *p, size_t n)
{
    if (!fault_pass(FAULT_APPEND))
        return fault_refuse(fd, p, n, -1);
    while (n > 0) {
        ssize_t done = write(fd, p, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return false;
        p += done;
        n -= (size_t)done;
    }
    return true;
}

/* file:add(text) -> true | nil, err: `text` is one or more whole lines. */
static int l_add(lua_State *L)
{
    struct lines *f = luaL_checkudata(L, 1, LINES_TYPE);
    size_t n;
    const char *text = luaL_checklstring(L, 2, &n);
    luaL_argcheck(L, n == 0 || text[n - 1] == '\n', 2, "must end with a newline");
    luaL_argcheck(L, f->fd != 0, 1, "the file is closed");
    if (!write_all(f->fd - 1, text, n)) {
        struct err e;
        file_err(&e, "write", f->path, errno);
        return bind_err(L, &e);
    }
    lua_pushboolean(L, true);
    return 1;
}

static const luaL_Reg methods[] = { { "add", l_add },
                                    { "close", lines_release },
                                    { NULL, NULL } };

static const luaL_Reg functions[] = { { "open", l_open }, { NULL, NULL } };

int luaopen_rt_lines(lua_State *L)
{
    bind_type(L, LINES_TYPE, methods, lines_release);
    luaL_newlib(L, functions);
    return 1;
}
