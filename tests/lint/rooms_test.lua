--- Plants one violation at a time in a small tree and sees rooms.lua find it, and
--- nothing else. Run from the top of the source tree: lua5.4 tests/lint/rooms_test.lua
local here = arg[0]:match("^(.*/)") or "./"
local root = os.tmpname()
os.remove(root)

local CLEAN <const> = {
  ["runtime/base/mem.h"] = "/* mem.h - memory. */\n#pragma once\n",
  ["runtime/base/mem.c"] = [[
#include "base/mem.h"
#include <stdlib.h>

void f(void)
{
    free(malloc(1));
    fprintf(stderr, "out of memory");
}
]],
  ["runtime/text/json.h"] = "/* json.h */\n#pragma once\n#include \"base/mem.h\"\n",
  ["runtime/io/loop.c"] = "/* system(\"x\") in words */\n#include <uv.h>\n",
  ["runtime/io/loop.h"] = "/* loop.h */\n#pragma once\n",
  ["runtime/game/world.h"] = "/* world.h */\n#pragma once\n",
  ["runtime/host/bind.h"] = [[
/* bind.h */
#pragma once
#include "text/json.h"
#include <lua.h>
]],
  ["runtime/host/modules.h"] = "/* modules.h */\n#pragma once\n    X(bell) \\\n    X(cup)\n",
  ["runtime/host/rt_bell.c"] = [[
static const luaL_Reg functions[] = {
    { "ring", l_ring },
    { NULL, NULL },
};
static const luaL_Reg methods[] = { { "__gc", l_gc }, { NULL, NULL } };
int luaopen_rt_bell(lua_State *L)
{
}
]],
  ["runtime/host/cup.c"] = "int luaopen_rt_cup(lua_State *L)\n{\n}\n",
  ["runtime/main.c"] = "#include <lauxlib.h>\n#include <lua.h>\n",
  ["lua/meta/rt.bell.lua"] = "---@meta\n--- Ring.\nfunction bell.ring(s) end\n",
  ["lua/meta/rt.cup.lua"] = "---@meta\n---@class rt.cup " .. ("x"):rep(100) .. "\n",
  ["tests/lua/bell_test.lua"] = "local bell = require \"rt.bell\"\nbell.ring(1)\n",
  ["lua/skillopt/loader.lua"] = "local PURE = { json = true }\nreturn PURE\n",
  ["lua/envs/capitals/init.lua"] = [[
local json = require "rt.json"
local own = require "envs.capitals.marks"
return json or own
]],
  ["lua/envs/capitals/generate.lua"] = "return require \"rt.file\"\n",
  ["lua/backends/bell.lua"] = "return require \"rt.flow\" or require \"skillopt.protocol.send\"\n",
  ["lua/policies/gate/strict.lua"] = "return require \"skillopt.policy\"\n",
  ["README.md"] = "See [the design](docs/design.md) and [the web](https://example.org).\n",
  ["docs/design.md"] = "# Design\n",
}

--- Where most cases are planted.
local C <const>, H <const> = "runtime/io/a.c", "runtime/io/a.h"
local LIBRARY <const>, ENV <const> = "lua/skillopt/a.lua", "lua/envs/maths/init.lua"
local POLICY <const>, DOC <const> = "lua/policies/rate/a.lua", "docs/a.md"
local META <const>, BELL_TEST <const> = "lua/meta/rt.cup.lua", "tests/lua/bell_test.lua"
local DISH <const> = "runtime/host/rt_dish.c"
local BELL <const>, MODULES <const> = "runtime/host/rt_bell.c", "runtime/host/modules.h"

local LONG_C <const> = "void f(void)\n{\n" .. ("    g();\n"):rep(41) .. "}\n"
local LONG_LUA <const> = "local function f()\n" .. ("  g()\n"):rep(31) .. "end\nreturn f\n"
local OPEN_DISH <const> = "int luaopen_rt_dish(lua_State *L)\n{\n}\n"
local THREE_MODULES <const> = CLEAN["runtime/host/modules.h"]:gsub("\n$", " \\\n    X(dish)\n")
local IN_CONDITION <const> = "void f(void)\n{\n    if ((a = b))\n        g();\n}\n"

--- { what is planted, path, its text, line and rule wanted }; `at` is the path they are
--- wanted for when it is another one, `note` marks what is only told.
local CASES <const> = {
  { "text knowing io", "runtime/text/a.c", "#include \"io/loop.h\"\n", "1: arrow" },
  { "model knowing game", "runtime/model/a.c", "\n#include \"game/world.h\"\n", "2: arrow" },
  { "base knowing text", "runtime/base/a.c", "#include \"text/json.h\"\n", "1: arrow" },
  { "run knowing host", "runtime/run/a.c", "#include \"host/bind.h\"\n", "1: arrow" },
  { "an include by a path of its own", C, "#include \"../text/json.h\"\n", "1: include" },
  { "an include that is nowhere", C, "#include \"io/c.h\"\n", "1: include" },
  { "a room that is none", "runtime/util/a.c", "int x;\n", "1: room" },
  { "lua.h outside host", "runtime/run/a.c", "#include <lua.h>\n", "1: library" },
  { "lauxlib.h outside host", "runtime/text/a.c", "# include <lauxlib.h>\n", "1: library" },
  { "lauxlib.h beside main.c", "runtime/a.c", "#include <lauxlib.h>\n", "1: library" },
  { "uv.h in main.c", "runtime/main.c", "#include <uv.h>\n", "1: library" },
  { "uv.h in host", "runtime/host/a.c", "#include <uv.h>\n", "1: library" },
  { "curl.h in run", "runtime/run/a.c", "#include <curl/curl.h>\n", "1: library" },
  { "sqlite3.h in host", "runtime/host/a.c", "#include <sqlite3.h>\n", "1: library" },
  { "strcpy", C, "int x;\nint y = strcpy(a, b);\n", "2: banned" },
  { "sprintf in a test", "tests/c/a.c", "int y = sprintf(a, b);\n", "1: banned" },
  { "system over two lines", C, "int y = system(\n    a);\n", "1: banned" },
  { "a call inside a call", C, "int y = f(1, atoi(a));\n", "1: banned" },
  { "malloc outside mem.c", C, "void *p = malloc(1);\n", "1: memory" },
  { "a copy that malloc made", C, "char *p = strdup(q);\n", "1: memory" },
  { "printf below host", "runtime/run/a.c", "int y = printf(a);\n", "1: print" },
  { "stderr below host", C, "int y = fprintf(stderr, a);\n", "1: print" },
  { "an assignment in a condition", C, IN_CONDITION, "3: condition" },
  { "a typedef of a struct", C, "typedef struct a a_t;\n", "1: typedef" },
  { "a header without pragma once", H, "/* a */\nint x;\n", "1: header" },
  { "a header without a comment", H, "#pragma once\n", "1: header" },
  { "a long C function", C, LONG_C, "2: size", note = true },
  { "a long Lua function", LIBRARY, LONG_LUA, "1: size", note = true },
  { "91 columns of C", C, "/* " .. ("x"):rep(85) .. " */\n", "1: width" },
  { "101 columns of Lua", LIBRARY, "-- " .. ("x"):rep(98) .. "\n", "1: width" },
  { "a backend with the library", "lua/backends/a.lua", "return require \"skillopt.run\"\n",
    "1: require" },
  { "an environment with a file", ENV, "return require \"rt.file\"\n", "1: require" },
  { "no newline at the end", LIBRARY, "return 1", "1: newline" },
  { "an empty line at the end", DOC, "a\n\n", "2: newline" },
  { "a carriage return", DOC, "a\r\n", "1: newline" },
  { "a line that ends with a blank", "tests/run.sh", "true \n", "1: blank" },
  { "a tab in C", C, "\tint x;\n", "1: tab" },
  { "bytes beyond ASCII", C, "/* caf\u{e9} */\n", "1: ascii" },
  { "bytes beyond ASCII in a program's string", C, "const char *s = \"\u{e9}\";\n", "1: ascii" },
  { "bytes beyond ASCII in a comment of a test", BELL_TEST,
    "local bell = require \"rt.bell\"\nbell.ring(\"\u{e9}\") -- \u{e9}\n", "2: ascii" },
  { "a left-over", LIBRARY, "-- TO" .. "DO: more\n", "1: left-over" },
  { "a path of one machine", DOC, "In /wo" .. "rk/x.\n", "1: path" },
  { "a link to nowhere", DOC, "See [b](b.md).\n", "1: link" },
  { "an env requiring an env", ENV, "return require \"envs.capitals\"\n", "1: require" },
  { "an env requiring a policy", ENV, "return require(\"policies.gate.a\")\n", "1: require" },
  { "an env requiring the web", ENV, "\nreturn require \"rt.http\"\n", "2: require" },
  { "a policy of another slot", POLICY, "return require \"policies.gate.a\"\n", "1: require" },
  { "a backend with a file", "lua/backends/a.lua", "return require \"rt.file\"\n", "1: require" },
  { "the library requiring an env", LIBRARY, "return require \"envs.other\"\n", "1: require" },
  { "the library naming an env", LIBRARY, "return { [\"capitals\"] = 1 }\n", "1: name" },
  { "a command naming a policy", "lua/commands/a.lua", "return \"gate/strict\"\n", "1: name" },
  { "os.execute in an env", ENV, "return os.execute(\"ls\")\n", "1: call" },
  { "io.popen in a policy", POLICY, "return io.popen(\"ls\")\n", "1: call" },
  { "coroutines in a policy", POLICY, "return coroutine.wrap(f)\n", "1: call" },
  { "pcall in an env", ENV, "return pcall(f)\n", "1: call" },
  { "single quotes", LIBRARY, "return 'a'\n", "1: quotes" },
  { "a semicolon", LIBRARY, "local a = 1;\n", "1: semicolon" },
  { "a public function without words", LIBRARY, "local M\nfunction M.f() end\n", "2: annotation" },
  { "a public function with a parameter without words", LIBRARY,
    "local M\n--- F.\n---@param a integer\nfunction M.f(a, b) end\n", "4: annotation" },
  { "a binding without annotation", "lua/meta/rt.bell.lua", "---@meta\n",
    "2: annotation", at = BELL },
  { "a meta file without its mark", META, "local a\n", "1: annotation" },
  { "an annotation without binding", META, "---@meta\nfunction cup.fill() end\n", "2: annotation" },
  { "a binding no test names", BELL_TEST, "local b = require \"rt.bell\"\nb.ringing()\n",
    "2: untested", at = BELL },
  { "a module without a meta file", DISH, OPEN_DISH, "1: annotation",
    more = { [MODULES] = THREE_MODULES } },
  { "a module that is not listed", DISH, OPEN_DISH, "1: modules",
    more = { ["lua/meta/rt.dish.lua"] = "---@meta\n" } },
  { "modules out of order", MODULES, "/* m */\n#pragma once\n    X(cup)\n    X(bell)\n",
    "4: modules" },
  { "a listed module without a file", MODULES, THREE_MODULES, "5: modules" },
}

local function write(path, text)
  local full = root .. "/" .. path
  local f <close> = io.open(full, "w")
    or os.execute(("mkdir -p '%s'"):format(full:match("^(.*)/"))) and assert(io.open(full, "w"))
  f:write(text)
end

local function plant(case)
  write(case[2], case[3])
  for path, text in pairs(case.more or {}) do write(path, text) end
end

local function put_back(path)
  if CLEAN[path] then return write(path, CLEAN[path]) end
  os.remove(root .. "/" .. path)
end

local function weed(case)
  put_back(case[2])
  for path in pairs(case.more or {}) do put_back(path) end
end

--- Violations and notes as `path:line: rule`, one a line, and whether the exit code is 0.
local function found()
  local pipe = assert(io.popen(("lua5.4 '%srooms.lua' '%s' 2>&1"):format(here, root)))
  local lines = {}
  for line in pipe:lines() do lines[#lines + 1] = line:match("^(.-:%d+: %a[%a-]*):") end
  return table.concat(lines, "\n"), pipe:close() == true
end

local failures = 0

local function judge(name, want)
  local got, is_clean = found()
  local ok = got == want and is_clean == (want == "" or want:match("^note: ") ~= nil)
  failures = failures + (ok and 0 or 1)
  print(ok and "ok - " .. name or ("FAIL - %s: got %q, wanted %q"):format(name, got, want))
end

assert(os.execute(("mkdir '%s' && git init -q '%s'"):format(root, root)))
for path, text in pairs(CLEAN) do write(path, text) end
judge("rooms.lua says nothing about a clean tree", "")
for _, case in ipairs(CASES) do
  plant(case)
  local where = (case.note and "note: " or "") .. (case.at or case[2])
  judge("rooms.lua finds " .. case[1], where .. ":" .. case[4])
  weed(case)
end
judge("rooms.lua says nothing when all is put back", "")
os.execute(("rm -rf '%s'"):format(root))
os.exit(failures == 0)
