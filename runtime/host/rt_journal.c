/* rt_journal.c - rt.journal: the rows of a run, for the library.
 *
 * `store` waits until its row is on disk; cancellation does not end that wait,
 * since what was paid for must be kept. */
#include "host/bind.h"
#include "host/convert.h"
#include "host/modules.h"
#include "host/task.h"
#include "io/file.h"
#include "io/journal.h"
#include "io/loop.h"
#include <lauxlib.h>
#include <string.h>

#define JOURNAL_TYPE "rt.journal"
#define STORE_TYPE   "rt.journal.store"

#define SLOW_NOTE                                                                        \
    "the run folder is on a network file system: the journal is written without WAL, "   \
    "which is slower, and the lock goes by signs of life"

struct handle {
    struct journal *journal;
};

static struct journal *journal_check(lua_State *L, int index)
{
    struct handle *h = luaL_checkudata(L, index, JOURNAL_TYPE);
    luaL_argcheck(L, h->journal, index, "the journal is closed");
    return h->journal;
}

static enum journal_kind kind_check(lua_State *L, int index)
{
    const char *word = luaL_checkstring(L, index);
    enum journal_kind kind = journal_kind_of(word);
    if (kind == JOURNAL_NONE)
        luaL_argerror(L, index, lua_pushfstring(L, "there is no row kind '%s'", word));
    return kind;
}

/* open([path [, options]]) -> journal, note | nil, err. No path: in memory. `note` says
 * that the file is written in a slower way, where the usual one is not safe. */
static int l_open(lua_State *L)
{
    static const char *const names[] = { "read_only", "accept_loss", NULL };
    const char *path = luaL_optstring(L, 1, NULL);
    bind_opts(L, 2, names);
    struct journal_options options = {
        .is_read_only = bind_opt_bool(L, 2, "read_only", false),
        .accepts_loss = bind_opt_bool(L, 2, "accept_loss", false),
        .post = loop_post,
    };
    if (path && !options.is_read_only) {
        options.is_wal_unsafe = file_is_on_network(path);
        options.ballast_bytes = JOURNAL_BALLAST_SIZE;
    }
    struct handle *h = bind_new(L, JOURNAL_TYPE, sizeof *h);
    struct err e = { 0 };
    h->journal = journal_open(path, &options, &e);
    if (!h->journal)
        return bind_err(L, &e);
    lua_pushstring(L, options.is_wal_unsafe ? SLOW_NOTE : "");
    return 2;
}

static int close_handle(lua_State *L, struct err *e)
{
    struct handle *h = luaL_checkudata(L, 1, JOURNAL_TYPE);
    struct journal *j = h->journal;
    h->journal = NULL;
    return !j || journal_close(j, e);
}

/* journal:close() -> true | nil, err: all that was put is on disk, or not. */
static int l_close(lua_State *L)
{
    struct err e = { 0 };
    if (!close_handle(L, &e))
        return bind_err(L, &e);
    lua_pushboolean(L, true);
    return 1;
}

static int handle_release(lua_State *L)
{
    struct err e = { 0 };
    close_handle(L, &e);
    return 0;
}

/* journal:find(kind, slot, key) -> n | nil */
static int l_find(lua_State *L)
{
    struct journal *j = journal_check(L, 1);
    int64_t n =
        journal_find(j, kind_check(L, 2), luaL_checkstring(L, 3), luaL_checkstring(L, 4));
    if (n == 0)
        return 0;
    lua_pushinteger(L, n);
    return 1;
}

/* journal:next(kind, after) -> n | nil */
static int l_next(lua_State *L)
{
    struct journal *j = journal_check(L, 1);
    int64_t n = journal_next(j, kind_check(L, 2), luaL_checkinteger(L, 3));
    if (n == 0)
        return 0;
    lua_pushinteger(L, n);
    return 1;
}

/* journal:read(n) -> bytes | nil, err */
static int l_read(lua_State *L)
{
    struct journal *j = journal_check(L, 1);
    struct buf *data = convert_buf(L);
    struct err e = { 0 };
    if (!journal_read(j, luaL_checkinteger(L, 2), data, &e))
        return bind_err(L, &e);
    lua_pushlstring(L, buf_text(data), data->len);
    return 1;
}

/* journal:decode(n) -> the row's JSON as json.decode gives it | nil, err */
static int l_decode(lua_State *L)
{
    static const struct json_rules rules = { .big = JSON_BIG_EXACT };
    struct journal *j = journal_check(L, 1);
    struct buf *data = convert_buf(L);
    struct err e = { 0 };
    if (!journal_read(j, luaL_checkinteger(L, 2), data, &e))
        return bind_err(L, &e);
    struct value_doc *doc = convert_doc(L);
    const struct value *v = json_read(doc, buf_text(data), data->len, &rules, &e);
    if (!v)
        return bind_err(L, &e);
    convert_push(L, v);
    value_doc_clear(doc);
    return 1;
}

/* journal:row(n) -> {kind, slot, key, data} | nil, err */
static int l_row(lua_State *L)
{
    struct journal *j = journal_check(L, 1);
    struct journal_row row = { 0 };
    struct err e = { 0 };
    bool ok = journal_row_read(j, luaL_checkinteger(L, 2), &row, &e);
    if (ok) {
        lua_createtable(L, 0, 4);
        lua_pushstring(L, journal_kind_name(row.kind));
        lua_setfield(L, -2, "kind");
        lua_pushlstring(L, buf_text(&row.slot), row.slot.len);
        lua_setfield(L, -2, "slot");
        lua_pushlstring(L, buf_text(&row.key), row.key.len);
        lua_setfield(L, -2, "key");
        lua_pushlstring(L, buf_text(&row.data), row.data.len);
        lua_setfield(L, -2, "data");
    }
    journal_row_free(&row);
    return ok ? 1 : bind_err(L, &e);
}

static int64_t append(lua_State *L, void (*done)(void *, const struct err *), void *arg,
                      struct err *e)
{
    struct journal *j = journal_check(L, 1);
    enum journal_kind kind = kind_check(L, 2);
    const char *slot = luaL_checkstring(L, 3);
    const char *key = luaL_checkstring(L, 4);
    size_t n;
    const char *data = luaL_checklstring(L, 5, &n);
    return journal_append(j, kind, slot, key, data, n, done, arg, e);
}

/* journal:put(kind, slot, key, bytes) -> n | nil, err: queued, before what follows. */
static int l_put(lua_State *L)
{
    struct err e = { 0 };
    int64_t n = append(L, NULL, NULL, &e);
    if (n == 0)
        return bind_err(L, &e);
    lua_pushinteger(L, n);
    return 1;
}

/* Lives on the stack of the waiting task, which a shielded wait keeps alive. */
struct store {
    struct wait wait;
    bool is_done;
    bool is_stored;
    struct err e;
};

static void stored(void *arg, const struct err *e)
{
    struct store *s = arg;
    s->is_done = true;
    s->is_stored = e == NULL;
    if (e)
        s->e = *e;
    task_wake(&s->wait);
}

static int store_k(lua_State *L, int status, lua_KContext ctx)
{
    struct store *s = (struct store *)ctx;
    if (!s->is_stored)
        return bind_err(L, &s->e);
    lua_pushboolean(L, true);
    return 1;
}

/* journal:store(kind, slot, key, bytes) -> true | nil, err, once it is on disk. */
static int l_store(lua_State *L)
{
    task_check(L);
    struct store *s = bind_new(L, STORE_TYPE, sizeof *s);
    struct err e = { 0 };
    if (append(L, stored, s, &e) == 0)
        return bind_err(L, &e);
    if (s->is_done)
        return store_k(L, LUA_OK, (lua_KContext)s);
    return task_park_shielded(L, &s->wait, store_k, (lua_KContext)s);
}

/* journal:copy(from, n) -> n | nil, err: row n of another journal, queued. */
static int l_copy(lua_State *L)
{
    struct journal *j = journal_check(L, 1);
    struct journal *from = journal_check(L, 2);
    struct err e = { 0 };
    int64_t n = journal_copy(j, from, luaL_checkinteger(L, 3), NULL, NULL, &e);
    if (n == 0)
        return bind_err(L, &e);
    lua_pushinteger(L, n);
    return 1;
}

/* journal:last() -> integer: rows, queued ones included. */
static int l_last(lua_State *L)
{
    lua_pushinteger(L, journal_last(journal_check(L, 1)));
    return 1;
}

/* journal:lost() -> integer: rows dropped under accept_loss. */
static int l_lost(lua_State *L)
{
    lua_pushinteger(L, journal_lost(journal_check(L, 1)));
    return 1;
}

/* journal:chain() -> 64 hex digits that name the whole content. */
static int l_chain(lua_State *L)
{
    struct digest d = journal_chain(journal_check(L, 1));
    char hex[DIGEST_HEX + 1];
    digest_hex(&d, hex);
    lua_pushstring(L, hex);
    return 1;
}

/* journal:state() -> "ok" | "low" | "read_only", why in words, what to do */
static int l_state(lua_State *L)
{
    static const char *const words[] = { "ok", "low", "read_only" };
    struct err why = { 0 };
    lua_pushstring(L, words[journal_state(journal_check(L, 1), &why)]);
    lua_pushstring(L, why.message);
    lua_pushstring(L, why.hint);
    return 3;
}

static const luaL_Reg methods[] = {
    { "close", l_close },   { "find", l_find }, { "next", l_next }, { "read", l_read },
    { "decode", l_decode }, { "row", l_row },   { "put", l_put },   { "store", l_store },
    { "copy", l_copy },     { "last", l_last }, { "lost", l_lost }, { "chain", l_chain },
    { "state", l_state },   { NULL, NULL },
};

static const luaL_Reg functions[] = { { "open", l_open }, { NULL, NULL } };

int luaopen_rt_journal(lua_State *L)
{
    bind_type(L, JOURNAL_TYPE, methods, handle_release);
    bind_type(L, STORE_TYPE, NULL, NULL);
    luaL_newlib(L, functions);
    return 1;
}
