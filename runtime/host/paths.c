/* paths.c - see paths.h. */
#include "host/paths.h"
#include "base/buf.h"
#include "io/file.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_home(const char *path)
{
    struct buf file = { 0 };
    struct file_info info = { 0 };
    buf_add_format(&file, "%s/lua/skillopt/loader.lua", path);
    bool found = file_stat(buf_text(&file), &info, NULL) && info.kind == FILE_REGULAR;
    buf_free(&file);
    return found;
}

/* Folder of the running binary, "" when the system does not say. */
static void binary_folder(struct buf *out)
{
    char path[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    if (n <= 0)
        return;
    path[n] = '\0';
    const char *slash = strrchr(path, '/');
    buf_add(out, path, (size_t)(slash - path));
}

/* Try base + rest; on success `found` holds the absolute path. */
static bool try_place(const char *base, const char *rest, struct buf *found,
                      struct buf *tried)
{
    if (!base || !*base)
        return false;
    struct buf path = { 0 };
    buf_add_format(&path, "%s%s", base, rest);
    bool ok = is_home(buf_text(&path)) && file_absolute(buf_text(&path), found, NULL);
    if (!ok)
        buf_add_format(tried, "%s%s", tried->len ? ", " : "", buf_text(&path));
    buf_free(&path);
    return ok;
}

char *paths_home(struct err *e)
{
    struct buf folder = { 0 };
    struct buf found = { 0 };
    struct buf tried = { 0 };
    binary_folder(&folder);
    const char *binary = buf_text(&folder);
    bool ok = try_place(getenv("SKILLOPT_HOME"), "", &found, &tried) ||
              try_place(binary, "/../..", &found, &tried) ||
              try_place(binary, "/../share/skillopt", &found, &tried);
    if (!ok) {
        err_set(e, ERR_IO, "cannot find the program's Lua files; looked in %s",
                buf_text(&tried));
        err_hint(e,
                 "run `make install`, or set SKILLOPT_HOME to the folder that has lua/");
    }
    buf_free(&folder);
    buf_free(&tried);
    char *home = ok ? buf_give(&found, NULL) : NULL;
    buf_free(&found);
    return home;
}
