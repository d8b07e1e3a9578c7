--- What may get into a skill, in whole runs: size and leaks, by every way text takes.
local closing = require "skillopt.run.closing"
local file = require "rt.file"
local json = require "rt.json"
local loader = require "skillopt.loader"
local policy = require "skillopt.policy"
local size = require "skillopt.size"
local skill = require "skillopt.skill"
local template = require "rt.template"
local test = require "skillopt.test"
local support = test.support "tests/lua/support.lua"

local ENV <const> = [[
local skillopt = require "skillopt"
return skillopt.env {
  name = "tiny",
  hidden = { "judge" },
  rollout = function(item, ctx)
    local said = ctx:chat { system = ctx.skill, user = item.question }.text
    return { hard = said == item.answers[1] and 1 or 0, question = item.question }
  end,
}
]]

local function items(prefix, count)
  local out = {}
  for i = 1, count do
    out[i] = { id = ("%s-item-%02d"):format(prefix, i), question = "What is thing " .. i .. "?",
      answers = { ("Answer %s %d of all"):format(prefix, i) }, judge = "if said == golden[7]:" }
  end
  return out
end

local ANSWER <const> = "- Say: Answer val 1 of all."

--- The target says what its skill tells it to say.
local function answer(request)
  local told = request.messages[1].content[1].text:find(ANSWER, 1, true)
  return { text = told and "Answer val 1 of all" or "no" }
end

--- Train with an optimizer that answers by stage; `replies[stage]` is a table or a function.
local function train(replies, more)
  local folder, seen = support.folder(), {}
  support.write_splits(folder .. "/data",
    { train = items("train", 4), val = items("val", 2), test = items("test", 2) })
  support.write(folder .. "/skill.md", "# Init\n")
  support.write(folder .. "/tiny.lua", ENV)
  support.write(folder .. "/judged.lua",
    (ENV:gsub('"tiny",', '"judged", judge = { "judge.lua" },')))
  support.write(folder .. "/judge.lua", "return function(x) return tolerance == 0.125 end\n")
  support.write(folder .. "/unjudged.lua", (ENV:gsub('"tiny",', '"judged", judge = { "gone" },')))
  local experiment = {
    train = { num_epochs = 1, batch_size = 4 }, gradient = { minibatch_size = 4 },
    optimizer = {}, evaluation = { eval_test = false }, model = { backend = "sim" },
    policy = { gate = "none", slow_update = "none", meta_skill = "none" },
    env = { name = "tiny", split_mode = "split_dir", split_dir = folder .. "/data",
      skill_init = folder .. "/skill.md" },
  }
  for section, values in pairs(more or {}) do
    for name, value in pairs(values) do experiment[section][name] = value end
  end
  local prepared = support.prepare { folder = folder, experiment = experiment }
  local result = support.train(prepared, {
    path = folder .. "/out", target = replies.target or answer,
    optimizer = function(request, stage)
      seen[stage] = seen[stage] or {}
      table.insert(seen[stage], request)
      local reply = replies[stage]
      if type(reply) == "function" then reply = reply(#seen[stage]) end
      return { text = json.encode(reply) }
    end,
  })
  return result, seen, folder .. "/out"
end

local function read(path) return json.decode(test.read(path)) end

local function analyst(...)
  local edits = json.array {}
  for i, content in ipairs { ... } do edits[i] = { op = "append", content = content } end
  return { patch = { reasoning = "r", edits = edits } }
end

local function text_of(request)
  local out = {}
  for i, message in ipairs(request.messages) do out[i] = message.content[1].text end
  return table.concat(out, "\n")
end

local REFUSE <const> = { optimizer = { leakage = "refuse" } }
local REASON <const> = 'leak: gives the answer "answer val 1 of all" of item val-item-01'

------------------------------------------------------------------------------ leaks

test("an edit that leaks is told in the step record and goes on", function(t)
  local result = train { analyst = analyst(ANSWER) }
  t.ok(result.state.skill.text:find(ANSWER, 1, true))
  t.equal(result.state.history[1].leaks,
    { { where = "document", fate = "reported", reason = REASON } })
  t.equal(result.summary.best_skill_leaks, { REASON })
  t.equal(closing.skill_lines("out", result.summary), {
    "best skill: out/best_skill.md (9 tokens: body 9, protected regions 0)",
    "remark: the best skill has 9 tokens, fewer than the 300 to 2000 that usually work best",
    "remark: 1 leak in the best skill; the first: " .. REASON })
end)

test("with refuse it goes no further than its analyst, others do", function(t)
  local result, _, out = train({ analyst = analyst(ANSWER, "- Read.") }, REFUSE)
  t.equal(result.state.skill.text, "# Init\n\n- Read.\n")
  t.equal(result.state.history[1].leaks, { { where = "analyst", fate = "leak", reason = REASON } })
  t.equal(read(out .. "/steps/step_0001/patches/minibatch_fail_000.json").dropped[1].fate, "leak")
end)

test("with off nothing is looked for", function(t)
  local result = train({ analyst = analyst(ANSWER) }, { optimizer = { leakage = "off" } })
  t.equal(result.state.history[1].leaks, nil)
end)

test("an edit that a merge made up is refused before the ranking", function(t)
  local result, _, out = train({ analyst = function(n) return analyst("- rule " .. n) end,
    merge = { edits = analyst("- Ask train-item-03.", "- Read.").patch.edits } },
    { optimizer = { leakage = "refuse" }, gradient = { minibatch_size = 2 } })
  t.equal(result.state.skill.text, "# Init\n\n- Read.\n")
  local dropped = read(out .. "/steps/step_0001/ranked_edits.json").dropped
  t.equal({ dropped[1].fate, dropped[1].reason },
    { "leak", "leak: names the item train-item-03" })
  t.equal(result.state.history[1].leaks[1].where, "edits")
end)

test("a document that leaks is asked for again and then refused", function(t)
  local result, seen = train({
    analyst = { patch = { revise_suggestions = { { type = "clarify", title = "t",
      instruction = "say it clearly" } } } },
    rewrite = { new_skill = "# New\n\nif said == golden[7]: be glad\n" },
  }, { optimizer = { leakage = "refuse", skill_update_mode = "rewrite_from_suggestions" } })
  local record = result.state.history[1]
  t.equal({ record.action, record.gate_reason, #seen.rewrite },
    { "skip_no_rewrite", 'leak: quotes what a judge reads: "if said == golden[7]:"', 2 })
  t.ok(text_of(seen.rewrite[2]):find("quotes what only a judge reads", 1, true))
  t.equal(record.leaks[1].fate, "leak")
end)

test("a whole document that leaks is no candidate", function(t)
  local result = train({
    analyst = { patch = { skill_candidates = {
      { title = "t", new_skill = "# New\n" .. ANSWER } } } },
  }, { optimizer = { leakage = "refuse", skill_update_mode = "full_rewrite_minibatch" } })
  t.equal({ result.state.skill.text, result.state.history[1].leaks[1].where },
    { "# Init\n", "analyst" })
end)

local leaky_update = policy.define {
  slot = "update", takes = "edits",
  run = function(current) return current:with_body("# Other\n" .. ANSWER .. "\n"), {} end,
}

test("what an update policy makes up itself is refused at the door", function(t)
  local result = train({ analyst = analyst "- Read." },
    { optimizer = { leakage = "refuse" }, policy = { update = leaky_update.run } })
  local record = result.state.history[1]
  t.equal({ record.action, record.gate_reason, result.state.skill.text },
    { "reject", REASON, "# Init\n" })
end)

local function guidance(mode, text, limit)
  return train({ analyst = function(n) return analyst("- rule " .. n) end,
    slow_update = { slow_update_content = text } },
    { train = { num_epochs = 2 }, policy = { slow_update = "longitudinal" },
      optimizer = { leakage = mode, max_skill_tokens = limit, slow_update_samples = 2 } })
end

test("guidance that leaks is on record, or refused", function(t)
  local result, _, out = guidance("report", ANSWER, 0)
  local slow = read(out .. "/slow_update/epoch_02/slow_result.json")
  t.equal({ slow.action, slow.leaks[1].where, slow.leaks[1].fate },
    { "force_accept", "guidance", "reported" })
  t.equal(result.state.skill.regions.slow_update, ANSWER)
  result, _, out = guidance("refuse", ANSWER, 0)
  slow = read(out .. "/slow_update/epoch_02/slow_result.json")
  t.equal({ slow.action, slow.reason }, { "no_content", REASON })
  t.equal(result.state.skill.regions.slow_update, "")
end)

local function noting(mode, limit)
  local reply = analyst "- Read."
  reply.appendix_notes = json.array { ANSWER, "Read twice." }
  return train({ analyst = reply }, { policy = { appendix = "skill_aware" },
    optimizer = { leakage = mode, max_skill_tokens = limit } })
end

test("notes that leak are on record, or left out", function(t)
  local result = noting("report", 0)
  t.equal(result.state.history[1].leaks[1], { where = "notes", fate = "reported", reason = REASON })
  t.ok(result.state.skill.text:find(ANSWER, 1, true))
  local strict, _, out = noting("refuse", 0)
  t.ok(not strict.state.skill.text:find(ANSWER, 1, true))
  t.ok(strict.state.skill.text:find("Read twice.", 1, true))
  t.equal(read(out .. "/steps/step_0001/appendix_notes.json").dropped,
    { { note = ANSWER, fate = "leak", reason = REASON } })
end)

test("what an environment declares hidden is masked in what an analyst is shown", function(t)
  local function quoting() return { text = "I saw: if said == golden[7]: and so on" } end
  local _, seen, out = train { target = quoting, analyst = analyst "- Read." }
  local shown = text_of(seen.analyst[1])
  t.ok(shown:find("I saw: [hidden] and so on", 1, true), shown)
  t.ok(not shown:find("golden", 1, true))
  t.ok(test.read(out .. "/steps/step_0001/rollout/results.jsonl"):find("golden[7]", 1, true))
end)

test("a judge's file is part of the run, and one that is missing stops it with words", function(t)
  local result = train({ analyst = analyst "- Compare with tolerance == 0.125 first." },
    { env = { name = "judged" }, optimizer = { leakage = "refuse" } })
  t.equal(result.state.history[1].leaks[1].reason,
    'leak: quotes what a judge reads: "tolerance == 0.125"')
  t.ok(result.state.run.identity.sources["./judge.lua"])
  local _, err = pcall(train, {}, { env = { name = "unjudged" } })
  t.ok(err.hint:find("`judge` names files of the environment's folder", 1, true), err.message)
end)

------------------------------------------------------------------------------- size

test("body and regions add up to the skill", function(t)
  local one = skill.new("# A skill\n\n- rule\n"):with_region("slow_update", "Guidance.")
  local tokens, body, regions = size.of(one)
  t.equal({ tokens, body + regions, body }, { one.tokens, one.tokens, 5 })
  t.equal({ size.of(skill.new "") }, { 0, 0, 0 })
end)

test("a skill above the limit may shrink, and none may grow beyond it", function(t)
  local large, small = skill.new(("word "):rep(100)), skill.new "word"
  t.equal(size.fault(large, small, 100), "over_size: 125 tokens, at most 100 are allowed")
  t.equal(size.fault(skill.new(("word "):rep(90)), large, 100), nil)
  t.equal({ size.fault(large, small, 0), size.fault(large, small, 125) }, {})
end)

test("skills of usual size are not remarked on", function(t)
  t.equal(size.remark(skill.new(("word "):rep(500))), nil)
  t.equal(size.remark(skill.new "word"),
    "the best skill has 1 tokens, fewer than the 300 to 2000 that usually work best")
  t.ok(size.remark(skill.new(("word "):rep(2000))):find("2500 tokens, more than", 1, true))
end)

test("an edit that overflows is left out, a later one may fit", function(t)
  local result, seen, out = train({ analyst = analyst(("long "):rep(20), "- Read.") },
    { optimizer = { max_skill_tokens = 12 } })
  t.equal(result.state.skill.text, "# Init\n\n- Read.\n")
  local report = read(out .. "/steps/step_0001/edit_apply_report.json")
  t.equal({ report[1].fate, report[1].status, report[2].fate },
    { "over_size", "skipped_over_size", "applied" })
  local record = result.state.history[1]
  t.equal({ record.skill_tokens, record.skill_body_tokens, record.skill_region_tokens },
    { 4, 4, 0 })
  t.ok(text_of(seen.analyst[1]):find("has 2 tokens", 1, true))
end)

test("the optimizer is told of the limit only when there is one", function(t)
  local _, seen = train { analyst = analyst "- Read." }
  t.ok(not text_of(seen.analyst[1]):find("## Size", 1, true))
end)

local SIZED <const> = { reflect = 6, aggregate = 9, select = 2, update = 1 }

test("analysts, merges, ranking and writers are told of a limit, and of none without", function(t)
  local shown = {}
  for slot in pairs(SIZED) do
    local folder = loader.home .. "/lua/policies/" .. slot .. "/prompts"
    for _, name in ipairs(file.list(folder)) do
      local prompt = template.parse(test.read(folder .. "/" .. name), { name = name })
      local values = {}
      for input in pairs(prompt:inputs()) do values[input] = "x" end
      if values.max_size then
        values.size, values.max_size = "1234", "2000"
        local told = prompt:render(values).user
        t.ok(told:find "has 1234 tokens.*have 2000 at most", name)
        values.max_size = ""
        t.ok(not prompt:render(values).user:find("tokens", 1, true), name)
        shown[slot] = (shown[slot] or 0) + 1
      end
    end
  end
  t.equal(shown, SIZED)
end)

test("a document that is too large is refused with the same word", function(t)
  local result, seen = train({
    analyst = { patch = { revise_suggestions = { { type = "clarify", title = "t",
      instruction = "say it" } } } },
    rewrite = { new_skill = ("long "):rep(20) },
  }, { optimizer = { max_skill_tokens = 12, skill_update_mode = "rewrite_from_suggestions" } })
  local record = result.state.history[1]
  t.equal({ record.action, record.gate_reason, #seen.rewrite },
    { "skip_no_rewrite", "over_size: 25 tokens, at most 12 are allowed", 2 })
  result = train({
    analyst = { patch = { skill_candidates = { { title = "t", new_skill = ("long "):rep(20) } } } },
  }, { optimizer = { max_skill_tokens = 12, skill_update_mode = "full_rewrite_minibatch" } })
  t.equal(result.state.history[1].gate_reason, "over_size: 25 tokens, at most 12 are allowed")
end)

test("guidance and notes that overflow are refused", function(t)
  local result, _, out = guidance("report", ("long "):rep(200), 200)
  local slow = read(out .. "/slow_update/epoch_02/slow_result.json")
  t.equal({ slow.action, slow.reason:match "^%a+_%a+" }, { "no_content", "over_size" })
  t.equal(result.state.skill.regions.slow_update, "")
  _, _, out = noting("report", 18)
  t.equal(read(out .. "/steps/step_0001/appendix_notes.json").dropped[1].fate, "over_size")
end)

---------------------------------------------------------------------------- context

local function wordy() return { text = ("word "):rep(500) } end

test("what was split or cut is in the records and in the log", function(t)
  local result, seen, out = train({ target = wordy, analyst = function(n)
    return analyst("- rule " .. n)
  end, merge = analyst "- Read." }, { optimizer = { prompt_tokens = 1, trajectory_tokens = 400 } })
  local record = result.state.history[1]
  t.equal({ #seen.analyst, record.n_minibatches_split, record.n_trajectories_cut },
    { 2, 1, 4 })
  local batch = record.accumulation_batches[1]
  t.equal({ batch.n_minibatches_split, batch.n_trajectories_cut }, { 1, 4 })
  local log = test.read(out .. "/log.jsonl")
  for _, words in ipairs { '"minibatch": "minibatch_fail_000", "parts": 2', '"event": "cut"',
    '"event": "over_budget"' } do
    t.ok(log:find(words, 1, true), log)
  end
end)

test("a merge that was split is in the step's record", function(t)
  local result = train({ analyst = function(n) return analyst(n .. (" rule"):rep(900)) end,
    merge = analyst "- Read." },
    { gradient = { minibatch_size = 1 }, optimizer = { prompt_tokens = 3700 } })
  t.equal(result.state.history[1].n_merges_split, 1)
end)

test("what a comparison leaves out is on record beside its result", function(t)
  local _, _, out = train({ target = wordy,
    analyst = function(n) return analyst("- rule " .. n) end,
    slow_update = { slow_update_content = "Guidance." } },
    { train = { num_epochs = 2 }, policy = { slow_update = "longitudinal" },
      optimizer = { trajectory_tokens = 400, slow_update_samples = 2 } })
  local cut = read(out .. "/slow_update/epoch_02/comparison_cut.json")
  t.equal({ #cut, math.type(cut[1].characters) }, { 4, "integer" })
end)
