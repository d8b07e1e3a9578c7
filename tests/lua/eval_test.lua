--- `skillopt eval`: its folder, its files, its comparisons, what it refuses.
local file = require "rt.file"
local json = require "rt.json"
local test = require "skillopt.test"
local process = test.support "tests/lua/process.lua"
local support = test.support "tests/lua/support.lua"

local HERE <const> = file.absolute "."

--- A folder with an experiment on the shipped data, 12 items a split, that asks sim.
local function place()
  local folder = support.folder()
  support.write(folder .. "/boxes.yaml", ([[
model: {backend: sim, sim_noise: 0}
train: {num_epochs: 1, batch_size: 12}
policy: {slow_update: none, meta_skill: none}
evaluation: {predictions: none}
env: {name: houserules, split_mode: split_dir, split_dir: %s/data/houserules, limit: 12}
]]):format(HERE))
  support.write(folder .. "/good.md", "- Write a date as day, month, year.\n")
  return folder
end

local function command(folder, ...)
  return process.run({ ... }, { before = "cd '" .. folder .. "' &&" })
end

--- An evaluation that must go well.
local function eval(folder, ...)
  local done = command(folder, "eval", ...)
  if done.code ~= 0 then error(done.err, 2) end
  return done
end

local function read_json(path) return json.decode(test.read(path)) end

local function summary_of(folder, number)
  return read_json(("%s/outputs/boxes-eval/%s/eval_summary.json"):format(folder, number))
end

local function rows_of(path)
  local rows = {}
  for line in test.read(path):gmatch "[^\n]+" do rows[#rows + 1] = json.decode(line) end
  return rows
end

------------------------------------------------------------------------- files

test("an evaluation has its own folder with figures and rows", function(t)
  local folder = place()
  eval(folder, "boxes.yaml", "--skill", "good.md", "--split", "valid_unseen")
  local s = summary_of(folder, "0001")
  t.equal({ s.skill, s.split, s.n_items, s.n, #s.arms }, { "good.md", "test", 12, 12, 1 })
  local rows = rows_of(folder .. "/outputs/boxes-eval/latest/results.jsonl")
  local sum = 0
  for _, row in ipairs(rows) do sum = sum + row.hard end
  t.equal({ #rows, s.hard, rows[1].split }, { 12, sum / 12, "test" })
  t.equal(file.kind(folder .. "/outputs/boxes"), "none")
end)

test("all splits: figures by split and by task type, and together", function(t)
  local folder = place()
  eval(folder, "boxes.yaml", "--skill", "none")
  local arm = summary_of(folder, "0001").arms[1]
  t.equal({ arm.splits.train.n, arm.splits.val.n, arm.splits.test.n, arm.total.n },
    { 12, 12, 12, 36 })
  local of_types = 0
  for _, one in ipairs(arm.total.task_types) do of_types = of_types + one.n end
  t.equal(of_types, 36)
  t.equal(arm.total.hard, (arm.splits.train.hard + arm.splits.val.hard + arm.splits.test.hard) / 3)
end)

test("evaluation.test_env_num is the number of items of a split", function(t)
  local folder = place()
  eval(folder, "boxes.yaml", "--skill", "none", "--split", "train", "--test_env_num", "5")
  t.equal(summary_of(folder, "0001").n_items, 5)
end)

test("the prompts of a skill are the same wherever its file lies, and so is its work", function(t)
  local folder = place()
  support.write(folder .. "/copy.md", test.read(folder .. "/good.md"))
  eval(folder, "boxes.yaml", "--skill", "good.md", "--split", "test")
  local again = eval(folder, "boxes.yaml", "--skill", "copy.md", "--split", "test")
  t.ok(again.out:find("12 of 12 calls answered by the journal", 1, true), again.out)
end)

------------------------------------------------------------------- several skills

test("several skills are compared item by item", function(t)
  local folder = place()
  local done = eval(folder, "boxes.yaml", "--skill", "none", "--skill", "initial", "--skill",
    "good.md", "--split", "test")
  local s = summary_of(folder, "0001")
  local what = {}
  for i, one in ipairs(s.comparisons) do
    what[i] = one.arm.skill .. " over " .. one.over.skill
    t.equal(one.wins + one.ties + one.losses, one.n)
    t.ok(done.out:find(what[i], 1, true), what[i])
  end
  t.equal(what, { "initial over none", "good.md over none", "good.md over initial" })
  t.equal(s.hard, nil, "no figure stands for all")
end)

test("a skill that is given twice is measured once and is its own tie", function(t)
  local folder = place()
  local done = eval(folder, "boxes.yaml", "--skill", "good.md", "--skill", "./good.md", "--split",
    "test")
  t.ok(done.out:find("0 of 12 calls answered by the journal", 1, true), done.out)
  t.equal(summary_of(folder, "0001").comparisons[1].ties, 12)
  t.equal(#rows_of(folder .. "/outputs/boxes-eval/0001/results.jsonl"), 12)
end)

test("several models give one table", function(t)
  local folder = place()
  local done = eval(folder, "boxes.yaml", "--skill", "none", "--target_model", "a,b", "--split",
    "test")
  local s = summary_of(folder, "0001")
  t.equal({ s.arms[1].model, s.arms[2].model, s.comparisons[1].arm.model }, { "a", "b", "a" })
  t.ok(done.out:find("\na ", 1, true) and done.out:find("\nb ", 1, true), done.out)
end)

test("one model twice is a mistake", function(t)
  local done = command(place(), "eval", "boxes.yaml", "--skill", "none", "--target_model", "a,a")
  t.equal(done.code, 2, done.err)
end)

test("training refuses several models", function(t)
  local done = command(place(), "run", "boxes.yaml", "--target_model", "a,b")
  t.equal(done.code, 2)
  t.ok(done.err:find("`skillopt eval` takes several", 1, true), done.err)
end)

----------------------------------------------------------------------- folders

test("the same command shows the evaluation again; another one forks it", function(t)
  local folder = place()
  eval(folder, "boxes.yaml", "--skill", "none", "--split", "test")
  eval(folder, "boxes.yaml", "--skill", "none", "--split", "test")
  t.equal(file.kind(folder .. "/outputs/boxes-eval/0002"), "none")
  local more = eval(folder, "boxes.yaml", "--skill", "none", "--skill", "good.md", "--split",
    "test")
  t.ok(more.out:find("fork of 0001", 1, true), more.out)
  t.ok(more.out:find("12 of 24 calls answered by the journal", 1, true), more.out)
  local first = eval(folder, "boxes.yaml", "--skill", "none", "--split", "test")
  t.ok(first.out:find("boxes-eval/0001: this run has ended", 1, true), first.out)
end)

test("settings of training are no part of an evaluation, and that is said", function(t)
  local folder = place()
  eval(folder, "boxes.yaml", "--skill", "none", "--split", "test")
  local done = eval(folder, "boxes.yaml", "--skill", "none", "--split", "test", "--batch_size", "3")
  t.ok(done.out:find("12 of 12 calls answered", 1, true), done.out)
  t.ok(done.out:find("--batch_size has no effect here", 1, true), done.out)
end)

test("--new measures again in the next folder", function(t)
  local folder = place()
  eval(folder, "boxes.yaml", "--skill", "none", "--split", "test")
  local done = eval(folder, "boxes.yaml", "--skill", "none", "--split", "test", "--new")
  t.ok(done.out:find("0 of 12 calls answered", 1, true), done.out)
end)

test("--resume goes on in the folder that is named", function(t)
  local folder = place()
  eval(folder, "boxes.yaml", "--skill", "none", "--split", "test")
  eval(folder, "boxes.yaml", "--skill", "none", "--split", "test", "--new")
  local first = "outputs/boxes-eval/0001"
  local done = eval(folder, "boxes.yaml", "--skill", "none", "--split", "test", "--resume", first)
  t.ok(done.out:find(first .. ": this run has ended", 1, true), done.out)
  t.equal(command(folder, "eval", "boxes.yaml", "--skill", "good.md", "--split", "test",
    "--resume", first).code, 6)
end)

test("an evaluation is equal to its replay", function(t)
  local folder = place()
  eval(folder, "boxes.yaml", "--skill", "none", "--skill", "good.md", "--target_model", "a,b")
  local done = command(folder, "replay", "outputs/boxes-eval/0001", "--verify")
  t.equal({ done.code, done.out }, { 0, "equal: 144 answers, 1 decisions\n" }, done.err)
  support.write(folder .. "/outputs/boxes-eval/0001/results.jsonl", "{}\n")
  t.equal(command(folder, "replay", "outputs/boxes-eval/0001", "--verify").code, 6)
end)

test("an evaluation goes into no folder of a training run", function(t)
  local folder = place()
  t.equal(command(folder, "run", "boxes.yaml", "--out_root", "trained").code, 0)
  local before = test.read(folder .. "/trained/summary.json")
  for _, out_root in ipairs { "trained", "trained/eval", "trained/steps/new" } do
    local done = command(folder, "eval", "boxes.yaml", "--skill", "none", "--out_root", out_root)
    t.ok(done.code == 6 or done.code == 2, out_root .. ": " .. done.code)
  end
  t.equal(test.read(folder .. "/trained/summary.json"), before)
  t.equal(file.kind(folder .. "/trained/eval_summary.json"), "none")
  eval(folder, "boxes.yaml", "--skill", "none", "--out_root", "mine", "--split", "test")
  t.equal(command(folder, "run", "boxes.yaml", "--out_root", "mine").code, 6)
end)

--------------------------------------------------------------------- run folders

test("a run in place of a file gives its configuration, data and best skill", function(t)
  local folder = place()
  t.equal(command(folder, "run", "boxes.yaml").code, 0)
  assert(file.remove("boxes.yaml", { root = folder }))
  local done = eval(folder, "outputs/boxes/latest", "--split", "test")
  local s = read_json(folder .. "/outputs/boxes/0001/summary.json")
  local e = summary_of(folder, "0001")
  t.equal({ e.n, e.hard, e.arms[1].skill_hash }, { s.test_n, s.test_hard, s.arms.best.skill_hash },
    done.out)
  eval(folder, "outputs/boxes/latest", "--skill", "initial", "--skill", "none", "--split", "test")
  t.equal(summary_of(folder, "0002").arms[1].total.hard, s.arms.initial.hard)
  t.equal(command(folder, "replay", "outputs/boxes-eval/0001", "--verify").code, 0)
end)

test("the last lines of a run show its arms, and those that were not run", function(t)
  local folder = place()
  local done = command(folder, "run", "boxes.yaml", "--out_root", "all")
  for _, line in ipairs { "\n  no skill ", "\n  initial ", "\n  best ", "\n  last ",
    "\n  best over no skill " } do
    t.ok(done.out:find(line, 1, true), line)
  end
  done = command(folder, "run", "boxes.yaml", "--out_root", "few", "evaluation.no_skill=false")
  t.ok(done.out:find("\n  no skill  not run\n", 1, true), done.out)
  t.ok(done.out:find("\n  best over no skill     not run\n", 1, true), done.out)
  done = command(folder, "run", "boxes.yaml", "--out_root", "none", "evaluation.eval_test=false")
  t.ok(done.out:find("\n  best      not run\n", 1, true), done.out)
end)

test("what the command line says is stronger than what the run had", function(t)
  local folder = place()
  t.equal(command(folder, "run", "boxes.yaml").code, 0)
  eval(folder, "outputs/boxes/0001", "--split", "test", "env.limit=3", "--target_model", "other")
  local s = summary_of(folder, "0001")
  t.equal({ s.n, s.arms[1].model }, { 3, "other" })
end)

test("a run's folder behind --skill is its best skill", function(t)
  local folder = place()
  t.equal(command(folder, "run", "boxes.yaml", "--out_root", "trained").code, 0)
  eval(folder, "boxes.yaml", "--skill", "trained", "--skill", "trained/best_skill.md", "--split",
    "test")
  t.equal(summary_of(folder, "0001").comparisons[1].ties, 12)
end)

test("an evaluation in place of a run has only the splits it was asked for", function(t)
  local folder = place()
  eval(folder, "boxes.yaml", "--skill", "none", "--split", "test", "--out_root", "mine")
  eval(folder, "mine", "--skill", "good.md", "--split", "test", "--out_root", "again")
  local function code(...)
    return command(folder, "eval", "mine", "--out_root", "more", ...).code
  end
  t.equal(code("--skill", "good.md", "--split", "val"), 3)
  t.equal(code("--skill", "initial", "--split", "test"), 2)
end)

------------------------------------------------------------------------ refused

--- Exit code and words of a command that goes wrong.
local function refused(t, code, words, ...)
  local done = command(place(), "eval", ...)
  t.equal(done.code, code, done.err)
  t.ok(done.err:find(words, 1, true), done.err)
end

test("an unknown split is refused with the nearest", function(t)
  refused(t, 2, "did you mean valid_seen?", "boxes.yaml", "--skill", "none", "--split",
    "valid_sen")
end)

test("no skill named, no such file, no configuration", function(t)
  refused(t, 2, "which skill?", "boxes.yaml")
  refused(t, 2, "--skill takes a file", "boxes.yaml", "--skill", "nowhere.md")
  refused(t, 2, "what is evaluated?", "--skill", "none")
end)

test("a skill that is no UTF-8 is refused before anything is asked", function(t)
  local folder = place()
  support.write(folder .. "/bad.md", "# \xff\n")
  local done = command(folder, "eval", "boxes.yaml", "--skill", "bad.md")
  t.equal({ done.code, (file.kind(folder .. "/outputs")) }, { 3, "none" }, done.err)
end)

test("--json ends with the summary, --quiet says nothing", function(t)
  local folder = place()
  local done = eval(folder, "boxes.yaml", "--skill", "none", "--split", "test", "--json")
  local last = json.decode(done.out:match "([^\n]+)\n$")
  t.equal({ last.event, last.n_items, last.path }, { "done", 12, "outputs/boxes-eval/0001" })
  t.equal(eval(folder, "boxes.yaml", "--skill", "none", "--split", "test", "--quiet").out, "")
end)

test("--quiet --json is the result alone, of eval and of run", function(t)
  local folder = place()
  local done = eval(folder, "boxes.yaml", "--skill", "none", "--split", "test", "--quiet", "--json")
  t.equal(json.decode(done.out).event, "done")
  done = command(process.program(), "run", "experiment.lua", "--quiet", "--json")
  t.equal({ json.decode(done.out).event, done.err }, { "done", "" })
end)
