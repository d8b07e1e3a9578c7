--- Looking at runs: finding, reading and showing them, those of the reference included.
local difference = require "skillopt.show.difference"
local evaluation = require "skillopt.show.evaluation"
local facts = require "skillopt.show.facts"
local file = require "rt.file"
local json = require "rt.json"
local listing = require "skillopt.listing"
local page = require "skillopt.show.page"
local reading = require "skillopt.run.reading"
local runs = require "skillopt.runs"
local test = require "skillopt.test"
local support = test.support "tests/lua/support.lua"

local function has(t, text, piece)
  t.ok(text:find(piece, 1, true), piece .. " is not in:\n" .. text)
end

local REGION <const> = "\n\n<!-- SLOW_UPDATE_START -->\nlook twice\n<!-- SLOW_UPDATE_END -->\n"

local function write(folder, files)
  for name, content in pairs(files) do
    local parent = name:match "^(.*)/[^/]*$"
    if parent then assert(file.mkdir(folder .. "/" .. parent)) end
    support.write(folder .. "/" .. name,
      type(content) == "string" and content or json.encode(content))
  end
  return folder
end

--- A folder as the reference leaves it: no journal, no card, its field names.
local function reference(changes)
  local files = {
    ["config.json"] = { env = "searchqa", optimizer_model = "o", target_model = "t",
      target_backend = "qwen_chat", num_epochs = 2, steps_per_epoch = 2, batch_size = 40,
      edit_budget = 4, lr_scheduler = "cosine", lr_control_mode = "fixed",
      skill_update_mode = "rewrite_from_suggestions", use_slow_update = true, use_gate = true },
    ["history.json"] = {
      { step = 1, epoch = 1, rollout_hard = 0.25, rollout_n = 40, selection_hard = 0.5,
        candidate_gate_score = 0.5, action = "accept_new_best", current_score = 0.5,
        best_score = 0.5, best_step = 1,
        edit_apply_summary = { total = 3, applied = 2, skipped = 1, errors = 0 },
        tokens = { rollout = { calls = 40, prompt_tokens = 100, completion_tokens = 20 } } },
      { step = 2, epoch = 1, rollout_hard = 0.5, action = "skip_no_patches", current_score = 0.5,
        best_score = 0.5, best_step = 1 },
    },
    ["runtime_state.json"] = { last_completed_step = 2, best_score = 0.5 },
    ["skills/skill_v0000.md"] = "# Skill\n",
    ["skills/skill_v0001.md"] = "# Skill\n\nSay it.\n",
    ["skills/skill_v0002.md"] = "# Skill\n\nSay it." .. REGION,
    ["best_skill.md"] = "# Skill\n\nSay it.\n",
    ["slow_update/epoch_01/slow_result.json"] = { action = "inject_placeholder", epoch = 1 },
    ["steps/step_0001/edit_apply_report.json"] = {
      { index = 1, op = "append", status = "applied_append", content_preview = "Say it." },
      { index = 2, op = "replace", status = "skipped_target_not_found", target = "old" } },
    ["steps/step_0001/trajectory_digest.json"] = { step = 1, failure_patterns = {
      { pattern = "wrong unit", count = 7 }, { pattern = "no answer", count = 2 } },
      failure_descriptions = { "unit: kg for g", "unit: m for cm", "plain" } },
  }
  for name, content in pairs(changes or {}) do files[name] = content end
  return write(support.folder(), files)
end

local function opened(path)
  local view, err = reading.open(path)
  if not view then error(err, 0) end
  return view
end

test("a folder of the reference is shown", function(t)
  local out = page.run(facts.run(opened(reference())))
  for _, piece in ipairs { "stopped, 2 of 4 steps, made by the reference", "environment searchqa",
    "target t (qwen_chat)", "update rewrite_from_suggestions", "slow update on (forced)",
    "best 0.5000 (step 1)", "test: not run", "accept_new_best", "skip_no_patches", "2/3",
    "epoch 1: slow update inject_placeholder", "7  wrong unit" } do
    has(t, out, piece)
  end
end)

test("the skill's tokens are shown body and regions apart", function(t)
  local steps = facts.run(opened(reference())).steps
  t.equal(steps[1].skill_region_tokens, 0)
  t.ok(steps[2].skill_region_tokens > 10, steps[2].skill_region_tokens)
  t.ok(steps[2].skill_body_tokens < 8, steps[2].skill_body_tokens)
end)

test("the figures of the record go before those of the file", function(t)
  local path = reference { ["history.json"] = {
    { step = 1, skill_tokens = 9, skill_body_tokens = 7, skill_region_tokens = 2 } } }
  local step = facts.run(opened(path)).steps[1]
  t.equal({ step.skill_body_tokens, step.skill_region_tokens }, { 7, 2 })
end)

test("what was not measured is counted by kind, what has no answer apart", function(t)
  local lines = {}
  for i, kind in ipairs { "timeout", "network", "timeout", false } do
    lines[i] = json.encode { event = "item", slot = "a/q" .. i, state = kind and "failed"
      or "no_answer", kind = kind or nil } .. "\n"
  end
  local path = reference { ["journal.db"] = "", ["events.jsonl"] = table.concat(lines)
    .. '{"event": "item", "state": "failed", "ki', ["history.json"] = {
    { step = 1, n_malformed_replies = 2 }, { step = 2, n_malformed_replies = 1 } } }
  local run = facts.run(opened(path))
  t.equal({ run.failed.timeout, run.failed.network, run.no_answer }, { 2, 1, 1 })
  has(t, page.run(run),
    "not measured: 1 network, 2 timeout; no answer: 1; malformed optimizer replies: 3")
end)

test("what happens between epochs and to the appendix is shown", function(t)
  local path = reference {
    ["slow_update/epoch_02/slow_result.json"] = { action = "reject", selection_hard = 0.25,
      gate_reason = "not better" },
    ["meta_skill/epoch_02/meta_skill_result.json"] = { action = "write_meta_skill" },
    ["history.json"] = { { step = 4, n_appendix_notes_added = 2, n_appendix_notes_total = 5,
      current_is_unmeasured = true, action = "reject" } } }
  local out = page.run(facts.run(opened(path)))
  for _, piece in ipairs {
    "epoch 2: slow update reject 0.2500: not better; meta skill write_meta_skill",
    "step 4: 2 notes added to the appendix, 5 in all", "reject (not measured)" } do
    has(t, out, piece)
  end
end)

test("a step is shown with the fate of each edit", function(t)
  local view = opened(reference())
  local out = page.step(facts.step(view, view:record(1)))
  for _, piece in ipairs { "step 1, epoch 1", "applied_append", "Say it.",
    "skipped_target_not_found replace", "at: old", "2  no answer", "2  unit", "1  plain",
    "rollout     40" } do
    has(t, out, piece)
  end
end)

test("what is missing is said, and the rest is shown", function(t)
  local path = write(support.folder(), { ["steps/step_0003/step_record.json"] =
    { step = 3, action = "reject", current_score = 0.25 } })
  local view = opened(path)
  t.equal(view.missing, { "config.json", "runtime_state.json", "history.json" })
  local out = page.run(facts.run(view))
  has(t, out, "missing: config.json, runtime_state.json, history.json")
  has(t, out, "reject")
end)

test("what is damaged is said, and the rest is shown", function(t)
  local view = opened(reference { ["runtime_state.json"] = '{"last_comp' })
  t.equal(#view.damaged, 1)
  has(t, page.run(facts.run(view)), "damaged: runtime_state.json: ")
  t.equal(#view.history, 2)
end)

test("a folder of which nothing can be read is an error of kind io", function(t)
  local path = write(support.folder(), { ["config.json"] = "{", ["history.json"] = "[" })
  local view, err = reading.open(path)
  t.equal({ view, err.kind }, { nil, "io" })
  has(t, err.message, "history.json")
  has(t, err.hint, "restore it")
end)

test("fields of any type do not stop the page", function(t)
  local path = reference { ["history.json"] = { { step = 1, epoch = "one", tokens = { a = 3 },
    rollout_hard = { 1 }, action = { "x" }, edit_apply_summary = 5, best_score = "high" }, "x", 7,
    { step = "two" } }, ["config.json"] = { env = { 1 }, num_epochs = "many" },
    ["summary.json"] = { token_summary = { x = 1 }, baseline_test_hard = "?" } }
  local view = opened(path)
  t.equal(#view.history, 1)
  t.ok(#page.run(facts.run(view)) > 0)
  t.ok(#page.step(facts.step(view, view:record(1))) > 0)
end)

test("controls in a run's files are shown, not obeyed", function(t)
  local path = reference { ["history.json"] = { { step = 1, action = "a\27[2Jb",
    gate_reason = "c\27]0;d" } } }
  local view = opened(path)
  t.equal(page.run(facts.run(view)):find "\27", nil)
  t.equal(page.step(facts.step(view, view:record(1))):find "\27", nil)
end)

test("skills are found by step and by name", function(t)
  local view = opened(reference())
  t.equal(select(2, view:skill "1"), "skills/skill_v0001.md")
  t.equal(select(2, view:skill "initial"), "skills/skill_v0000.md")
  t.equal(select(2, view:skill "last"), "skills/skill_v0002.md")
  t.equal(select(2, view:skill "best"), "best_skill.md")
  t.equal(select(2, view:skill "9").kind, "usage")
  t.equal(select(2, view:skill "../x").kind, "usage")
end)

local function evaluation_page(files)
  local view = opened(write(support.folder(), files))
  return evaluation.page(evaluation.facts(view))
end

test("an evaluation's folder is shown, that of the reference too", function(t)
  local out = evaluation_page { ["eval_summary.json"] = { skill = "s.md", split = "all",
    n_items = 7, hard = 0.5, soft = 0.75 } }
  for _, piece in ipairs { "ended, an evaluation on all, made by the reference", "s.md",
    "0.5000  0.7500" } do
    has(t, out, piece)
  end
  out = evaluation_page { ["journal.db"] = "", ["config.json"] = {},
    ["run.json"] = { identity = { kind = "evaluation" } }, ["eval_summary.json"] = { split = "val",
      arms = { { skill = "a.md", model = "m", total = { n = 3, hard = 1, failed = 2 } }, 5 } } }
  has(t, out, "a.md   m      3  1.0000")
  t.equal(out:find "missing", nil)
end)

------------------------------------------------------------------------- finding

test("a run is found by its folder, through latest, and below its experiment's folder", function(t)
  local root = support.folder()
  write(root, { ["0001/config.json"] = "{}", ["0002/config.json"] = "{}" })
  t.equal(runs.find(root .. "/0001"), root .. "/0001")
  t.equal(runs.find(root), root .. "/0002")
  assert(file.link(root .. "/latest", "0001"))
  t.equal(runs.find(root .. "/latest/"), root .. "/0001")
  t.equal(runs.find(root), root .. "/0001")
end)

test("a folder without a run is an error of kind io, a name without one of kind usage", function(t)
  t.equal(select(2, runs.find(support.folder())).kind, "io")
  t.equal(select(2, runs.find "no_such_run_at_all").kind, "usage")
  t.equal(select(2, runs.find "no/such/folder").kind, "usage")
end)

test("an experiment's file leads to its out_root", function(t)
  local root = reference()
  support.write(root .. "/some.yaml", "env:\n  name: houserules\n  out_root: " .. root .. "\n")
  t.equal(runs.find(root .. "/some.yaml"), root)
end)

test("the list of runs names state, steps and scores", function(t)
  local root = support.folder()
  write(root, { ["a/0001/history.json"] = { { step = 1, best_score = 0.5 } },
    ["a/0001/config.json"] = { num_epochs = 1, steps_per_epoch = 4 },
    ["a/0002/history.json"] = "{", ["a/0002/config.json"] = "[" })
  local list = listing.runs(root)
  local row = list.rows[1]
  t.equal({ row.state, row.steps, row.best }, { "stopped", "1/4", "0.5000" })
  t.equal(list.rows[2].state, "damaged")
  has(t, listing.page(list), root .. "/a/0001")
end)

test("the other lists have what is installed", function(t)
  local function names(list)
    local out = {}
    for _, row in ipairs(list.rows) do out[row.name] = row end
    return out
  end
  t.ok(names(listing.envs()).houserules)
  t.equal(names(listing.policies()).strict.slot, "gate")
  t.equal(names(listing.backends()).sim.usable, "yes")
  t.ok(names(listing.commands()).run)
end)

----------------------------------------------------------------------- comparing

local function results(marks)
  local lines = {}
  for i, mark in ipairs(marks) do
    lines[i] = json.encode { id = "q" .. i, hard = mark, soft = mark } .. "\n"
  end
  return table.concat(lines)
end

test("two runs: configuration, items won and lost, skills", function(t)
  local a = opened(reference { ["test_eval/results.jsonl"] = results { 0, 1, 1, 0 } })
  local b = opened(reference { ["test_eval/results.jsonl"] = results { 1, 0, 1 },
    ["config.json"] = { env = "searchqa", batch_size = 20 }, ["best_skill.md"] = "# Skill\n" })
  local d = difference.of(a, b)
  t.equal({ d.items[1].won, d.items[1].lost, d.items[1].pairing.n }, { { "q1" }, { "q2" }, 3 })
  t.equal(d.items[2].pairing.n, 0)
  local out = difference.page(d)
  for _, piece in ipairs { "batch_size: 40 -> 20", "edit_budget: 4 -> (nothing)", "-Say it.",
    "not measured in both", "won: q1" } do
    has(t, out, piece)
  end
end)

test("a run differs from itself in nothing", function(t)
  local path = reference { ["test_eval/results.jsonl"] = results { 0, 1 } }
  local d = difference.of(opened(path), opened(path))
  t.equal({ d.configuration, d.contents, d.skill, d.items[1].pairing.ties }, { {}, {}, "", 2 })
  has(t, difference.page(d), "best skills: the same")
end)
