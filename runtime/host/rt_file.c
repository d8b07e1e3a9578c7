/* rt_file.c - rt.file: files and folders, whole and at once. */
#include "host/bind.h"
#include "host/modules.h"
#include "io/file.h"
#include <lauxlib.h>
#include <string.h>

static const char *check_path(lua_State *L, int index)
{
    size_t n;
    const char *path = luaL_checklstring(L, index, &n);
    luaL_argcheck(L, n > 0, index, "must not be empty");
    luaL_argcheck(L, strlen(path) == n, index, "must not contain a zero byte");
    return path;
}

static int push_buf(lua_State *L, struct buf *b)
{
    lua_pushlstring(L, buf_text(b), b->len);
    buf_free(b);
    return 1;
}

static int push_true(lua_State *L, bool ok, const struct err *e)
{
    if (!ok)
        return bind_err(L, e);
    lua_pushboolean(L, 1);
    return 1;
}

/* file.read(path, {max}) */
static int l_read(lua_State *L)
{
    static const char *const names[] = { "max", NULL };
    const char *path = check_path(L, 1);
    bind_opts(L, 2, names);
    struct buf b = { 0 };
    b.max = (size_t)bind_opt_integer(L, 2, "max", BUF_DEFAULT_MAX, 1, BUF_DEFAULT_MAX);
    struct err e;
    if (file_read(path, &b, &e))
        return push_buf(L, &b);
    buf_free(&b);
    return bind_err(L, &e);
}

/* file.write(path, text, {sync, keep_equal}) */
static int l_write(lua_State *L)
{
    static const char *const names[] = { "sync", "keep_equal", NULL };
    size_t n;
    const char *path = check_path(L, 1);
    const char *text = luaL_checklstring(L, 2, &n);
    bind_opts(L, 3, names);
    unsigned flags = bind_opt_bool(L, 3, "sync", false) ? FILE_SYNC : 0;
    flags |= bind_opt_bool(L, 3, "keep_equal", false) ? FILE_KEEP_EQUAL : 0;
    struct err e;
    return push_true(L, file_write_atomic(path, text, n, flags, &e), &e);
}

/* file.link(path, target) */
static int l_link(lua_State *L)
{
    struct err e;
    return push_true(L, file_write_link(check_path(L, 1), check_path(L, 2), &e), &e);
}

/* file.mkdir(path) */
static int l_mkdir(lua_State *L)
{
    struct err e;
    return push_true(L, file_make_folder(check_path(L, 1), &e), &e);
}

/* file.list(path) */
static int l_list(lua_State *L)
{
    struct file_list list;
    struct err e;
    if (!file_list(check_path(L, 1), &list, &e))
        return bind_err(L, &e);
    lua_createtable(L, (int)list.n, 0);
    for (size_t i = 0; i < list.n; i++) {
        lua_pushstring(L, list.names[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    file_list_free(&list);
    return 1;
}

/* file.exists(path) */
static int l_exists(lua_State *L)
{
    struct file_info info;
    struct err e;
    if (!file_stat(check_path(L, 1), &info, &e))
        return bind_err(L, &e);
    lua_pushboolean(L, info.kind != FILE_NONE);
    return 1;
}

/* file.kind(path) -> kind, size */
static int l_kind(lua_State *L)
{
    static const char *const words[] = { "none", "file", "folder", "link", "other" };
    struct file_info info;
    struct err e;
    if (!file_stat(check_path(L, 1), &info, &e))
        return bind_err(L, &e);
    lua_pushstring(L, words[info.kind]);
    lua_pushinteger(L, info.size);
    return 2;
}

/* file.remove(path, {root}) */
static int l_remove(lua_State *L)
{
    static const char *const names[] = { "root", NULL };
    const char *path = check_path(L, 1);
    bind_opts(L, 2, names);
    const char *root = bind_opt_text(L, 2, "root", NULL, NULL);
    struct err e = { 0 };
    bool ok = root ? file_remove_tree(root, path, &e) : file_remove(path, &e);
    if (!ok && e.kind == ERR_USAGE)
        return luaL_argerror(L, 1, e.message);
    return push_true(L, ok, &e);
}

/* file.absolute(path) */
static int l_absolute(lua_State *L)
{
    struct buf b = { 0 };
    struct err e;
    if (file_absolute(check_path(L, 1), &b, &e))
        return push_buf(L, &b);
    buf_free(&b);
    return bind_err(L, &e);
}

/* file.join(folder, name) */
static int l_join(lua_State *L)
{
    const char *folder = check_path(L, 1), *name = check_path(L, 2);
    bool has_slash = folder[strlen(folder) - 1] == '/';
    if (name[0] == '/')
        lua_pushvalue(L, 2);
    else
        lua_pushfstring(L, has_slash ? "%s%s" : "%s/%s", folder, name);
    return 1;
}

/* file.label(text, {distinct}) */
static int l_label(lua_State *L)
{
    static const char *const names[] = { "distinct", NULL };
    size_t n;
    const char *text = luaL_checklstring(L, 1, &n);
    bind_opts(L, 2, names);
    bool is_distinct = bind_opt_bool(L, 2, "distinct", false);
    struct buf b = { 0 };
    if (is_distinct)
        file_label_distinct(&b, text, n);
    else
        file_label(&b, text, n);
    return push_buf(L, &b);
}

int luaopen_rt_file(lua_State *L)
{
    static const luaL_Reg functions[] = {
        { "read", l_read },   { "write", l_write },   { "link", l_link },
        { "mkdir", l_mkdir }, { "list", l_list },     { "exists", l_exists },
        { "kind", l_kind },   { "remove", l_remove }, { "absolute", l_absolute },
        { "join", l_join },   { "label", l_label },   { NULL, NULL },
    };
    luaL_newlib(L, functions);
    return 1;
}
