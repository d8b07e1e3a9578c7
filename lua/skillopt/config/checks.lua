--- What single values cannot show: settings that do not go together, and, before a run,
--- what is missing.
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
---@param is_complete boolean? must the configuration be enough for a run?
function M.run(state, is_complete)
  check_rates(state)
  if is_complete then check_needed(state) end
end

return M
