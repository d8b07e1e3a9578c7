/* rt_tree.c - rt.tree: the files of a folder as a value. */
#include "host/bind.h"
#include "host/modules.h"
#include "io/tree.h"
#include <lauxlib.h>
#include <string.h>

#define TREE_TYPE "rt.tree"

enum { ENTRIES_USUAL = 10000, BYTES_USUAL = 64 << 20 };

static const char *const KINDS[] = { "file", "folder", "link", NULL };

static int tree_release(lua_State *L)
{
    tree_free(luaL_checkudata(L, 1, TREE_TYPE));
    return 0;
}

static void set_text(lua_State *L, const char *name, const char *text)
{
    lua_pushstring(L, text);
    lua_setfield(L, -2, name);
}

static void set_integer(lua_State *L, const char *name, lua_Integer n)
{
    lua_pushinteger(L, n);
    lua_setfield(L, -2, name);
}

static void push_entry(lua_State *L, const struct tree_entry *entry)
{
    char hex[DIGEST_HEX + 1];
    lua_createtable(L, 0, 5);
    set_text(L, "path", entry->path);
    set_text(L, "kind", KINDS[entry->kind]);
    if (entry->kind == TREE_LINK) {
        set_text(L, "target", entry->target);
        return;
    }
    set_integer(L, "mode", entry->mode);
    if (entry->kind == TREE_FOLDER)
        return;
    digest_hex(&entry->digest, hex);
    set_integer(L, "size", entry->size);
    set_text(L, "digest", hex);
}

static void push_notes(lua_State *L, const struct tree *t)
{
    lua_createtable(L, (int)t->note_count, 0);
    for (size_t i = 0; i < t->note_count; i++) {
        lua_pushfstring(L, "%s: %s", t->notes[i].path, t->notes[i].why);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
}

/* scan(folder, {entries, bytes}) -> entries, notes | nil, err */
static int l_scan(lua_State *L)
{
    static const char *const names[] = { "entries", "bytes", NULL };
    const char *folder = luaL_checkstring(L, 1);
    struct err e = { 0 };
    bind_opts(L, 2, names);
    const struct tree_limits limits = {
        .entries = (size_t)bind_opt_integer(L, 2, "entries", ENTRIES_USUAL, 0, 1000000),
        .bytes = bind_opt_integer(L, 2, "bytes", BYTES_USUAL, 0, LUA_MAXINTEGER),
    };
    struct tree *t = bind_new(L, TREE_TYPE, sizeof *t);
    if (!tree_scan(folder, &limits, t, &e)) {
        tree_free(t);
        return bind_err(L, &e);
    }
    lua_createtable(L, (int)t->n, 0);
    for (size_t i = 0; i < t->n; i++) {
        push_entry(L, &t->entries[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    push_notes(L, t);
    tree_free(t);
    return 2;
}

static const char *check_field(lua_State *L, const char *name, size_t *n)
{
    lua_getfield(L, 2, name);
    const char *text = lua_tolstring(L, -1, n);
    luaL_argcheck(L, text && strlen(text) == *n, 2, name);
    return text; /* stays on the stack */
}

/* put(folder, entry, bytes) -> true | nil, err */
static int l_put(lua_State *L)
{
    size_t n = 0, path_len, any;
    struct err e = { 0 };
    const char *folder = luaL_checkstring(L, 1);
    luaL_checktype(L, 2, LUA_TTABLE);
    const char *bytes = luaL_optlstring(L, 3, "", &n);
    struct tree_entry entry = { 0 };
    const char *path = check_field(L, "path", &path_len);
    luaL_argcheck(L, tree_is_path(path, path_len), 2, "the path leads outside");
    lua_getfield(L, 2, "kind");
    entry.kind = (enum tree_kind)luaL_checkoption(L, -1, NULL, KINDS);
    lua_getfield(L, 2, "mode");
    entry.mode = (unsigned)luaL_optinteger(L, -1, 0) & 0777;
    entry.path = (char *)path;
    if (entry.kind == TREE_LINK) {
        entry.target = (char *)check_field(L, "target", &any);
        luaL_argcheck(L, tree_is_inside(path, entry.target), 2, "the link leads outside");
    }
    if (!tree_put(folder, &entry, bytes, n, &e))
        return bind_err(L, &e);
    lua_pushboolean(L, 1);
    return 1;
}

/* is_path(text) -> boolean */
static int l_is_path(lua_State *L)
{
    size_t n;
    const char *path = luaL_checklstring(L, 1, &n);
    lua_pushboolean(L, tree_is_path(path, n));
    return 1;
}

int luaopen_rt_tree(lua_State *L)
{
    static const luaL_Reg functions[] = {
        { "scan", l_scan }, { "put", l_put }, { "is_path", l_is_path }, { NULL, NULL }
    };
    bind_type(L, TREE_TYPE, NULL, tree_release);
    luaL_newlib(L, functions);
    return 1;
}
