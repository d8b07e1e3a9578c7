--- The ends of epochs, in whole runs with a scripted optimizer.
local file = require "rt.file"
local json = require "rt.json"
local test = require "skillopt.test"
local support = test.support "tests/lua/support.lua"

local function items(prefix, count)
  local out = {}
  for i = 1, count do out[i] = { id = prefix .. i - 1, task_type = "a" } end
  return out
end

local function analyst(n)
  return { patch = { reasoning = "r",
    edits = json.array { { op = "append", content = "- rule " .. n } } } }
end

--- Replies by stage; `meta(n)` answers the n-th meta call.
local function optimizer(seen, meta, analysis)
  local made = 0
  return function(request, stage)
    made = made + 1
    seen[stage] = seen[stage] or {}
    local texts = {}
    for i, message in ipairs(request.messages) do texts[i] = message.content[1].text end
    table.insert(seen[stage], table.concat(texts, "\n"))
    if stage == "meta_skill" then return { text = meta(#seen[stage]) } end
    if stage == "slow_update" then
      return { text = json.encode { slow_update_content = "Guidance " .. #seen[stage] } }
    end
    if stage == "merge" then return { text = json.encode { edits = analyst(made).patch.edits } } end
    return { text = analysis or json.encode(analyst(made)) }
  end
end

--- A run; `analysis` is what every analyst says.
local function run(more, meta, analysis)
  local folder, seen = support.folder(), {}
  support.write_splits(folder .. "/data", { train = items("t", 8), val = items("v", 4),
    test = items("x", 2) })
  support.write(folder .. "/skill.md", "# Init\n")
  local experiment = {
    train = { num_epochs = 4, batch_size = 8 }, gradient = { minibatch_size = 8 },
    optimizer = { slow_update_samples = 4 }, evaluation = { eval_test = false },
    model = { backend = "sim" },
    policy = { gate = "none", slow_update = "longitudinal", meta_skill = "epoch" },
    env = { name = "traced", split_mode = "split_dir", split_dir = folder .. "/data",
      skill_init = folder .. "/skill.md" },
  }
  for section, values in pairs(more or {}) do
    for name, value in pairs(values) do experiment[section][name] = value end
  end
  local prepared = support.prepare { folder = folder, search = { "tests/programs/traced" },
    experiment = experiment }
  local meta_reply = meta
    or function(n) return json.encode { meta_skill_content = "Memory " .. n } end
  local result = support.train(prepared, { path = folder .. "/out",
    optimizer = optimizer(seen, meta_reply, analysis) })
  return result.state, seen, folder .. "/out"
end

local function has(text, piece) return text:find(piece, 1, true) ~= nil end

test(
  "the memory of an epoch is told in the next one, never to the target, and not written at the end",
  function(t)
  local state, seen, out = run()
  t.equal(#seen.meta_skill, 2) -- of epochs 2 and 3; nothing could use that of epoch 4
  t.ok(not has(seen.analyst[2], "Memory"))
  t.ok(has(seen.analyst[#seen.analyst], "Memory 2"))
  t.ok(not has(state.skill.text, "Memory"))
  t.equal(json.decode(test.read(out .. "/meta_skill/epoch_02/meta_skill_result.json")).action,
    "write_meta_skill")
end)

test("a failed call keeps the memory there was", function(t)
  local state, seen, out = run(nil, function(n)
    return n == 1 and json.encode { meta_skill_content = "Memory 1" } or "nothing of use"
  end)
  t.equal(state.meta, "Memory 1")
  t.ok(has(seen.analyst[#seen.analyst], "Memory 1"))
  t.equal(json.decode(test.read(out .. "/meta_skill/epoch_03/meta_skill_result.json")).action,
    "no_content")
end)

test("guidance overwrites guidance, in the current skill alone", function(t)
  local state, seen, out = run()
  t.equal(state.skill.regions.slow_update, "Guidance 3")
  t.ok(has(seen.slow_update[2], "Guidance 1"))
  t.ok(not has(test.read(out .. "/best_skill.md"), "Guidance 3"))
end)

local function without_guidance(candidate) return not has(candidate.skill.text, "Guidance") end

test("a skill that was changed unmeasured is marked until a measured one takes its place",
  function(t)
  local _, _, out = run { policy = { gate = without_guidance } }
  local history = json.decode(test.read(out .. "/history.json"))
  t.equal({ history[2].current_is_unmeasured, history[3].current_is_unmeasured }, { nil, true })
  t.equal(history[3].current_score, history[2].current_score)
  t.equal(json.decode(test.read(out .. "/runtime_state.json")).current_is_unmeasured, true)
  local _, _, taken = run()
  t.equal(json.decode(test.read(taken .. "/history.json"))[3].current_is_unmeasured, nil)
end)

test("with remeasure the gate compares with a score of the current text", function(t)
  local _, _, out = run { evaluation = { remeasure = true }, policy = { gate = without_guidance } }
  t.ok(test.read(out .. "/steps/step_0003/selection_eval_current/results.jsonl") ~= "")
  local history = json.decode(test.read(out .. "/history.json"))
  t.equal({ history[3].current_is_unmeasured, history[3].current_origin },
    { nil, "slow_update_epoch_02" })
end)

test("a skill that did not change is not compared", function(t)
  local _, seen, out = run { optimizer = { learning_rate = 0, min_learning_rate = 0 } }
  t.equal({ seen.slow_update, seen.meta_skill }, {})
  t.equal(json.decode(test.read(out .. "/slow_update/epoch_02/slow_result.json")),
    { action = "no_content", reason = "the skill did not change in this epoch" })
  for _, place in ipairs { "slow_update", "meta_skill" } do
    t.equal((file.kind(("%s/%s/epoch_02/rollout_prev"):format(out, place))), "none")
  end
end)

test("a rate of 0 ranks nothing, changes nothing and measures nothing", function(t)
  local state, seen, out = run { policy = { rate = function() return 0 end } }
  t.equal({ seen.ranking, #state.history }, { nil, 4 })
  for i, r in ipairs(state.history) do
    t.equal({ r.action, r.gate_reason, r.edit_budget }, { "reject", "no_change", 0 })
    t.equal((file.kind(("%s/steps/step_%04d/selection_eval"):format(out, i))), "none")
  end
  t.equal(test.read(out .. "/best_skill.md"), "# Init\n")
end)

test("gated guidance is measured, and stays out when the gate says no", function(t)
  local state, seen, out = run { policy = { gate = without_guidance },
    optimizer = { slow_update_gate_with_selection = true } }
  t.ok(#seen.slow_update > 0)
  local result = json.decode(test.read(out .. "/slow_update/epoch_02/slow_result.json"))
  t.equal(result.action, "reject")
  t.equal(math.type(result.selection_hard), "float")
  t.equal(state.skill.regions.slow_update, "")
end)

test("gated guidance that the gate accepts is current, with its own score and origin", function(t)
  local state, _, out = run { policy = { gate = function() return true end },
    optimizer = { slow_update_gate_with_selection = true } }
  local result = json.decode(test.read(out .. "/slow_update/epoch_04/slow_result.json"))
  t.ok(result.action:find "^accept")
  t.equal({ state.current_origin, state.is_unmeasured }, { "slow_update_epoch_04", nil })
  t.equal(state.current.skill.text, state.skill.text)
  t.equal(state.skill.regions.slow_update, "Guidance 3")
end)

test("the memory is written from rollouts of its own when there is no slow update", function(t)
  local state, seen, out = run { policy = { slow_update = "none" } }
  t.equal({ seen.slow_update, #seen.meta_skill }, { nil, 2 })
  t.equal((file.kind(out .. "/meta_skill/epoch_02/rollout_prev")), "folder")
  t.equal((file.kind(out .. "/meta_skill/epoch_04/rollout_prev")), "none")
  t.equal(json.decode(test.read(out .. "/meta_skill/epoch_04/meta_skill_result.json")),
    { action = "no_content", reason = "no later epoch could use it" })
  t.equal(json.decode(test.read(out .. "/meta_skill/epoch_01/meta_skill_result.json")),
    { action = "skip_first_epoch", epoch = 1 })
  t.equal(state.skill.regions.slow_update, nil)
end)

test("notes are kept in steps without an edit, and never get into the best skill", function(t)
  local noted = json.encode { patch = { reasoning = "r", edits = json.array {} },
    appendix_notes = { "Read the question twice." } }
  local state, _, out = run({ policy = { appendix = "skill_aware", slow_update = "none",
    meta_skill = "none" } }, nil, noted)
  local history = json.decode(test.read(out .. "/history.json"))
  t.equal({ history[1].action, history[1].n_appendix_notes_total }, { "skip_no_patches", 1 })
  t.ok(has(test.read(out .. "/skills/skill_v0001.md"), "- Read the question twice."))
  t.ok(has(state.skill.text, "- Read the question twice."))
  t.ok(not has(test.read(out .. "/best_skill.md"), "Read the question twice."))
end)

test("where only changes count, items behind the sample are tried until there are enough",
  function(t)
  local _, _, out = run { optimizer = { longitudinal_pair_policy = "changed",
    slow_update_samples = 2 } }
  for _, pair in ipairs(json.decode(test.read(
    out .. "/slow_update/epoch_02/comparison_pairs.json"))) do
    t.ok(pair.category == "improved" or pair.category == "regressed")
  end
  local all = json.decode(test.read(out .. "/slow_update/epoch_02/comparison_pairs_all.json"))
  t.ok(#all >= 2)
end)
