--- Files of the user's that fail while a run goes on: what is said, how it ends, and that the
--- same command goes on with the mended file.
local contract = require "skillopt.contract"
local env_of = require "skillopt.env"
local file = require "rt.file"
local json = require "rt.json"
local plugin = require "skillopt.plugin"
local policy = require "skillopt.policy"
local skill = require "skillopt.skill"
local test = require "skillopt.test"
local support = test.support "tests/lua/support.lua"
local process = test.support "tests/lua/process.lua"

local GATE <const> = [[
local policy = require "skillopt.policy"
local function margin(run)
  return run.decisions[1].margin.wanted
end
return policy.define { slot = "gate", run = function(candidate, current, _, run)
  if run.step == 2 then return candidate.score > current.score + margin(run) end
  return candidate.score > current.score, "above"
end }
]]

local MENDED <const> = [[
local policy = require "skillopt.policy"
return policy.define { slot = "gate", run = function(candidate, current)
  return candidate.score > current.score, "above"
end }
]]

local REFLECT <const> = [[
local policy = require "skillopt.policy"
local function wanted(step)
  return step.margin.wanted
end
return policy.define { slot = "reflect", run = function(_, ctx)
  local list = {}
  if ctx.step.number == 2 then list[1] = wanted(ctx.step) end
  return list
end }
]]

--- A folder with the driven program and a gate of its own.
local function with_gate(text)
  local folder = process.program()
  support.write(folder .. "/mine.lua", text)
  return folder
end

--- `skillopt run` itself, with the simulated models.
local function run(folder, ...)
  return process.run({ "run", "experiment.lua", ... }, { before = "cd " .. folder .. " &&" })
end

local function has(t, text, words)
  if not text:find(words, 1, true) then t.equal(text, words) end
end

test("a policy that fails in step 2 says so, names the line and ends with 2", function(t)
  local done = run(with_gate(REFLECT), "policy.reflect=mine", "--quiet")
  t.equal(done.code, 2)
  has(t, done.err, 'skillopt: config: policy.reflect "mine" failed in step 2 of 2, epoch 1 '
    .. "(steps/step_0002): ./mine.lua:3: attempt to index a nil value (field 'margin')")
  has(t, done.err, "it was called as run(evaluation, ctx, opt); mend the file and give the same "
    .. "command again: it goes on in the next folder")
  has(t, done.err, "\n  called from ./mine.lua:7\n")
  t.equal(done.err:find "lua/skillopt", nil)
  t.equal(done.err:find "stack traceback", nil)
end)

test("the whole traceback of a policy that failed is in the log", function(t)
  local folder = with_gate(REFLECT)
  run(folder, "policy.reflect=mine", "--quiet")
  local log = test.read(folder .. "/outputs/" .. file.list(folder .. "/outputs")[1]
    .. "/0001/log.jsonl")
  has(t, log, '"event": "plugin_failed"')
  has(t, log, "lua/skillopt/train.lua")
end)

--- Drive a run to its end with a gate that fails in step 2, then with the mended one.
local function mended(args)
  local folder = with_gate(GATE)
  local first = process.drive(folder, { args = args })
  support.write(folder .. "/mine.lua", MENDED)
  return first, process.drive(folder, { args = args }), folder
end

--- An undisturbed run.
local function whole(args)
  return process.drive(with_gate(MENDED), { args = args })
end

test("the same command with the mended gate is a fork that pays nothing twice", function(t)
  local args = { "policy.gate=mine" }
  local first, second = mended(args)
  local all = whole(args)
  t.equal({ first.ok, first.err.kind, second.ok, second.mode },
    { false, "config", true, "fork" })
  has(t, first.err.message, 'policy.gate "mine" failed in step 2 of 2, epoch 1 (steps/step_0002)')
  t.equal(#first.asked + #second.asked, #all.asked)
  t.equal(second.summary.best_selection_hard, all.summary.best_selection_hard)
end)

test("in a folder that was named the run goes on where it was", function(t)
  local args = { "policy.gate=mine", "env.out_root=out" }
  local first, second, folder = mended(args)
  local all = whole(args)
  has(t, first.err.hint, "the run goes on in out, where it was")
  t.equal({ first.ok, second.ok, second.mode }, { false, true, "continue" })
  t.equal(#first.asked + #second.asked, #all.asked)
  t.ok(file.exists(folder .. "/out/best_skill.md"))
end)

test("a function of the experiment's own is found by its line", function(t)
  local folder = process.program()
  support.write(folder .. "/experiment.lua", (test.read(folder .. "/experiment.lua"):gsub(
    "slow_update = ", "metric = function(marks) return marks.none end, %0")))
  local done = run(folder, "--quiet")
  t.equal(done.code, 2)
  has(t, done.err, 'policy.metric "inline": it must answer a finite number, got nil for the item')
  has(t, done.err, "(the function at experiment.lua:8)")
end)

test("feedback and task types of an environment are its author's too", function(t)
  for _, field in ipairs { "feedback", "task_type" } do
    local folder = process.program()
    local text = test.read(folder .. "/driven.lua"):gsub("  feedback = [^\n]+\n", "")
    support.write(folder .. "/driven.lua", (text:gsub('name = "driven",', function(name)
      return name .. (" %s = function(item) return item.none.x end,"):format(field)
    end)))
    local done = run(folder, "--quiet")
    t.equal(done.code, 2)
    has(t, done.err, ('%s of environment "driven" failed in '):format(field))
    has(t, done.err, "driven.lua:5: attempt to index a nil value (field 'none')")
  end
end)

test("a rollout that raises stays a failed item", function(t)
  local env = env_of.ready { name = "x", rollout = error }
  t.equal(env.rollout, error)
end)

test("an environment's items that raises is a problem of the data", function(t)
  local folder = process.program()
  support.write(folder .. "/driven.lua", (test.read(folder .. "/driven.lua"):gsub(
    'name = "driven",', "%0 items = function(raw) return { id = raw.none.x } end,")))
  local done = run(folder, "--quiet")
  t.equal(done.code, 3)
  has(t, done.err, "the environment's items raised: ./driven.lua:5: attempt to index")
end)

---------------------------------------------------------------------- in one process

local function call(f) return plugin.call('policy.x "y"', "run()", f) end

test("what has a kind passes through as it is", function(t)
  for _, kind in ipairs { "network", "cancelled", "budget", "refused", "io" } do
    local err = { kind = kind, message = "m" }
    t.ok(rawequal(t.raises(plugin.guard(call(function() error(err, 0) end))), err))
  end
end)

test("whatever else is raised has words", function(t)
  local cases = { [1] = { 42, "it raised 42" }, [2] = { {}, "it raised a table without a message" },
    [3] = { nil, "it raised nil" }, [4] = { { kind = "bug", message = "mine" }, ": mine" },
    [5] = { "no position", ": no position" }, [6] = { { kind = "odd", message = "m" }, ": m" } }
  for i = 1, 6 do
    local value = cases[i][1]
    local err = t.raises(plugin.guard(call(function() error(value, 0) end)))
    t.equal(err.kind, "config")
    has(t, err.message, 'policy.x "y" failed')
    has(t, err.message, "tests/lua/plugin_test.lua:")
    has(t, err.message, cases[i][2])
  end
end)

test("a call that the library refuses gets its place", function(t)
  local asked = { kind = "config", message = "there is no prompt", hint = "h", fatal = true }
  local err = t.raises(plugin.guard(call(function() error(asked, 0) end)))
  t.equal({ err.kind, err.hint, err.fatal, err.message:gsub("%d+%)$", "N)") }, { "config", "h",
    true, 'there is no prompt (policy.x "y", at tests/lua/plugin_test.lua:N)', 1 })
  t.equal(asked.message, "there is no prompt")
end)

test("a prompt that a policy asks for and nobody has is said with the line", function(t)
  local folder = with_gate((REFLECT:gsub("wanted%(ctx.step%)", "ctx:prompt('nope', {})")))
  local done = run(folder, "policy.reflect=mine", "--quiet")
  t.equal(done.code, 2)
  has(t, done.err, "there is no prompt 'nope'")
  has(t, done.err, '(policy.reflect "mine" in step 2 of 2, epoch 1 (steps/step_0002), at '
    .. "./mine.lua:7)")
end)

test("what a task of the library raised stays a fault of the program", function(t)
  local err = { kind = "bug", message = "deep", traceback = "\nstack traceback:\n\t"
    .. require("skillopt.loader").home .. "/lua/skillopt/contract.lua:7: in function 'x'" }
  t.ok(rawequal(t.raises(plugin.guard(call(function() error(err, 0) end))), err))
end)

test("a gate that waits is refused with its line, a rate that says so may", function(t)
  local task = require "skillopt.task"
  local function wait() return task.map({ 3 }, function(n) return n end, { label = "w" })[1] end
  local gate = policy.instance(policy.define { slot = "gate", run = wait }, {})
  local ok, err = pcall(gate.run)
  t.equal({ ok, err.kind }, { false, "config" })
  has(t, err.message, "plugin_test.lua:")
  has(t, err.message, "it waits for a model")
  local rate = policy.instance(policy.define { slot = "rate", waits = true, run = wait }, {})
  t.equal(rate.run(), 3)
  local still = policy.instance(policy.define { slot = "rate", run = wait }, {})
  t.equal(pcall(still.run), false)
end)

test("a shipped function is called as it is", function(t)
  local loader = require "skillopt.loader"
  local strict = loader.user_file(loader.home .. "/lua/policies/gate/strict.lua")
  local one = plugin.call("policy.gate", "run()", strict.run)
  t.equal({ one.is_shipped, plugin.guard(one) == strict.run }, { true, true })
end)

--- Answers that a slot does not take: slot, function, words, then what is answered.
local WRONG <const> = {
  { "metric", "item", "a finite number, got nil" },
  { "metric", "item", "a finite number, got \"1\"", "1" },
  { "metric", "adjust", "a finite number", 0 / 0 },
  { "gate", "run", "got a table", {} },
  { "gate", "hopeless", 'true or false, got "no"', "no" },
  { "rate", "run", "at least 0, got 1.5", 1.5 },
  { "rate", "run", "is a table, got \"x\"", 1, "x" },
  { "reflect", "run", "entry 1 is none", { 5 } },
  { "reflect", "run", "entry 1 is none", { { patch = "x" } } },
  { "reflect", "run", "raw patch 1 cannot be written down",
    { { patch = { edits = {}, f = print } } } },
  { "aggregate", "run", "its 'edits' is no list", { reasoning = "r" } },
  { "select", "run", "item 1 of its patch is no table", { edits = { "x" } } },
  { "update", "run", "a skill (as skill:apply makes one) or nil, got \"text\"", "text" },
  { "update", "run", "the fates of the edits are a list", skill.new "a", 5 },
  { "update", "run", "what changed is a list of texts", skill.new "a", {}, { 5 } },
  { "update", "run", "why there is no new skill is a text", nil, {} },
  { "slow_update", "run", "its reason is a text", "t", {} },
  { "meta_skill", "run", "a text or nil, got 5", 5 },
  { "appendix", "run", "a list of notes, which are texts", { 5 } },
  { "appendix", "compact", "a list of notes, which are texts", "x" },
  { "environment", "task_type", "a text, got nil" },
  { "environment", "feedback", "a text or nil, got a table", {} },
}

test("an answer that its slot does not take names the function and what it was", function(t)
  for _, case in ipairs(WRONG) do
    local answers = table.pack(table.unpack(case, 4))
    local f = contract.of(case[1], case[2], call(function() return table.unpack(answers) end))
    local err = t.raises(f, case[3])
    t.equal({ err.kind, err.message:match "^policy%.x \"y\": " }, { "config", 'policy.x "y": ' })
    has(t, err.message, "(the function at tests/lua/plugin_test.lua:")
  end
end)

test("good answers go through whole", function(t)
  local raws = { { malformed = true }, { patch = { edits = json.array {} } } }
  local new = skill.new "a"
  for _, case in ipairs { { "reflect", "run", raws }, { "update", "run", new, {}, { "c" } },
    { "update", "run", nil, "why" }, { "appendix", "compact", nil },
    { "gate", "hopeless", true } } do
    local answers = table.pack(table.unpack(case, 3))
    local f = contract.of(case[1], case[2],
      call(function() return table.unpack(answers, 1, answers.n) end))
    t.equal(table.pack(f()), answers)
  end
end)

test("an item is named while it is asked about, and by no later mistake", function(t)
  local wrong = plugin.guard(plugin.call("policy.rate", "run()", function() error "no rate" end))
  local function names_it()
    local ok, err = pcall(wrong)
    t.equal(ok, false)
    return err.message:find("item 7", 1, true) ~= nil
  end
  local weather = { kind = "network", message = "gone", retry = true }
  local function asks(f)
    local ending <close> = plugin.about "item 7"
    f()
  end
  asks(function() t.equal(names_it(), true) end)
  t.equal(names_it(), false)
  local prepare = plugin.call("env.prepare", "prepare(item)", function() error(weather) end)
  for _, is_shipped in ipairs { false, true } do
    prepare.is_shipped = is_shipped
    t.equal({ pcall(asks, plugin.guard(prepare)) }, { false, weather })
    t.equal(names_it(), false)
  end
end)
