--- Which folder a run works in, what it takes from there, and what it loses when killed.
local file = require "rt.file"
local json = require "rt.json"
local lock = require "rt.lock"
local test = require "skillopt.test"
local parts = require "skillopt.run.parts"
local process = test.support "tests/lua/process.lua"
local support = test.support "tests/lua/support.lua"

-- Calls of the program as it is: 4 + 2 steps of (2 + 1 + 4) + 3 test sets of 3.
local CALLS <const> = 27

local function drive(folder, options)
  return process.drive(folder, options)
end

--- Drive and expect a result.
local function run(folder, options)
  local r = drive(folder, options)
  if not r.ok then error((r.err and r.err.message or "killed") .. "", 2) end
  return r
end

local function outputs(folder)
  local name = folder:match "[^/]*$"
  return folder .. "/outputs/" .. name
end

local function replace(path, old, new)
  local text = test.read(path)
  local first, last = text:find(old, 1, true)
  assert(first, old)
  support.write(path, text:sub(1, first - 1) .. new .. text:sub(last + 1))
end

-- Files that may differ, or are not derived.
local NOT_EQUAL <const> = { ["journal.db"] = true, ["journal.head"] = true, ["log.jsonl"] = true,
  ["run.lock"] = true, ["run.json"] = true }

local EXEMPT <const> = { "timing", "tokens", "token_summary", "wall_time_s", "total_wall_time_s" }

--- JSON files without the fields that may differ.
local function comparable(name, text)
  if not name:find "%.json$" then return text end
  local function strip(value)
    if type(value) ~= "table" then return value end
    for _, field in ipairs(EXEMPT) do value[field] = nil end
    for _, inner in pairs(value) do strip(inner) end
    return value
  end
  return json.canonical(strip(json.decode(text)))
end

local function files(path, prefix, out)
  out = out or {}
  for _, name in ipairs(assert(file.list(path))) do
    local full, short = path .. "/" .. name, (prefix or "") .. name
    if file.kind(full) == "folder" then
      files(full, short .. "/", out)
    elseif not NOT_EQUAL[name] and not name:find "%-wal$" and not name:find "%-shm$" then
      out[short] = comparable(short, test.read(full))
    end
  end
  return out
end

local function same_files(t, got, want)
  for name, text in pairs(want) do t.equal(got[name], text, name) end
  for name in pairs(got) do t.ok(want[name], name .. " is too much") end
end

------------------------------------------------------------------- new, continue

test("a new run makes the first folder and a link to it", function(t)
  local folder = process.program()
  local r = run(folder)
  t.equal({ r.mode, #r.asked, r.path:match "[^/]*$" }, { "new", CALLS, "0001" })
  t.equal(file.absolute(outputs(folder) .. "/latest"), file.absolute(outputs(folder) .. "/0001"))
end)

test("the same command shows an ended run again and pays nothing", function(t)
  local folder = process.program()
  local first = run(folder)
  local before = files(outputs(folder) .. "/0001")
  local again = run(folder)
  t.equal({ again.mode, #again.asked, again.path }, { "continue", 0, first.path })
  t.equal(again.summary.test_hard, first.summary.test_hard)
  same_files(t, files(outputs(folder) .. "/0001"), before)
end)

test("--new starts the next folder with nothing from before", function(t)
  local folder = process.program()
  run(folder)
  local r = run(folder, { go = { new = true } })
  t.equal({ r.mode, #r.asked, r.path:match "[^/]*$", r.parent }, { "new", CALLS, "0002", nil })
end)

test("--resume goes on in the folder that is named, not in the newest", function(t)
  local folder = process.program()
  local first = run(folder)
  run(folder, { go = { new = true } })
  local r = run(folder, { go = { resume = first.path } })
  t.equal({ r.mode, r.path, #r.asked }, { "continue", first.path, 0 })
end)

test("--resume of a folder without a run is refused", function(t)
  local folder = process.program()
  local r = drive(folder, { go = { resume = "nowhere" } })
  t.equal({ r.ok, r.err.kind }, { false, "io" })
  t.ok(r.err.message:find("holds no run", 1, true), r.err.message)
end)

test("paths, names, workers and timeouts are no part of what a run is", function(t)
  local folder = process.program()
  run(folder)
  local r = run(folder, { args = { "env.workers=1", "env.exec_timeout=7", "model.calls_in_flight=3",
    "model.retries=1" } })
  t.equal({ r.mode, #r.asked }, { "continue", 0 })
end)

test("a skill that is no UTF-8 is refused before anything is asked or written", function(t)
  local folder = process.program()
  support.write(folder .. "/skill.md", "# Box\xff\n")
  local r = drive(folder)
  t.equal({ r.ok, r.err.kind, #r.asked, (file.kind(folder .. "/outputs")) },
    { false, "data", 0, "none" })
end)

--------------------------------------------------------------------------- forks

--- The run after a change, which must be a fork of the first one.
local function forked(t, change, options)
  local folder = process.program()
  run(folder)
  change(folder)
  local r = run(folder, options)
  t.equal({ r.mode, r.path:match "[^/]*$", r.parent:match "[^/]*$" }, { "fork", "0002", "0001" })
  return r, folder
end

test("a changed key starts a fork that pays only for what is new", function(t)
  local r = forked(t, function() end, { args = { "train.num_epochs=2" } })
  for _, slot in ipairs(r.asked) do
    t.ok(slot:find "step_0003" or slot:find "step_0004" or slot:find "step_0002"
      or slot:find "test_eval", slot)
  end
  t.equal(r.notes[1], "changed: train.num_epochs: 1 -> 2")
end)

test("changed data starts a fork, and untouched items are not paid again", function(t)
  local r = forked(t, function(folder)
    replace(folder .. "/data/val/items.json", "What holds box 5?", "Now, what holds box 5?")
  end)
  for _, slot in ipairs(r.asked) do t.ok(slot:find "selection_eval[^/]*/b5$", slot) end
  t.equal({ #r.asked, r.notes[1] }, { 3, "changed: data: val" })
end)

test("a changed prompt starts a fork", function(t)
  local r = forked(t, function(folder)
    replace(folder .. "/prompts/rollout.md", "{{question}}", "Question: {{question}}")
  end)
  t.equal(r.notes[1], "changed: ./prompts/rollout.md")
  t.equal(#r.asked, CALLS) -- analysts see the prompts of the target
end)

test("changed code starts a fork, and calls that stay the same are not paid again", function(t)
  local r = forked(t, function(folder)
    replace(folder .. "/driven.lua", '"wrong"', '"not right"')
  end)
  t.equal(r.notes[1], "changed: ./driven.lua")
  t.ok(#r.asked <= 2, #r.asked)
end)

test("a changed skill starts a fork", function(t)
  local r = forked(t, function(folder) replace(folder .. "/skill.md", "# Boxes", "# All boxes") end)
  t.equal({ r.notes[1], #r.asked }, { "changed: the initial skill", CALLS - 3 })
end)

test("a fork stands alone: its parent can go", function(t)
  local r, folder = forked(t, function() end, { args = { "train.num_epochs=2" } })
  assert(file.remove("0001", { root = outputs(folder) }))
  local again = run(folder, { args = { "train.num_epochs=2" } })
  t.equal({ again.path, #again.asked }, { r.path, 0 })
end)

test("what a fork took from its parent is at no start what it has spent", function(t)
  local args = { "train.num_epochs=2", "spend.calls=1000" }
  local r, folder = forked(t, function() end, { args = args })
  t.equal(run(folder, { args = args }).summary.cost.calls, #r.asked)
  assert(file.remove("0001", { root = outputs(folder) }))
  t.equal(run(folder, { args = args }).summary.cost.calls, #r.asked)
end)

test("a fork of a fork has everything that its parent had", function(t)
  local _, folder = forked(t, function() end, { args = { "train.num_epochs=2" } })
  local r = run(folder, { args = { "train.num_epochs=2", "evaluation.eval_test=false" } })
  t.equal({ r.mode, r.path:match "[^/]*$", #r.asked }, { "fork", "0003", 0 })
end)

local ONE_WORKER <const> = "env.workers=1"

--- A folder with an ended run, and how many calls its fork with two epochs asks.
local function with_parent()
  local folder, other = process.program(), process.program()
  run(folder)
  run(other)
  return folder, #run(other, { args = { "train.num_epochs=2", ONE_WORKER } }).asked
end

test("a fork that is killed and continued takes the rest from its parent", function(t)
  local folder, whole = with_parent()
  local options = { kill_at = 5, args = { "train.num_epochs=2", ONE_WORKER } }
  t.equal(drive(folder, options).signal, true)
  options.kill_at = nil
  local r = run(folder, options)
  t.equal({ r.mode, r.path:match "[^/]*$", #r.asked }, { "continue", "0002", whole - 4 })
end)

test("a fork of a killed fork has what the first parent had", function(t)
  local folder, whole = with_parent()
  drive(folder, { kill_at = 1, args = { "train.num_epochs=2", ONE_WORKER } })
  replace(folder .. "/driven.lua", "local hard =", "-- a remark\n    local hard =")
  local r = run(folder, { args = { "train.num_epochs=2", ONE_WORKER } })
  t.equal({ r.mode, r.path:match "[^/]*$", #r.asked }, { "fork", "0003", whole })
end)

test("a fork whose parent is gone says so and asks the rest anew", function(t)
  local folder = with_parent()
  drive(folder, { kill_at = 5, args = { "train.num_epochs=2", ONE_WORKER } })
  assert(file.remove("0001", { root = outputs(folder) }))
  local r = run(folder, { args = { "train.num_epochs=2", ONE_WORKER } })
  t.equal(r.mode, "continue")
  local said = table.concat(r.notes, "\n")
  t.ok(said:find("0001, which this run was forked from, is gone", 1, true), said)
end)

test("a fork that was cut off before its first row is begun again as a fork", function(t)
  local folder, whole = with_parent()
  assert(file.mkdir(outputs(folder) .. "/0002"))
  require("rt.journal").open(outputs(folder) .. "/0002/journal.db"):close()
  local r = run(folder, { args = { "train.num_epochs=2", ONE_WORKER } })
  t.equal({ r.mode, r.path:match "[^/]*$", #r.asked }, { "fork", "0002", whole })
end)

test("the clock starts when the run was begun, in its forks too", function(t)
  local before = os.time()
  local folder = process.program()
  replace(folder .. "/driven.lua", "local prompt =", "local began = os.time()\n    local prompt =")
  replace(folder .. "/driven.lua", "hard = hard,", "hard = hard, began = began,")
  run(folder)
  run(folder, { args = { "train.num_epochs=2" } })
  local function began(n)
    local line = test.read(("%s/%s/selection_eval_baseline/results.jsonl"):format(outputs(folder),
      n)):match "[^\n]+"
    return json.decode(line).began
  end
  t.ok(began "0001" >= before and began "0001" <= os.time(), began "0001")
  t.equal(began "0002", began "0001")
end)

test("an added item is the only one that is paid", function(t)
  local r = forked(t, function(folder)
    local path = folder .. "/data/test/items.json"
    local items = json.decode(test.read(path))
    items[#items + 1] = { id = "b12", question = "What holds box 12?", answer = "thing 12" }
    support.write(path, json.encode(items))
  end)
  t.equal(r.asked, { "test_eval_baseline/b12", "test_eval/b12", "test_eval_no_skill/b12" })
end)

-------------------------------------------------------------------- a fixed folder

test("an explicit out_root is used as it is and has no link beside it", function(t)
  local folder = process.program()
  local r = run(folder, { args = { "env.out_root=here" } })
  t.equal({ r.mode, r.path, (file.kind(folder .. "/outputs")) }, { "new", "here", "none" })
  t.equal(#run(folder, { args = { "env.out_root=here" } }).asked, 0)
end)

test("an explicit out_root refuses changed keys and data with a list", function(t)
  local folder = process.program()
  run(folder, { args = { "env.out_root=here" } })
  replace(folder .. "/data/val/items.json", "box 5?", "box 50?")
  local r = drive(folder, { args = { "env.out_root=here", "optimizer.learning_rate=6",
    "train.seed=4",
    "optimizer.min_learning_rate=2" } })
  t.equal({ r.ok, r.err.kind, #r.asked }, { false, "io", 0 })
  for _, piece in ipairs { "optimizer.learning_rate: 4 -> 6", "train.seed: 3 -> 4", "data: val" } do
    t.ok(r.err.message:find(piece, 1, true), r.err.message)
  end
  t.ok(not r.err.message:find("min_learning_rate", 1, true), r.err.message)
end)

test("a refused folder is as it was", function(t)
  local folder = process.program()
  run(folder, { args = { "env.out_root=here" } })
  local before = files(folder .. "/here")
  drive(folder, { args = { "env.out_root=here", "train.seed=4" } })
  same_files(t, files(folder .. "/here"), before)
  t.equal(#run(folder, { args = { "env.out_root=here" } }).asked, 0)
end)

test("an explicit out_root goes on after changed code as long as decisions agree", function(t)
  local folder = process.program()
  run(folder, { args = { "env.out_root=here" } })
  replace(folder .. "/driven.lua", "local hard =", "-- a remark\n    local hard =")
  local r = run(folder, { args = { "env.out_root=here" } })
  t.equal({ r.mode, #r.asked, r.notes[1] }, { "continue", 0, "changed: ./driven.lua" })
end)

test("an explicit out_root stops at the first decision that differs", function(t)
  local folder = process.program()
  run(folder, { args = { "env.out_root=here" } })
  replace(folder .. "/driven.lua", "and 1 or 0", "and 0 or 1")
  local r = drive(folder, { args = { "env.out_root=here" } })
  t.equal({ r.ok, r.err.kind }, { false, "io" })
  t.ok(r.err.message:find("is not what the journal has on record", 1, true), r.err.message)
end)

test("--new in a folder that holds a run is refused", function(t)
  local folder = process.program()
  run(folder, { args = { "env.out_root=here" } })
  local r = drive(folder, { args = { "env.out_root=here" }, go = { new = true } })
  t.equal({ r.ok, r.err.kind }, { false, "usage" })
end)

--- A run folder as the reference leaves it after a step, at `folder`/theirs.
local function reference_run(folder)
  local files_of = { ["config.json"] = "{}", ["history.json"] = '[{"step": 1}]',
    ["runtime_state.json"] = '{"last_completed_step": 1}', ["best_skill.md"] = "# Theirs\n",
    ["skills/skill_v0000.md"] = "", ["skills/skill_v0001.md"] = "# Theirs\n" }
  assert(file.mkdir(folder .. "/theirs/skills"))
  for name, text in pairs(files_of) do support.write(folder .. "/theirs/" .. name, text) end
end

test("a folder of the reference is not continued; its best skill is offered", function(t)
  local folder = process.program()
  reference_run(folder)
  local named, resumed = { args = { "env.out_root=theirs" } }, { go = { resume = "theirs" } }
  for _, options in ipairs { named, resumed } do
    local r = drive(folder, options)
    t.equal({ r.ok, r.err.kind, #r.asked }, { false, "io", 0 })
    t.ok(r.err.message:find("holds a run of the reference (config.json, history.json", 1, true))
    t.ok(r.err.hint:find("env.skill_init=theirs/best_skill.md", 1, true), r.err.hint)
    t.equal((file.kind(folder .. "/theirs/journal.db")), "none")
  end
  run(folder, { args = { "env.skill_init=theirs/best_skill.md" } })
  t.equal(test.read(outputs(folder) .. "/0001/skills/skill_v0000.md"), "# Theirs\n")
end)

test("a best skill that is no run's is not written over", function(t)
  local folder = process.program()
  assert(file.mkdir(folder .. "/here"))
  support.write(folder .. "/here/best_skill.md", "# Mine\n")
  local r = drive(folder, { args = { "env.out_root=here" } })
  t.equal({ r.ok, r.err.kind, #r.asked }, { false, "io", 0 })
  t.ok(r.err.message:find("here/best_skill.md is no run's", 1, true), r.err.message)
  t.equal(test.read(folder .. "/here/best_skill.md"), "# Mine\n")
end)

test("an initial skill that is there and cannot be read is not an empty one", function(t)
  local folder = process.program()
  local config = { get = function() return "" end, is_shipped = function() return false end }
  local like_run = { config = config, env_folder = folder }
  t.ok(#parts.initial_skill(like_run) > 0)
  os.remove(folder .. "/skill.md")
  t.equal(parts.initial_skill(like_run), "")
  assert(file.mkdir(folder .. "/skill.md"))
  local err = t.raises(function() parts.initial_skill(like_run) end)
  t.equal({ err.kind, err.message:sub(1, 23) }, { "config", "the environment's skill" })
end)

test("one file of the reference is enough, and without a best skill none is offered", function(t)
  for _, name in ipairs { "config.json", "runtime_state.json", "summary.json" } do
    local folder = process.program()
    assert(file.mkdir(folder .. "/here"))
    support.write(folder .. "/here/" .. name, "{}")
    local r = drive(folder, { args = { "env.out_root=here" } })
    t.equal({ r.ok, r.err.kind, r.err.hint }, { false, "io", "choose another folder" })
  end
end)

test("a folder of ours whose journal is gone is told apart", function(t)
  local folder = process.program()
  local r = run(folder, { args = { "env.out_root=here" } })
  t.equal(r.mode, "new")
  assert(file.remove(folder .. "/here/journal.db"))
  r = drive(folder, { args = { "env.out_root=here" } })
  t.ok(r.err.message:find("is a run folder whose journal.db is gone", 1, true), r.err.message)
end)

test("--retry-failed is not ignored in a fixed folder", function(t)
  local folder = process.program()
  run(folder, { args = { "env.out_root=here" } })
  local r = drive(folder, { args = { "env.out_root=here" }, go = { retry_failed = true } })
  t.equal({ r.ok, r.err and r.err.kind }, { false, "usage" })
end)

---------------------------------------------------------------------------- lock

test("a folder that another process works in is refused with words", function(t)
  local folder = process.program()
  run(folder)
  local held <close> = assert(lock.acquire(outputs(folder) .. "/0001/run.lock"))
  local r = drive(folder)
  t.equal({ r.ok, r.err.kind, #r.asked }, { false, "io", 0 })
  t.ok(held)
end)

test("a lock that a killed process left does not stop the next one", function(t)
  local folder = process.program()
  drive(folder, { kill_at = 3 })
  t.equal(run(folder).ok, true)
end)

-------------------------------------------------------------------------- killed

test("a run killed at any call and started again ends the same and pays once", function(t)
  local whole = process.program()
  run(whole, { args = { "env.workers=1" } })
  local want = files(outputs(whole) .. "/0001")
  for _, at in ipairs { 1, 2, 5, 7, 11, 14, 19, 27 } do
    local folder = process.program()
    local killed = drive(folder, { kill_at = at, args = { "env.workers=1" } })
    t.equal(killed.signal, true, "killed at " .. at)
    local r = run(folder, { args = { "env.workers=1" } })
    t.equal({ at, #killed.asked + #r.asked, r.path },
      { at, CALLS + 1, "outputs/" .. folder:match "[^/]*$" .. "/0001" })
    local got = files(outputs(folder) .. "/0001")
    for name, text in pairs(got) do
      got[name] = text:gsub(folder:match "[^/]*$", whole:match "[^/]*$")
    end
    same_files(t, got, want)
  end
end)

test("a network that goes down stops the run, and what was paid is not paid again", function(t)
  local folder = process.program()
  local down = drive(folder, { down_from = 9, args = { "env.workers=1" } })
  t.equal({ down.ok, down.err.kind }, { false, "network" })
  local r = run(folder)
  t.equal({ r.mode, #r.asked }, { "continue", CALLS - 8 })
end)

test("--retry-failed of an ended run is a fork that asks nothing when nothing failed", function(t)
  local folder = process.program()
  run(folder)
  local r = run(folder, { go = { retry_failed = true } })
  t.equal({ r.mode, #r.asked }, { "fork", 0 })
end)

test("--retry-failed that was killed goes on in the folder it began", function(t)
  local folder = process.program()
  run(folder)
  local path = outputs(folder) .. "/0002"
  assert(file.mkdir(path))
  local j = require("rt.journal").open(path .. "/journal.db")
  assert(j:put("open", "", "parent", json.canonical { folder = "0001", retry_failed = true }))
  j:close()
  local r = run(folder, { go = { retry_failed = true } })
  t.equal({ r.mode, r.path:match "[^/]*$", #r.asked }, { "fork", "0002", 0 })
  t.equal(run(folder, { go = { retry_failed = true } }).path:match "[^/]*$", "0003")
end)

------------------------------------------------------------------- derived files

test("zero scores are scores, before and after a restart", function(t)
  local case = json.decode(test.read "tests/cases/d10_runtime_state_zero.json")
  local folder = process.program()
  local first = run(folder, { zero = true })
  local path = outputs(folder) .. "/0001/runtime_state.json"
  local state = json.decode(test.read(path))
  for _, field in ipairs { "current_score", "best_score", "best_step", "best_origin",
    "best_skill_path" } do
    t.equal(state[field], case[field], field)
  end
  local again = run(folder, { zero = true })
  t.equal({ again.summary.best_selection_hard, again.summary.best_origin, #again.asked },
    { first.summary.best_selection_hard, "initial_skill", 0 })
  t.equal(json.decode(test.read(path)), state)
end)

test("rows that lie in an evaluation's folder are not its marks", function(t)
  local case = json.decode(test.read "tests/cases/d08_rows_of_other_candidate.json")
  local folder = process.program()
  drive(folder, { kill_at = 8, args = { "env.workers=1" } }) -- in the first candidate's evaluation
  local step = outputs(folder) .. "/0001/steps/step_0001/selection_eval"
  assert(file.mkdir(step))
  local lines = {}
  for i = 5, 8 do
    local row = case.results_on_disk[1]
    row.id = "b" .. i
    lines[#lines + 1] = json.encode(row) .. "\n"
  end
  support.write(step .. "/results.jsonl", table.concat(lines))
  local r = run(folder, { args = { "env.workers=1" } })
  local history = json.decode(test.read(outputs(folder) .. "/0001/history.json"))
  t.ok(history[1].selection_hard < 1, "the rows on disk were taken")
  t.equal(#r.asked, CALLS - 7)
end)

test("damaged and missing derived files are made again by starting the run", function(t)
  local folder = process.program()
  run(folder)
  local path = outputs(folder) .. "/0001"
  local want = files(path)
  support.write(path .. "/runtime_state.json",
    test.read "tests/cases/d11_runtime_state_truncated.json")
  support.write(path .. "/history.json", "")
  support.write(path .. "/test_eval/results.jsonl", test.read "tests/cases/d07_torn_tail.jsonl")
  assert(file.remove(path .. "/best_skill.md"))
  assert(file.remove("steps", { root = path }))
  local r = run(folder)
  t.equal(#r.asked, 0)
  same_files(t, files(path), want)
end)

test("derived files name neither an absolute path nor their own folder", function(t)
  local folder = process.program()
  run(folder)
  for name, text in pairs(files(outputs(folder) .. "/0001")) do
    t.ok(not text:find(file.absolute ".", 1, true), name)
    t.ok(not text:find("outputs/", 1, true), name)
  end
end)

test("the card lists what user code read from outside", function(t)
  local folder = process.program()
  support.write(folder .. "/notes.txt", "remember")
  replace(folder .. "/driven.lua", "local prompt =",
    "io.open('notes.txt'):close()\n    local prompt =")
  run(folder)
  local card = json.decode(test.read(outputs(folder) .. "/0001/run.json"))
  t.equal({ #card.inputs, card.inputs[1] and card.inputs[1].name }, { 1, "notes.txt" })
end)

test("a journal that cannot be closed is no success", function(t)
  local r = process.drive(process.program(), { close_fails = true })
  t.equal({ r.ok, r.err and r.err.kind, r.err and r.err.message }, { false, "io", "disk full" })
end)

test("a link `latest` that cannot be made is said", function(t)
  local folder = process.program()
  assert(file.mkdir(outputs(folder) .. "/latest/full"))
  local r = run(folder)
  t.equal(r.ok, true)
  t.ok(table.concat(r.notes, "\n"):find("there is no link `latest`: ", 1, true))
end)
