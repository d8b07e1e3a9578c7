--- One layer after the other, weak to strong: its statements are checked, typed, and take
--- the place of what weaker layers said.
local schema = require "skillopt.schema"
local cast = require "skillopt.schema.cast"

local M = {}

-- One layer being read: `state` of the resolution, `layer`, the schema `keys`, and which
-- keys were `stated` in this layer, in which word.
local Reader = {}
Reader.__index = Reader

--- Something is wrong with the statement.
function Reader:fault(statement, form, ...)
  self.state.fault(statement.origin, form, ...)
end

--- There is no such key.
function Reader:unknown(statement)
  if self.state.is_draft then return end
  local near = schema.nearest(self.keys, statement.name)
  self:fault(statement, "%s is not a key%s", statement.name,
    near and string.format(" (did you mean %s?)", near) or "")
end

--- Is there anything to read? Says what is the matter with a key that is not there.
function Reader:admits(statement, key)
  if not key then return self:unknown(statement) end
  if key.retired then
    return self.state.note(statement.origin, "%s is retired and does nothing: %s",
      statement.word, key.retired)
  end
  if statement.nothing then return nil end
  if key.declared then
    local env = self.state.winners["env.name"]
    return self:fault(statement, "%s: the environment %s has no such option", key.name,
      env and env.value or "(env.name is not set)")
  end
  return true
end

----------------------------------------------------------------------------- types

--- A policy: a name, a function or a definition.
local function policy_value(key, value)
  if value == false then return "none" end
  if type(value) == "string" then return value:match "^%s*(.-)%s*$" end
  if type(value) == "function" then return value end
  if type(value) == "table" and value.is_policy then
    if value.slot == key.slot then return value end
    return nil, "a policy for " .. key.slot .. ", not for " .. tostring(value.slot)
  end
  return nil, "a policy's name, a table { name, option = value } or a function"
end

--- What may be shown of a value: nothing where a login may be in it.
local function shown(key, value)
  local is_private = key.type == "secret"
    or key.type == "url" and tostring(value):find("@", 1, true)
  return is_private and "something else" or cast.show(value)
end

--- The typed value. A wrong variable of a back-end only matters when that is asked.
function Reader:typed(statement, key)
  local read = key.type == "policy" and policy_value or cast.cast
  local value, expected = read(key, statement.value)
  if value ~= nil then return value end
  local line = { statement.origin, "%s must be %s, got %s", statement.word, expected,
    shown(key, statement.value) }
  local kind = self.layer.kind
  if key.backend and (kind == "environment" or kind == "dotenv") then
    local doubts = self.state.doubts
    doubts[#doubts + 1] = { backend = key.backend, line = line }
  else
    self.state.fault(table.unpack(line))
  end
end

local function asks_for(key, value)
  if key.asks == "any" then return value ~= "none" end
  if key.asks == "true" then return value == true end
  return key.slot and key.feature and value ~= "none"
end

--- A login goes to a place of its own; the configuration keeps where it came from.
function Reader:keep_secret(statement, key, value)
  if self.layer.tree then
    return self:fault(statement, "%s: a login does not belong in a file that is shared; "
      .. "put it into the environment or .env as %s", key.name, key.env[1])
  end
  if self.layer.kind == "command line" then
    self.state.note(statement.origin, "%s can be read by others on this machine; "
      .. "set %s in the environment or in .env", key.name, key.env[1])
  end
  self.state.secrets[key.name] = value
  return statement.origin
end

--------------------------------------------------------------------------- winning

--- Scripts put their own values behind given ones, so the last counts; that is said.
function Reader:note_repeated(before, statement)
  if before and before.word == statement.word and before.value ~= statement.value then
    self.state.note(statement.origin, "%s is given more than once: the last one counts",
      statement.word)
  end
end

--- Two spellings of one key in one layer. False when this one is not to be used.
function Reader:is_only_spelling(statement, key, target)
  local before = self.stated[target.name]
  local this = { word = statement.word, over = key.over, switch = key.switch,
    value = statement.value }
  self:note_repeated(before, statement)
  if not before or before.word == this.word or this.over and before.switch then
    self.stated[target.name] = this
    return true
  end
  if not (before.over and this.switch) then
    self:fault(statement, "%s and %s say the same: give one of them", before.word,
      this.word)
  end
  return false
end

--- A stronger policy takes the options of weaker layers with it.
local function drop_options(state, slot, order)
  local prefix = "policy." .. slot .. "."
  for name, winner in pairs(state.winners) do
    if name:sub(1, #prefix) == prefix and winner.order < order then
      state.winners[name] = nil
    end
  end
end

--- The value is the strongest so far.
function Reader:win(statement, key, value)
  local layer = self.layer
  self.state.winners[key.name] = { name = key.name, value = value,
    origin = statement.origin, rank = layer.rank, order = layer.order,
    is_shipped = layer.shipped_name ~= nil }
  if key.slot then drop_options(self.state, key.slot, layer.order) end
end

--- The key that a switch speaks for, and what it says about it; nil for nothing.
function Reader:behind(key, value)
  if not key.switch then return key, value end
  local target = self.keys.by_name["policy." .. key.switch]
  if key.to then value = key.to[value] end
  return target, value or nil
end

--- Read one statement of the key.
function Reader:take(statement, key)
  if not self:admits(statement, key) then return end
  local typed = self:typed(statement, key)
  if typed == nil then return end
  local target, value = self:behind(key, typed)
  if value == nil or not self:is_only_spelling(statement, key, target) then return end
  if asks_for(target, value) then
    return self:fault(statement, "%s: this version does not have %s yet", statement.word,
      target.feature)
  end
  if key.type == "secret" then value = self:keep_secret(statement, key, value) end
  if value ~= nil then self:win(statement, target, value) end
end

local function is_slot(key)
  return key ~= nil and (key.slot or key.switch) ~= nil
end

--- Read one layer. Which policies are chosen comes before their options.
---@param state table of the resolution
---@param layer table
---@param keys skillopt.Schema
function M.layer(state, layer, keys)
  local reader = setmetatable({ state = state, layer = layer, keys = keys, stated = {} },
    Reader)
  for _, slots in ipairs { true, false } do
    for _, statement in ipairs(layer.statements) do
      local key = schema.find(keys, statement.name)
      if is_slot(key) == slots then reader:take(statement, key) end
    end
  end
end

return M
