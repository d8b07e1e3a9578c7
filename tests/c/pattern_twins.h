/* pattern_twins.h - our pattern functions and Lua's own, asked the same things.
 *
 * Two Lua states, one with strings_install. What find, match, gmatch and gsub say to a
 * subject and a pattern is put into one text in each; the texts must be equal. Errors
 * count as equal when they mean the same. */
#pragma once
#include "host/strings.h"
#include "text/pattern.h"
#include <lauxlib.h>
#include <lualib.h>
#include <stdio.h>

static const char twins_script[] =
    "local WORDS = { { 'ends with', 'ends in' }, { \"missing ']'\", 'no closing' },\n"
    "  { \"missing '['\", 'needs a set' }, { 'missing arguments', 'needs two' },\n"
    "  { 'invalid pattern capture', 'closes no capture' },\n"
    "  { 'invalid capture index', 'refers to a capture', 'has no capture' },\n"
    "  { 'too many captures', 'more than 32' }, { 'too complex', 'is too complex' },\n"
    "  { 'unfinished capture', 'is not closed' }, { 'invalid use of', 'needs a digit' "
    "},\n"
    "  { 'invalid replacement', 'be replaced by' } }\n"
    "local function meaning(err)\n"
    "  local text = type(err) == 'table' and err.message or tostring(err)\n"
    "  for _, words in ipairs(WORDS) do\n"
    "    for _, word in ipairs(words) do\n"
    "      if text:find(word, 1, true) then return words[1] end\n"
    "    end\n"
    "  end\n"
    "  return 'another error: ' .. text\n"
    "end\n"
    "local out\n"
    "local function note(...)\n"
    "  for i = 1, select('#', ...) do\n"
    "    local v = select(i, ...)\n"
    "    out[#out + 1] = math.type(v) or type(v)\n"
    "    out[#out + 1] = tostring(v)\n"
    "  end\n"
    "  out[#out + 1] = '.'\n"
    "end\n"
    "local function try(name, f, ...)\n"
    "  out[#out + 1] = name\n"
    "  local got = table.pack(pcall(f, ...))\n"
    "  if got[1] then note(table.unpack(got, 2, got.n)) else note(meaning(got[2])) end\n"
    "end\n"
    "local function walk(s, p, init)\n"
    "  local n = 0\n"
    "  for a, b, c in string.gmatch(s, p, init) do\n"
    "    note(a, b, c)\n"
    "    n = n + 1\n"
    "    if n == 40 then break end\n"
    "  end\n"
    "end\n"
    "local answers = setmetatable({}, { __index = function(_, k)\n"
    "  return #tostring(k) % 3 == 1 and '<' .. k .. '>' or #tostring(k) % 3 == 2 and 7 "
    "end })\n"
    "function ask(s, p, init)\n"
    "  out = {}\n"
    "  try('find', string.find, s, p)\n"
    "  try('find+', string.find, s, p, init)\n"
    "  try('plain', string.find, s, p, init, true)\n"
    "  try('match', string.match, s, p)\n"
    "  try('match+', string.match, s, p, init)\n"
    "  try('gmatch', walk, s, p)\n"
    "  try('gmatch+', walk, s, p, init)\n"
    "  try('gsub', string.gsub, s, p, '<%0>')\n"
    "  try('gsub%', string.gsub, s, p, '%1%%%2', init)\n"
    "  try('gsub!', string.gsub, s, p, p)\n"
    "  try('gsub{}', string.gsub, s, p, answers)\n"
    "  try('gsub()', string.gsub, s, p, function(a, b) note(a, b) return b end)\n"
    "  try('gsub?', string.gsub, s, p, function() return {} end)\n"
    "  try('rep', string.rep, p, init, s:sub(1, 2))\n"
    "  return table.concat(out, '\\1')\n"
    "end\n";

static lua_State *twin_new(bool is_ours)
{
    lua_State *L = luaL_newstate();
    luaL_openlibs(L);
    if (is_ours)
        strings_install(L);
    if (luaL_dostring(L, twins_script) != LUA_OK)
        fprintf(stderr, "%s\n", lua_tostring(L, -1));
    return L;
}

/* What this twin says, on its stack. */
static const char *twin_ask(lua_State *L, struct span subject, struct span pattern,
                            int start, size_t *n)
{
    lua_settop(L, 0);
    lua_getglobal(L, "ask");
    lua_pushlstring(L, subject.ptr, subject.len);
    lua_pushlstring(L, pattern.ptr, pattern.len);
    lua_pushinteger(L, start);
    lua_pcall(L, 3, 1, 0);
    return lua_tolstring(L, -1, n);
}

/* Would Lua's own, which knows no end, take too long? */
static bool is_endless(struct span subject, struct span pattern)
{
    struct pattern m;
    for (size_t i = 0; i <= subject.len; i++) {
        pattern_init(&m, subject, pattern, false);
        m.steps_left = 100000;
        if (pattern_search(&m, subject.ptr + i, NULL) == PATTERN_ENDLESS)
            return true;
    }
    return false;
}

struct twins {
    lua_State *ours, *theirs;
};

static struct twins twins_new(void)
{
    return (struct twins){ twin_new(true), twin_new(false) };
}

/* Do both say the same? A line to stderr when not. */
static bool twins_agree(const struct twins *t, struct span subject, struct span pattern,
                        int start)
{
    if (is_endless(subject, pattern))
        return true;
    size_t n, m;
    const char *ours = twin_ask(t->ours, subject, pattern, start, &n);
    const char *theirs = twin_ask(t->theirs, subject, pattern, start, &m);
    if (ours && theirs && n == m && memcmp(ours, theirs, n) == 0)
        return true;
    fprintf(stderr, "subject '%.*s' pattern '%.*s' start %d\n", (int)subject.len,
            subject.ptr, (int)pattern.len, pattern.ptr, start);
    fprintf(stderr, "ours:   %.900s\nLua's:  %.900s\n", ours ? ours : "?",
            theirs ? theirs : "?");
    return false;
}
