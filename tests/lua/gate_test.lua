--- Gates, what the loop makes of their decisions, and what they say.
local decide = require "skillopt.decide"
local density = require "skillopt.density"
local evaluation = require "skillopt.evaluation"
local loader = require "skillopt.loader"
local policy = require "skillopt.policy"
local skill = require "skillopt.skill"
local test = require "skillopt.test"
local json = require "rt.json"
local vectors = test.support "tests/lua/vectors.lua"

local function gate(name, values)
  local path = ("%s/lua/policies/gate/%s.lua"):format(loader.home, name)
  return policy.instance(loader.user_file(path), values, { name = name })
end

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

local SOFT <const> = metric "soft"

--- An evaluation of {id, hard, soft} items.
local function make(items, by)
  local rows = {}
  for i, item in ipairs(items) do
    local marks = { hard = item[2], soft = item[3] or item[2] }
    rows[i] = { id = item[1], reps = { { state = "ok", marks = marks } } }
  end
  return evaluation.new { rows = rows, metric = by }
end

--- An evaluation whose score is exactly `value`.
local function scored(value, by) return make({ { "q1", value } }, by) end

--- Decision and reason of a gate over paired evaluations.
local function judge(instance, candidate, current, best)
  local sides = evaluation.paired { candidate, current, best or current }
  return instance.run(sides[1], sides[2], sides[3], {}, instance.opt)
end

local function has(t, text, piece)
  t.ok(text:find(piece, 1, true), ("%q is not in %q"):format(piece, text))
end

--- The score a core_gate case gives its candidate; nil for -1, "not measured", which does
--- not exist here.
local function candidate_score(input)
  if input.current_score < 0 then return nil end
  local weight = input.metric == "mixed" and { weight = input.mixed_weight } or {}
  local chosen = metric(input.metric or "hard", weight, bonus_of(input))
  local mean = chosen.item({ hard = input.cand_hard, soft = input.cand_soft or 0.0 }, chosen.opt)
  return chosen.adjust and chosen.adjust(mean, skill.new(input.candidate_skill), chosen.opt) or mean
end

local function state_after(input, action, moves_best, score)
  local moves = action ~= "reject"
  return {
    action = action,
    current_skill = moves and input.candidate_skill or input.current_skill,
    current_score = moves and score or input.current_score,
    best_skill = moves_best and input.candidate_skill or input.best_skill,
    best_score = moves_best and score or input.best_score,
    best_step = moves_best and input.global_step or input.best_step,
  }
end

local function as_numbers(state)
  state.current_score, state.best_score = state.current_score + 0.0,
    state.best_score + 0.0
  return state
end

test("the strict gate and its actions equal evaluate_gate of core_gate", function(t)
  local book = vectors.book("core_gate.json", "decision")
  for i, case in ipairs(book.cases) do
    local input = case["in"]
    if case.fn == "evaluate_gate" then
      local score = candidate_score(input)
      if score then
        local candidate, best = scored(score), scored(input.best_score)
        local decision =
          judge(gate "strict", candidate, scored(input.current_score), best)
        local action, moves_best = decide.action(decision, candidate, best)
        t.equal(as_numbers(state_after(input, action, moves_best, score)),
          as_numbers(case.out), i)
      end
      book:note(i, not score and "there is no score -1 for a skill that was not measured")
    end
  end
  book:check(t)
end)

test("a tie is a reject, and equal marks tie whatever finished first", function(t)
  local case = json.decode(test.read "tests/cases/c01_sum_order.json")
  local current, candidate = {}, {}
  for id, value in pairs(case.current) do current[#current + 1] = { id, 0, value } end
  for i, pair in ipairs(case.candidate_in_finish_order) do
    candidate[i] = { pair[1], 0, pair[2] }
  end
  local decision, reason =
    judge(gate "strict", make(candidate, SOFT), make(current, SOFT))
  t.equal(decision, "reject")
  has(t, reason, "(tie)")
end)

local function of_lists(side, by)
  local items = {}
  for i, hard in ipairs(side.hard) do items[i] = { "q" .. i, hard, side.soft[i] } end
  return make(items, by)
end

test("the reason shows n, both numbers, and when the hard count cannot move", function(t)
  local case = json.decode(test.read "tests/cases/c02_hard_vs_soft.json")
  local decision, reason =
    judge(gate "strict", of_lists(case.candidate), of_lists(case.current))
  t.equal(decision, "reject")
  has(t, reason, "candidate 0.1667 = current 0.1667 on n=6 (tie)")
  has(t, reason,
    "the hard count cannot move on 6 items while soft went from 0.2767 to 0.4433")
  local mixed = metric("mixed", { weight = case.mixed_weight })
  for _, by in ipairs { SOFT, mixed } do
    decision, reason =
      judge(gate "strict", of_lists(case.candidate, by), of_lists(case.current, by))
    t.equal(decision, "accept")
    has(t, reason, "n=6")
    t.ok(not reason:find("cannot move", 1, true))
  end
end)

test("a tie in which hard marks move is not called coarse", function(t)
  local flat = policy.instance(function() return 0.5 end, nil, { slot = "metric" })
  local _, reason =
    judge(gate "strict", make({ { "a", 1, 1 } }, flat), make({ { "a", 0, 0.2 } }, flat))
  has(t, reason, "(tie)")
  t.ok(not reason:find("cannot move", 1, true), reason)
end)

test("scores that differ behind the fourth digit are shown in full", function(t)
  local _, reason = judge(gate "strict", scored(0.500000001), scored(0.5))
  has(t, reason, "candidate 0.500000001 > current 0.5 on n=1")
end)

local function of_map(map)
  local items = {}
  for id, value in pairs(map) do items[#items + 1] = { id, value } end
  return make(items)
end

test("the strict gate accepts a hidden regression and lists it", function(t)
  local case = json.decode(test.read "tests/cases/c03_hidden_regression.json")
  local decision, reason =
    judge(gate "strict", of_map(case.candidate), of_map(case.current))
  t.equal(decision, "accept")
  has(t, reason, "1 better, 1 worse: w2 -0.1000")
end)

test("no_regression rejects what strict lists, up to the tolerance", function(t)
  local case = json.decode(test.read "tests/cases/c03_hidden_regression.json")
  local candidate, current = of_map(case.candidate), of_map(case.current)
  local decision, reason = judge(gate "no_regression", candidate, current)
  t.equal(decision, "reject")
  has(t, reason, "regression: w2 -0.1000; candidate")
  t.equal((judge(gate("no_regression", { tolerance = 0.1 }), candidate, current)),
    "accept")
  t.equal((judge(gate("no_regression", { tolerance = 0.05 }), candidate, current)),
    "reject")
end)

test("a loss of just the tolerance is none, rounding or not", function(t)
  local gains, loses = { { "a", 1 }, { "b", 0.3 } }, { { "a", 0 }, { "b", 0.4 } }
  local lenient = gate("no_regression", { tolerance = 0.1 })
  t.equal((judge(lenient, make(gains), make(loses))), "accept")
end)

test("no_regression still wants a better score", function(t)
  t.equal((judge(gate "no_regression", scored(0.5), scored(0.5))), "reject")
  t.equal((judge(gate "no_regression", scored(0.6), scored(0.5))), "accept")
end)

test("an item that failed on one side is compared nowhere", function(t)
  local candidate = evaluation.new { rows = {
    { id = "a", reps = { { state = "ok", marks = { hard = 1 } } } },
    { id = "b", reps = { { state = "failed", kind = "timeout", reason = "slow" } } },
  } }
  local decision, reason =
    judge(gate "no_regression", candidate, make { { "a", 0 }, { "b", 1 } })
  t.equal(decision, "accept")
  has(t, reason, "on n=1")
end)

test("with nothing to compare no gate accepts", function(t)
  for _, name in ipairs { "strict", "no_regression" } do
    local decision, reason = judge(gate(name), make { { "a", 1 } }, make { { "b", 0 } })
    t.equal({ decision, reason }, { "reject", "n=0: no item has a mark on both sides" })
  end
  local decision = judge(gate "none", make { { "a", 1 } }, make { { "b", 0 } })
  t.equal({ decide.action(decision, make {}, make {}) }, { "force_accept", false })
end)

test("decisions on few items are marked", function(t)
  local case = json.decode(test.read "tests/cases/c04_tiny_val.json")
  t.equal(case.splits[2].val, 1)
  local _, reason = judge(gate "strict", scored(1), scored(0))
  has(t, reason, "low confidence, n=1")
  local items = { { "a", 1 }, { "b", 1 }, { "c", 1 }, { "d", 1 }, { "e", 1 } }
  _, reason = judge(gate "strict", make(items), make(items))
  t.ok(not reason:find("low confidence", 1, true))
end)

test("without a gate every candidate is taken and best moves only upwards", function(t)
  local decision, reason = judge(gate "none", scored(0.2), scored(0.5))
  t.equal(decision, "force_accept")
  has(t, reason, "no gate; candidate 0.2000 < current 0.5000 on n=1")
  t.equal({ decide.action(decision, scored(0.2), scored(0.5)) },
    { "force_accept", false })
  t.equal({ decide.action(decision, scored(0.6), scored(0.5)) }, { "force_accept", true })
end)

test("action refuses what is no decision", function(t)
  t.raises(function() decide.action("undecided", scored(1), scored(0)) end,
    "got undecided")
end)

test("a reason names at most ten items", function(t)
  local items, worse = {}, {}
  for i = 1, 12 do items[i], worse[i] = { "q" .. i, 1 }, { "q" .. i, 0 } end
  local _, reason = judge(gate "strict", make(worse), make(items))
  has(t, reason, "0 better, 12 worse: q1 -1.0000")
  has(t, reason, "q10 -1.0000, and 2 more")
end)

test("compare averages repeats and counts both ways", function(t)
  local function repeats(first, second)
    return evaluation.new { rows = { { id = "a", reps = {
      { state = "ok", marks = { hard = first } },
        { state = "ok", marks = { hard = second } },
    } } } }
  end
  t.equal(decide.compare(repeats(1, 0), repeats(0, 0)), { n = 1, better = 1, worse = {} })
  t.equal(decide.compare(repeats(0, 0), repeats(1, 0)).worse,
    { { id = "a", difference = -0.5 } })
end)

--- Probability of at least `wins` of `n` fair coins.
local function tail(wins, n)
  local sum, ways = 0.0, 1
  for k = 0, n do
    if k >= wins then sum = sum + ways end
    ways = ways * (n - k) // (k + 1)
  end
  return sum / 2 ^ n
end

--- An inline gate as a user would write it: a sign test over the paired items, which asks
--- for another repeat while a better score may be luck.
local function sign_test(candidate, current, _, run)
  if candidate.score <= current.score then return false, "not better" end
  local wins, losses = 0, 0
  for _, id in ipairs(candidate:ids()) do
    local new, old = candidate:marks(id)[1], current:marks(id)[1]
    if new > old then wins = wins + 1 end
    if new < old then losses = losses + 1 end
  end
  local p = tail(wins, wins + losses)
  if p > 0.05 and run.round == 1 then return "undecided", "may be luck" end
  return p <= 0.05, ("sign test: %d to %d, p = %.3f"):format(wins, losses, p)
end

test("an inline gate can pair items and ask for more", function(t)
  local instance = policy.instance(sign_test, nil, { slot = "gate" })
  local function run(wins, losses, round)
    local new, old = {}, {}
    for i = 1, wins + losses do
      new[i], old[i] = { "q" .. i, i <= wins and 1 or 0 },
        { "q" .. i, i <= wins and 0 or 1 }
    end
    return instance.run(make(new), make(old), make(old), { round = round }, instance.opt)
  end
  t.equal({ run(5, 0, 1) }, { "accept", "sign test: 5 to 0, p = 0.031" })
  t.equal({ run(4, 1, 1) },
    { "undecided", "may be luck", { repeats = 1, of = { "candidate", "current" } } })
  t.equal({ run(4, 1, 2) }, { "reject", "sign test: 4 to 1, p = 0.188" })
end)
