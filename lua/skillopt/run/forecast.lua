--- What a run will ask for, about, before anything is spent: rollouts (an item under a
--- skill; one call each unless the environment makes more) and calls of the optimizer.
---
--- The figures are those of a run in which every step proposes something and every
--- candidate is measured whole, so a run asks for this or less, retries apart.
local json = require "rt.json"
local schedule = require "skillopt.schedule"

local M = {}

--- Steps of the run.
---@param run table prepared
---@return integer
function M.steps(run)
  local get = function(name) return run.config:get(name) end
  return get "train.num_epochs" * schedule.steps_per_epoch(#run.data.train, get "train.batch_size",
    get "train.accumulation")
end

--- Analysts, merges (two stages at most), the ranking, the rewriting of one step.
local function optimizer_calls_a_step(run, batch)
  local get = function(name) return run.config:get(name) end
  local analysts = math.ceil(batch / get "gradient.minibatch_size") + 1
  local merges = math.ceil(analysts / get "gradient.merge_batch_size") + 1
  local writes = run.policies.update.name == "rewrite" and 1 or 0
  return analysts + merges + 1 + writes
end

---@param run table prepared
---@return {rollouts: integer, optimizer_calls: integer}
function M.of(run)
  local get = function(name) return run.config:get(name) end
  local epochs, steps = get "train.num_epochs", M.steps(run)
  local batch = math.min(get "train.batch_size" * get "train.accumulation", #run.data.train)
  local val = #schedule.front(run.data.val, get "evaluation.sel_env_num")
  local arms = get "evaluation.no_skill" and 4 or 3 -- with the initial, best and last skill
  local tests = get "evaluation.eval_test" and arms * #schedule.front(run.data.test,
    get "evaluation.test_env_num") or 0
  local rollouts = val + steps * (batch + val) + tests
  local calls = steps * optimizer_calls_a_step(run, batch)
  local sample = math.min(get "optimizer.slow_update_samples", #run.data.train)
  if run.policies.slow_update then
    rollouts, calls = rollouts + (epochs - 1) * 2 * sample, calls + epochs - 1
  end
  if run.policies.meta_skill then calls = calls + math.max(0, epochs - 2) end
  return { rollouts = rollouts, optimizer_calls = calls }
end

--- Items that failed in the sealed evaluations of a journal.
---@param journal table
---@return integer items
---@return integer evaluations
function M.failed(journal)
  local items, evaluations = 0, 0
  local n = journal:next("value", 0)
  while n do
    local row = journal:row(n)
    local failed = row.key == "seal" and #json.decode(row.data).failed or 0
    if failed > 0 then items, evaluations = items + failed, evaluations + 1 end
    n = journal:next("value", n)
  end
  return items, evaluations
end

return M
