--- Where the files are that a command line or a configuration names.
---
--- A path is relative to the working directory. The file of a command line, and what a
--- shipped file names, is looked for there first and then in the installed tree, so that
--- the shipped experiments run from everywhere.
local file = require "rt.file"
local loader = require "skillopt.loader"

local M = {}

--- The path, or that of the same name in the installed tree when only that exists.
---@param path string
---@return string
function M.find(path)
  if path:find "^/" or file.kind(path) ~= "none" then return path end
  local installed = loader.home .. "/" .. path
  return file.kind(installed) ~= "none" and installed or path
end

--- The path that is the value of a key; nil when it has none.
---@param config skillopt.Config
---@param name string a key of type path, as `env.split_dir`
---@return string?
function M.of(config, name)
  local value = config:get(name)
  if not config:is_shipped(name) then return value end
  return M.find(value)
end

return M
