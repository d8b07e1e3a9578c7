/* rt_file.c - rt.file: files and folders, whole and at once. */
#include "host/bind.h"
#include "host/modules.h"
#include "io/file.h"
#include <lauxlib.h>
#include <string.h>

#define DRAFT_TYPE "rt.file.draft"

struct handle {
    struct draft *draft;
};

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

static unsigned write_flags(lua_State *L, int index)
{
    static const char *const names[] = { "sync", "keep_equal", NULL };
    bind_opts(L, index, names);
    unsigned flags = bind_opt_bool(L, index, "sync", false) ? FILE_SYNC : 0;
    return flags | (bind_opt_bool(L, index, "keep_equal", false) ? FILE_KEEP_EQUAL : 0);
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

/* file.read_part(path, at, n) -> up to n bytes from byte `at` (counted from 0) */
static int l_read_part(lua_State *L)
{
    const char *path = check_path(L, 1);
    lua_Integer at = luaL_checkinteger(L, 2), n = luaL_checkinteger(L, 3);
    luaL_argcheck(L, at >= 0, 2, "must not be negative");
    luaL_argcheck(L, n >= 0 && (size_t)n <= BUF_DEFAULT_MAX, 3, "must be from 0 to 2^30");
    struct buf b = { 0 };
    struct err e;
    if (file_read_part(path, at, (size_t)n, &b, &e))
        return push_buf(L, &b);
    buf_free(&b);
    return bind_err(L, &e);
}

static int draft_release(lua_State *L)
{
    struct handle *h = luaL_checkudata(L, 1, DRAFT_TYPE);
    if (h->draft)
        draft_drop(h->draft);
    h->draft = NULL;
    return 0;
}

static struct handle *draft_check(lua_State *L)
{
    struct handle *h = luaL_checkudata(L, 1, DRAFT_TYPE);
    luaL_argcheck(L, h->draft, 1, "the draft is over");
    return h;
}

/* file.draft(path, {sync, keep_equal}) -> draft | nil, err */
static int l_draft(lua_State *L)
{
    const char *path = check_path(L, 1);
    unsigned flags = write_flags(L, 2);
    struct handle *h = bind_new(L, DRAFT_TYPE, sizeof *h);
    struct err e;
    h->draft = draft_open(path, flags, &e);
    return h->draft ? 1 : bind_err(L, &e);
}

/* draft:add(text) */
static int l_draft_add(lua_State *L)
{
    struct handle *h = draft_check(L);
    size_t n;
    const char *text = luaL_checklstring(L, 2, &n);
    struct err e;
    return push_true(L, draft_add(h->draft, text, n, &e), &e);
}

/* draft:finish(): the file is replaced. */
static int l_draft_finish(lua_State *L)
{
    struct handle *h = draft_check(L);
    struct draft *d = h->draft;
    h->draft = NULL;
    struct err e;
    return push_true(L, draft_end(d, &e), &e);
}

static const luaL_Reg draft_methods[] = { { "add", l_draft_add },
                                          { "finish", l_draft_finish },
                                          { NULL, NULL } };

/* file.write(path, text, {sync, keep_equal}) */
static int l_write(lua_State *L)
{
    size_t n;
    const char *path = check_path(L, 1);
    const char *text = luaL_checklstring(L, 2, &n);
    unsigned flags = write_flags(L, 3);
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
        { "read", l_read },           { "write", l_write },   { "link", l_link },
        { "mkdir", l_mkdir },         { "list", l_list },     { "exists", l_exists },
        { "kind", l_kind },           { "remove", l_remove }, { "absolute", l_absolute },
        { "join", l_join },           { "label", l_label },   { "draft", l_draft },
        { "read_part", l_read_part }, { NULL, NULL },
    };
    bind_type(L, DRAFT_TYPE, draft_methods, draft_release);
    luaL_newlib(L, functions);
    return 1;
}
