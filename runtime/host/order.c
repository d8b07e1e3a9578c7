/* order.c - see order.h. */
#include "host/order.h"
#include "host/bind.h"
#include "host/watch.h"
#include <lauxlib.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------- sorted key lists */

enum rank { RANK_INTEGER, RANK_FLOAT, RANK_TEXT, RANK_BOOLEAN };

struct key {
    enum rank rank;
    lua_Integer integer;
    lua_Number number;
    const char *text; /* the table's own string: alive while the list is made */
    size_t n;
};

static void key_read(lua_State *L, int index, struct key *k)
{
    *k = (struct key){ .rank = RANK_BOOLEAN };
    switch (lua_type(L, index)) {
    case LUA_TNUMBER:
        if (lua_isinteger(L, index)) {
            k->rank = RANK_INTEGER;
            k->integer = lua_tointeger(L, index);
        } else {
            k->rank = RANK_FLOAT;
            k->number = lua_tonumber(L, index);
        }
        break;
    case LUA_TSTRING:
        k->rank = RANK_TEXT;
        k->text = lua_tolstring(L, index, &k->n);
        break;
    case LUA_TBOOLEAN:
        k->integer = lua_toboolean(L, index);
        break;
    default:
        luaL_error(L,
                   "cannot walk a table in order: a key is a %s (only integers, floats, "
                   "strings and booleans have an order)",
                   luaL_typename(L, index));
    }
}

static int key_compare(const void *a, const void *b)
{
    const struct key *x = a;
    const struct key *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->rank == RANK_FLOAT)
        return (x->number > y->number) - (x->number < y->number);
    if (x->rank != RANK_TEXT)
        return (x->integer > y->integer) - (x->integer < y->integer);
    int c = memcmp(x->text, y->text, x->n < y->n ? x->n : y->n);
    return c ? c : (x->n > y->n) - (x->n < y->n);
}

static void key_push(lua_State *L, const struct key *k)
{
    switch (k->rank) {
    case RANK_INTEGER:
        lua_pushinteger(L, k->integer);
        break;
    case RANK_FLOAT:
        lua_pushnumber(L, k->number);
        break;
    case RANK_TEXT:
        lua_pushlstring(L, k->text, k->n);
        break;
    case RANK_BOOLEAN:
        lua_pushboolean(L, (int)k->integer);
        break;
    }
}

/* Is the table just 1..n? Then it needs no list. Leaves the count in *n. */
static bool is_dense(lua_State *L, int table, lua_Integer *n)
{
    *n = 0;
    lua_pushnil(L);
    while (lua_next(L, table)) {
        lua_pop(L, 1);
        if (!lua_isinteger(L, -1) || lua_tointeger(L, -1) != *n + 1) {
            lua_pop(L, 1);
            return false;
        }
        ++*n;
    }
    return true;
}

static size_t count_keys(lua_State *L, int table)
{
    size_t n = 0;
    lua_pushnil(L);
    while (lua_next(L, table)) {
        lua_pop(L, 1);
        n++;
    }
    return n;
}

/* Push a list of the keys, sorted. The scratch memory is a userdata, so that an
 * error inside loses nothing. */
static void push_sorted_keys(lua_State *L, int table)
{
    size_t n = count_keys(L, table);
    struct key *keys = lua_newuserdatauv(L, (n + 1) * sizeof *keys, 0);
    size_t i = 0;
    lua_pushnil(L);
    while (lua_next(L, table)) {
        lua_pop(L, 1);
        key_read(L, -1, &keys[i++]);
    }
    qsort(keys, n, sizeof *keys, key_compare);
    lua_createtable(L, (int)n, 0); /* scratch list */
    for (i = 0; i < n; i++) {
        key_push(L, &keys[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    lua_remove(L, -2); /* list */
}

/* Read the keys, at most `most`, into the sorted list; false when there are more. */
static bool read_few_keys(lua_State *L, int table, struct key *keys, size_t most,
                          size_t *n)
{
    *n = 0;
    lua_pushnil(L);
    while (lua_next(L, table)) {
        struct key k;
        lua_pop(L, 1);
        if (*n == most) {
            lua_pop(L, 1);
            return false;
        }
        key_read(L, -1, &k);
        size_t i = (*n)++;
        for (; i > 0 && key_compare(&keys[i - 1], &k) > 0; i--)
            keys[i] = keys[i - 1];
        keys[i] = k;
    }
    return true;
}

/* ------------------------------------------------------------------- pairs */

/* upvalues: table, list of keys or nil (dense), place, count */
static int walk(lua_State *L)
{
    lua_Integer i = lua_tointeger(L, lua_upvalueindex(3));
    lua_Integer n = lua_tointeger(L, lua_upvalueindex(4));
    bool dense = lua_isnil(L, lua_upvalueindex(2));
    while (++i <= n) {
        if (dense)
            lua_pushinteger(L, i);
        else
            lua_rawgeti(L, lua_upvalueindex(2), i);
        lua_pushvalue(L, -1);
        if (lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL) {
            lua_pushinteger(L, i);
            lua_replace(L, lua_upvalueindex(3));
            return 2;
        }
        lua_pop(L, 2); /* removed since: not there any more */
    }
    lua_pushinteger(L, i);
    lua_replace(L, lua_upvalueindex(3));
    lua_pushnil(L);
    return 1;
}

enum { FEW_KEYS = 24, FEW_FIRST = 4 };

/* A short walk has its keys for upvalues: table, place, count, keys. */
static int walk_few(lua_State *L)
{
    lua_Integer i = lua_tointeger(L, lua_upvalueindex(2));
    lua_Integer n = lua_tointeger(L, lua_upvalueindex(3));
    int results = 0;
    while (!results && i < n) {
        lua_pushvalue(L, lua_upvalueindex(FEW_FIRST + (int)i++));
        lua_pushvalue(L, -1);
        results = lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL ? 2 : 0;
        lua_pop(L, results ? 0 : 2); /* removed since: not there any more */
    }
    lua_pushinteger(L, i);
    lua_replace(L, lua_upvalueindex(2));
    if (!results)
        lua_pushnil(L);
    return results ? results : 1;
}

/* The walk over the table at index 1, when it has few keys. */
static bool push_short_walk(lua_State *L)
{
    struct key keys[FEW_KEYS];
    size_t n;
    if (!read_few_keys(L, 1, keys, FEW_KEYS, &n))
        return false;
    luaL_checkstack(L, (int)n + FEW_FIRST, NULL);
    lua_pushvalue(L, 1);
    lua_pushinteger(L, 0);
    lua_pushinteger(L, (lua_Integer)n);
    for (size_t i = 0; i < n; i++)
        key_push(L, &keys[i]);
    lua_pushcclosure(L, walk_few, (int)n + FEW_FIRST - 1);
    return true;
}

static void push_long_walk(lua_State *L)
{
    lua_Integer n;
    lua_pushvalue(L, 1);
    if (is_dense(L, 1, &n)) {
        lua_pushnil(L);
    } else {
        push_sorted_keys(L, 1);
        n = (lua_Integer)lua_rawlen(L, -1);
    }
    lua_pushinteger(L, 0);
    lua_pushinteger(L, n);
    lua_pushcclosure(L, walk, 4);
}

static int l_pairs(lua_State *L)
{
    luaL_checkany(L, 1);
    if (luaL_getmetafield(L, 1, "__pairs") != LUA_TNIL) {
        lua_pushvalue(L, 1);
        lua_call(L, 1, 3);
        return 3;
    }
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    lua_pushvalue(L, 1); /* what is handed out: a frozen table, not its content */
    bind_thaw(L, 1);
    if (!push_short_walk(L))
        push_long_walk(L);
    lua_pushvalue(L, 2);
    lua_pushnil(L);
    return 3;
}

/* -------------------------------------------------------------------- next */

/* The smallest key, without a list: asking `next(t)` for emptiness stays cheap. */
static int first_key(lua_State *L)
{
    struct key least = { 0 };
    bool found = false;
    lua_pushnil(L);
    while (lua_next(L, 1)) {
        struct key k;
        lua_pop(L, 1);
        key_read(L, -1, &k);
        if (!found || key_compare(&k, &least) < 0)
            least = k;
        found = true;
    }
    if (!found) {
        lua_pushnil(L);
        return 1;
    }
    key_push(L, &least);
    lua_pushvalue(L, -1);
    lua_rawget(L, 1);
    return 2;
}

/* Place of the first key behind `after` in the list at `list`. */
static lua_Integer place_behind(lua_State *L, int list, const struct key *after)
{
    lua_Integer low = 1;
    lua_Integer high = (lua_Integer)lua_rawlen(L, list) + 1;
    while (low < high) {
        lua_Integer middle = low + (high - low) / 2;
        struct key k;
        lua_rawgeti(L, list, middle);
        key_read(L, -1, &k);
        lua_pop(L, 1);
        if (key_compare(&k, after) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* upvalues: the table walked last, the list of its keys. A walk asks for one key
 * after the other, so the list is made once a walk. */
static int l_next(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 2);
    bind_thaw(L, 1);
    if (lua_isnil(L, 2)) { /* a new walk: a list of an earlier one may be stale */
        lua_pushnil(L);
        lua_replace(L, lua_upvalueindex(1));
        return first_key(L);
    }
    struct key after;
    key_read(L, 2, &after);
    if (!lua_rawequal(L, 1, lua_upvalueindex(1))) {
        push_sorted_keys(L, 1);
        lua_replace(L, lua_upvalueindex(2));
        lua_pushvalue(L, 1);
        lua_replace(L, lua_upvalueindex(1));
    }
    lua_pushvalue(L, lua_upvalueindex(2));
    for (lua_Integer i = place_behind(L, 3, &after);; i++) {
        if (lua_rawgeti(L, 3, i) == LUA_TNIL)
            break;
        lua_pushvalue(L, -1);
        if (lua_rawget(L, 1) != LUA_TNIL)
            return 2;
        lua_pop(L, 2);
    }
    lua_pushnil(L); /* the walk is over: the next one makes its own list */
    lua_replace(L, lua_upvalueindex(1));
    lua_pushnil(L);
    return 1;
}

/* -------------------------------------------------------------------- sort */

enum { SORT_MAX = 1 << 26 };

/* Is the value at index b before the one at a? Stack: list less ... */
static bool is_less(lua_State *L, int a, int b)
{
    if (lua_isnil(L, 2))
        return lua_compare(L, a, b, LUA_OPLT);
    a = lua_absindex(L, a);
    b = lua_absindex(L, b);
    lua_pushvalue(L, 2);
    lua_pushvalue(L, a);
    lua_pushvalue(L, b);
    lua_call(L, 2, 1);
    bool less = lua_toboolean(L, -1);
    lua_pop(L, 1);
    return less;
}

/* Does the right value (top) go before the left one (below it)? */
static bool goes_first(lua_State *L)
{
    if (!is_less(L, -1, -2))
        return false;
    if (!lua_isnil(L, 2) && is_less(L, -2, -1))
        luaL_error(L, "the order function contradicts itself: it says a < b and b < a");
    return true;
}

/* Merge from[low, middle) and from[middle, high) into `to`; table indices. */
static void merge(lua_State *L, int from, int to, lua_Integer low, lua_Integer middle,
                  lua_Integer high)
{
    lua_Integer left = low;
    lua_Integer right = middle;
    for (lua_Integer out = low; out < high; out++) {
        if ((out & 1023) == 0)
            watch_check(L);
        bool take_right = left >= middle;
        if (left < middle && right < high) {
            lua_rawgeti(L, from, left);
            lua_rawgeti(L, from, right);
            take_right = goes_first(L);
            lua_pop(L, 2);
        }
        lua_rawgeti(L, from, take_right ? right++ : left++);
        lua_rawseti(L, to, out);
    }
}

/* table.sort(list [, less]): bottom-up merge sort between two scratch tables. */
static int l_sort(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_Integer n = luaL_len(L, 1);
    if (!lua_isnoneornil(L, 2))
        luaL_checktype(L, 2, LUA_TFUNCTION);
    luaL_argcheck(L, n < SORT_MAX, 1, "array too big");
    lua_settop(L, 2);
    lua_createtable(L, (int)n, 0);
    lua_createtable(L, (int)n, 0); /* list less from to */
    for (lua_Integer i = 1; i <= n; i++) {
        lua_geti(L, 1, i);
        lua_rawseti(L, 3, i);
    }
    for (lua_Integer width = 1; width < n; width *= 2) {
        for (lua_Integer low = 1; low <= n; low += 2 * width) {
            lua_Integer middle = low + width <= n + 1 ? low + width : n + 1;
            lua_Integer high = middle + width <= n + 1 ? middle + width : n + 1;
            merge(L, 3, 4, low, middle, high);
        }
        lua_insert(L, 3); /* what was written is read next */
    }
    for (lua_Integer i = 1; i <= n; i++) {
        lua_rawgeti(L, 3, i);
        lua_seti(L, 1, i);
    }
    return 0;
}

/* ------------------------------------------------------------- installation */

static char raw_next_key, raw_pairs_key;

static int l_raw_set(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 3);
    bind_thaw(L, 1);
    lua_rawset(L, 1);
    return 0;
}

static const luaL_Reg raw_functions[] = {
    { "next", NULL },
    { "pairs", NULL }, /* Lua's own, from the registry */
    { "set", l_raw_set },
    { NULL, NULL },
};

int luaopen_rt_raw(lua_State *L)
{
    luaL_newlib(L, raw_functions);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &raw_next_key);
    lua_setfield(L, -2, "next");
    lua_rawgetp(L, LUA_REGISTRYINDEX, &raw_pairs_key);
    lua_setfield(L, -2, "pairs");
    return 1;
}

void order_install(lua_State *L)
{
    lua_getglobal(L, "next");
    lua_rawsetp(L, LUA_REGISTRYINDEX, &raw_next_key);
    lua_getglobal(L, "pairs");
    lua_rawsetp(L, LUA_REGISTRYINDEX, &raw_pairs_key);
    lua_pushcfunction(L, l_pairs);
    lua_setglobal(L, "pairs");
    lua_pushnil(L);
    lua_pushnil(L);
    lua_pushcclosure(L, l_next, 2);
    lua_setglobal(L, "next");
    lua_getglobal(L, "table");
    lua_pushcfunction(L, l_sort);
    lua_setfield(L, -2, "sort");
    lua_pop(L, 1);
}
