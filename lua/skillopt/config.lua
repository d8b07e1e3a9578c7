--- From files, variables and arguments to one configuration.
---
--- `examine` reads everything and lists what is wrong; `resolve` refuses when anything
--- is. Nothing here touches the system: files and variables come through functions of the
--- request. Every value knows where it was said.
local schema = require "skillopt.schema"
local checks = require "skillopt.config.checks"
local layers = require "skillopt.config.layers"
local reading = require "skillopt.config.reading"
local resolved = require "skillopt.config.resolved"
local roles = require "skillopt.config.roles"

local M = {}

--- State of one resolution: what won, what is wrong, what should be said.
local function new_state()
  local state = { winners = {}, secrets = {}, problems = {}, notes = {}, doubts = {} }
  function state.fault(origin, form, ...)
    state.problems[#state.problems + 1] = origin .. ": " .. string.format(form, ...)
  end
  function state.note(origin, form, ...)
    local line = origin .. ": " .. string.format(form, ...)
    for _, known in ipairs(state.notes) do
      if known == line then return end
    end
    state.notes[#state.notes + 1] = line
  end
  function state.set(name, value, origin)
    local winner = state.winners[name]
    state.winners[name] = { name = name, value = value, origin = origin or winner.origin,
      rank = winner and winner.rank or 0, order = winner and winner.order or 0 }
  end
  return state
end

----------------------------------------------------------------------- options

--- Find the definition of one slot; says why when that fails.
local function load_one(state, request, slot, key, winner)
  local value = winner.value
  if type(value) == "function" or key.optional and value == "none" then return nil end
  if type(value) == "table" then return { name = slot, options = value.options } end
  local definition, err
  if request.load then definition, err = request.load(slot, value) end
  if definition then return { name = value, options = definition.options } end
  local feature = key.missing and key.missing[value]
  if feature then
    state.fault(winner.origin, "%s = %s: this version does not have %s yet", key.name,
      value, feature)
  elseif err then
    state.fault(winner.origin, "%s = %s: %s", key.name, value, err.message)
  end
end

--- The schema with the options of the environment and the policies that were chosen.
local function with_options(state, request, chosen)
  local definitions = {}
  for _, key in ipairs(schema.core.list) do
    local winner = chosen[key.name]
    local slot = key.slot or key.name == "env.name" and "env"
    if slot and winner then
      definitions[slot] = load_one(state, request, slot, key, winner)
    end
  end
  local keys, faults = schema.with(schema.core, definitions)
  for _, f in ipairs(faults) do
    state.fault(f.slot .. " " .. definitions[f.slot].name, "option %s: %s", f.option,
      f.words)
  end
  return keys
end

local function fill_defaults(state, keys)
  for _, key in ipairs(keys.list) do
    if key.default ~= nil and not state.winners[key.name] then
      state.winners[key.name] = { name = key.name, value = key.default, rank = 0,
        order = 0, origin = key.option and "default" or "built in" }
    end
  end
end

--------------------------------------------------------------------------- all

local function read_layers(state, keys)
  for _, layer in ipairs(state.layers) do reading.layer(state, layer, keys) end
  fill_defaults(state, keys)
  state.getters = {}
  for _, layer in ipairs(state.layers) do state.getters[layer.kind] = layer.get end
end

local function settle_doubts(state)
  for _, doubt in ipairs(state.doubts) do
    for _, role in pairs(state.roles) do
      if role.backend == doubt.backend then
        state.fault(table.unpack(doubt.line))
        break
      end
    end
  end
end

--- Read everything; wrong values are listed in `problems`, not refused.
---@param request skillopt.ConfigRequest
---@return skillopt.Config? config
---@return skillopt.Err? err a file that could not be read at all
function M.examine(request)
  local state = new_state()
  local err
  state.layers, err = layers.collect(request, state.fault)
  if not state.layers then return nil, err end
  local first = new_state() -- finds what was chosen; nothing it says is shown
  first.layers, first.is_draft = state.layers, true
  read_layers(first, schema.core)
  local keys = with_options(state, request, first.winners)
  state.winners["env.name"] = first.winners["env.name"]
  read_layers(state, keys)
  state.roles = roles.resolve(state, request.roles)
  settle_doubts(state)
  checks.run(state, request)
  return resolved.new(state, keys)
end

--- One error that lists all problems, and the notes behind them; nil without problems.
---@param config skillopt.Config
---@return skillopt.Err? err
function M.refusal(config)
  if #config.problems == 0 then return nil end
  local lines = {}
  for _, problem in ipairs(config.problems) do lines[#lines + 1] = problem end
  for _, note in ipairs(config.notes) do lines[#lines + 1] = "note: " .. note end
  local n = #config.problems
  return { kind = "config", retry = false,
    message = string.format("the configuration has %s:\n  %s",
      n == 1 and "a problem" or n .. " problems", table.concat(lines, "\n  ")) }
end

--- The configuration, or nil and an error that lists everything that is wrong.
---@param request skillopt.ConfigRequest
---@return skillopt.Config? config
---@return skillopt.Err? err
function M.resolve(request)
  local config, err = M.examine(request)
  if not config then return nil, err end
  err = M.refusal(config)
  if err then return nil, err end
  return config
end

--- Who answers which role's calls.
---@param config skillopt.Config
---@return table<string, skillopt.Role>
function M.roles(config)
  return config.roles
end

return M
