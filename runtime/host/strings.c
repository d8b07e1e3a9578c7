/* strings.c - see strings.h. */
#include "host/strings.h"
#include "host/bind.h"
#include "host/watch.h"
#include "text/pattern.h"
#include <lauxlib.h>
#include <limits.h>
#include <lualib.h>

/* The text at `index`, a number being one. It lives as long as it is on the stack. */
static struct span check_text(lua_State *L, int index)
{
    struct span s;
    s.ptr = luaL_checklstring(L, index, &s.len);
    return s;
}

/* Where a search starts, from 0; beyond the length for "nowhere". */
static size_t check_start(lua_State *L, int index, size_t length)
{
    lua_Integer at = luaL_optinteger(L, index, 1);
    if (at > 0)
        return (size_t)at - 1;
    if (at == 0 || at < -(lua_Integer)length)
        return 0;
    return length - (size_t)-at;
}

/* ------------------------------------------------------------------ searching */

#define PATTERN_HINT "say more exactly what may repeat in the pattern"

/* Raise an err of kind limit with the place of the call. */
static int raise_limit(lua_State *L, const char *words, const char *hint)
{
    struct err e;
    luaL_where(L, 1);
    err_set(&e, ERR_LIMIT, "%s%s", lua_tostring(L, -1), words);
    err_hint(&e, "%s", hint);
    bind_push_err(L, &e);
    return lua_error(L);
}

/* Search; what is no answer is raised. */
static bool search(lua_State *L, struct pattern *m, const char *from, const char *not_end)
{
    switch (pattern_search(m, from, not_end)) {
    case PATTERN_FOUND:
        return true;
    case PATTERN_ABSENT:
        return false;
    case PATTERN_FAULTY:
        return luaL_error(L, "malformed pattern: %s", m->fault);
    case PATTERN_COMPLEX:
        return raise_limit(L, "the pattern is too complex for this text", PATTERN_HINT);
    case PATTERN_ENDLESS:
        return raise_limit(L, "the pattern does not come to an end on this text",
                           PATTERN_HINT);
    default:
        return watch_raise(L);
    }
}

static void begin(lua_State *L, struct pattern *m, bool has_anchor)
{
    struct span subject = check_text(L, 1);
    struct span pattern = check_text(L, 2);
    pattern_init(m, subject, pattern, has_anchor);
    m->stop = watch_flag();
}

/* ------------------------------------------------------------------- captures */

/* Push capture `i`, from 0; the whole match stands for the first when there are none. */
static void push_capture(lua_State *L, const struct pattern *m, int i)
{
    if (i == 0 && m->count == 0) {
        lua_pushlstring(L, m->first, (size_t)(m->last - m->first));
        return;
    }
    if (i >= m->count)
        luaL_error(L, "the pattern has no capture %%%d", i + 1);
    struct pattern_capture c = m->captures[i];
    if (c.size == PATTERN_OPEN)
        luaL_error(L, "malformed pattern: a capture is not closed");
    if (c.size == PATTERN_POSITION)
        lua_pushinteger(L, c.at - m->subject + 1);
    else
        lua_pushlstring(L, c.at, (size_t)c.size);
}

/* Push all captures; without any the whole match. How many. */
static int push_captures(lua_State *L, const struct pattern *m)
{
    int n = m->count > 0 ? m->count : 1;
    luaL_checkstack(L, n, "too many captures");
    for (int i = 0; i < n; i++)
        push_capture(L, m, i);
    return n;
}

/* -------------------------------------------------------------- find and match */

enum { TRIES = 32 };

/* `what` (not empty) in [from, end), or NULL. Where its first byte is rare, looking for
 * that is quickest; where it is not, memmem keeps the cost linear. */
static const char *find_bytes(const char *from, const char *end, struct span what)
{
    for (int i = 0; i < TRIES; i++) {
        from = memchr(from, *what.ptr, (size_t)(end - from));
        if (!from || (size_t)(end - from) < what.len)
            return NULL;
        if (memcmp(from, what.ptr, what.len) == 0)
            return from;
        from++;
    }
    return memmem(from, (size_t)(end - from), what.ptr, what.len);
}

/* Bytes as they are: the two ends, or nil. */
static int find_plain(lua_State *L, struct span subject, struct span what, size_t start)
{
    const char *from = subject.ptr + start;
    const char *end = subject.ptr + subject.len;
    const char *hit = what.len > 0 ? find_bytes(from, end, what) : from;
    if (!hit) {
        luaL_pushfail(L);
        return 1;
    }
    lua_pushinteger(L, hit - subject.ptr + 1);
    lua_pushinteger(L, hit - subject.ptr + (lua_Integer)what.len);
    return 2;
}

/* string.find(text, pattern [, init [, plain]]) */
static int l_find(lua_State *L)
{
    struct span subject = check_text(L, 1);
    struct span what = check_text(L, 2);
    size_t start = check_start(L, 3, subject.len);
    if (start > subject.len) {
        luaL_pushfail(L);
        return 1;
    }
    if (lua_toboolean(L, 4) || pattern_is_plain(what))
        return find_plain(L, subject, what, start);
    struct pattern m;
    begin(L, &m, true);
    if (!search(L, &m, subject.ptr + start, NULL)) {
        luaL_pushfail(L);
        return 1;
    }
    lua_pushinteger(L, m.first - subject.ptr + 1);
    lua_pushinteger(L, m.last - subject.ptr);
    return 2 + (m.count > 0 ? push_captures(L, &m) : 0);
}

/* string.match(text, pattern [, init]) */
static int l_match(lua_State *L)
{
    struct pattern m;
    begin(L, &m, true);
    size_t length = (size_t)(m.subject_end - m.subject);
    size_t start = check_start(L, 3, length);
    if (start > length || !search(L, &m, m.subject + start, NULL)) {
        luaL_pushfail(L);
        return 1;
    }
    return push_captures(L, &m);
}

/* --------------------------------------------------------------------- gmatch */

struct walk {
    struct pattern m;
    const char *from, *before; /* next start, and where the last match ended */
};

/* upvalues: the text and the pattern (kept alive), the walk */
static int l_walk(lua_State *L)
{
    struct walk *w = lua_touserdata(L, lua_upvalueindex(3));
    w->m.steps_left = PATTERN_STEPS_MAX;
    if (!w->from || !search(L, &w->m, w->from, w->before))
        return 0;
    w->from = w->before = w->m.last;
    return push_captures(L, &w->m);
}

/* string.gmatch(text, pattern [, init]) */
static int l_gmatch(lua_State *L)
{
    struct span subject = check_text(L, 1);
    check_text(L, 2);
    size_t start = check_start(L, 3, subject.len);
    lua_settop(L, 2);
    struct walk *w = lua_newuserdatauv(L, sizeof *w, 0);
    begin(L, &w->m, false);
    w->from = start <= subject.len ? subject.ptr + start : NULL;
    w->before = NULL;
    lua_pushcclosure(L, l_walk, 3);
    return 1;
}

/* ----------------------------------------------------------------------- gsub */

/* Add the replacement text at argument 3 with its `%0` to `%9` filled in. */
static void add_filled(lua_State *L, luaL_Buffer *out, const struct pattern *m)
{
    size_t n;
    const char *p = lua_tolstring(L, 3, &n);
    const char *end = p + n;
    for (;;) {
        const char *mark = memchr(p, '%', (size_t)(end - p));
        luaL_addlstring(out, p, (size_t)((mark ? mark : end) - p));
        if (!mark)
            return;
        char c = mark + 1 < end ? mark[1] : '\0';
        if (c == '%') {
            luaL_addchar(out, '%');
        } else if (c == '0') {
            luaL_addlstring(out, m->first, (size_t)(m->last - m->first));
        } else if (c >= '1' && c <= '9') {
            push_capture(L, m, c - '1');
            luaL_addvalue(out);
        } else {
            luaL_error(L, "in a replacement '%%' needs a digit or '%%' behind it");
        }
        p = mark + 2;
    }
}

/* Add what stands for the match; false when that is the match itself. */
static bool add_replacement(lua_State *L, luaL_Buffer *out, const struct pattern *m,
                            int type)
{
    if (type == LUA_TFUNCTION) {
        lua_pushvalue(L, 3);
        lua_call(L, push_captures(L, m), 1);
    } else if (type == LUA_TTABLE) {
        push_capture(L, m, 0);
        lua_gettable(L, 3);
    } else {
        add_filled(L, out, m);
        return true;
    }
    if (!lua_toboolean(L, -1)) {
        lua_pop(L, 1);
        luaL_addlstring(out, m->first, (size_t)(m->last - m->first));
        return false;
    }
    if (!lua_isstring(L, -1))
        luaL_error(L, "a match cannot be replaced by a %s", luaL_typename(L, -1));
    luaL_addvalue(out);
    return true;
}

/* Replace up to `most` matches. The result and how many on the stack. */
static int substitute(lua_State *L, struct pattern *m, int type, lua_Integer most)
{
    luaL_Buffer out;
    luaL_buffinit(L, &out);
    const char *from = m->subject;
    const char *before = NULL;
    lua_Integer n = 0;
    bool is_changed = false;
    while (n < most && search(L, m, from, before)) {
        n++;
        luaL_addlstring(&out, from, (size_t)(m->first - from));
        is_changed = add_replacement(L, &out, m, type) || is_changed;
        from = before = m->last;
        if (m->is_anchored)
            break;
    }
    if (is_changed) {
        luaL_addlstring(&out, from, (size_t)(m->subject_end - from));
        luaL_pushresult(&out);
    } else {
        lua_pushvalue(L, 1);
    }
    lua_pushinteger(L, n);
    return 2;
}

/* string.gsub(text, pattern, text | table | function [, most]) */
static int l_gsub(lua_State *L)
{
    struct pattern m;
    begin(L, &m, true);
    int type = lua_type(L, 3);
    if (type != LUA_TNUMBER && type != LUA_TSTRING && type != LUA_TFUNCTION &&
        type != LUA_TTABLE)
        return luaL_typeerror(L, 3, "string/function/table");
    lua_Integer all = m.subject_end - m.subject + 1;
    return substitute(L, &m, type, luaL_optinteger(L, 4, all));
}

/* ------------------------------------------------------------------------ rep */

/* Fill `total` bytes with `unit` bytes that stand at their front, again and again. */
static void fill(char *p, size_t unit, size_t total)
{
    for (size_t done = unit; done < total;) {
        size_t part = done < total - done ? done : total - done;
        memcpy(p + done, p, part);
        done += part;
    }
}

/* string.rep(text, n [, between]) */
static int l_rep(lua_State *L)
{
    struct span text = check_text(L, 1);
    lua_Integer n = luaL_checkinteger(L, 2);
    struct span between = { "", 0 };
    between.ptr = luaL_optlstring(L, 3, "", &between.len);
    size_t unit = text.len + between.len;
    if (n <= 0 || unit == 0) {
        lua_pushliteral(L, "");
        return 1;
    }
    if (unit > INT_MAX / (size_t)n) /* as in Lua */
        return raise_limit(L, "string too large", "repeat it less often");
    size_t total = unit * (size_t)n - between.len;
    luaL_Buffer out;
    char *p = luaL_buffinitsize(L, &out, total + between.len);
    memcpy(p, text.ptr, text.len);
    memcpy(p + text.len, between.ptr, between.len);
    fill(p, unit, total);
    luaL_pushresultsize(&out, total);
    return 1;
}

void strings_install(lua_State *L)
{
    static const luaL_Reg functions[] = {
        { "find", l_find }, { "match", l_match }, { "gmatch", l_gmatch },
        { "gsub", l_gsub }, { "rep", l_rep },     { NULL, NULL },
    };
    lua_getglobal(L, LUA_STRLIBNAME);
    luaL_setfuncs(L, functions, 0);
    lua_pop(L, 1);
}
