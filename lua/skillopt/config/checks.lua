--- What single values cannot show: settings that do not go together, and, before a run,
--- what is missing.
local backends = require "skillopt.schema.backends"
local schema = require "skillopt.schema"
local layers = require "skillopt.config.layers"

local M = {}

local DECREASING <const> = { linear = true, cosine = true }

local function value(state, name)
  local winner = state.winners[name]
  return winner and winner.value
end

local function check_rates(state)
  local most = state.winners["optimizer.learning_rate"]
  local least = state.winners["optimizer.min_learning_rate"]
  local is_used = DECREASING[value(state, "policy.rate")] and most and least
  if is_used and least.value > most.value then
    state.fault(least.origin, "optimizer.min_learning_rate (%d) is above "
      .. "optimizer.learning_rate (%d, %s)", least.value, most.value, most.origin)
  end
end

local function check_data(state)
  local mode = state.winners["env.split_mode"]
  if not mode then return state.fault("env", "env.split_mode is not set") end
  local needs = mode.value == "ratio" and "env.data_path" or "env.split_dir"
  local other = mode.value == "ratio" and "env.split_dir" or "env.data_path"
  if state.winners[needs] then return end
  local hint = ""
  if state.winners[other] then
    hint = string.format(" (%s is set: did you mean env.split_mode=%s?)", other,
      mode.value == "ratio" and "split_dir" or "ratio")
  end
  state.fault(mode.origin, "env.split_mode = %s needs %s%s", mode.value, needs, hint)
end

local function is_asked(state, backend)
  for _, role in pairs(state.roles) do
    if role.backend == backend then return true end
  end
  return false
end

--- Settings on the command line of a back-end that nobody asks: whoever gives them means
--- to ask it.
local function check_idle(state)
  for name, winner in pairs(state.winners) do
    local key = schema.find(schema.core, name)
    local backend = winner.rank == layers.RANK["command line"] and key and key.backend
    if backend and not is_asked(state, backend) then
      if backends.by_name[backend].usable then
        state.note(winner.origin, "%s has no effect: %s is not asked (model.backend)", name,
          backend)
      else
        state.fault(winner.origin, "%s: this version has no %s, only %s (model.backend)", name,
          backend, table.concat(backends.usable(), ", "))
      end
    end
  end
end

local function check_needed(state)
  if not state.winners["env.name"] then
    state.fault("env.name", "say which environment: env.name=NAME")
  end
  for _, name in ipairs { "train.num_epochs", "train.batch_size", "train.seed" } do
    if not state.winners[name] then state.fault(name, "is not set") end
  end
  check_data(state)
end

--- Add what is wrong to the problems of `state`.
---@param state table
---@param purpose {complete: boolean?, calls: boolean?} must the configuration be enough for a
---       run, or for calls?
function M.run(state, purpose)
  check_rates(state)
  if purpose.complete then check_needed(state) end
  if purpose.complete or purpose.calls then check_idle(state) end
end

return M
