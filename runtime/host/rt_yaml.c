/* rt_yaml.c - YAML for Lua. */
#include "host/bind.h"
#include "host/convert.h"
#include "host/modules.h"
#include "text/yaml.h"
#include <lauxlib.h>

/* Longer paths are left out: nobody asks for them, and they could be made to add up. */
enum { PATH_MAX_BYTES = 256 };

static void cut(struct buf *b, size_t n)
{
    b->len = n;
    b->ptr[n] = '\0';
}

/* Note the lines of all names and items below `v` in the table at `lines`, under
 * "outer.inner" and "list.1"; `path` holds the way to v. */
static void add_lines(lua_State *L, int lines, const struct value *v, struct buf *path);

static void add_line(lua_State *L, int lines, uint32_t line, const struct value *v,
                     struct buf *path)
{
    if (path->len > PATH_MAX_BYTES)
        return;
    lua_pushlstring(L, buf_text(path), path->len);
    lua_pushinteger(L, line);
    lua_rawset(L, lines);
    add_lines(L, lines, v, path);
}

static void add_lines(lua_State *L, int lines, const struct value *v, struct buf *path)
{
    size_t n = path->len;
    for (uint32_t i = 0; i < value_count(v); i++) {
        if (n)
            buf_add_char(path, '.');
        if (v->kind == VALUE_OBJECT) {
            const struct value_entry *e = &v->entries[i];
            buf_add(path, e->key, e->key_length);
            add_line(L, lines, e->key_line, &e->value, path);
        } else {
            buf_add_format(path, "%u", i + 1);
            add_line(L, lines, v->items[i].line, &v->items[i], path);
        }
        cut(path, n);
    }
}

/* yaml.decode(text, options) */
static int l_decode(lua_State *L)
{
    static const char *const names[] = { "name", NULL };
    size_t n;
    struct err e;
    const char *text = luaL_checklstring(L, 1, &n);
    bind_opts(L, 2, names);
    const char *name = bind_opt_text(L, 2, "name", NULL, NULL);
    struct value_doc *doc = convert_doc(L);
    const struct value *v = yaml_read(doc, text, n, &e);
    if (!v)
        return convert_named_err(L, name, &e);
    convert_push(L, v);
    lua_newtable(L);
    add_lines(L, lua_gettop(L), v, convert_buf(L));
    value_doc_clear(doc);
    return 2;
}

static const luaL_Reg functions[] = {
    { "decode", l_decode },
    { NULL, NULL },
};

int luaopen_rt_yaml(lua_State *L)
{
    luaL_newlib(L, functions);
    return 1;
}
