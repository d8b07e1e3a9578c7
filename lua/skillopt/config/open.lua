--- The configuration of a command line, read from the system: its file, `.env`, the
--- environment, the definitions of what was chosen.
local file = require "rt.file"
local config = require "skillopt.config"
local loader = require "skillopt.loader"
local names = require "skillopt.names"
local place = require "skillopt.config.place"

local M = {}

--- Folders in which environments and policies are looked for before the installed ones.
---@param path string? the experiment or YAML file
---@return string[]
function M.folders(path)
  local folders = { path and (path:match "^(.*)/[^/]*$" or ".") or "." }
  for folder in (os.getenv "SKILLOPT_PATH" or ""):gmatch "[^:]+" do
    folders[#folders + 1] = folder
  end
  local home = os.getenv "HOME"
  if home and home ~= "" then folders[#folders + 1] = home .. "/.config/skillopt/lua" end
  return folders
end

local function fault(form, ...)
  return { kind = "config", message = string.format(form, ...), retry = false }
end

--- Where `NAME.lua` stands in the experiment's folder itself; nil when it does not, or
--- when there is one in `policies/SLOT/` there.
local function beside(slot, name, folder)
  local path = string.format("%s/%s.lua", folder, name)
  local own = string.format("%s/policies/%s/%s.lua", folder, slot, name)
  return loader.exists(path) and not loader.exists(own) and path or nil
end

local function policy(slot, name, folders)
  local path = folders[1] and beside(slot, name, folders[1])
  local value = path and loader.user_file(path)
    or loader.user_require("policies." .. slot .. "." .. name)
  local is_right = type(value) == "table" and value.is_policy and value.slot == slot
  if is_right then return value end
  error(fault("%s defines no policy for %s", path or "the file", slot), 0)
end

local function environment(_, name, folders)
  return (require("skillopt.env").load(name, folders))
end

--- The policies of a slot that are installed.
local function installed(slot)
  local found = {}
  for _, entry in ipairs(file.list(loader.home .. "/lua/policies/" .. slot) or {}) do
    found[#found + 1] = entry:match "^(.*)%.lua$"
  end
  return found
end

--- Words for what was raised while a definition was loaded.
local function explain(slot, name, raised)
  if type(raised) == "table" then return raised end
  local wanted = string.format("module 'policies.%s.%s' not found", slot, name)
  if not raised:find(wanted, 1, true) then return fault("%s", raised) end
  local near = names.nearest(name, installed(slot))
  return fault("there is no such policy%s; looked for policies/%s/%s.lua in the file's "
    .. "folder, for %s.lua beside the file, then in SKILLOPT_PATH, ~/.config/skillopt/lua and "
    .. "the installed ones", near and string.format(" (did you mean %s?)", near) or "", slot,
    name, name)
end

--- What `config.resolve` loads definitions with.
---@param folders string[]
---@return fun(slot: string, name: string): table?, skillopt.Err?
function M.loader(folders)
  return function(slot, name)
    if not name:find "^[a-z][a-z0-9_]*$" then
      return nil, fault("a name is lower-case letters, digits and _")
    end
    local load = slot == "env" and environment or policy
    local ok, value = pcall(load, slot, name, folders)
    if ok then return value end
    return nil, explain(slot, name, value)
  end
end

--- Folder of the shipped configuration files.
---@return string
function M.configs()
  return loader.home .. "/configs"
end

local function absent(path)
  local err = fault("there is no file %s", path)
  err.hint = "a path starts at the working directory, then at the installed tree; "
    .. "`skillopt new experiment NAME` writes a file to begin with"
  return err
end

--- Read a configuration file; it is one of the run's sources.
local function read(path)
  local text, err = loader.read(path)
  if text then loader.add_source(path, text)
  elseif not loader.exists(path) then err = absent(path) end
  return text, err
end

local function experiment(path)
  if not loader.exists(path) then error(absent(path), 0) end
  local value = loader.user_file(path)
  if type(value) == "table" then return value end
  error(fault("%s does not return skillopt.experiment{...}", path), 0)
end

--- What a folder is taken for, and what to name in its place.
local function folder_fault(path)
  if file.kind(path .. "/journal.db") == "file" then
    return fault("%s is the folder of a run, not a configuration", path),
      "name the experiment's file, with --resume and this folder to go on with this run; "
      .. "`skillopt show` looks at it"
  end
  for _, name in ipairs { "experiment.lua", "experiment.yaml", "default.yaml" } do
    local inside = path:gsub("/*$", "/") .. name
    if file.kind(inside) == "file" then
      return fault("%s is a folder", path), "name the file in it: " .. inside
    end
  end
  return fault("%s is a folder", path), "name a configuration, a .lua or .yaml file"
end

--- A configuration is a file; what is surely something else is refused with words.
local function check_file(path)
  local err, hint
  if file.kind(path) == "folder" then
    err, hint = folder_fault(path)
  elseif path:find "%.md$" then
    err, hint = fault("%s is a Markdown file, not a configuration", path),
      "a configuration is a .lua or .yaml file; a skill is named by --skill or env.skill_init"
  else
    return
  end
  err.hint = hint
  error(err, 0)
end

--- The request for `config.examine` or `config.resolve`. The file of the command line is
--- found first: `line.file` is then where it is.
---@param line skillopt.CommandLine
---@return skillopt.ConfigRequest request
function M.request(line)
  line.file = line.file and place.find(line.file)
  if line.file then check_file(line.file) end
  local folders = M.folders(line.file)
  loader.set_search(folders)
  local is_lua = line.file and line.file:find "%.lua$"
  return {
    file = line.file, args = line.assignments, env = os.getenv, dotenv = file.read ".env",
    table = is_lua and experiment(line.file) or nil, read = read,
    configs = M.configs(), cwd = file.absolute ".",
    load = M.loader(folders),
  }
end

--- The configuration that a command is to run with.
---@param line skillopt.CommandLine
---@return skillopt.Config? config
---@return skillopt.Err? err
function M.open(line)
  local request = M.request(line)
  request.complete = true
  return config.resolve(request)
end

return M
