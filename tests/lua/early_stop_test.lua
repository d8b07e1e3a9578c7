--- The exact early stop of the strict gate: the same decisions with fewer calls.
local decide = require "skillopt.decide"
local evaluation = require "skillopt.evaluation"
local json = require "rt.json"
local journal = require "rt.journal"
local loader = require "skillopt.loader"
local policy = require "skillopt.policy"
local rng = require "rt.rng"
local stdout = require "rt.stdout"
local test = require "skillopt.test"
local support = test.support "tests/lua/support.lua"

local function policy_file(slot, name, values)
  local path = ("%s/lua/policies/%s/%s.lua"):format(loader.home, slot, name)
  return assert(policy.instance(loader.user_file(path), values, { name = name }))
end

local STRICT <const> = policy_file("gate", "strict")
local HARD <const> = policy_file("metric", "hard")

--- An evaluation of `marks` by the metric; false = failed, the first `decided` count.
local function make(marks, metric, decided)
  local rows = {}
  for i, mark in ipairs(marks) do
    local rep = mark and { state = "ok", marks = { hard = mark, soft = mark } }
      or { state = "failed", kind = "network" }
    rows[i] = { id = "q" .. i, reps = { rep } }
  end
  return evaluation.new { rows = rows, metric = metric or HARD, decided = decided }
end

local function first(marks, n) return table.move(marks, 1, n, 1, {}) end

--- Length of the prefix after which a candidate is hopeless, nil when it never is.
local function stops_at(candidate, current, best, metric)
  metric = metric or HARD
  local pair = evaluation.paired { make(current, metric), make(best or current, metric) }
  for n = 1, #candidate do
    local prefix = make(first(candidate, n), metric)
    if STRICT.hopeless(prefix, pair[1], pair[2], {}, { max = metric.max }) then return n end
  end
end

local function accepts(candidate, current, best, metric)
  local sides = evaluation.paired {
    make(candidate, metric), make(current, metric), make(best or current, metric) }
  return STRICT.run(sides[1], sides[2], sides[3], {}, {}) == "accept"
end

--------------------------------------------------------------------------- exact

test("a candidate is hopeless as soon as the best rest only ties", function(t)
  t.equal(stops_at({ 0, 1, 1, 1 }, { 1, 1, 0, 0 }), nil)
  t.equal(stops_at({ 0, 1, 1, 1 }, { 1, 1, 0, 1 }), 1)
  t.equal(stops_at({ 0, 0, 1, 1 }, { 1, 1, 1, 0 }), 1)
  t.equal(stops_at({ 1, 0, 1, 1 }, { 1, 1, 0, 1 }), 2)
  t.equal(stops_at({ 1, 1, 0, 1 }, { 1, 0, 0, 1 }), nil)
end)

test("a candidate that will be accepted is never hopeless", function(t)
  t.equal(stops_at({ 1, 1, 1 }, { 1, 1, 0 }), nil)
end)

test("items that failed for current or best count on no side", function(t)
  t.equal(stops_at({ 0, 1, 1 }, { false, 1, 1 }), 1)
  t.equal(stops_at({ 0, 1, 1 }, { false, 1, 0 }), nil)
  t.equal(stops_at({ 0, 1, 1 }, { 1, 1, 0 }, { false, 1, 0 }), nil)
end)

local METRICS <const> = { HARD, policy_file("metric", "soft"),
  policy_file("metric", "mixed", { weight = 0.3 }) }

local function draw_marks(stream, n, levels, failing)
  local out = {}
  for i = 1, n do
    out[i] = stream:below(levels) / (levels - 1)
    if failing and stream:below(12) == 0 then out[i] = false end
  end
  return out
end

test("early stop never differs from the whole evaluation, for marks of many kinds", function(t)
  local stream, stopped = rng.new(5), 0
  for round = 1, 1000 do
    local n, metric = 2 + stream:below(20), METRICS[1 + round % 3]
    local levels = ({ 2, 4, 8, 11 })[1 + stream:below(4)]
    local candidate = draw_marks(stream, n, levels)
    local current = draw_marks(stream, n, levels, true)
    local best = draw_marks(stream, n, levels, true)
    local at = stops_at(candidate, current, best, metric)
    if at then
      stopped = stopped + 1
      t.ok(not accepts(candidate, current, best, metric), json.encode { candidate, current, best })
    end
  end
  t.ok(stopped > 200, stopped)
end)

test("early stop is as early as it can be: one item less and it may still win", function(t)
  local stream, seen = rng.new(6), 0
  for _ = 1, 300 do
    local n = 2 + stream:below(12)
    local candidate, current = draw_marks(stream, n, 2), draw_marks(stream, n, 2)
    local at = stops_at(candidate, current)
    if at and at > 1 then
      seen = seen + 1
      local hopeful = first(candidate, at - 1)
      for i = at, n do hopeful[i] = 1 end
      t.ok(accepts(hopeful, current), json.encode { candidate, current })
    end
  end
  t.ok(seen > 30, seen)
end)

test("decide.most and decide.early_reason say what can be reached", function(t)
  local current = make({ 1, 1, 0, 1 }, HARD)
  t.equal({ decide.most(make({ 0, 1 }, HARD), current, 1) }, { 0.75, 0.75 })
  t.equal({ decide.most(make({ 1 }, HARD), make({ false }, HARD), 1) }, { 0.0, 0.0 })
  t.equal(decide.early_reason(make({ 0, 1, 1, 1 }, HARD, 2), current, 1),
    "stopped early after 2 of 4 items: at most 0.7500, current 0.7500")
end)

test("a metric that gives more than its max is refused", function(t)
  local liar = policy.instance(policy.define { slot = "metric", max = 1,
    item = function(marks) return 2 * marks.hard end }, {}, { name = "liar" })
  t.raises(function() make({ 1 }, liar) end, 'policy.metric "liar": the metric gives 2, and says '
    .. "that it gives at most 1 for the item q1")
end)

---------------------------------------------------------------------------- runs

--- A run of the shipped example's data on the simulated model, in memory.
local function train(seed, is_early, noise)
  local run = support.prepare { folder = support.folder(), experiment = {
    model = { backend = "sim", sim_noise = noise },
    train = { num_epochs = 1, batch_size = 4, seed = seed },
    gradient = { minibatch_size = 6 },
    optimizer = { learning_rate = 2, min_learning_rate = 1 },
    env = { name = "houserules", split_mode = "split_dir", split_dir = "data/houserules",
      limit = 16, workers = 1 },
    evaluation = { early_stop = is_early, eval_test = false },
  } }
  local j <close> = assert(journal.open())
  local result = support.train(run, { journal = j })
  return result.state, run.token_table()["target/rollout"].calls
end

--- What the gate did in each step, without its words and the marks of what it rejected.
local function decisions(state)
  local out = {}
  for i, r in ipairs(state.history) do
    out[i] = { action = r.action, candidate = r.candidate_hash, current = r.current_score,
      best = r.best_score, best_step = r.best_step }
  end
  return out
end

--- Calls of the whole gate, and how many of them were not made. A candidate that was seen
--- before is not measured again.
local function selection_calls(state)
  local n, not_run, seen = 0, 0, {}
  for _, r in ipairs(state.history) do
    if r.selection_n and r.gate_reason ~= "no_change" and not seen[r.candidate_hash] then
      n, not_run = n + #state.selection, not_run + (r.selection_not_run or 0)
      seen[r.candidate_hash] = true
    end
  end
  return n, not_run
end

local RUNS <const> = test.form() == "short" and 20 or 200

local NAME <const> = "over %d simulated runs early stop decides as the whole gate in every step"

test(NAME:format(RUNS), function(t)
  local all, saved, stopped, rejected = 0, 0, 0, 0
  for seed = 1, RUNS do
    local noise = 0.05 * (seed % 5)
    local whole, whole_calls = train(seed, false, noise)
    local early, early_calls = train(seed, true, noise)
    t.equal(decisions(early), decisions(whole), "seed " .. seed)
    t.equal(early.skill.text, whole.skill.text, "seed " .. seed)
    local n, not_run = selection_calls(early)
    t.equal(whole_calls - early_calls, not_run, "seed " .. seed)
    all, saved = all + n, saved + not_run
    for _, r in ipairs(early.history) do
      if r.selection_not_run then stopped = stopped + 1 end
      if r.action == "reject" then rejected = rejected + 1 end
    end
  end
  t.ok(stopped > 0 and saved > 0, "nothing was stopped early")
  stdout.write(("# early stop: %.1f %% of %d gate calls saved, %d of %d rejections stopped early\n")
    :format(100 * saved / all, all, stopped, rejected))
end)

test("early stop is refused where it cannot be exact", function(t)
  local function prepare(values)
    local evaluation_values = { early_stop = true, eval_test = false }
    return support.prepare { folder = support.folder(), experiment = {
      model = { backend = "sim" }, policy = values, evaluation = evaluation_values,
      env = { name = "houserules", split_mode = "split_dir", split_dir = "data/houserules",
        limit = 4 },
    } }
  end
  local bad = {
    { gate = "none" },
    { metric = function(marks) return marks.hard end },
    { metric = policy.define { slot = "metric", max = 1, item = function(m) return m.hard end,
      adjust = function(mean) return -mean end } },
  }
  for _, values in ipairs(bad) do
    local err = t.raises(function() prepare(values) end)
    t.equal(err.kind, "config")
    t.ok(err.message:find("evaluation.early_stop does not go with", 1, true), err.message)
  end
  t.ok(prepare { metric = "soft" }.early_stop)
end)
