/* rt_text.c - texts in characters for Lua. */
#include "base/buf.h"
#include "base/utf8.h"
#include "host/bind.h"
#include "host/modules.h"
#include "text/length.h"
#include "text/plain.h"
#include "text/unicode.h"
#include <lauxlib.h>

static struct span check_span(lua_State *L, int index)
{
    struct span text;
    text.ptr = luaL_checklstring(L, index, &text.len);
    return text;
}

static int push_span(lua_State *L, struct span text)
{
    lua_pushlstring(L, text.ptr, text.len);
    return 1;
}

/* Push the text of `b` and free it; nil and an error when it was full. */
static int push_buf(lua_State *L, struct buf *b)
{
    struct err e;
    bool is_full = b->is_full;
    if (is_full)
        err_set(&e, ERR_LIMIT, "the text would be larger than 1 GiB");
    else
        lua_pushlstring(L, buf_text(b), b->len);
    buf_free(b);
    return is_full ? bind_err(L, &e) : 1;
}

static int l_strip(lua_State *L)
{
    return push_span(L, unicode_strip(check_span(L, 1)));
}

static int l_lstrip(lua_State *L)
{
    return push_span(L, unicode_lstrip(check_span(L, 1)));
}

static int l_rstrip(lua_State *L)
{
    return push_span(L, unicode_rstrip(check_span(L, 1)));
}

static int push_pieces(lua_State *L, bool (*next)(struct span *rest, struct span *piece))
{
    struct span rest = check_span(L, 1);
    struct span piece;
    lua_newtable(L);
    for (lua_Integer i = 1; next(&rest, &piece); i++) {
        push_span(L, piece);
        lua_seti(L, -2, i);
    }
    return 1;
}

static int l_split(lua_State *L)
{
    return push_pieces(L, unicode_next_word);
}

static int l_lines(lua_State *L)
{
    return push_pieces(L, unicode_next_line);
}

static int push_changed(lua_State *L, bool (*change)(struct buf *out, struct span text))
{
    struct buf out = { 0 };
    change(&out, check_span(L, 1));
    return push_buf(L, &out);
}

static int l_lower(lua_State *L)
{
    return push_changed(L, unicode_lower);
}

static int l_upper(lua_State *L)
{
    return push_changed(L, unicode_upper);
}

static int l_casefold(lua_State *L)
{
    return push_changed(L, unicode_casefold);
}

static int l_collapse(lua_State *L)
{
    return push_changed(L, unicode_collapse);
}

static int l_nfc(lua_State *L)
{
    return push_changed(L, unicode_nfc);
}

static int l_length(lua_State *L)
{
    struct span text = check_span(L, 1);
    lua_pushinteger(L, (lua_Integer)utf8_length(text.ptr, text.len));
    return 1;
}

static lua_Integer from_left(lua_Integer position, lua_Integer length)
{
    if (position >= 0)
        return position;
    return position < -length ? 0 : length + position + 1;
}

/* text.sub(s, first, last) is string.sub in characters. */
static int l_sub(lua_State *L)
{
    struct span text = check_span(L, 1);
    lua_Integer length = (lua_Integer)utf8_length(text.ptr, text.len);
    lua_Integer first = from_left(luaL_checkinteger(L, 2), length);
    lua_Integer last = from_left(luaL_optinteger(L, 3, -1), length);
    if (first < 1)
        first = 1;
    if (last > length)
        last = length;
    if (first > last)
        return push_span(L, SPAN(""));
    return push_span(L,
                     unicode_slice(text, (size_t)first - 1, (size_t)(last - first) + 1));
}

static int l_fix(lua_State *L)
{
    struct span text = check_span(L, 1);
    if (utf8_is_valid(text.ptr, text.len)) {
        lua_settop(L, 1);
        return 1;
    }
    struct buf out = { 0 };
    utf8_fix(&out, text.ptr, text.len);
    return push_buf(L, &out);
}

static int l_is_valid(lua_State *L)
{
    struct span text = check_span(L, 1);
    lua_pushboolean(L, utf8_is_valid(text.ptr, text.len));
    return 1;
}

static int l_tokens(lua_State *L)
{
    lua_pushinteger(L, (lua_Integer)length_tokens(check_span(L, 1)));
    return 1;
}

/* text.cut_middle(s, max, mark) is the text and the number of characters cut. */
static int l_cut_middle(lua_State *L)
{
    struct span text = check_span(L, 1);
    lua_Integer max = luaL_checkinteger(L, 2);
    struct span mark;
    mark.ptr = luaL_optlstring(L, 3, "\n[...]\n", &mark.len);
    luaL_argcheck(L, max >= 0, 2, "must not be negative");
    struct buf out = { 0 };
    size_t removed = length_fit_middle(&out, text, (size_t)max, mark);
    push_buf(L, &out);
    lua_pushinteger(L, (lua_Integer)removed);
    return 2;
}

static int l_cut_at(lua_State *L)
{
    struct span text = check_span(L, 1);
    lua_Integer max = luaL_checkinteger(L, 2);
    struct span border = check_span(L, 3);
    luaL_argcheck(L, max >= 0, 2, "must not be negative");
    luaL_argcheck(L, border.len > 0, 3, "must not be empty");
    struct buf out = { 0 };
    length_fit_pieces(&out, text, (size_t)max, border);
    return push_buf(L, &out);
}

/* text.find(s, plain, start) is where it begins and ends, in characters. */
static int l_find(lua_State *L)
{
    struct span text = check_span(L, 1);
    struct span find = check_span(L, 2);
    lua_Integer start = luaL_optinteger(L, 3, 1);
    luaL_argcheck(L, start > 0, 3, "must be positive");
    size_t from = utf8_offset(text.ptr, text.len, (size_t)start - 1);
    size_t at = plain_find(text, find, from);
    if (at == PLAIN_NONE)
        return 0;
    lua_Integer before = (lua_Integer)utf8_length(text.ptr, at);
    lua_pushinteger(L, before + 1);
    lua_pushinteger(L, before + (lua_Integer)utf8_length(find.ptr, find.len));
    return 2;
}

/* text.replace(s, find, with, {count}) is the text and the number of changes. */
static int l_replace(lua_State *L)
{
    static const char *const names[] = { "count", NULL };
    struct span text = check_span(L, 1);
    struct span find = check_span(L, 2);
    struct span with = check_span(L, 3);
    luaL_argcheck(L, find.len > 0, 2, "must not be empty");
    bind_opts(L, 4, names);
    lua_Integer max = bind_opt_integer(L, 4, "count", LUA_MAXINTEGER, 0, LUA_MAXINTEGER);
    struct buf out = { 0 };
    size_t count;
    if (!plain_replace(&out, text, find, with, (size_t)max, &count))
        return push_buf(L, &out);
    push_buf(L, &out);
    lua_pushinteger(L, (lua_Integer)count);
    return 2;
}

/* text.scrub(s, secrets) is the text without any of them. */
static int l_scrub(lua_State *L)
{
    struct span text = check_span(L, 1);
    luaL_checktype(L, 2, LUA_TTABLE);
    lua_Integer n = luaL_len(L, 2);
    luaL_argcheck(L, n <= 4096, 2, "too many secrets");
    struct span *secrets = lua_newuserdatauv(L, (size_t)(n + 1) * sizeof *secrets, 0);
    luaL_checkstack(L, (int)n, "too many secrets");
    for (lua_Integer i = 0; i < n; i++) {
        lua_geti(L, 2, i + 1);
        luaL_argcheck(L, lua_type(L, -1) == LUA_TSTRING, 2, "secrets must be strings");
        secrets[i].ptr = lua_tolstring(L, -1, &secrets[i].len);
    }
    if (!plain_has_secret(text, secrets, (size_t)n)) {
        lua_settop(L, 1);
        return 1;
    }
    struct buf out = { 0 };
    plain_scrub(&out, text, secrets, (size_t)n);
    return push_buf(L, &out);
}

static const luaL_Reg functions[] = {
    { "casefold", l_casefold },     { "collapse", l_collapse }, { "cut_at", l_cut_at },
    { "cut_middle", l_cut_middle }, { "find", l_find },         { "fix", l_fix },
    { "is_valid", l_is_valid },     { "length", l_length },     { "lines", l_lines },
    { "lower", l_lower },           { "lstrip", l_lstrip },     { "nfc", l_nfc },
    { "replace", l_replace },       { "rstrip", l_rstrip },     { "scrub", l_scrub },
    { "split", l_split },           { "strip", l_strip },       { "sub", l_sub },
    { "tokens", l_tokens },         { "upper", l_upper },       { NULL, NULL },
};

int luaopen_rt_text(lua_State *L)
{
    luaL_newlib(L, functions);
    return 1;
}
