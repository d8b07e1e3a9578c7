--- Rules for Lua: which folder may require what, and how the code is written.
local source = require "source"

local M = {}

--- What a backend may have beyond the pure modules: the network, time, the protocols.
local BACKEND <const> = { ["rt.flow"] = true, ["rt.http"] = true, ["skillopt.backend"] = true }

--- What a program that makes an environment's data may have beyond what the environment may.
local GENERATOR <const> = { ["rt.file"] = true, ["rt.stdout"] = true }

local NOT_IN_USER_CODE <const> = {
  { "os%.execute", "children go through ctx:run" },
  { "io%.popen", "children go through ctx:run" },
  { "coroutine%.", "use task.map" },
  { "debug%.", "user code has no debug" },
  { "os%.setlocale", "user code has no locale" },
  { "math%.randomseed", "take numbers from ctx.rng" },
  { "task%.timeout", "give the effect a timeout_s" },
  { "task%.sleep", "time is no control flow here" },
  { "x?pcall%s*%(", "use ctx:try, which lets weather through" },
  { "loadfile%s*%(", "use require" },
  { "dofile%s*%(", "use require" },
}

local function is_skillopt(name)
  return name == "skillopt" or name:match("^skillopt%.") ~= nil
end

local function is_below(name, folder)
  return name == folder or name:sub(1, #folder + 1) == folder .. "."
end

--- What a file of the tree may require, as a function of the name and advice; nil when
--- everything goes.
local function gate_of(path, pure)
  local group, own = path:match("^lua/(envs)/([^/]+)/")
  if not group then group, own = path:match("^lua/(policies)/([^/]+)/") end
  if group then
    local is_generator = path:match("^lua/envs/[^/]+/generate%.lua$") ~= nil
    return function(name)
      return is_generator and GENERATOR[name] or is_skillopt(name) or pure[name]
        or is_below(name, group .. "." .. own)
    end, "an environment or policy knows skillopt.*, the pure rt modules and its own folder"
  end
  if path:match("^lua/backends/") then
    return function(name)
      return BACKEND[name] or pure[name] or is_below(name, "skillopt.protocol")
        or is_below(name, "backends")
    end, "a backend knows rt.flow, rt.http, the pure rt modules, skillopt.backend and its protocols"
  end
  if path:match("^lua/skillopt/") or path:match("^lua/commands/") then
    return function(name)
      return not (is_below(name, "envs") or is_below(name, "policies"))
    end, "the library finds environments and policies by name at run time"
  end
end

local function requires(file, pure, report)
  local may, advice = gate_of(file.path, pure)
  if not may then return end
  for at, name in file.plain:gmatch("()%f[%w_]require%s*%(?%s*\"([^\"]+)\"") do
    if not may(name) then
      report(file, source.line_of(file.text, at), "require", ("%s: %s"):format(name, advice))
    end
  end
end

local function user_code(file, report)
  if not (file.path:match("^lua/envs/") or file.path:match("^lua/policies/")) then return end
  for _, rule in ipairs(NOT_IN_USER_CODE) do
    for at, word in file.code:gmatch("()%f[%w_](" .. rule[1] .. ")") do
      if not file.code:sub(at - 1, at - 1):match("[.:]") then
        local words = ("%s: %s"):format(word:gsub("%s*%($", ""), rule[2])
        report(file, source.line_of(file.code, at), "call", words)
      end
    end
  end
end

--- Environments by folder and policies as slot/choice, as the tree has them.
---@param paths string[]
---@return table names
function M.names(paths)
  local names = {}
  for _, path in ipairs(paths) do
    local env = path:match("^lua/envs/([^/]+)/")
    local policy = path:match("^lua/policies/([^/]+/[^/]+)%.lua$")
    if env then names[env] = "environment" end
    if policy then names[policy] = "policy" end
  end
  return names
end

local function library_names(file, names, report)
  if not (file.path:match("^lua/skillopt/") or file.path:match("^lua/commands/")) then return end
  for number, line in source.lines(file.plain) do
    for word in line:gmatch("[%w_]+/?[%w_]*") do
      local is_env = names[word:match("^[%w_]+")] == "environment"
      if is_env or names[word] == "policy" then
        local words = ("%s: the library names no environment or policy"):format(word)
        report(file, number, "name", words)
      end
    end
  end
end

local function writing(file, report)
  for at in file.code:gmatch("();") do
    report(file, source.line_of(file.code, at), "semicolon", "Lua here has none")
  end
  for _, token in ipairs(file.tokens) do
    local text = file.text:sub(token.first, token.last)
    if token.kind == "string" and text:match("^'") and not text:find('"', 1, true) then
      report(file, source.line_of(file.text, token.first), "quotes", "use double quotes")
    end
  end
end

--- A module's function says the type of each parameter; so do `t.equal` and its like.
local function parameters(file, number, line, docs, report)
  local name, list = line:match("^function M[.:]([%w_]+)%((.-)%)")
  if not name then name, list = line:match("^function Test[.:]([%w_]+)%((.-)%)") end
  for parameter in (list or ""):gmatch("[%w_]+") do
    local tag = "@param " .. parameter .. "[%s?]"
    if not table.concat(docs, "\n"):find(tag) and not parameter:match("^_") then
      local words = ("say above %s what `%s` is (---@param)"):format(name, parameter)
      report(file, number, "annotation", words)
    end
  end
end

local function annotations(file, report)
  if file.path:match("^lua/meta/") then return end
  local owner, docs = file.path:match("^lua/") and "[%w_]+" or "M", {}
  for number, line in source.lines(file.text) do
    local name = line:match("^function " .. owner .. "[.:]([%w_]+)")
    if name and #docs == 0 then
      report(file, number, "annotation", ("say above %s what it does and takes (---)"):format(name))
    elseif name and file.path:match("^lua/") then
      parameters(file, number, line, docs, report)
    end
    if line:match("^%-%-%-") then
      docs[#docs + 1] = line
    else
      docs = {}
    end
  end
end

--- The rt modules that only compute, as the loader lists them.
---@param loader table|nil lua/skillopt/loader.lua, opened
---@return table<string, boolean>
function M.pure(loader)
  local pure = {}
  local list = loader and loader.code:match("local PURE = (%b{})") or ""
  for name in list:gmatch("([%w_]+) = true") do pure["rt." .. name] = true end
  return pure
end

--- Check one Lua file.
---@param file table as source.open gives it
---@param names table as M.names gives it
---@param pure table as M.pure gives it
---@param report fun(file: table, line: integer, rule: string, words: string)
function M.check(file, names, pure, report)
  requires(file, pure, report)
  user_code(file, report)
  library_names(file, names, report)
  writing(file, report)
  annotations(file, report)
end

return M
