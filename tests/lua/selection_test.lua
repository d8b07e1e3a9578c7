--- What is paid for on the selection set, and what the optimizer is told of rejections, in
--- whole runs with a scripted optimizer.
local file = require "rt.file"
local json = require "rt.json"
local test = require "skillopt.test"
local support = test.support "tests/lua/support.lua"

local function items(prefix, count)
  local out = {}
  for i = 1, count do out[i] = { id = prefix .. i - 1, task_type = "a" } end
  return out
end

local function edit(fields)
  return { patch = { reasoning = "r", edits = json.array { fields } } }
end

local RULE <const> = { op = "append", content = "- rule" }

--- A gate that takes nothing, or what `f` says.
local function rejects() return false end

--- Train for two epochs of two steps; `propose(n)` is the reply to the n-th analyst.
local function run(propose, more)
  local folder, seen = support.folder(), {}
  support.write_splits(folder .. "/data", { train = items("t", 8), val = items("v", 4),
    test = items("x", 2) })
  support.write(folder .. "/skill.md", "# Init\n")
  local experiment = {
    train = { num_epochs = 2, batch_size = 4 },
    gradient = { minibatch_size = 8, failure_only = true },
    optimizer = {}, evaluation = { eval_test = false }, model = { backend = "sim" },
    policy = { gate = rejects, slow_update = "none", meta_skill = "none" },
    env = { name = "traced", split_mode = "split_dir", split_dir = folder .. "/data",
      skill_init = folder .. "/skill.md" },
  }
  for section, values in pairs(more or {}) do
    for name, value in pairs(values) do experiment[section][name] = value end
  end
  local prepared = support.prepare { folder = folder, search = { "tests/programs/traced" },
    experiment = experiment }
  local result = support.train(prepared, { path = folder .. "/out",
    optimizer = function(request)
      seen[#seen + 1] = request.messages[2].content[1].text
      return { text = json.encode(propose(#seen)) }
    end })
  return result.state.history, seen, folder .. "/out"
end

--- Numbers of the steps that evaluated a candidate.
local function measured(out)
  local steps = {}
  for step = 1, 4 do
    local path = ("%s/steps/step_%04d/selection_eval/results.jsonl"):format(out, step)
    if file.kind(path) == "file" then steps[#steps + 1] = step end
  end
  return steps
end

test("a candidate that was rejected is not paid for a second time, in no epoch", function(t)
  local history, _, out = run(function() return edit(RULE) end)
  t.equal(measured(out), { 1 })
  for i = 2, 4 do
    t.equal({ history[i].action, history[i].candidate_gate_score, history[i].gate_reason },
      { "reject", history[1].candidate_gate_score, history[1].gate_reason })
  end
end)

test("another candidate is measured, and so is the same edit of another skill", function(t)
  local _, _, out = run(function(n) return edit { op = "append", content = "- rule " .. n } end)
  t.equal(measured(out), { 1, 2, 3, 4 })
  local _, _, taken = run(function() return edit(RULE) end, { policy = { gate = "none" } })
  t.equal(measured(taken), { 1, 2, 3, 4 })
end)

test("texts that differ by an empty region are one candidate", function(t)
  local _, _, out = run(function() return edit(RULE) end,
    { policy = { slow_update = "longitudinal" } })
  t.ok(test.read(out .. "/skills/skill_v0002.md"):find("SLOW_UPDATE_START", 1, true))
  t.ok(test.read(out .. "/steps/step_0003/candidate_skill.md"):find("SLOW_UPDATE", 1, true))
  t.equal(measured(out), { 1 })
end)

test("going back to a skill that was measured costs nothing", function(t)
  local moves = { { op = "replace", target = "# Init", content = "# Other" },
    { op = "replace", target = "# Other", content = "# Init" } }
  local history, _, out = run(function(n) return edit(moves[(n - 1) % 2 + 1]) end,
    { policy = { gate = "none" } })
  t.equal(measured(out), { 1 })
  t.equal({ history[2].action, history[3].candidate_gate_score },
    { "force_accept", history[1].candidate_gate_score })
end)

test("a candidate that changes nothing is not measured, nor taken without a gate", function(t)
  local nothing = { op = "replace", target = "# Nowhere", content = "x" }
  for _, gate in ipairs { "strict", "none" } do
    local history, _, out = run(function() return edit(nothing) end, { policy = { gate = gate } })
    t.equal(measured(out), {})
    t.equal({ history[1].action, history[1].gate_reason, history[1].candidate_gate_score },
      { "reject", "no_change", history[1].current_score })
  end
end)

test("without the gate every candidate is measured and taken, best moves by scores", function(t)
  local history, _, out = run(function(n)
    return edit { op = "append", content = "- rule " .. n }
  end, { evaluation = { use_gate = false }, policy = { gate = json.null } })
  t.equal(measured(out), { 1, 2, 3, 4 })
  local best = 0
  for _, r in ipairs(history) do
    t.equal({ r.action, r.current_score }, { "force_accept", r.candidate_gate_score })
    best = math.max(best, r.best_score)
    t.equal(r.best_score, best)
  end
end)

--- A gate that wants one more repeat before it rejects.
local function doubtful(candidate)
  local id = candidate:ids()[1]
  if #candidate:marks(id) < 2 then
    return "undecided", "once more", { repeats = 1, of = { "candidate" } }
  end
  return false, "seen twice"
end

test("repeats that a gate asked for are kept with the candidate", function(t)
  local history, _, out = run(function() return edit(RULE) end, { policy = { gate = doubtful } })
  t.equal(measured(out), { 1 })
  t.equal({ file.kind(out .. "/steps/step_0001/selection_eval~2"),
    file.kind(out .. "/steps/step_0002/selection_eval~2"), history[2].gate_reason },
    { "folder", "none", "seen twice" })
end)

test("the density bonus of a whole run is that of its skills", function(t)
  local history = run(function(n)
    return edit { op = "append", content = ("- must"):rep(n, " ") }
  end, { policy = { gate = "none" }, evaluation = { use_semantic_density = true,
    semantic_density_weight = 0.5, leading_words = { "must" } } })
  -- `# Init` and one `must`: one word of two
  t.equal(history[1].candidate_gate_score, history[1].selection_hard + 0.25)
end)

------------------------------------------------------------------------- memory

local function has(text, piece) return text:find(piece, 1, true) ~= nil end

test("the next analyst is told what was rejected, with both scores", function(t)
  local history, seen = run(function() return edit(RULE) end)
  t.ok(not has(seen[1], "Rejected"))
  local words = ("Rejected (score %.4f -> %.4f):\n  1. append, content \"- rule\"")
    :format(history[1].current_score, history[1].candidate_gate_score)
  t.ok(has(seen[2], words), seen[2])
end)

test("rejected edits are told in later epochs until a step with them is accepted", function(t)
  local function second_epoch(_, _, _, place) return place.step > 2 end
  local _, seen = run(function(n)
    return edit(n < 3 and { op = "append", content = "- rule " .. n } or RULE)
  end, { policy = { gate = second_epoch } })
  t.ok(has(seen[3], "rejected (score"))
  t.ok(has(seen[3], 'append, content "- rule 1"') and has(seen[3], 'append, content "- rule 2"'))
  t.ok(has(seen[4], 'append, content "- rule 1"'))
  t.ok(not has(seen[4], 'append, content "- rule"\n'))
end)

test("suggestions that were rejected are told to the analysts and to the writer", function(t)
  local _, seen = run(function(n)
    if n % 2 == 0 then return { new_skill = "# Written " .. n .. "\n" } end
    return { patch = { revise_suggestions = json.array { { type = "clarify", title = "t",
      instruction = "say it " .. n } } } }
  end, { optimizer = { skill_update_mode = "rewrite_from_suggestions" } })
  for _, call in ipairs { 3, 4, 5, 6 } do t.ok(has(seen[call], '"say it 1"'), call) end
end)
