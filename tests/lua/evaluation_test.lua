--- The value class of marks.
local evaluation = require "skillopt.evaluation"
local policy = require "skillopt.policy"
local test = require "skillopt.test"
local json = require "rt.json"
local vectors = test.support "tests/lua/vectors.lua"

local function ok(hard, soft, row)
  return { state = "ok", marks = { hard = hard, soft = soft or hard }, row = row }
end

local NO_ANSWER <const> = { state = "no_answer" }
local FAILED <const> = { state = "failed", kind = "timeout", reason = "no reply in time" }
local NOT_RUN <const> = { state = "not_run" }

--- An evaluation from {id, rep...} lists.
local function make(rows, options)
  local spec = { rows = {} }
  for name, value in pairs(options or {}) do spec[name] = value end
  for i, row in ipairs(rows) do
    spec.rows[i] = { id = row[1], reps = table.move(row, 2, #row, 1, {}) }
  end
  return evaluation.new(spec)
end

local function sample()
  return make { { "a", ok(1, 1.0) }, { "b", NO_ANSWER }, { "c", FAILED },
    { "d", ok(0, 0.5) },
    { "e", NOT_RUN } }
end

test("ids come in item order and states by id", function(t)
  local e = sample()
  t.equal(e:ids(), { "a", "b", "c", "d", "e" })
  t.equal({ e:state "a", e:state "b", e:state "c", e:state "e" },
    { "ok", "no_answer", "failed", "not_run" })
  t.equal(e:state "x", nil)
end)

test("a failed item is in no mean, an item without an answer is a 0", function(t)
  local e = sample()
  t.equal(e.n, 3)
  t.equal(e:mean "hard", 1 / 3)
  t.equal(e:mean "soft", 0.5)
  t.equal(e.score, 1 / 3)
end)

test("failed and not-run items are counted apart", function(t)
  local e = sample()
  t.equal(e.failed,
    { { id = "c", rep = 1, kind = "timeout", reason = "no reply in time" } })
  t.equal(e.not_run, 1)
  t.equal(e.coverage, 0.75)
end)

test("what lies behind the decided prefix is not run, whatever it had", function(t)
  local e = make({ { "a", ok(1) }, { "b", ok(1) }, { "c", FAILED } }, { decided = 1 })
  t.equal({ e.n, e.not_run, e:state "b", e:state "c" }, { 1, 2, "not_run", "not_run" })
  t.equal(e.failed, {})
  t.equal(e.coverage, 1.0)
end)

test("nothing measured has no score", function(t)
  local e = make { { "a", FAILED } }
  t.equal({ e.n, e.coverage }, { 0, 0.0 })
  t.equal({ e.score, e:mean "hard" }, {})
  t.equal(make({}).score, nil)
end)

test("marks are listed one a repeat, a failed repeat has none", function(t)
  local e = make { { "a", ok(1, 0.8), FAILED, ok(0, 0.4) }, { "b", ok(1) } }
  t.equal(e:marks("a", "hard"), { 1, 0 })
  t.equal(e:marks("a", "soft"), { 0.8, 0.4 })
  t.equal(e:marks "a", { 1, 0 })
  t.equal(e:marks("x", "hard"), {})
  t.equal(e:marks("a", "other"), {})
end)

test("an item's repeats are averaged first", function(t)
  local e = make { { "a", ok(1), ok(1), ok(0) }, { "b", ok(0) } }
  t.equal(e:mean "hard", (2 / 3) / 2)
end)

test("any number of a result is a mark, also when some items lack it", function(t)
  local function with_turns(turns)
    return { state = "ok", marks = { hard = 1, soft = 1, n_turns = turns } }
  end
  local e = make { { "a", ok(1) }, { "b", with_turns(2) }, { "c", FAILED },
    { "d", with_turns(5) },
    { "e", ok(0) } }
  t.equal(e:mean "n_turns", 3.5)
  t.equal(e:marks("b", "n_turns"), { 2 })
  t.equal(e:marks("e", "n_turns"), {})
end)

test("equal marks give equal means whatever finished first", function(t)
  local case = json.decode(test.read "tests/cases/c01_sum_order.json")
  local soft =
    policy.instance(function(marks) return marks.soft end, nil, { slot = "metric" })
  local current, candidate = {}, {}
  for id, value in pairs(case.current) do current[#current + 1] = { id, ok(0, value) } end
  for i, pair in ipairs(case.candidate_in_finish_order) do
    candidate[i] = { pair[1], ok(0, pair[2]) }
  end
  local pair = evaluation.paired {
    make(current, { metric = soft }), make(candidate, { metric = soft }),
  }
  t.equal(pair[2].score, pair[1].score)
end)

test("a metric and its adjust make the score", function(t)
  local definition = policy.define {
    slot = "metric",
    item = function(marks, opt) return marks.hard * opt.factor end,
    adjust = function(mean, skill) return mean + #skill.text end,
    options = { factor = { "number", 2, "a factor" } },
  }
  local metric = policy.instance(definition, {})
  local e = make({ { "a", ok(1) }, { "b", ok(0) } },
    { metric = metric, skill = { text = "abc" } })
  t.equal(e:mean(), 1.0)
  t.equal(e.score, 4.0)
  t.equal(e:marks "a", { 2 })
end)

test("a metric that gives no finite number is a mistake of its author", function(t)
  for _, value in ipairs { "1", 0 / 0, math.huge } do
    local metric = policy.instance(function() return value end, nil, { slot = "metric" })
    local err = t.raises(function() make({ { "a", ok(1) } }, { metric = metric }) end)
    t.equal(err.kind, "config")
    t.ok(err.message:find('policy.metric "inline": it must answer a finite number, got ', 1, true))
    t.ok(err.message:find(" for the item a", 1, true))
  end
end)

--- Marks that make an item faulty. `soft` alone may be left out.
test("a missing, foreign, infinite or outlying mark makes no mark at all", function(t)
  local results =
    json.decode(test.read "tests/cases/a14_nan_scores.json", { allow_nan = true })
  local marks, err = evaluation.check(results.results[1])
  t.equal({ marks, err.kind }, { [2] = "data" })
  t.ok(err.message:find("'hard' must be a number from 0 to 1", 1, true))
  t.equal(select(2, evaluation.check(results.results[2])).kind, "data")
  t.equal(evaluation.check(results.results[3]), { hard = 1, soft = 1 })
  for _, result in ipairs { {}, { hard = "1" }, { hard = 2 }, { hard = -1 },
    { hard = 1, soft = 2 },
    { hard = 1, cost = math.huge }, { hard = json.null } } do
    t.equal(evaluation.check(result), nil)
  end
  local raised = t.raises(function() make { { "q", ok(0 / 0) } } end)
  t.equal(raised.kind, "data")
  t.ok(raised.message:find("item q", 1, true))
end)

test("truth values and rounding at the borders are marks", function(t)
  t.equal(evaluation.check { hard = true, soft = false }, { hard = 1, soft = 0 })
  t.equal(evaluation.check { hard = 0.1 * 3 + 0.7 + 1e-12 }, { hard = 1.0, soft = 1.0 })
end)

test("only keeps item order and refuses an unknown id", function(t)
  local e = sample():only { "d", "a" }
  t.equal(e:ids(), { "a", "d" })
  t.equal({ e.n, e:mean "soft", e.coverage, e.not_run }, { 2, 0.75, 1.0, 0 })
  t.equal(sample():only({}):ids(), {})
  t.raises(function() sample():only { "zz" } end, 'no item "zz"')
end)

test("with joins repeats and unites items", function(t)
  local first = make { { "a", ok(1) }, { "b", FAILED }, { "c", NOT_RUN } }
  local second = make { { "d", ok(0) }, { "a", ok(0) }, { "c", ok(1) } }
  local e = first:with(second)
  t.equal(e:ids(), { "a", "b", "c", "d" })
  t.equal(e:marks("a", "hard"), { 1, 0 })
  t.equal(e:marks("c", "hard"), { 1 })
  t.equal({ e.n, e:mean "hard", #e.failed, e.not_run }, { 3, 0.5, 1, 0 })
end)

test("with refuses evaluations of different skills", function(t)
  local first = make({ { "a", ok(1) } }, { skill = { key = "1" } })
  local second = make({ { "a", ok(1) } }, { skill = { key = "2" } })
  t.raises(function() first:with(second) end, "different skills")
end)

test("paired evaluations have the items that are marked in all of them", function(t)
  local one = make { { "a", ok(1) }, { "b", FAILED }, { "c", ok(1) } }
  local two = make { { "c", ok(0) }, { "b", ok(1) }, { "a", ok(1) } }
  local pair = evaluation.paired { one, two }
  t.equal(pair[1]:ids(), { "a", "c" })
  t.equal(pair[2]:ids(), { "a", "c" })
  t.equal({ pair[1].n, pair[1].score, pair[2].n, pair[2].score }, { 2, 1.0, 2, 0.5 })
  t.equal(two.score, 2 / 3)
end)

test("a failed row has no marks, a not-run item no row", function(t)
  t.equal(sample():rows(), {
    { id = "a", state = "ok", hard = 1, soft = 1.0 },
    { id = "b", state = "no_answer", hard = 0, soft = 0 },
    { id = "c", state = "failed", kind = "timeout", fail_reason = "no reply in time" },
    { id = "d", state = "ok", hard = 0, soft = 0.5 },
  })
end)

local function no_conversation() return nil end

test("rows keep their texts only while trajectories are kept", function(t)
  local row = { question = "q", fail_reason = "r", hard = 1 }
  local rows = { { "a", ok(1, 1, row) } }
  local kept = make(rows, { trajectory = no_conversation }):rows()[1]
  t.equal(kept,
    { id = "a", state = "ok", hard = 1, soft = 1, question = "q", fail_reason = "r" })
  t.equal(make(rows):rows()[1].question, nil)
  t.equal(row, { question = "q", fail_reason = "r", hard = 1 })
end)

local function said(text) return { { role = "assistant", content = text } } end

test("the task type of a row is kept in any case", function(t)
  local rows = { { "a", ok(1, 1, { task_type = "x", question = "q" }) }, { "b", FAILED } }
  local e = make(rows):only { "a", "b" }
  t.equal({ e:rows()[1].task_type, e:rows()[1].question, e:rows()[2].task_type }, { "x" })
end)

test("the prompts of the first call are shown", function(t)
  local rep = ok(0)
  rep.system, rep.user = "SYSTEM", "USER"
  local text =
    make({ { "a", rep } }, { trajectory = function() return said "x" end }):render()
  t.ok(text:find("SYSTEM", 1, true) and text:find("#### User prompt\nUSER", 1, true),
    text)
end)

test("render gives one block an item in the order of the ids", function(t)
  local e = make({ { "a", ok(1) }, { "b", ok(0) }, { "c", FAILED }, { "d", ok(1) } }, {
    trajectory = function(id) return id ~= "d" and said("I am " .. id) or nil end,
  })
  local text = e:render { ids = { "b", "d", "a" } }
  t.ok(text:find("Trajectory 1 (id: b).*I am b.*Trajectory 3 %(id: a%).*I am a") or
    text:find("1 %(id: b%).*I am b.*3 %(id: a%).*I am a"), text)
  t.ok(not text:find("id: d", 1, true))
  t.ok(not e:render():find("id: c", 1, true), "a failed item has nothing to show")
end)

test("joined evaluations render the repeats of both", function(t)
  local function source(name)
    return { trajectory = function(_, rep) return said(name .. rep) end }
  end
  local e =
    make({ { "a", ok(1), ok(1) } }, source "x"):with(make({ { "a", ok(0) } }, source "y"))
  t.ok(e:render():find("y1", 1, true))
end)

test("render without trajectories is misuse", function(t)
  t.raises(function() sample():render() end, "feedback")
end)

test("a failure is a mark of nothing", function(t)
  t.equal(evaluation.is_failure(1e-10), true)
  t.equal(evaluation.is_failure(0.3), false)
end)

--- Results of core_score that differ on purpose: a missing or foreign hard mark is a
--- fault here, a missing soft one is the hard one; there both count as 0, and texts are
--- numbers.
local function is_regular(results)
  for _, result in ipairs(results) do
    for _, name in ipairs { "hard", "soft" } do
      local mark = result[name]
      if not math.type(mark) or mark < 0 or mark > 1 then return false end
    end
  end
  return true
end

local function of_results(results)
  local rows = {}
  for i, result in ipairs(results) do
    rows[i] = { id = tostring(i), reps = { { state = "ok", marks = result } } }
  end
  return evaluation.new { rows = rows }
end

local function is_mark(value)
  return type(value) == "boolean" or math.type(value) ~= nil and value >= 0 and value <= 1
end

local function is_nothing(value) return value == nil or value == json.null end

local function check_irregular(t, results)
  for _, result in ipairs(results) do
    local hard, soft = result.hard, result.soft
    local marks = evaluation.check(result)
    t.equal(marks ~= nil, is_mark(hard) and (is_nothing(soft) or is_mark(soft)))
    if marks and is_nothing(soft) then t.equal(marks.soft, marks.hard) end
  end
end

--- Compares one case; why it differs, or nil.
local function check_mean(t, i, case)
  local results = case["in"]
  if #results == 0 then
    t.equal(of_results(results).score, nil)
    return "nothing measured is no 0"
  end
  if not is_regular(results) then
    check_irregular(t, results)
    return "a mark that is missing or no number is no 0"
  end
  local e = of_results(results)
  t.equal({ e:mean "hard", e:mean "soft" }, { case.out.hard, case.out.soft }, i)
end

test("means equal core_score", function(t)
  local book = vectors.book("core_score.json", "mean")
  for i, case in ipairs(book.cases) do
    if case.fn == "compute_score" then book:note(i, check_mean(t, i, case)) end
  end
  book:check(t)
end)

local function as_map(buckets)
  local out = {}
  for _, own in ipairs(buckets) do
    out[own.name] = { total = own.total, hard = own.hard + 0.0, soft = own.soft + 0.0 }
  end
  return out
end

--- Rows as `Evaluation:rows` gives them: with both marks as numbers.
local function regular_rows(results)
  local rows = {}
  for i, result in ipairs(results) do
    local marks = evaluation.check(result)
    rows[i] = { task_type = result.task_type, hard = marks.hard, soft = marks.soft }
  end
  return rows
end

--- One row after the other.
local function each(rows)
  local i = 0
  return function()
    i = i + 1
    return rows[i]
  end
end

--- Cases that differ on purpose: a type called "overall" counts twice in the reference;
--- a missing soft mark is 0 there and the hard mark here.
local OTHER_TYPES <const> = { [111] = 'a type called "overall" counts once',
  [112] = "a missing soft mark is the hard one" }

test("sums by task type equal core_score", function(t)
  local book = vectors.book("core_score.json", "types")
  for i, case in ipairs(book.cases) do
    if OTHER_TYPES[i] then
      book:differs(i, OTHER_TYPES[i])
    elseif case.fn == "compute_task_type_buckets" then
      local want = {}
      for name, own in pairs(case.out) do
        want[name] = { total = own.total, hard = own.hard + 0.0, soft = own.soft + 0.0 }
      end
      local rows = regular_rows(case["in"].results)
      t.equal(as_map(evaluation.by_type(each(rows), case["in"].task_types)), want, i)
      book:same()
    end
  end
  book:check(t)
end)

test("task types come as given, then overall, then others as they appear", function(t)
  local rows = {
    { task_type = "z", hard = 1, soft = 1 },
      { task_type = "overall", hard = 1, soft = 1 },
    { state = "failed", task_type = "y" }, { hard = 0, soft = 0 },
  }
  local order, overall = {}, nil
  for i, own in ipairs(evaluation.by_type(each(rows), { "b", "a" })) do
    order[i] = own.name
    if own.name == "overall" then overall = own.total end
  end
  t.equal(order, { "b", "a", "overall", "z", "other" })
  t.equal(overall, 3)
end)

test("an item costs less than 200 bytes once its texts are gone", function(t)
  local n = 20000
  local rows = {}
  for i = 1, n do
    local id = ("item-%06d"):format(i)
    rows[i] =
      { id = id, reps = { { state = "ok", marks = { hard = i % 2, soft = 0.5 } } } }
  end
  collectgarbage()
  collectgarbage()
  local before = collectgarbage "count"
  local e = evaluation.new { rows = rows }
  t.equal(e:state "item-000001", "ok")
  collectgarbage()
  collectgarbage()
  local bytes = (collectgarbage "count" - before) * 1024 / n
  t.ok(bytes < 200, ("%.0f bytes an item"):format(bytes))
  t.equal(#rows, n)
end)
