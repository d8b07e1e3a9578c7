--- Environments: what a benchmark says about itself, checked when it is loaded.
local contract = require "skillopt.contract"
local file = require "rt.file"
local loader = require "skillopt.loader"
local names = require "skillopt.names"
local plugin = require "skillopt.plugin"
local raise = require "skillopt.raise"

local M = {}

local FIELDS = {
  name = "string", rollout = "function", options = "table", items = "function",
  check = "function", prepare = "function", task_type = "function", feedback = "function",
  required = "table", answers = "table", hidden = "table or function", judge = "table",
}

local function check_fields(spec)
  for field, value in pairs(spec) do
    local want = FIELDS[field]
    if not want then
      local known = {}
      for name in pairs(FIELDS) do known[#known + 1] = name end
      local near = names.nearest(tostring(field), known)
      raise("config", string.format("skillopt.env: unknown field '%s'", tostring(field)),
        near and string.format("did you mean '%s'?", near) or nil)
    end
    if not want:find(type(value), 1, true) then
      raise("config", string.format("skillopt.env: field '%s' must be a %s, got %s", field, want,
        type(value)))
    end
  end
end

--- `skillopt.env{...}`: check the shape and give it back.
---@param spec skillopt.EnvSpec
---@return skillopt.EnvSpec
function M.define(spec)
  if type(spec) ~= "table" then error("skillopt.env takes one table", 2) end
  check_fields(spec)
  if not spec.name or not spec.name:find "^[a-z][a-z0-9_]*$" then
    raise("config", "skillopt.env: 'name' must be lower-case letters, digits and _",
      "for example name = \"capitals\"")
  end
  if not spec.rollout then
    raise("config", string.format("environment '%s' has no rollout function", spec.name),
      "rollout = function(item, ctx) ... return { hard = ..., soft = ... } end")
  end
  return spec
end

--- How the functions are called that the library calls beside the rollout.
local CALLS <const> = { prepare = "(item, seed, opt)", task_type = "(item, opt)",
  feedback = "(item, result, opt)", hidden = "(item, opt)" }

--- The environment as a run takes it: what those functions raise, or answer against their
--- contract, says whose mistake it is. What a rollout raises is the state of its item.
---@param spec skillopt.EnvSpec
---@return skillopt.EnvSpec
function M.ready(spec)
  local out = {}
  for field, value in pairs(spec) do out[field] = value end
  for field, form in pairs(CALLS) do
    if type(spec[field]) == "function" then
      local call = plugin.call(('%s of environment "%s"'):format(field, spec.name),
        field .. form, spec[field])
      out[field] = contract.of("environment", field, call)
    end
  end
  return out
end

--- Folder of an environment's own files (prompts, skill.md): that of its init.lua.
local function locate(name, folders)
  for _, folder in ipairs(folders) do
    for _, form in ipairs { "/%s.lua", "/%s/init.lua", "/envs/%s.lua", "/envs/%s/init.lua" } do
      local path = folder .. form:format(name)
      if loader.exists(path) then return path end
    end
  end
  local path = string.format("%s/lua/envs/%s/init.lua", loader.home, name)
  if loader.exists(path) then return path end
end

--- Names of the installed environments.
---@return string[]
function M.installed()
  return file.list(loader.home .. "/lua/envs") or {}
end

--- Load an environment by name.
---@param name string
---@param folders string[] searched before the installed tree
---@return skillopt.EnvSpec spec
---@return string folder of its files, no trailing slash
function M.load(name, folders)
  if not name:find "^[a-z][a-z0-9_]*$" then
    raise("config", string.format("'%s' is no environment name", name))
  end
  local path = locate(name, folders)
  if not path then
    local near = names.nearest(name, M.installed())
    raise("config",
      string.format("there is no environment '%s'; looked in %s and the installed ones",
      name, table.concat(folders, ", ")), near and string.format("did you mean '%s'?", near)
      or "installed are: " .. table.concat(M.installed(), ", "))
  end
  local spec = loader.user_file(path)
  if type(spec) ~= "table" or not spec.rollout then
    raise("config", string.format("%s does not return skillopt.env{...}", path))
  end
  return spec, (path:match "^(.*)/[^/]*$")
end

return M
