--- Prompt files: found, checked, filled in.
---
--- A prompt `name` is `prompts/<name>.md` in the first of: the experiment's folder, the
--- environment's, the policy's. The last of these that has it says which inputs there
--- are; an override may leave some out, never use others.
local file = require "rt.file"
local loader = require "skillopt.loader"
local names = require "skillopt.names"
local raise = require "skillopt.raise"
local skill = require "skillopt.skill"
local template = require "rt.template"

local M = {}

local parsed = {} -- by path
local found = setmetatable({}, { __mode = "k" }) -- by list of folders, then by name

local function load_file(path)
  if not parsed[path] then
    local text, err = loader.read(path)
    if not text then error(err, 0) end
    local prompt, parse_err = template.parse(text, { name = path })
    if not prompt then error(parse_err, 0) end
    loader.add_source(path, text)
    parsed[path] = { template = prompt, inputs = prompt:inputs(), path = path }
  end
  return parsed[path]
end

local function check_override(original, override)
  for input in pairs(override.inputs) do
    if original.inputs[input] == nil then
      local known = {}
      for name in pairs(original.inputs) do known[#known + 1] = name end
      raise("config", string.format(
        "%s uses the input '%s', which the prompt it replaces does not have",
        override.path, input), "it may use: " .. table.concat(known, ", "))
    end
  end
end

--- The prompt to use and the one that defines its inputs, looked for.
local function look_for(name, folders)
  local chosen, original
  for _, folder in ipairs(folders) do
    local path = string.format("%s/prompts/%s.md", folder, name)
    if loader.exists(path) then
      original = load_file(path)
      chosen = chosen or original
    end
  end
  if not chosen then
    raise("config", string.format("there is no prompt '%s'; looked for prompts/%s.md in %s",
      name, name, table.concat(folders, ", ")))
  end
  if chosen ~= original then check_override(original, chosen) end
  return { chosen = chosen, original = original }
end

--- The same; it is looked for once in a list of folders.
local function find(name, folders)
  local known = found[folders]
  if not known then
    known = {}
    found[folders] = known
  end
  known[name] = known[name] or look_for(name, folders)
  return known[name].chosen, known[name].original
end

local function text_of(name, input, value)
  if skill.is_skill(value) then return value.text end
  local kind = type(value)
  if kind == "string" then return value end
  if kind == "number" then return tostring(value) end
  raise("config", string.format(
    "prompt '%s': input '%s' must be text, a number or a skill, got %s", name,
    input, kind))
end

local function check_inputs(name, original, values)
  for input in pairs(values) do
    if original.inputs[input] == nil then
      local known = {}
      for k in pairs(original.inputs) do known[#known + 1] = k end
      local near = names.nearest(input, known)
      raise("config", string.format("prompt '%s' has no input '%s'", name, input),
        near and string.format("did you mean '%s'?", near) or nil)
    end
  end
  for input in pairs(original.inputs) do
    if values[input] == nil then
      raise("config", string.format("prompt '%s': input '%s' is missing", name, input),
        "give \"\" when there is nothing to say")
    end
  end
end

--- Fill in a prompt.
---@param name string
---@param values table<string, string|number|skillopt.Skill>
---@param folders string[] in order of search
---@return {system: string, user: string}
function M.render(name, values, folders)
  local chosen, original = find(name, folders)
  check_inputs(name, original, values)
  local texts = {}
  for input in pairs(chosen.inputs) do texts[input] = text_of(name, input, values[input]) end
  local out, err = chosen.template:render(texts)
  if not out then error(err, 0) end
  return out
end

--- Load every prompt of these folders, so that a fault shows before the first call.
---@param folders string[]
function M.check(folders)
  for _, folder in ipairs(folders) do
    for _, entry in ipairs(file.list(folder .. "/prompts") or {}) do
      local name = entry:match "^(.*)%.md$"
      if name then find(name, folders) end
    end
  end
end

return M
