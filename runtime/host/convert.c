/* convert.c - see convert.h. */
#include "host/convert.h"
#include "base/mem.h"
#include "host/bind.h"
#include <lauxlib.h>
#include <stdlib.h>
#include <string.h>

#define SCRATCH_TYPE "skillopt.convert"

enum { BUF_KEPT = 1 << 20, NAMES_KEPT = 4096, FEW_NAMES = 64 };

/* Addresses are the names of our entries in the registry. */
static const char null_key, array_key, object_key, scratch_key;

struct name {
    const char *text; /* belongs to the table being written */
    size_t length;
    size_t rank; /* place in the declared order, or SIZE_MAX */
    int value;   /* index of its value on the stack, or 0: not there */
};

/* One for each state; the names of all open objects lie in one stack. */
struct scratch {
    struct value_doc doc;
    struct buf buf;
    struct name *names;
    size_t count, room;
};

/* --- what the state keeps ------------------------------------------------------- */

static int null_tostring(lua_State *L)
{
    lua_pushliteral(L, "null");
    return 1;
}

void convert_push_null(lua_State *L)
{
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &null_key) != LUA_TNIL)
        return;
    lua_pop(L, 1);
    lua_newuserdatauv(L, 0, 0);
    lua_createtable(L, 0, 3);
    lua_pushcfunction(L, null_tostring);
    lua_setfield(L, -2, "__tostring");
    lua_pushliteral(L, "json.null");
    lua_setfield(L, -2, "__name");
    lua_pushliteral(L, "locked");
    lua_setfield(L, -2, "__metatable");
    lua_setmetatable(L, -2);
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &null_key);
}

static void push_mark(lua_State *L, const char *key, const char *name)
{
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, key) != LUA_TNIL)
        return;
    lua_pop(L, 1);
    lua_createtable(L, 0, 1);
    lua_pushstring(L, name);
    lua_setfield(L, -2, "__name");
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, key);
}

static void push_array_mark(lua_State *L)
{
    push_mark(L, &array_key, "json.array");
}

static void push_object_mark(lua_State *L)
{
    push_mark(L, &object_key, "json.object");
}

void convert_mark_array(lua_State *L)
{
    push_array_mark(L);
    lua_setmetatable(L, -2);
}

void convert_mark_object(lua_State *L)
{
    push_object_mark(L);
    lua_setmetatable(L, -2);
}

static int scratch_free(lua_State *L)
{
    struct scratch *s = luaL_checkudata(L, 1, SCRATCH_TYPE);
    value_doc_free(&s->doc);
    buf_free(&s->buf);
    mem_free(s->names);
    *s = (struct scratch){ 0 };
    return 0;
}

static struct scratch *scratch(lua_State *L)
{
    struct scratch *s;
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &scratch_key) != LUA_TNIL) {
        s = lua_touserdata(L, -1);
    } else {
        lua_pop(L, 1);
        bind_type(L, SCRATCH_TYPE, NULL, scratch_free);
        s = bind_new(L, SCRATCH_TYPE, sizeof *s);
        lua_pushvalue(L, -1);
        lua_rawsetp(L, LUA_REGISTRYINDEX, &scratch_key);
    }
    lua_pop(L, 1);
    return s;
}

struct value_doc *convert_doc(lua_State *L)
{
    struct scratch *s = scratch(L);
    value_doc_clear(&s->doc);
    return &s->doc;
}

struct buf *convert_buf(lua_State *L)
{
    struct scratch *s = scratch(L);
    if (s->buf.cap > BUF_KEPT)
        buf_free(&s->buf);
    buf_clear(&s->buf);
    return &s->buf;
}

int convert_named_err(lua_State *L, const char *name, const struct err *e)
{
    struct err named = *e;
    if (name)
        err_set(&named, e->kind, "%s, %s", name, e->message);
    return bind_err(L, &named);
}

/* --- in ------------------------------------------------------------------------- */

/* `array` is the stack index of the array mark. */
static void push_value(lua_State *L, const struct value *v, int array);

static void push_array(lua_State *L, const struct value *v, int array)
{
    lua_createtable(L, v->count > INT32_MAX ? 0 : (int)v->count, 0);
    for (uint32_t i = 0; i < v->count; i++) {
        push_value(L, &v->items[i], array);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    lua_pushvalue(L, array);
    lua_setmetatable(L, -2);
}

static void push_object(lua_State *L, const struct value *v, int array)
{
    lua_createtable(L, 0, v->count > INT32_MAX ? 0 : (int)v->count);
    for (uint32_t i = 0; i < v->count; i++) {
        lua_pushlstring(L, v->entries[i].key, v->entries[i].key_length);
        push_value(L, &v->entries[i].value, array);
        lua_rawset(L, -3);
    }
    if (v->count == 0)
        convert_mark_object(L);
}

static void push_value(lua_State *L, const struct value *v, int array)
{
    luaL_checkstack(L, 4, "document too deep");
    switch (v->kind) {
    case VALUE_NULL:
        convert_push_null(L);
        break;
    case VALUE_BOOL:
        lua_pushboolean(L, v->boolean);
        break;
    case VALUE_INTEGER:
        lua_pushinteger(L, v->integer);
        break;
    case VALUE_DOUBLE:
    case VALUE_BIG:
        lua_pushnumber(L, value_number(v, 0));
        break;
    case VALUE_TEXT:
        lua_pushlstring(L, v->text, v->count);
        break;
    case VALUE_ARRAY:
        push_array(L, v, array);
        break;
    case VALUE_OBJECT:
        push_object(L, v, array);
        break;
    }
}

void convert_push(lua_State *L, const struct value *v)
{
    luaL_checkstack(L, 4, "document too deep");
    push_array_mark(L);
    push_value(L, v, lua_gettop(L));
    lua_remove(L, -2);
}

/* --- shapes --------------------------------------------------------------------- */

bool convert_is_null(lua_State *L, int index)
{
    index = lua_absindex(L, index);
    convert_push_null(L);
    bool same = lua_rawequal(L, index, -1);
    lua_pop(L, 1);
    /* cjson's null, which scripts may mix in, is the light userdata NULL. */
    return same || (lua_islightuserdata(L, index) && !lua_touserdata(L, index));
}

static enum convert_shape mark_of(lua_State *L, int index)
{
    if (!lua_getmetatable(L, index))
        return CONVERT_NEITHER;
    lua_rawgetp(L, LUA_REGISTRYINDEX, &array_key);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &object_key);
    enum convert_shape mark = lua_rawequal(L, -3, -2)   ? CONVERT_ARRAY
                              : lua_rawequal(L, -3, -1) ? CONVERT_OBJECT
                                                        : CONVERT_NEITHER;
    lua_pop(L, 3);
    return mark;
}

bool convert_may_mark(lua_State *L, int index)
{
    if (!lua_getmetatable(L, index))
        return true;
    lua_pop(L, 1);
    return mark_of(L, index) != CONVERT_NEITHER;
}

struct census {
    lua_Integer items, highest; /* positive integer keys */
    size_t names;
    const char *fault; /* a key that is neither */
};

static struct census count_keys(lua_State *L, int index)
{
    struct census c = { 0 };
    lua_pushnil(L);
    while (lua_next(L, index)) {
        lua_pop(L, 1);
        if (lua_type(L, -1) == LUA_TSTRING) {
            c.names++;
        } else if (lua_isinteger(L, -1) && lua_tointeger(L, -1) > 0) {
            lua_Integer i = lua_tointeger(L, -1);
            c.items++;
            c.highest = i > c.highest ? i : c.highest;
        } else {
            c.fault = "a key is neither a name nor a number from 1";
        }
    }
    return c;
}

/* The shape of a table, or NEITHER and why; *names is how many names it has. */
static enum convert_shape table_shape(lua_State *L, int index, size_t *names,
                                      const char **why)
{
    enum convert_shape mark = mark_of(L, index);
    struct census c = count_keys(L, index);
    *names = c.names;
    *why = c.fault;
    if (!c.fault && c.items && c.names)
        *why = "the table has both items and names";
    else if (!c.fault && c.items != c.highest)
        *why = "the array has holes";
    else if (!c.fault && mark == CONVERT_ARRAY && c.names)
        *why = "the array has names";
    else if (!c.fault && mark == CONVERT_OBJECT && c.items)
        *why = "the object has items without names";
    if (*why)
        return CONVERT_NEITHER;
    if (mark != CONVERT_NEITHER)
        return mark;
    return c.names ? CONVERT_OBJECT : CONVERT_ARRAY;
}

enum convert_shape convert_shape(lua_State *L, int index)
{
    const char *why;
    size_t names;
    if (lua_type(L, index) != LUA_TTABLE)
        return CONVERT_SCALAR;
    luaL_checkstack(L, 8, "value too deep");
    lua_pushvalue(L, index);
    int top = lua_gettop(L);
    bind_thaw(L, top);
    enum convert_shape shape = table_shape(L, top, &names, &why);
    lua_pop(L, 1);
    return shape;
}

/* --- out ------------------------------------------------------------------------ */

struct encoder {
    lua_State *L;
    struct json_writer *w;
    struct scratch *scratch;
    unsigned depth;
    const void *open[JSON_MAX_DEPTH + 1]; /* tables being written */
};

static void write_value(struct encoder *c, int order);

/* Rank of a name in the order table at `order`, SIZE_MAX when it is not listed. */
static size_t rank_of(lua_State *L, int order, const struct name *name)
{
    lua_Unsigned n = order ? lua_rawlen(L, order) : 0;
    size_t rank = SIZE_MAX;
    for (lua_Unsigned i = 1; i <= n && rank == SIZE_MAX; i++) {
        size_t length;
        lua_rawgeti(L, order, (lua_Integer)i);
        const char *text = lua_tolstring(L, -1, &length);
        if (length == name->length && memcmp(text, name->text, length) == 0)
            rank = (size_t)i;
        lua_pop(L, 1);
    }
    return rank;
}

static void add_name(struct scratch *s, const struct name *name)
{
    if (s->count == s->room) {
        s->room = s->room ? s->room * 2 : 64;
        s->names = mem_grow(s->names, s->room * sizeof *s->names);
    }
    s->names[s->count++] = *name;
}

static int compare_names(const void *a, const void *b)
{
    const struct name *x = a;
    const struct name *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    size_t n = x->length < y->length ? x->length : y->length;
    int difference = memcmp(x->text, y->text, n);
    return difference ? difference : (x->length > y->length) - (x->length < y->length);
}

/* With `keeps` the names and their values stay on the stack. */
static void collect_names(struct encoder *c, int table, int order, bool keeps)
{
    size_t first = c->scratch->count;
    lua_pushnil(c->L);
    while (lua_next(c->L, table)) {
        struct name name = { .value = keeps ? lua_gettop(c->L) : 0 };
        name.text = lua_tolstring(c->L, -2, &name.length);
        name.rank = rank_of(c->L, order, &name);
        add_name(c->scratch, &name);
        if (keeps)
            lua_pushvalue(c->L, -2);
        else
            lua_pop(c->L, 1);
    }
    if (c->scratch->count > first + 1)
        qsort(c->scratch->names + first, c->scratch->count - first,
              sizeof *c->scratch->names, compare_names);
}

static void push_member(lua_State *L, int table, const struct name *name)
{
    if (name->value) {
        lua_pushvalue(L, name->value);
    } else {
        lua_pushlstring(L, name->text, name->length);
        lua_rawget(L, table);
    }
}

/* Push the order for the value under the name, or nil; the result is its index or 0. */
static int push_order(lua_State *L, int order, const struct name *name)
{
    if (!order) {
        lua_pushnil(L);
        return 0;
    }
    lua_pushlstring(L, name->text, name->length);
    if (lua_rawget(L, order) != LUA_TTABLE) {
        lua_pop(L, 1);
        lua_pushliteral(L, "*");
        lua_rawget(L, order);
    }
    if (lua_type(L, -1) != LUA_TTABLE)
        return 0;
    bind_thaw(L, lua_gettop(L));
    return lua_gettop(L);
}

static void write_object(struct encoder *c, int table, int order, size_t names)
{
    lua_State *L = c->L;
    size_t first = c->scratch->count;
    bool keeps = names <= FEW_NAMES && lua_checkstack(L, 2 * (int)names + 12);
    collect_names(c, table, order, keeps);
    size_t end = c->scratch->count;
    json_object(c->w);
    for (size_t i = first; i < end && !json_failed(c->w); i++) {
        struct name name = c->scratch->names[i]; /* the list moves while it grows */
        json_key_n(c->w, name.text, name.length);
        int inner = push_order(L, order, &name);
        push_member(L, table, &name);
        write_value(c, inner);
        lua_pop(L, 2);
    }
    json_object_end(c->w);
    c->scratch->count = first;
    lua_settop(L, table);
}

static void write_array(struct encoder *c, int table, int order)
{
    lua_Integer n = (lua_Integer)lua_rawlen(c->L, table);
    json_array(c->w);
    for (lua_Integer i = 1; i <= n && !json_failed(c->w); i++) {
        lua_rawgeti(c->L, table, i);
        write_value(c, order);
        lua_pop(c->L, 1);
    }
    json_array_end(c->w);
}

static const char *enter(struct encoder *c, const void *table)
{
    if (c->depth == JSON_MAX_DEPTH)
        return "nesting too deep";
    for (unsigned i = 0; i < c->depth; i++)
        if (c->open[i] == table)
            return "the table contains itself";
    if (!lua_checkstack(c->L, 12))
        return "nesting too deep";
    c->open[c->depth++] = table;
    return NULL;
}

/* The table on top of the stack. */
static void write_table(struct encoder *c, int order)
{
    int table = lua_gettop(c->L);
    bind_thaw(c->L, table);
    const char *why = enter(c, lua_topointer(c->L, table));
    if (why) {
        json_refuse(c->w, why);
        return;
    }
    size_t names;
    enum convert_shape shape = table_shape(c->L, table, &names, &why);
    if (shape == CONVERT_ARRAY)
        write_array(c, table, order);
    else if (shape == CONVERT_OBJECT)
        write_object(c, table, order, names);
    else
        json_refuse(c->w, why);
    c->depth--;
}

static void refuse_type(struct encoder *c)
{
    char text[64];
    snprintf(text, sizeof text, "a %s cannot be written as JSON",
             luaL_typename(c->L, -1));
    json_refuse(c->w, text);
}

/* The value on top of the stack, which stays there. */
static void write_value(struct encoder *c, int order)
{
    size_t n;
    const char *text;
    switch (lua_type(c->L, -1)) {
    case LUA_TBOOLEAN:
        json_bool(c->w, lua_toboolean(c->L, -1));
        break;
    case LUA_TNUMBER:
        if (lua_isinteger(c->L, -1))
            json_integer(c->w, lua_tointeger(c->L, -1));
        else
            json_double(c->w, lua_tonumber(c->L, -1));
        break;
    case LUA_TSTRING:
        text = lua_tolstring(c->L, -1, &n);
        json_text_n(c->w, text, n);
        break;
    case LUA_TTABLE:
        write_table(c, order);
        break;
    default:
        if (convert_is_null(c->L, -1))
            json_null(c->w);
        else
            refuse_type(c);
    }
}

void convert_write(lua_State *L, int index, struct json_writer *w, int order)
{
    struct encoder c = { .L = L, .w = w, .scratch = scratch(L) };
    c.scratch->count = 0;
    index = lua_absindex(L, index);
    order = order ? lua_absindex(L, order) : 0;
    if (!lua_checkstack(L, 12)) {
        json_refuse(w, "nesting too deep");
        return;
    }
    if (order) {
        lua_pushvalue(L, order);
        order = lua_gettop(L);
        bind_thaw(L, order);
    }
    lua_pushvalue(L, index); /* a copy: bind_thaw replaces it */
    write_value(&c, order);
    lua_pop(L, order ? 2 : 1);
    if (c.scratch->room > NAMES_KEPT) {
        mem_free(c.scratch->names);
        c.scratch->names = NULL;
        c.scratch->room = 0;
    }
}

bool convert_encode(lua_State *L, int index, enum json_style style, struct buf *out,
                    struct err *e)
{
    struct json_writer w;
    json_begin(&w, out, style);
    convert_write(L, index, &w, 0);
    return json_end(&w, e);
}

static bool is_order(lua_State *L, int order, unsigned depth)
{
    if (depth == 0 || !lua_checkstack(L, 8))
        return false;
    lua_pushvalue(L, order);
    int table = lua_gettop(L);
    bind_thaw(L, table);
    bool ok = true;
    lua_pushnil(L);
    while (ok && lua_next(L, table)) {
        ok = lua_type(L, -2) == LUA_TSTRING
                 ? lua_istable(L, -1) && is_order(L, lua_gettop(L), depth - 1)
                 : lua_isinteger(L, -2) && lua_type(L, -1) == LUA_TSTRING;
        lua_pop(L, 1);
    }
    lua_settop(L, table - 1);
    return ok;
}

void convert_check_order(lua_State *L, int arg, int order)
{
    enum { DEPTH = 16 };
    if (!lua_istable(L, order) || !is_order(L, lua_absindex(L, order), DEPTH))
        luaL_argerror(L, arg,
                      "option 'keys' must be a list of names, with such lists "
                      "under the names of inner objects");
}
