--- Metric policies.
local evaluation = require "skillopt.evaluation"
local loader = require "skillopt.loader"
local policy = require "skillopt.policy"
local test = require "skillopt.test"

local function metric(name, values)
  local path = ("%s/lua/policies/metric/%s.lua"):format(loader.home, name)
  return policy.instance(loader.user_file(path), values, { name = name })
end

local function score(instance, hard, soft)
  local reps = { { state = "ok", marks = { hard = hard, soft = soft } } }
  return evaluation.new({ metric = instance,
    rows = { { id = "q1", reps = reps } } }).score
end

local function values_of(input)
  return input.metric == "mixed" and { weight = input.mixed_weight } or {}
end

local function score_cases()
  local out = {}
  for _, case in ipairs(test.vectors("core_gate.json").cases) do
    if case.fn == "select_gate_score" then out[#out + 1] = case end
  end
  return out
end

local NAMES <const> = { hard = true, soft = true, mixed = true }

test("hard, soft and mixed equal select_gate_score of core_gate", function(t)
  local compared, refused, density = 0, 0, 0
  for i, case in ipairs(score_cases()) do
    local input = case["in"]
    if input.use_semantic_density then
      density = density + 1 -- the word bonus is not part of these three
    elseif not NAMES[input.metric] then
      t.raises(function() metric(input.metric) end) -- no such file
      refused = refused + 1
    elseif input.metric == "mixed"
      and (input.mixed_weight < 0 or input.mixed_weight > 1) then
      -- The reference clamps the weight without a word; here it is a configuration error.
      local instance, err = metric("mixed", { weight = input.mixed_weight })
      t.equal(instance, nil)
      t.equal(err.kind, "config")
      refused = refused + 1
    else
      local got = score(metric(input.metric, values_of(input)), input.hard, input.soft)
      t.ok(got == case.out, ("case %d: got %s, wanted %s"):format(i, got, case.out))
      compared = compared + 1
    end
  end
  t.equal({ compared, refused, density }, { 64, 19, 60 })
end)

test("every shipped metric declares the largest value it can give", function(t)
  for _, name in ipairs { "hard", "soft" } do t.equal(metric(name).max, 1) end
  t.equal(metric("mixed", { weight = 0.5 }).max, 1)
end)
