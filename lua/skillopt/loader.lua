--- Finds modules and gives each its world.
---
--- Two worlds: the library (`skillopt.*`, `commands.*`, `backends.*`) sees Lua's
--- standard globals and every rt module; the user's world (environments, policies,
--- experiments, whatever they require) sees what `skillopt.sandbox` gives it. What is
--- loaded is remembered by path and digest: a run's sources are part of its identity.
---
--- This file is run once by the program, before anything else, with the folder of the
--- program's files, the functions that open rt modules, compile a file's text and give a file
--- that was compiled with the program, version and commit.
local home, open_rt, compile, ready, version, commit = ...

local raw = open_rt "raw"
local core = open_rt "task"
local loaded = {} -- library modules by name
local user_loaded = {} -- modules of the user's world by path
local sources = {} -- { {path, text, world} } in order of loading
local loading = {} -- path -> true while the file runs: catches circles
local user_env -- made when first needed
local search_folders = {} -- where the user's modules are looked for, first wins

local LIBRARY_ROOTS = { skillopt = true, commands = true, backends = true, meta = true }

-- rt modules that only compute; environments and policies may use these.
local PURE = {
  json = true, yaml = true, text = true, score = true, digest = true, document = true,
  reply = true, template = true, game = true, rng = true,
}

local M = { home = home, version = version, commit = commit, loaded = loaded }

local function strict(env, what)
  return setmetatable(env, {
    __metatable = "globals",
    __index = function(_, name)
      error(string.format("%s '%s' is not defined here", what, tostring(name)), 2)
    end,
    __newindex = function(_, name)
      error(string.format("assignment to global '%s' (write `local`)", tostring(name)), 2)
    end,
  })
end

-- Files kept in a journal stand before those on disk when a run is replayed.
local overlay

--- The text kept for a path, however the path is written.
local function kept(path)
  return overlay and (overlay[path] or overlay[open_rt("file").absolute(path) or path])
end

--- Read a source file. What was kept in the journal comes first.
---@param path string
---@return string? text
---@return skillopt.Err? err
local function read(path)
  local text = kept(path)
  if text then return text end
  return open_rt("file").read(path)
end
M.read = read

--- Is there a source file of this name?
---@param path string
---@return boolean
local function exists(path)
  if overlay then
    if kept(path) then return true end
    if not path:find(home .. "/", 1, true) then return false end
  end
  return open_rt("file").kind(path) == "file"
end
M.exists = exists

--- Read these texts instead of the files of those names; outside of the installed tree
--- there are no other files from now on.
---@param texts table<string, string> by path
function M.set_overlay(texts)
  overlay = texts
end

--- What a file of the user's raised while it was loaded: a mistake in that file, said
--- without the calls that led there. News with a kind (a file that cannot be read, a
--- module that is not there) stays what it is.
local function mistake(path, raised)
  if type(raised) == "table" and type(raised.kind) == "string" and raised.message then
    return raised
  end
  local words = type(raised) == "string" and raised
    or string.format("%s: it raised %s while it was loaded", path,
      type(raised) == "table" and "a table without kind and message" or tostring(raised))
  return { kind = "config", message = words, retry = false }
end

local function with_traceback(m)
  return type(m) == "string" and debug.traceback(m, 2) or m
end

--- Run what was compiled of a file; `text` is left out where nobody asks for it.
local function run_chunk(chunk, path, name, world, text)
  sources[#sources + 1] = { path = path, text = text, world = world }
  loading[path] = true
  local is_users = world == "user"
  local ok, value = xpcall(core.still, function(m)
    return is_users and mistake(path, m) or with_traceback(m)
  end, chunk, name, path)
  loading[path] = nil
  if not ok then error(value, 0) end
  if value == nil then value = true end
  return value
end

local function check_circle(path, level)
  if loading[path] then
    error(string.format("modules require each other in a circle: %s", path), level + 1)
  end
end

local function run_file(path, name, env, world)
  check_circle(path, 3)
  local text, err = read(path)
  if not text then error(err, 0) end
  local chunk, message = compile(text, path, env)
  if not chunk then error(world == "user" and mistake(path, message) or message, 0) end
  return run_chunk(chunk, path, name, world, text)
end

local library_env = strict(_G, "global")

local function rt(name)
  local value = open_rt(name)
  if not value then error("there is no module rt." .. name, 3) end
  return value
end

--- `require` of the library's world.
---@param name string
---@return any
local function require(name)
  local rt_name = name:match "^rt%.([a-z_]+)$"
  if rt_name then return rt(rt_name) end
  if loaded[name] ~= nil then return loaded[name] end
  local root = name:match "^[^.]+"
  if not LIBRARY_ROOTS[root] or name:find "[^A-Za-z0-9_.]" then
    error(string.format("the library has no module '%s'", name), 2)
  end
  local base = home .. "/lua/" .. name:gsub("%.", "/")
  local path = base .. ".lua"
  check_circle(path, 2)
  local chunk = not overlay and ready(path, library_env)
  if chunk then
    loaded[name] = run_chunk(chunk, path, name, "library")
  else
    if not exists(path) then path = base .. "/init.lua" end
    loaded[name] = run_file(path, name, library_env, "library")
  end
  return loaded[name]
end

local frozen_error = function(_, key)
  error(string.format("a module is read-only once it is loaded (writing '%s'): keep what "
    .. "changes in local variables of one rollout or run", tostring(key)), 2)
end

--- Move the fields of a table into another one. Metamethods are found by looking into the
--- table itself, so those of a class stay in both.
local function move_fields(from, to)
  for k, v in raw.next, from do rawset(to, k, v) end
  for k in raw.next, to do
    if type(k) ~= "string" or k:sub(1, 2) ~= "__" then rawset(from, k, nil) end
  end
end

--- Make a table and the tables in it read-only, in place. An object keeps its class, a
--- class goes on making objects.
---@generic T
---@param value T
---@return T value
local function freeze(value)
  if type(value) ~= "table" then return value end
  local meta = getmetatable(value)
  if meta ~= nil and (type(meta) ~= "table" or meta.__newindex) then return value end
  local content = setmetatable({}, meta)
  move_fields(value, content)
  local fixed = {}
  for k, v in raw.next, meta or {} do fixed[k] = v end
  fixed.__index, fixed.__newindex, fixed.__frozen = content, frozen_error, content
  fixed.__len = function() return #content end
  fixed.__metatable = "frozen"
  setmetatable(value, fixed)
  for _, v in raw.next, content do freeze(v) end
  return value
end
M.freeze = freeze

local function user_path(name)
  local rest = name:gsub("%.", "/")
  for _, folder in ipairs(search_folders) do
    for _, form in ipairs { "/%s.lua", "/%s/init.lua" } do
      local path = folder .. form:format(rest)
      if exists(path) then return path end
    end
  end
  local path = home .. "/lua/" .. rest
  if exists(path .. ".lua") then return path .. ".lua" end
  if exists(path .. "/init.lua") then return path .. "/init.lua" end
  error(string.format("module '%s' not found; looked in %s and the installed lua/", name,
    table.concat(search_folders, ", ")), 3)
end

--- What a run loads is known before it begins: its sources are part of what it is.
local function check_time(path)
  if core.is_task() and core.locals().place then
    error(string.format("%s is required in the middle of a run: do it at the top of a file, so "
      .. "that it is one of the run's sources", path), 4)
  end
end

--- Run one Lua file of the user's world and give its value, frozen. A file is run once.
---@param path string
---@return any
local function user_file(path)
  if user_loaded[path] == nil then
    check_time(path)
    user_env = user_env or strict(require("skillopt.sandbox").environment(M), "global")
    user_loaded[path] = freeze(run_file(path, path, user_env, "user"))
  end
  return user_loaded[path]
end
M.user_file = user_file

-- Modules of the library that reach the world or the run's inside.
local INSIDE = {
  loader = true, sandbox = true, test = true, main = true, effect = true, endpoint = true,
  run = true, config = true, backend = true, protocol = true, secrets = true,
  message = true,
}

--- A module of the library, for the user's world.
local function library_for_user(name)
  if INSIDE[name:match "^skillopt%.([^.]+)"] then
    error(name .. " is not for environments and policies: it is the program's inside", 3)
  end
  return freeze(require(name))
end

--- `require` of the user's world: `skillopt`, `skillopt.*`, the rt modules that only
--- compute, and the user's own modules.
---@param name string
---@return any
function M.user_require(name)
  local rt_name = name:match "^rt%.([a-z_]+)$"
  if rt_name then
    if not PURE[rt_name] then
      error(string.format("rt.%s is not for environments and policies: what changes or "
        .. "asks the world goes through ctx", rt_name), 2)
    end
    return freeze(rt(rt_name))
  end
  if name == "cjson" then return require "skillopt.cjson" end
  if name == "skillopt" or name:find "^skillopt%." then return library_for_user(name) end
  if name:find "[^A-Za-z0-9_.%-]" or name:find("..", 1, true) then
    error(string.format("'%s' is no module name", name), 2)
  end
  return user_file(user_path(name))
end

--- Folders to look in for the user's modules, before the installed tree.
---@param folders string[]
function M.set_search(folders)
  search_folders = table.move(folders, 1, #folders, 1, {})
end

--- Files loaded so far, in order: `{path, text, world = "library"|"user"}`; the library's own
--- may be without their text.
---@return table[]
function M.sources()
  return sources
end

--- Remember a file of another kind (a prompt, a YAML file) as a source.
---@param path string
---@param text string
function M.add_source(path, text)
  sources[#sources + 1] = { path = path, text = text, world = "user" }
end

loaded["skillopt.loader"] = M
getmetatable("").__metatable = "string"
rawset(_G, "require", require)
rawset(_G, "dofile", nil)
rawset(_G, "loadfile", nil)
return require
