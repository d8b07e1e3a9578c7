--- The commands: those of `lua/commands`, and those that environments bring, files
--- `commands/NAME.lua` in their folders, of the users' world.
local cli = require "skillopt.cli"
local file = require "rt.file"
local loader = require "skillopt.loader"
local names = require "skillopt.names"

local M = {}

local function lua_files(folder)
  local found = {}
  for _, entry in ipairs(file.list(folder) or {}) do
    found[#found + 1] = entry:match "^([a-z_]+)%.lua$"
  end
  return found
end

--- Files of the environments' commands, by name; of equal names the first counts.
local function env_paths()
  local paths, root = {}, loader.home .. "/lua/envs/"
  for _, env in ipairs(file.list(root) or {}) do
    local folder = root .. env .. "/commands"
    for _, name in ipairs(lua_files(folder)) do
      paths[name] = paths[name] or string.format("%s/%s.lua", folder, name)
    end
  end
  return paths
end

--- All names, the program's own first, each part sorted.
---@return string[]
function M.names()
  local list, seen = lua_files(loader.home .. "/lua/commands"), {}
  for _, name in ipairs(list) do seen[name] = true end
  for name in pairs(env_paths()) do
    if not seen[name] then list[#list + 1] = name end
  end
  return list
end

local function is_own(name)
  local path = string.format("%s/lua/commands/%s.lua", loader.home, name)
  return name:find "^[a-z_]+$" ~= nil and file.kind(path) == "file"
end

--- The command's module; nil when there is none of that name.
---@param name string
---@return table? command
---@return boolean is_own does it belong to the program, not to an environment?
function M.load(name)
  if is_own(name) then return require("commands." .. name), true end
  local path = env_paths()[name]
  return path and loader.user_file(path), false
end

--- One line about a command.
---@param name string
---@return string
function M.summary(name)
  local declared = is_own(name) and cli.commands[name]
  return declared and declared.summary or M.load(name).summary
end

--- The error for a name that is none.
---@param name string
---@return skillopt.Err
function M.unknown(name)
  local near = names.nearest(name, M.names())
  return { kind = "usage", message = string.format("there is no command '%s'", name),
    hint = near and string.format("did you mean `skillopt %s`?", near)
      or "`skillopt help` lists the commands" }
end

return M
