--- Metric policies.
local density = require "skillopt.density"
local evaluation = require "skillopt.evaluation"
local loader = require "skillopt.loader"
local policy = require "skillopt.policy"
local skill = require "skillopt.skill"
local test = require "skillopt.test"
local json = require "rt.json"
local vectors = test.support "tests/lua/vectors.lua"

local WORDS <const> = { "must", "always", "never", "only", "critical", "important",
  "resolve", "prefer", "ensure", "strict", "verify" }

local function metric(name, values, bonus)
  local path = ("%s/lua/policies/metric/%s.lua"):format(loader.home, name)
  local plain, err = policy.instance(loader.user_file(path), values, { name = name })
  if not plain then return nil, err end
  return bonus and density.added(plain, bonus) or plain
end

--- The bonus of a case, nil when it is off.
local function bonus_of(input)
  if not input.use_semantic_density then return nil end
  local words = input.leading_words
  return { weight = input.semantic_density_weight or 0.05,
    words = words and words ~= json.null and words or WORDS }
end

local function score(instance, hard, soft, document)
  local reps = { { state = "ok", marks = { hard = hard, soft = soft } } }
  return evaluation.new({ metric = instance, skill = document and skill.new(document),
    rows = { { id = "q1", reps = reps } } }).score
end

local function values_of(input)
  return input.metric == "mixed" and { weight = input.mixed_weight } or {}
end

local NAMES <const> = { hard = true, soft = true, mixed = true }

--- Compares one case; why it differs, or nil.
local function check_score(t, i, case)
  local input = case["in"]
  if not NAMES[input.metric] then
    t.raises(function() metric(input.metric) end) -- no such file
    return not case.out.error and "a metric's name is written as it is" or nil
  end
  if input.metric == "mixed" and (input.mixed_weight < 0 or input.mixed_weight > 1) then
    local instance, err = metric("mixed", { weight = input.mixed_weight })
    t.equal({ instance, err.kind }, { nil, "config" })
    return "a weight outside 0 to 1 is refused, not clamped"
  end
  local got = score(metric(input.metric, values_of(input), bonus_of(input)), input.hard,
    input.soft, input.skill_content)
  t.ok(got == case.out, ("case %d: got %s, wanted %s"):format(i, got, case.out))
end

test("hard, soft and mixed equal select_gate_score of core_gate", function(t)
  local book = vectors.book("core_gate.json", "score")
  for i, case in ipairs(book.cases) do
    if case.fn == "select_gate_score" then book:note(i, check_score(t, i, case)) end
  end
  book:check(t)
end)

test("every shipped metric declares the largest value it can give", function(t)
  for _, name in ipairs { "hard", "soft" } do t.equal(metric(name).max, 1) end
  t.equal(metric("mixed", { weight = 0.5 }).max, 1)
end)
