--- Rules for C: which room may include what, and what nobody calls.
local source = require "source"

local M = {}

local MAY_INCLUDE <const> = {
  base = { base = true },
  text = { base = true, text = true },
  model = { base = true, text = true, model = true },
  game = { base = true, text = true, game = true },
  io = { base = true, io = true },
  run = { base = true, text = true, model = true, game = true, io = true, run = true },
  host = {
    base = true, text = true, model = true, game = true, io = true, run = true, host = true,
  },
}

local HOME_OF_LIBRARY <const> = {
  ["lua.h"] = "host", ["lauxlib.h"] = "host", ["lualib.h"] = "host",
  ["uv.h"] = "io", ["curl/curl.h"] = "io", ["curl/multi.h"] = "io", ["sqlite3.h"] = "io",
  ["zip.h"] = "io",
}

local BANNED <const> = {
  strcpy = "copy with a length", strcat = "use struct buf", sprintf = "use snprintf or struct buf",
  vsprintf = "use vsnprintf", gets = "read with a length", atoi = "use strtol and check",
  atol = "use strtol and check", atof = "use strtod and check", strtok = "split by hand",
  system = "start a child with io/process", popen = "start a child with io/process",
  alloca = "use struct buf or mem_new",
}

local MEMORY <const> = {
  malloc = true, calloc = true, realloc = true, free = true, strdup = true, strndup = true,
  asprintf = true, vasprintf = true,
}

local PRINTS <const> = {
  printf = true, puts = true, putchar = true, perror = true, vprintf = true,
}
local PRINTS_TO <const> = {
  fprintf = true, fputs = true, vfprintf = true, fputc = true, fwrite = true,
}

local function room_of(path)
  return path:match("^runtime/(%w+)/")
end

local function resolve(file, name, known)
  local beside = file.path:match("^(.*/)") .. name
  if file.path:match("^tests/") then beside = beside:gsub("[^/]+/%.%./", "") end
  if known[beside] then return beside end
  local below = "runtime/" .. name
  return known[below] and below
end

local function check_own_include(file, line, name, known, report)
  local path, room = resolve(file, name, known), room_of(file.path)
  if not path then
    local words = ('"%s" is neither beside this file nor in runtime/'):format(name)
    return report(file, line, "include", words)
  end
  local other = room_of(path)
  if room and other and not MAY_INCLUDE[room][other] then
    local words = "%s must not know %s: move what is needed or turn the call around"
    report(file, line, "arrow", words:format(room, other))
  end
end

--- The program's entry stands in no room: it is on top of host and may have what host has.
local function check_library(file, line, name, report)
  local home, room = HOME_OF_LIBRARY[name], room_of(file.path)
  if file.path == "runtime/main.c" then room = "host" end
  if home and file.path:match("^runtime/") and room ~= home then
    report(file, line, "library", ("<%s> is included in runtime/%s only"):format(name, home))
  end
end

local function includes(file, known, report)
  local room = room_of(file.path)
  if room and not MAY_INCLUDE[room] then
    local words = "runtime/%s is no room: see MAY_INCLUDE in tests/lint/c_rules.lua"
    return report(file, 1, "room", words:format(room))
  end
  for number, line in source.lines(file.plain) do
    local own = line:match('^%s*#%s*include%s+"([^"]+)"')
    local library = line:match("^%s*#%s*include%s+<([^>]+)>")
    if own then check_own_include(file, number, own, known, report) end
    if library then check_library(file, number, library, report) end
  end
end

--- Not a member of something.
local function is_call(code, at)
  return not code:sub(math.max(at - 4, 1), at - 1):match("[.>]%s*$")
end

local function advice_for(file, name, rest)
  if BANNED[name] then return "banned", BANNED[name] end
  if file.path == "runtime/base/mem.c" then return nil end
  if MEMORY[name] then return "memory", "use mem_new, mem_grow, mem_free" end
  local room = room_of(file.path)
  if not room or room == "host" then return nil end
  local prints = PRINTS[name] or (PRINTS_TO[name] and rest:match("%f[%w_]std[eo]%w+"))
  if prints then return "print", "below host nothing prints: fill a struct err or call the log" end
end

local function calls(file, report)
  for at, name, open in file.code:gmatch("()%f[%w_]([%a_][%w_]*)%s*()%(") do
    local rule, advice = advice_for(file, name, file.code:match("^%b()", open) or "")
    if rule and is_call(file.code, at) then
      report(file, source.line_of(file.code, at), rule, ("%s: %s"):format(name, advice))
    end
  end
end

local function conditions(file, report)
  for _, word in ipairs { "if", "while" } do
    for at, condition in file.code:gmatch("()%f[%w_]" .. word .. "%s*(%b())") do
      local rest = condition:gsub("%b{}", ""):gsub("[=!<>]=", "")
      if rest:find("=", 1, true) then
        local line = source.line_of(file.code, at)
        report(file, line, "condition", "assign before the condition, not inside it")
      end
    end
  end
end

local function shapes(file, report)
  for number, line in source.lines(file.code) do
    if line:match("^%s*typedef%s+struct") then
      report(file, number, "typedef", "write `struct noun`; no typedef for structs")
    end
  end
  if not file.path:match("%.h$") then return end
  if not file.code:match("#pragma once") then report(file, 1, "header", "add `#pragma once`") end
  if not file.text:match("^/%*") then
    report(file, 1, "header", "start with a comment: what it is, how it works, who owns what")
  end
end

--- Check one C file.
---@param file table as source.open gives it
---@param known table<string, boolean> all paths
---@param report fun(file: table, line: integer, rule: string, words: string)
function M.check(file, known, report)
  includes(file, known, report)
  calls(file, report)
  conditions(file, report)
  shapes(file, report)
end

return M
