--- What a run says it will ask for, before it asks (skillopt.run.forecast).
local forecast = require "skillopt.run.forecast"
local journal = require "rt.journal"
local json = require "rt.json"
local test = require "skillopt.test"

local VALUES <const> = {
  ["train.num_epochs"] = 2, ["train.batch_size"] = 4, ["train.accumulation"] = 1,
  ["gradient.minibatch_size"] = 2, ["gradient.merge_batch_size"] = 8,
  ["evaluation.sel_env_num"] = 3, ["evaluation.test_env_num"] = 0,
  ["evaluation.eval_test"] = true, ["evaluation.no_skill"] = true,
  ["optimizer.slow_update_samples"] = 20,
}

local function items(n)
  local out = {}
  for i = 1, n do out[i] = { id = "q" .. i } end
  return out
end

local function run(policies, change)
  local values = setmetatable(change or {}, { __index = VALUES })
  return {
    config = { get = function(_, name) return values[name] end },
    data = { train = items(8), val = items(5), test = items(7) },
    policies = policies or { update = { name = "patch" } },
  }
end

test("rollouts and optimizer calls are those of a run in which each step proposes", function(t)
  t.equal(forecast.steps(run()), 4)
  -- 3 at first, 4 steps of 4 + 3, four test sets of 7; 3 analysts, 2 merges, 1 ranking
  t.equal(forecast.of(run()), { rollouts = 3 + 4 * 7 + 28, optimizer_calls = 4 * 6 })
end)

test("slow update, meta skill and rewriting are counted", function(t)
  local policies = { update = { name = "rewrite" }, slow_update = {}, meta_skill = {} }
  t.equal(forecast.of(run(policies)),
    { rollouts = 59 + 2 * 8, optimizer_calls = 4 * 7 + 1 })
end)

test("without a test set there are no test rollouts", function(t)
  t.equal(forecast.of(run(nil, { ["evaluation.eval_test"] = false })).rollouts, 31)
end)

test("failed items are counted over the sealed evaluations", function(t)
  local j <close> = assert(journal.open())
  t.equal({ forecast.failed(j) }, { 0, 0 })
  local function seal(slot, failed)
    assert(j:put("value", slot, "seal", json.canonical { n = 9, decided = 9,
      failed = json.array(failed) }))
  end
  seal("a", {})
  seal("b", { { "q1", 1, "network" }, { "q2", 1, "timeout" } })
  seal("c", { { "q1", 1, "network" } })
  t.equal({ forecast.failed(j) }, { 3, 2 })
end)
