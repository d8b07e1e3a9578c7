--- Learning-rate policies against the reference's schedulers.
local loader = require "skillopt.loader"
local policy = require "skillopt.policy"
local test = require "skillopt.test"
local json = require "rt.json"
local vectors = test.support "tests/lua/vectors.lua"

local function file_of(name)
  return loader.home .. "/lua/policies/rate/" .. name .. ".lua"
end

local function rate(name, max, min)
  local values = name == "constant" and { max = max } or { max = max, min = min }
  return policy.instance(loader.user_file(file_of(name)), values, { name = name })
end

--- Edits of `n` steps behind step `done`.
local function steps(instance, total, n, done)
  local out = {}
  for i = 1, n do out[i] = instance.run((done or 0) + i, total, instance.opt) end
  return out
end

local SHIPPED <const> = { constant = true, linear = true, cosine = true }

--- Modes that are no schedule: `autonomous` asks a model (the reference's schedule of that
--- name is never used), the others are names the reference refuses too.
local REFUSED <const> = { [""] = 1, Cosine = 1, none = 1, step = 1, ["COSINE "] = 1 }

--- Compares one case; why it differs, or nil.
local function check_schedule(t, i, case)
  local input = case["in"]
  if input.mode == "autonomous" then
    return "the optimizer is asked: there is no schedule of that name"
  end
  if not SHIPPED[input.mode] then
    t.equal(REFUSED[input.mode], 1)
    return not case.out.error and "a schedule's name is written as it is" or nil
  end
  if input.min_lr > input.max_lr and input.mode ~= "constant" then
    local instance, err = rate(input.mode, input.max_lr, input.min_lr)
    t.equal({ instance, err.kind }, { nil, "config" })
    return "a least rate above the rate is refused"
  end
  local instance, done = rate(input.mode, input.max_lr, input.min_lr), input.resume_current_step
  t.equal(steps(instance, input.total_steps, input.n_calls, done), case.out, i)
end

test("constant, linear and cosine equal core_lr_schedule, resumed or not", function(t)
  local book = vectors.book "core_lr_schedule.json"
  for i, case in ipairs(book.cases) do book:note(i, check_schedule(t, i, case)) end
  book:check(t)
end)

test("halves of a schedule round to even and one step in all is the maximum", function(t)
  local cases = json.decode(test.read "tests/cases/c12_schedule_rounding.json")
  for mode, list in pairs(cases) do
    for _, case in ipairs(list) do
      t.equal(steps(rate(mode, case.max, case.min), case.steps, #case.budget),
        case.budget, mode)
    end
  end
end)

test("a minimum above the maximum is refused with words", function(t)
  local instance, err = rate("linear", 3, 5)
  t.equal(instance, nil)
  t.ok(err.message:find("min_learning_rate must not be above learning_rate", 1, true))
end)
