--- Skills item by item: wins, ties, losses, lift, interval.
local compare = require "skillopt.compare"
local evaluation = require "skillopt.evaluation"
local test = require "skillopt.test"

--- An evaluation of items a1, a2, ... with these marks: a number, or a list (repeats), or
--- the name of another state.
local function value_of(marks)
  local rows = {}
  for i, mark in ipairs(marks) do
    local reps = {}
    for r, one in ipairs(type(mark) == "table" and mark or { mark }) do
      reps[r] = type(one) == "string" and { state = one, kind = "network" }
        or { state = "ok", marks = { hard = one, soft = one } }
    end
    rows[i] = { id = "a" .. i, reps = reps }
  end
  return evaluation.new { rows = rows }
end

local function pair(old, new)
  return compare.pair(value_of(old), value_of(new))
end

test("wins, ties, losses and lift are counted over the items marked on both sides", function(t)
  local got = pair({ 0, 1, 1, "failed", 0 }, { 1, 1, 0, 1, "failed" })
  t.equal({ got.n, got.wins, got.ties, got.losses, got.lift }, { 3, 1, 1, 1, 0.0 })
end)

test("an item without an answer is a 0 on both sides of a comparison", function(t)
  local got = pair({ 1, "no_answer" }, { "no_answer", 1 })
  t.equal({ got.n, got.wins, got.losses }, { 2, 1, 1 })
end)

test("an item's repeats are averaged before it is compared", function(t)
  local got = pair({ { 0, 1 } }, { { 1, 1 } })
  t.equal({ got.n, got.wins, got.lift }, { 1, 1, 0.5 })
end)

-- From the formula by hand: n = 10, 7 wins, 1 loss: S = 6, Q = 8, N = 12, middle 0.5,
-- error sqrt((0.75 - 0.25) / 12) = 0.2041241, 1.959964 errors are 0.4000756.
test("the interval is the adjusted one of Agresti and Min", function(t)
  local got = pair({ 0, 0, 0, 0, 0, 0, 0, 1, 1, 0 }, { 1, 1, 1, 1, 1, 1, 1, 0, 1, 0 })
  t.equal({ got.wins, got.ties, got.losses }, { 7, 2, 1 })
  t.equal({ got.interval[1], got.interval[2] }, { 0.099924, 0.900076 })
  t.equal(got.verdict, "better")
end)

-- S = 0, Q = 0, N = 6: the error is sqrt(1 / 36).
test("ties alone leave an interval around 0, and no verdict", function(t)
  local got = pair({ 1, 0, 1, 0 }, { 1, 0, 1, 0 })
  t.equal({ got.interval[1], got.interval[2], got.verdict }, { -0.326661, 0.326661, "undecided" })
end)

test("the other way round is the mirror image", function(t)
  local a, b = { 0, 0, 0, 0, 0, 0, 0, 0 }, { 1, 1, 1, 1, 1, 1, 0.5, 0 }
  local up, down = pair(a, b), pair(b, a)
  t.equal({ up.wins, up.lift, up.interval[1], up.interval[2], up.verdict },
    { down.losses, -down.lift, -down.interval[2], -down.interval[1], "better" })
  t.equal(down.verdict, "worse")
end)

test("no common item is no comparison, not a tie", function(t)
  local got = pair({ "failed", 1 }, { 1, "failed" })
  t.equal({ got.n, got.lift, got.interval, got.verdict }, { 0, nil, nil, "not measured" })
end)

test("an arm counts what was answered, what was not, and what failed", function(t)
  local arm = compare.arm(value_of { 1, 0, "no_answer", "failed" })
  t.equal({ arm.n, arm.hard, arm.no_answer, arm.failed }, { 3, 1 / 3, 1, 1 })
end)
