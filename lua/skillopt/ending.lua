--- The end that all training loops share: the last skill is validated, the test set is
--- opened, the summary written. Skills with one key are measured once.
---
--- The arms of the test are *no skill*, *initial*, *best* and *last*, on the same items. The
--- rollouts of an arm get its skill and nothing of another one; without a skill that is "".
local compare = require "skillopt.compare"
local evaluation = require "skillopt.evaluation"
local json = require "rt.json"
local record = require "skillopt.record"
local schedule = require "skillopt.schedule"
local size = require "skillopt.size"
local skill_of = require "skillopt.skill"

local M = {}

local function null(value)
  if value == nil then return json.null end
  return value
end

--- Is the last skill better than best after all? Its numbers for the summary.
---@async
local function validate(state)
  if state.skill.key == state.best_skill.key then
    return { hard = state.best.score, soft = json.null }
  end
  local known = state.measured[state.skill.key] ~= nil
  local value = state:measure(state.skill, "final_selection_eval")
  if value.score > state.best.score then
    state.best_skill, state.best = state.skill, value
    state.best_step, state.best_origin = state.number, state.current_origin
    state:write_best()
    record.state(state.run, state)
  end
  if known then return { hard = value.score, soft = value:mean "soft" } end
  return { hard = value:mean "hard", soft = value:mean "soft" }
end

local function types_of(value)
  local types, seen = {}, {}
  for row in evaluation.each_row(value) do
    if not seen[row.task_type] then
      seen[row.task_type] = true
      types[#types + 1] = row.task_type
    end
  end
  return types
end

--- `summary.json` of a test folder: number and accuracy by task type.
local function write_types(run, label, value)
  local out, order = json.object {}, {}
  for i, bucket in ipairs(evaluation.by_type(evaluation.each_row(value), types_of(value))) do
    out[bucket.name] = { total = bucket.total, hard_acc = bucket.hard / math.max(bucket.total, 1) }
    order[i] = bucket.name
  end
  run.write(label .. "/summary.json", json.encode(out, { indent = true, keys = order }))
end

--- Names of the arms, in the order of reports; and which are set against which.
M.ARMS = { "no_skill", "initial", "best", "last" }
local PAIRS <const> = { { "initial", "no_skill" }, { "best", "no_skill" }, { "best", "initial" },
  { "last", "initial" } }

local NOT_RUN <const> = "not run"

--- The arms that are run, in the order of their running: one that shares its skill with an
--- earlier one takes its marks.
local function arms_of(state)
  local run = state.run
  local arms = {
    { name = "initial", label = "test_eval_baseline", skill = skill_of.new(run.initial_skill) },
    { name = "best", label = "test_eval", skill = state.best_skill },
    { name = "last", label = "test_eval_final", skill = state.skill },
  }
  if run.config:get "evaluation.no_skill" then
    arms[4] = { name = "no_skill", label = "test_eval_no_skill", skill = skill_of.new "" }
  end
  return arms
end

--- Measure the arms on the test set.
---@async
---@return table<string, {hard: number?, soft: number?, n: integer, value: skillopt.Evaluation}>
local function test(ctx, state, opt)
  local items = schedule.front(ctx.data.test, opt.test_env_num)
  local done, out = {}, {}
  for _, arm in ipairs(arms_of(state)) do
    local value = done[arm.skill.key]
    if not value then
      value = ctx:evaluate(arm.skill, items, { label = arm.label, seed = opt.seed })
      done[arm.skill.key] = value
    end
    write_types(state.run, arm.label, value)
    out[arm.name] = { hard = value:mean "hard", soft = value:mean "soft", n = value.n,
      value = value, skill = arm.skill }
  end
  return out
end

--- The arms as the summary has them; an arm that was not run says so.
local function arms_summary(tests)
  local out = json.object {}
  for _, name in ipairs(M.ARMS) do
    local one = tests and tests[name]
    out[name] = NOT_RUN
    if one then
      out[name] = compare.arm(one.value)
      out[name].skill_hash = one.skill.hash
    end
  end
  return out
end

--- Each comparison item by item, on the items with a mark on both sides.
local function comparisons(tests)
  local out = json.array {}
  for i, names in ipairs(PAIRS) do
    local new, old = tests and tests[names[1]], tests and tests[names[2]]
    local pairing = new and old and compare.pair(old.value, new.value) or { verdict = NOT_RUN }
    pairing.arm, pairing.over = names[1], names[2]
    out[i] = pairing
  end
  return out
end

local function count(history, is_counted)
  local n = 0
  for _, r in ipairs(history) do
    if is_counted(r.action) then n = n + 1 end
  end
  return n
end

local function is_accept(action) return action:find "accept" ~= nil end

local function is_reject(action) return action == "reject" end

local function is_skip(action) return action:find "^skip" ~= nil end

local function epoch_stats(history)
  local stats = json.array {}
  for _, r in ipairs(history) do
    local row = stats[r.epoch]
    if not row then
      row = { epoch = r.epoch, steps = {}, accepts = 0, rejects = 0, skips = 0 }
      stats[r.epoch] = row
    end
    row.steps[#row.steps + 1] = r.step
    if is_accept(r.action) then row.accepts = row.accepts + 1 end
    if is_reject(r.action) then row.rejects = row.rejects + 1 end
    if is_skip(r.action) then row.skips = row.skips + 1 end
    row.best_score_at_epoch_end = r.best_score
    row.current_score_at_epoch_end = r.current_score
  end
  return stats
end

local SUMMARY_KEYS = {
  "version", "config", "baseline_selection_hard", "best_selection_hard", "final_selection_hard",
  "final_selection_soft", "best_step", "current_origin", "best_origin", "total_steps",
  "total_accepts", "total_rejects", "total_skips",
  arms = M.ARMS,
  comparisons = { "arm", "over", "n", "wins", "ties", "losses", "lift", "lift_soft", "interval",
    "verdict" },
  epoch_stats = { "epoch", "steps", "accepts", "rejects", "skips", "best_score_at_epoch_end",
    "current_score_at_epoch_end" },
}

--- What the run cost, where that is known.
local function cost_of(run)
  if not run.spending.is_capped and not run.spending.has_prices then return nil end
  return json.object(run.spending:total())
end

local function delta(a, b)
  return a and b and a - b or json.null
end

local function mark_of(tests, name, mark)
  return null(tests and tests[name] and tests[name][mark])
end

local function summary(state, final, tests)
  local run, history = state.run, state.history
  local base = tests and tests.initial.hard
  local tokens, body, regions = size.of(state.best_skill)
  return {
    version = run.version, config = run.flat_config,
    baseline_selection_hard = null(state.baseline:mean "hard"),
    best_selection_hard = state.best.score, best_selection_metric = run.policies.metric.name,
    final_selection_hard = null(final.hard), final_selection_soft = null(final.soft),
    best_step = state.best_step, current_origin = state.current_origin,
    best_origin = state.best_origin, total_steps = #history,
    total_accepts = count(history, is_accept), total_rejects = count(history, is_reject),
    total_skips = count(history, is_skip), epoch_stats = epoch_stats(history),
    baseline_test_hard = mark_of(tests, "initial", "hard"),
    baseline_test_soft = mark_of(tests, "initial", "soft"),
    test_hard = mark_of(tests, "best", "hard"), test_soft = mark_of(tests, "best", "soft"),
    final_test_hard = mark_of(tests, "last", "hard"),
    final_test_soft = mark_of(tests, "last", "soft"),
    test_n = mark_of(tests, "best", "n"),
    test_delta_hard = delta(tests and tests.best.hard, base),
    final_test_delta_hard = delta(tests and tests.last.hard, base),
    arms = arms_summary(tests), comparisons = comparisons(tests), interval = compare.METHOD,
    cost = cost_of(run),
    best_skill_tokens = tokens, best_skill_body_tokens = body,
    best_skill_region_tokens = regions, best_skill_remark = size.remark(state.best_skill),
    best_skill_leaks = state.admission:reasons(state.best_skill, state.run.initial_skill),
    total_wall_time_s = json.round(run.total_seconds(), 1), token_summary = run.token_summary(),
  }
end

--- See above. The result is the best skill.
---@async
---@param ctx skillopt.Ctx
---@param state skillopt.TrainState
---@param opt {eval_test: boolean, test_env_num: integer, seed: integer}
---@return skillopt.Skill
function M.run(ctx, state, opt)
  local run = state.run
  state:write_best()
  local tests, final
  if opt.eval_test then
    run.say("final", {})
    final = validate(state)
    tests = test(ctx, state, opt)
  end
  local out = summary(state, final or { hard = json.null, soft = json.null }, tests)
  local decided = record.comparable(out)
  decided.config = nil -- where and how it ran is no decision
  run.decide("summary", decided)
  run.write("summary.json", json.encode(out, { indent = true, keys = SUMMARY_KEYS }),
    { sync = true })
  run.result = { summary = out, tests = tests, state = state }
  run.flush_events()
  return state.best_skill
end

return M
