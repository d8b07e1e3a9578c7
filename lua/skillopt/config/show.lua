--- A configuration for people and for programs: each value and where it was said.
local markdown = require "skillopt.schema.markdown"
local place = require "skillopt.config.place"
local json = require "rt.json"

local M = {}

local function plain(value)
  if type(value) == "function" then return "(a function)" end
  if type(value) == "table" and value.is_policy then return "(a definition)" end
  return value
end

local function text_of(value)
  value = plain(value)
  if type(value) == "table" then return table.concat(value, ", ") end
  if math.type(value) then return json.format_number(value) end
  return tostring(value)
end

--- Where a shipped path was found, when that is the installed tree.
local function found_at(config, row)
  if row.key.type ~= "path" then return nil end
  local path = place.of(config, row.name)
  return path ~= row.value and path or nil
end

local function as_lines(config, rows)
  local lines = {}
  for i, row in ipairs(rows) do
    local path = found_at(config, row)
    lines[i] = string.format("%-42s %-28s %s%s\n", row.name, text_of(row.value), row.origin,
      path and " -> " .. path or "")
  end
  return table.concat(lines)
end

local function as_json(config, rows)
  local out = json.object {}
  for _, row in ipairs(rows) do
    out[row.name] = { value = plain(row.value), origin = row.origin,
      path = found_at(config, row) }
  end
  return json.encode(out, { indent = true }) .. "\n"
end

--- The rows to show: all, or that of one key.
local function chosen(config, name)
  local rows = config:rows()
  if not name then return rows end
  local key = config:find(name)
  local wanted = key and (key.switch and "policy." .. key.switch or key.name)
  for _, row in ipairs(rows) do
    if row.name == wanted then return { row } end
  end
  local form = key and "%s has no value" or "there is no key %s"
  return nil, { kind = "usage", message = string.format(form, name), retry = false }
end

--- One line a key: name, value, origin; or the same as JSON.
---@param config skillopt.Config
---@param options {key: string?, json: boolean?}? `key`: show only this one
---@return string? page
---@return skillopt.Err? err
function M.page(config, options)
  local opt = options or {}
  local rows, err = chosen(config, opt.key)
  if not rows then return nil, err end
  return opt.json and as_json(config, rows) or as_lines(config, rows)
end

--- The reference of all keys, as Markdown.
---@param defaults skillopt.Config a configuration in which nothing was said
---@return string
function M.reference(defaults)
  return markdown.write(function(key)
    if not key.switch then return defaults:get(key.name) end
  end)
end

return M
