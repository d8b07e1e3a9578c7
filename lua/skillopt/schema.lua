--- The one table of configuration keys.
---
--- A key is `section.name`. Its row says the type, the range, what it means and how it
--- counts in a run's identity: `result` keys change what a run finds out, `cost` keys
--- what it may spend, `run` keys only where and how it happens. Older spellings (the flat
--- names of the reference, its flags and switches) lead to the same rows. Options
--- declared by the chosen environment and policies join through `with`.
local names = require "skillopt.names"
local raw = require "rt.raw"

local M = {}

local PARTS <const> = { "run", "model", "train", "env", "policy" }
local ORDER <const> = { "", "model", "train", "gradient", "optimizer", "evaluation",
  "env", "policy", "spend" }

--- Names that are sections in a file, with their place.
M.SECTIONS = {}
for i, name in ipairs(ORDER) do
  if name ~= "" then M.SECTIONS[name] = i end
end

local function class_of(row)
  if row.class then return row.class end
  if row[2] == "path" or row[2] == "url" or row[2] == "secret" then return "run" end
  return (row[1]:find "timeout" or row[1]:find "workers$") and "run" or "result"
end

--- A row becomes its key: what it says by place gets a name.
local function key_of(row)
  row.name, row.type, row.doc, row.class = row[1], row[2], row[3], class_of(row)
  row[1], row[2], row[3] = nil, nil, nil
  return row
end

local function add(schema, key)
  if schema.by_name[key.name] == nil then schema.list[#schema.list + 1] = key end
  schema.by_name[key.name] = key
  local old = type(key.old) == "string" and { key.old } or key.old or {}
  for _, word in ipairs(old) do
    schema.by_word[word] = schema.by_word[word] or key
    schema.by_word["model." .. word] = key
  end
  if key.flat then schema.by_word[key.flat] = key end
end

--- The section a key stands in; "" for those at the top of a file.
---@param key skillopt.Key
---@return string
function M.section(key)
  return key.name:match "^([^.]+)%." or ""
end

--- Keys of all parts by section, in the order of their rows.
local function keys_by_section()
  local sections = {}
  for _, section in ipairs(ORDER) do sections[section] = {} end
  for _, part in ipairs(PARTS) do
    for _, row in ipairs(require("skillopt.schema." .. part)) do
      local key = key_of(row)
      local keys = sections[M.section(key)]
      keys[#keys + 1] = key
    end
  end
  return sections
end

local function core()
  local schema, sections = { list = {}, by_name = {}, by_word = {} }, keys_by_section()
  for _, section in ipairs(ORDER) do
    for _, key in ipairs(sections[section]) do add(schema, key) end
  end
  return schema
end

--- The keys every run has.
---@type skillopt.Schema
M.core = core()

--- The key that `name` means: its own name, a flat or an older one.
---@param schema table
---@param name string
---@return skillopt.Key?
function M.find(schema, name)
  return schema.by_name[name] or schema.by_word[name]
end

--- The key that `name` may have meant, for a message.
---@param schema table
---@param name string
---@return string?
function M.nearest(schema, name)
  local leaf = name:match "[^.]*$"
  if schema.by_word[leaf] then return schema.by_word[leaf].name end
  local all = {}
  for _, key in ipairs(schema.list) do
    if not key.retired and not key.declared then
      if key.name:match "[^.]*$" == leaf then return key.name end
      all[#all + 1] = key.name
    end
  end
  for word in pairs(schema.by_word) do all[#all + 1] = word end
  local near = names.nearest(name, all)
  return near and M.find(schema, near).name
end

local OPTION_FIELDS <const> = { "min", "max", "choices" }

local function option_key(name, spec)
  local row = { name, spec[1], spec.doc or spec[3], default = spec[2] }
  for _, field in ipairs(OPTION_FIELDS) do row[field] = spec[field] end
  return key_of(row)
end

local function copy(map)
  local out = {}
  for k, v in raw.next, map do out[k] = v end
  return out
end

--- Add one declared option; words when that is not possible.
local function add_option(schema, prefix, option, spec)
  local name = prefix .. option
  if spec.key then
    local key = schema.by_name[spec.key]
    if not key then return string.format("there is no key %s", spec.key) end
    schema.by_word[name] = key
    local declared = schema.by_name[name]
    if declared and declared.declared then
      schema.by_name[name], schema.by_word[declared.flat or name] = nil, key
    end
    return
  end
  local known = schema.by_name[name]
  if known and not known.declared then
    return "every environment has a key of that name"
  end
  local key = option_key(name, spec)
  key.option = option
  key.flat = known and known.flat
  add(schema, key)
  if known then
    for i, other in ipairs(schema.list) do
      if other == known then schema.list[i] = key end
    end
  end
end

--- The schema with the options of the chosen environment and policies.
---@param schema table
---@param definitions table<string, {name: string, options: table?}> by slot; `env` is the
---       environment's
---@return table schema
---@return {slot: string, option: string, words: string}[] faults
function M.with(schema, definitions)
  local out = { list = copy(schema.list), by_name = copy(schema.by_name),
    by_word = copy(schema.by_word) }
  local faults = {}
  for slot, definition in pairs(definitions) do
    local prefix = slot == "env" and "env." or "policy." .. slot .. "."
    for option, spec in pairs(definition.options or {}) do
      local words = add_option(out, prefix, option, spec)
      if words then
        faults[#faults + 1] = { slot = slot, option = option, words = words }
      end
    end
  end
  return out, faults
end

return M
