--- What makes two runs the same: result keys, data, the initial skill, the user's code and
--- prompts, the program's version. Kept whole in the journal, so that differences have
--- names.
local digest = require "rt.digest"
local file = require "rt.file"
local json = require "rt.json"
local loader = require "skillopt.loader"

local M = {}

--- A source's name without the machine: `./` for the experiment's folder, which may
--- itself be of the installed tree, `@` for that tree.
---@param path string
---@param folder string the experiment's
---@return string
function M.source_name(path, folder)
  if folder == "." and not path:find "^%.?/" then return "./" .. path end
  if path:sub(1, #folder + 1) == folder .. "/" then return "./" .. path:sub(#folder + 2) end
  local installed = loader.home .. "/"
  local is_plain = path:sub(1, #installed) == installed and not path:find("/.", 1, true)
  local absolute = is_plain and path or file.absolute(path) or path
  if absolute:sub(1, #installed) == installed then return "@" .. absolute:sub(#installed + 1) end
  return path
end

--- The way back: where a source of that name is read from here.
---@param name string
---@param folder string the experiment's
---@return string
function M.source_path(name, folder)
  if name:sub(1, 1) == "@" then return loader.home .. "/" .. name:sub(2) end
  if name:sub(1, 2) == "./" then return folder .. "/" .. name:sub(3) end
  return name
end

--- The user's sources in the order of their names: `{name, text, digest}`.
---@param folder string
---@return table[]
function M.sources(folder)
  local list, seen = {}, {}
  for _, source in ipairs(loader.sources()) do
    local name = source.world == "user" and M.source_name(source.path, folder)
    if name and not seen[name] then
      seen[name] = true
      list[#list + 1] = { name = name, text = source.text, digest = digest.sha256(source.text) }
    end
  end
  table.sort(list, function(a, b) return a.name < b.name end)
  return list
end

--- The identity as a table. Training has no `kind`; what else is done says what it is, and
--- in `asked` what it was asked for.
---@param parts {config: table, data: table, skill: string?, sources: table[], version: string, kind: string?, asked: table?}
---@return table
function M.of(parts)
  local sources = json.object {}
  for _, source in ipairs(parts.sources) do sources[source.name] = source.digest end
  return { config = parts.config, data = parts.data,
    skill = parts.skill and digest.sha256(parts.skill), sources = sources,
    version = parts.version, kind = parts.kind, asked = parts.asked }
end

local KINDS <const> = { training = "a training run", evaluation = "an evaluation" }

local function show(value)
  if value == nil then return "(nothing)" end
  local text = type(value) == "string" and value or json.encode(value)
  return #text > 60 and text:sub(1, 57) .. "..." or text
end

local function compare(old, new, say)
  local keys = {}
  for k in pairs(old) do keys[k] = true end
  for k in pairs(new) do keys[k] = true end
  for k in pairs(keys) do
    local a, b = old[k], new[k]
    if a == nil or b == nil or json.canonical(a) ~= json.canonical(b) then say(k, a, b) end
  end
end

--- What differs, in words: `hard` ones change what a run finds out whatever the code does
--- (keys, data, skill), `soft` ones are code, prompts and the program.
---@param old table
---@param new table
---@return string[] hard
---@return string[] soft
function M.differences(old, new)
  local hard, soft = {}, {}
  if old.kind ~= new.kind then
    return { string.format("it holds %s, and this is %s", KINDS[old.kind or "training"],
      KINDS[new.kind or "training"]) }, soft
  end
  compare(old.asked or {}, new.asked or {}, function(k, a, b)
    hard[#hard + 1] = string.format("%s: %s -> %s", k, show(a), show(b))
  end)
  compare(old.config, new.config, function(k, a, b)
    hard[#hard + 1] = string.format("%s: %s -> %s", k, show(a), show(b))
  end)
  compare(old.data, new.data, function(k) hard[#hard + 1] = "data: " .. k end)
  if old.skill ~= new.skill then hard[#hard + 1] = "the initial skill" end
  compare(old.sources, new.sources, function(k, a, b)
    soft[#soft + 1] = k .. (a == nil and " (new)" or b == nil and " (gone)" or "")
  end)
  if old.version ~= new.version then
    soft[#soft + 1] = string.format("skillopt %s -> %s", old.version, new.version)
  end
  return hard, soft
end

return M
