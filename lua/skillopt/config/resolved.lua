--- A configuration that is settled: values, where each was said, and the forms it is
--- written in. Read-only for everybody.
local schema = require "skillopt.schema"
local json = require "rt.json"
local raw_next = require("rt.raw").next

---@class skillopt.Config
local Config = {}
Config.__index = Config

local M = {}

local MASK <const> = "***"

local function put(values, name, value)
  local section, leaf = name:match "^([^.]+)%.(.+)$"
  if not section then
    values[name] = value
    return
  end
  values[section] = values[section] or {}
  values[section][leaf] = value
end

--- The key that a name, a flat or an older one, means.
---@param name string
---@return skillopt.Key?
function Config:find(name)
  return schema.find(self._keys, name)
end

--- The value of a key, nil when nothing was said and there is no default.
---@param name string
---@return any
function Config:get(name)
  local winner = self._winners[name]
  return winner and winner.value
end

--- Where the value was said: "experiment.lua:7", "command line",
--- "_base_/default.yaml:12", "environment TARGET_BACKEND", ".env TARGET_BACKEND",
--- "built in", "default" of an option; nil without a value.
---@param name string
---@return string?
function Config:origin(name)
  local winner = self._winners[name]
  return winner and winner.origin
end

--- Was the value said by a file of the installed tree?
---@param name string
---@return boolean
function Config:is_shipped(name)
  local winner = self._winners[name]
  return winner ~= nil and winner.is_shipped == true
end

--- The text of a login; nil when there is none.
---@param name string key, as `role.key`
---@return string?
function Config:secret(name)
  return self._secret(name)
end

--- All logins, for scrubbing.
---@return string[]
function Config:secrets()
  return self._secret()
end

--- What to load for a slot, and the option values to give it.
---@param slot string
---@return string|function|table|nil policy a name, function or definition; nil = off
---@return table<string, any> options
function Config:policy(slot)
  local key = self._keys.by_name["policy." .. slot]
  if not key then error("config:policy: there is no slot " .. tostring(slot), 2) end
  local value = self:get(key.name)
  if key.optional and value == "none" then value = nil end
  return value, self:options("policy." .. slot)
end

--- The keys of the options by who declares them; words that mean a key of another name too.
local function options_by_owner(keys)
  local owners = {}
  local function put_key(owner, option, key)
    owners[owner] = owners[owner] or {}
    owners[owner][option] = key
  end
  for _, key in ipairs(keys.list) do
    if key.option then put_key(key.name:sub(1, -#key.option - 2), key.option, key) end
  end
  for word, key in raw_next, keys.by_word do
    local owner, option = word:match "^(.+)%.(.+)$"
    if owner then put_key(owner, option, key) end
  end
  return owners
end

--- Values of the options that the environment (`"env"`) or a policy (`"policy.rate"`)
--- declares, those with a key of their own included.
---@param owner string
---@return table<string, any>
function Config:options(owner)
  local options = {}
  for option, key in raw_next, self._options[owner] or {} do
    options[option] = self:get(key.name)
  end
  return options
end

--- Every key that has a value, sorted by name.
---@return {name: string, value: any, origin: string, key: skillopt.Key}[]
function Config:rows()
  local rows = {}
  for _, key in ipairs(self._keys.list) do
    local winner = self._winners[key.name]
    if winner then
      rows[#rows + 1] = { name = key.name, value = winner.value, origin = winner.origin,
        key = key }
    end
  end
  table.sort(rows, function(a, b) return a.name < b.name end)
  return rows
end

--- A value as JSON can hold it: functions are identified by the files they stand in.
local function plain(value)
  if type(value) == "function" then return "function" end
  if type(value) == "table" and value.is_policy then return "definition" end
  return value
end

local function is_asked(config, key)
  if not key.backend then return true end
  for role, asked in pairs(config.roles) do
    local is_this_role = not key.role or key.role == role
    if asked.backend == key.backend and is_this_role then return true end
  end
  return false
end

--- Keys that change what a run finds out, with their values: what must be equal for two
--- runs to be one. Settings of back-ends that nobody asks are left out.
---@return table<string, any>
function Config:identity()
  local identity = json.object {}
  for _, row in ipairs(self:rows()) do
    if row.key.class == "result" and is_asked(self, row.key) then
      identity[row.name] = plain(row.value)
    end
  end
  return identity
end

local function add_switches(config, flat)
  for _, key in ipairs(config._keys.list) do
    local policy = key.switch and config:get("policy." .. key.switch)
    if policy ~= nil and key.from then flat[key.flat] = key.from(plain(policy)) end
  end
end

--- The flat form of the reference, for `config.json`. Logins are masked whole.
---@return table<string, any>
function Config:flat()
  local flat = json.object {}
  for _, row in ipairs(self:rows()) do
    local name = row.key.flat or row.name:match "^env%.(.+)$"
    if name then flat[name] = row.key.type == "secret" and MASK or plain(row.value) end
  end
  add_switches(self, flat)
  return flat
end

--- Make the settled configuration of a resolver's state.
---@param state table
---@param keys table the schema with all options
---@return skillopt.Config
function M.new(state, keys)
  local secrets, values = state.secrets, {}
  for _, key in ipairs(keys.list) do
    local winner = state.winners[key.name]
    if winner then put(values, key.name, winner.value) end
  end
  local function secret(name)
    if name then return secrets[name] end
    local all = {}
    for _, text in pairs(secrets) do all[#all + 1] = text end
    return all
  end
  return setmetatable({ values = values, roles = state.roles, problems = state.problems,
    notes = state.notes, _keys = keys, _options = options_by_owner(keys), _winners = state.winners,
    _secret = secret }, Config)
end

return M
