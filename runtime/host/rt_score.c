/* rt_score.c - marks of answers for Lua. */
#include "base/buf.h"
#include "host/bind.h"
#include "host/modules.h"
#include "text/score/answer.h"
#include "text/score/tagged.h"
#include <lauxlib.h>
#include <string.h>

#define ANSWER_TYPE "rt.score.answer"

static int answer_release(lua_State *L)
{
    answer_free(luaL_checkudata(L, 1, ANSWER_TYPE));
    return 0;
}

static struct span check_span(lua_State *L, int index)
{
    struct span text;
    text.ptr = luaL_checklstring(L, index, &text.len);
    return text;
}

static double mark_equals(struct answer *a, struct span gold)
{
    return answer_equals(a, gold);
}

static double mark_overlaps(struct answer *a, struct span gold)
{
    return answer_overlaps(a, gold);
}

/* The best mark over entry 1 to n of the list at index 2. */
static double best_mark(lua_State *L, struct answer *a,
                        double (*mark)(struct answer *a, struct span gold))
{
    double best = 0;
    lua_Integer n = luaL_len(L, 2);
    for (lua_Integer i = 1; i <= n; i++) {
        int type = lua_geti(L, 2, i);
        if (type != LUA_TSTRING && type != LUA_TNUMBER)
            luaL_argerror(L, 2, lua_pushfstring(L, "gold %d must be a string", (int)i));
        double value = mark(a, check_span(L, -1));
        best = value > best ? value : best;
        lua_pop(L, 1);
    }
    return best;
}

/* The functions of one mark: (answer or nil, golds or one gold) -> 0.0 to 1.0. No
 * answer is worth nothing, whatever is expected. */
static int push_mark(lua_State *L, double (*mark)(struct answer *a, struct span gold))
{
    struct answer *a = lua_touserdata(L, lua_upvalueindex(1));
    if (lua_type(L, 2) != LUA_TSTRING)
        luaL_checktype(L, 2, LUA_TTABLE);
    double best = 0;
    if (!lua_isnil(L, 1)) {
        answer_read(a, check_span(L, 1));
        best = lua_type(L, 2) == LUA_TSTRING ? mark(a, check_span(L, 2))
                                             : best_mark(L, a, mark);
    }
    lua_pushnumber(L, best);
    return 1;
}

static int l_exact_match(lua_State *L)
{
    return push_mark(L, mark_equals);
}

static int l_f1(lua_State *L)
{
    return push_mark(L, answer_f1);
}

static int l_sub_em(lua_State *L)
{
    return push_mark(L, mark_overlaps);
}

static int l_normalize(lua_State *L)
{
    struct buf out = { 0 };
    answer_normalize(&out, check_span(L, 1));
    lua_pushlstring(L, buf_text(&out), out.len);
    buf_free(&out);
    return 1;
}

/* score.mean(numbers) adds from the left and divides once. */
static int l_mean(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_Integer n = luaL_len(L, 1);
    double sum = 0;
    for (lua_Integer i = 1; i <= n; i++) {
        if (lua_geti(L, 1, i) != LUA_TNUMBER)
            luaL_argerror(L, 1, lua_pushfstring(L, "entry %d must be a number", (int)i));
        sum += lua_tonumber(L, -1);
        lua_pop(L, 1);
    }
    if (n < 1)
        return 0;
    lua_pushnumber(L, sum / (double)n);
    return 1;
}

static struct span check_tag(lua_State *L, int index)
{
    struct span name = check_span(L, index);
    bool ok = name.len > 0;
    for (size_t i = 0; i < name.len; i++)
        ok = ok &&
             strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-",
                    name.ptr[i]);
    luaL_argcheck(L, ok, index, "must be letters, digits, '_' and '-'");
    return name;
}

static bool answer_in(struct buf *out, struct span text, struct span tag, bool last_line)
{
    struct buf spoken = { 0 };
    tagged_drop_thought(&spoken, text);
    text = span_of(&spoken);
    struct span content;
    bool is_found = tagged_find(text, tag, &content);
    if (is_found)
        span_add(out, content);
    else if (last_line)
        is_found = tagged_last_line(out, text, tag);
    buf_free(&spoken);
    return is_found;
}

/* score.tagged(text, tag, {fallback, reference}) is the answer, or nil. */
static int l_tagged(lua_State *L)
{
    static const char *const names[] = { "fallback", "reference", NULL };
    struct span text = check_span(L, 1);
    struct span tag = check_tag(L, 2);
    bind_opts(L, 3, names);
    const char *fallback = bind_opt_text(L, 3, "fallback", "none", NULL);
    bool last_line = strcmp(fallback, "last_line") == 0;
    luaL_argcheck(L, last_line || strcmp(fallback, "none") == 0, 3,
                  "option 'fallback' must be \"none\" or \"last_line\"");
    if (bind_opt_bool(L, 3, "reference", false)) {
        struct span found = tagged_as_reference(text, tag);
        lua_pushlstring(L, found.ptr, found.len);
        return 1;
    }
    struct buf out = { 0 };
    if (answer_in(&out, text, tag, last_line))
        lua_pushlstring(L, buf_text(&out), out.len);
    else
        lua_pushnil(L);
    buf_free(&out);
    return 1;
}

static const luaL_Reg functions[] = {
    { "exact_match", l_exact_match },
    { "f1", l_f1 },
    { "mean", l_mean },
    { "normalize", l_normalize },
    { "sub_em", l_sub_em },
    { "tagged", l_tagged },
    { NULL, NULL },
};

int luaopen_rt_score(lua_State *L)
{
    luaL_newlibtable(L, functions);
    bind_type(L, ANSWER_TYPE, NULL, answer_release);
    bind_new(L, ANSWER_TYPE, sizeof(struct answer));
    luaL_setfuncs(L, functions, 1); /* all share the memory of one answer */
    return 1;
}
