--- Totals of a run cover all its processes: a run that was killed and started again has the
--- calls, tokens and decisions of the undisturbed one.
local journal = require "rt.journal"
local json = require "rt.json"
local sessions = require "skillopt.run.sessions"
local test = require "skillopt.test"
local process = test.support "tests/lua/process.lua"

local ARGS <const> = { "env.out_root=here", "optimizer.lr_control_mode=autonomous",
  "env.workers=1" }

local function read(folder, name) return test.read(folder .. "/here/" .. name) end

--- Calls by stage, from the summary.
local function calls(folder)
  local out = {}
  for stage, row in pairs(json.decode(read(folder, "summary.json")).token_summary) do
    out[stage] = { row.calls, row.prompt_tokens, row.completion_tokens, row.total_tokens }
  end
  return out
end

--- The records' tokens, which are those of each step.
local function step_tokens(folder)
  local out = {}
  for i, r in ipairs(json.decode(read(folder, "history.json"))) do
    out[i] = r.tokens
  end
  return json.canonical(json.array(out))
end

local whole = process.program()
local asked = #process.drive(whole, { args = ARGS }).asked

test("totals of calls and tokens survive restarts", function(t)
  local folder, seen = process.program(), 0
  for _, at in ipairs { 5, 9, 4 } do
    local killed = process.drive(folder, { args = ARGS, kill_at = at })
    t.equal(killed.signal, true)
    seen = seen + #killed.asked
  end
  local last = process.drive(folder, { args = ARGS })
  t.ok(last.ok, last.err and last.err.message)
  t.equal(seen + #last.asked, asked + 3) -- a call was lost in each kill
  t.equal(calls(folder), calls(whole))
  t.equal(calls(folder)._total[1], asked)
  t.equal(step_tokens(folder), step_tokens(whole))
  t.equal(read(folder, "lr_history.jsonl"), read(whole, "lr_history.jsonl"))
end)

test("time at work is counted over all starts, without the time between them", function(t)
  local j <close> = assert(journal.open())
  local function answered(time)
    assert(j:store("effect", "s" .. time, "key", json.canonical { time = time }))
  end
  assert(sessions.note(j, 100))
  t.equal(sessions.seconds(j), 0.0)
  answered(120)
  answered(130.5)
  assert(sessions.note(j, 1000)) -- a start that stored nothing
  assert(sessions.note(j, 1100))
  answered(1105)
  assert(sessions.note(j, 2000))
  t.equal(sessions.seconds(j), 35.5)
  answered(2001)
  t.equal(sessions.seconds(j), 35.5)
  t.equal(sessions.seconds(j, true), 36.5)
end)

--- The reference's fields of summary.json.
local FIELDS <const> = { "version", "config", "baseline_selection_hard", "best_selection_hard",
  "final_selection_hard", "final_selection_soft", "best_step", "current_origin", "best_origin",
  "total_steps", "total_accepts", "total_rejects", "total_skips", "epoch_stats",
  "baseline_test_hard", "baseline_test_soft", "test_hard", "test_soft", "final_test_hard",
  "final_test_soft", "test_delta_hard", "final_test_delta_hard", "total_wall_time_s",
  "token_summary" }

test("the summary has every field of the reference", function(t)
  local summary = json.decode(read(whole, "summary.json"))
  for _, field in ipairs(FIELDS) do t.ok(summary[field] ~= nil, field) end
  t.ok(summary.total_wall_time_s >= 0)
end)

test("each decision about the rate is a line of lr_history.jsonl", function(t)
  local lines = {}
  for line in read(whole, "lr_history.jsonl"):gmatch "[^\n]+" do
    t.ok(line:find '^{"step": %d+, "epoch": 1, ', line)
    lines[#lines + 1] = json.decode(line)
  end
  local steps = {}
  for _, r in ipairs(json.decode(read(whole, "history.json"))) do
    if r.lr_decision then steps[#steps + 1] = r end
  end
  t.ok(#lines >= 1)
  t.equal(#lines, #steps)
  for i, r in ipairs(steps) do
    t.equal({ lines[i].step, lines[i].learning_rate }, { r.step, r.edit_budget })
    t.equal(json.decode(read(whole, ("steps/step_%04d/lr_decision.json"):format(r.step)))
      .learning_rate, r.edit_budget)
  end
end)
