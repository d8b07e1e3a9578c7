--- The arms of a run's report: no skill, initial, best, last, on the same items.
local core = require "rt.task"
local file = require "rt.file"
local json = require "rt.json"
local test = require "skillopt.test"
local support = test.support "tests/lua/support.lua"

local case = json.decode(test.read "tests/cases/f06_baseline_arm.json")

local function items(prefix, count)
  local out = {}
  for i = 1, count do
    out[i] = { id = prefix .. i, question = "What holds box " .. i .. "?", answer = "thing" }
  end
  return out
end

local function experiment(folder, evaluation)
  return { train = { num_epochs = 1, batch_size = 2, seed = 3 }, model = { backend = "sim" },
    policy = { slow_update = "none", meta_skill = "none" }, evaluation = evaluation,
    env = { name = "driven", split_mode = "split_dir", split_dir = folder .. "/data",
      skill_init = folder .. "/skill.md" } }
end

local function text_of(request)
  local out = {}
  for _, message in ipairs(request.messages) do
    for _, part in ipairs(message.content) do out[#out + 1] = part.text end
  end
  return table.concat(out, "\n")
end

--- A target that knows the answer with the marker in its skill, an analyst that proposes
--- the marker; the prompts by slot.
local function models(prompts)
  local function target(request)
    local text = text_of(request)
    prompts[core.slot()] = text
    return { text = text:find(case.skill_marker, 1, true) and "thing" or "nothing" }
  end
  local function optimizer()
    return { text = json.encode { batch_size = 1, patch = { reasoning = "r", edits = {
      { op = "append", content = "Mind " .. case.skill_marker .. "." } } } } }
  end
  return target, optimizer
end

--- Train on the driven program; the result, the prompts by slot, and the folder.
local function trained(initial, evaluation)
  local folder, prompts = support.folder(), {}
  support.write_splits(folder .. "/data",
    { train = items("t", 2), val = items("v", 2), test = items("x", case.items) })
  support.write(folder .. "/skill.md", initial)
  local run = support.prepare { folder = folder, search = { "tests/programs/driven" },
    experiment = experiment(folder, evaluation) }
  local target, optimizer = models(prompts)
  local result = support.train(run, { path = folder .. "/out", target = target,
    optimizer = optimizer })
  return result, prompts, folder .. "/out"
end

--- Is the text in a file below the folder?
local function is_below(path, text)
  for _, name in ipairs(file.list(path)) do
    local full = path .. "/" .. name
    if file.kind(full) == "folder" then
      if is_below(full, text) then return true end
    elseif test.read(full):find(text, 1, true) then
      return true
    end
  end
  return false
end

test("nothing of the trained skill reaches the arm without one (f06)", function(t)
  local _, prompts, out = trained("# Boxes\n")
  local seen = 0
  for slot, text in pairs(prompts) do
    if slot:find("test_eval_no_skill/", 1, true) then
      seen = seen + 1
      t.ok(not text:find(case.skill_marker, 1, true) and not text:find("# Boxes", 1, true), text)
    elseif slot:find("test_eval/", 1, true) then
      t.ok(text:find(case.skill_marker, 1, true), text)
    end
  end
  t.equal(seen, case.items)
  t.ok(not is_below(out .. "/test_eval_no_skill", case.skill_marker))
  t.ok(is_below(out .. "/test_eval", case.skill_marker))
end)

test("the summary has all arms on the same items, with the digests of their skills", function(t)
  local result, _, out = trained("# Boxes\n")
  local s = json.decode(test.read(out .. "/summary.json"))
  local hard, hashes = {}, {}
  for _, name in ipairs { "no_skill", "initial", "best", "last" } do
    hard[#hard + 1], hashes[s.arms[name].skill_hash] = s.arms[name].hard, true
    t.equal(s.arms[name].n, case.items, name)
  end
  t.equal(hard, { 0.0, 0.0, 1.0, 1.0 })
  t.ok(hashes[result.state.best_skill.hash])
  local one = s.comparisons[2]
  t.equal({ one.arm, one.over, one.n, one.wins, one.ties, one.losses, one.lift },
    { "best", "no_skill", 3, 3, 0, 0, 1.0 })
end)

test("an arm that was not run says so and is no 0", function(t)
  local result, prompts = trained("# Boxes\n", { no_skill = false })
  t.equal(result.summary.arms.no_skill, "not run")
  t.equal(result.summary.comparisons[1], { arm = "initial", over = "no_skill",
    verdict = "not run" })
  for slot in pairs(prompts) do t.ok(not slot:find("no_skill", 1, true), slot) end
  t.equal(result.summary.comparisons[3].wins, 3)
end)

test("without a test set no arm was run", function(t)
  local result = trained("# Boxes\n", { eval_test = false })
  for _, name in ipairs { "no_skill", "initial", "best", "last" } do
    t.equal(result.summary.arms[name], "not run")
  end
end)

test("an empty initial skill is no skill and is measured once", function(t)
  local result, prompts = trained("")
  for slot in pairs(prompts) do t.ok(not slot:find("no_skill", 1, true), slot) end
  t.equal(result.summary.arms.no_skill, result.summary.arms.initial)
end)
