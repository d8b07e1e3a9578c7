/* bench_pattern.c - our functions of `string` and `table` beside Lua's own, in two states
 * of one program: calls a second, by CPU time, the best of five rounds each in turn. */
#include "host/strings.h"
#include "host/tables.h"
#include <lauxlib.h>
#include <lualib.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

enum { ROUNDS = 5 };

static const double ROUND_S = 0.02;

static const char prelude[] =
    "text = ('The quick brown fox, jumps over 12 lazy dogs. key=value; '):rep(20)\n"
    "line = '   some text with blanks around it     '\n"
    "path = 'steps/step_0003/rollout/q17.json'\n"
    "list = {} for i = 1, 100 do list[i] = 'item ' .. i end\n"
    "same = function(w) return w end\n";

/* Each is run as the body of a function. */
static const char *const work[][2] = {
    { "find_plain", "return text:find('nowhere', 1, true)" },
    { "find_class", "return text:find('%d%d%d')" },
    { "match_short", "return path:match('b')" },
    { "match_path", "return path:match('([^/]*)%.json$')" },
    { "match_anchored", "return path:match('^(%w+)/(%w+_%d+)/')" },
    { "match_lazy", "return text:match('quick(.-)nowhere')" },
    { "match_trim", "return line:match('^%s*(.-)%s*$')" },
    { "match_balance", "return ('f(a(b)c)'):match('%b()')" },
    { "gsub_text", "return text:gsub('%s+', ' ')" },
    { "gsub_set", "return text:gsub('[a-z_]+', '%0')" },
    { "gsub_table", "return text:gsub('%a', { a = 'b' })" },
    { "gsub_function", "return text:gsub('%w+', same)" },
    { "gsub_frontier", "return text:gsub('%f[%w]%w+', 'x')" },
    { "gmatch_words", "for w in text:gmatch('%a+') do same(w) end" },
    { "gmatch_pairs", "for k, v in text:gmatch('(%w+)=(%w+)') do same(k) same(v) end" },
    { "rep", "return ('abc'):rep(100)" },
    { "insert", "local t = {} for i = 1, 50 do table.insert(t, i) end" },
    { "concat", "return table.concat(list, ', ')" },
};

static double cpu_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static lua_State *state(bool is_ours)
{
    lua_State *L = luaL_newstate();
    luaL_openlibs(L);
    if (is_ours) {
        strings_install(L);
        tables_install(L);
    }
    if (luaL_dostring(L, prelude) != LUA_OK)
        fprintf(stderr, "%s\n", lua_tostring(L, -1));
    return L;
}

/* Calls a second of the function on the stack's top. */
static double rate(lua_State *L)
{
    double start = cpu_s();
    double spent = 0;
    int calls = 0;
    while (spent < ROUND_S) {
        for (int i = 0; i < 50; i++) {
            lua_pushvalue(L, -1);
            lua_call(L, 0, 0);
        }
        calls += 50;
        spent = cpu_s() - start;
    }
    return calls / spent;
}

int main(void)
{
    lua_State *states[2] = { state(true), state(false) };
    for (size_t i = 0; i < sizeof work / sizeof *work; i++) {
        double best[2] = { 0, 0 };
        for (int k = 0; k < 2; k++)
            luaL_loadstring(states[k], work[i][1]);
        for (int round = 0; round < 2 * ROUNDS; round++) {
            double r = rate(states[round % 2]);
            if (r > best[round % 2])
                best[round % 2] = r;
        }
        printf("figure string.%s %.0f calls/s\n", work[i][0], best[0]);
        printf("bare string.%s %.0f calls/s\n", work[i][0], best[1]);
        lua_settop(states[0], 0);
        lua_settop(states[1], 0);
    }
    lua_close(states[0]);
    lua_close(states[1]);
    return 0;
}
