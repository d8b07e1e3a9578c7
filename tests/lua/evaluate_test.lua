--- Rolling a skill out: three states, a second pass, coverage, the seal, what is left on
--- disk.
local effect = require "skillopt.effect"
local file = require "rt.file"
local flow = require "rt.flow"
local journal = require "rt.journal"
local json = require "rt.json"
local stdout = require "rt.stdout"
local task = require "skillopt.task"
local test = require "skillopt.test"
local bench = test.support "tests/lua/bench.lua"
local support = test.support "tests/lua/support.lua"

local function pause(n)
  for _ = 1, n do task.map({ 1 }, function() end, { label = "pause" }) end
end

--- A rollout that marks 1 and raises for the items of the table, as often as it says.
local function failing(times, make_error)
  local left = {}
  for id, n in pairs(times) do left[id] = n end
  return function(item)
    if (left[item.id] or 0) > 0 then
      left[item.id] = left[item.id] - 1
      error((make_error or bench.weather)(), 0)
    end
    return { hard = 1, soft = 0.5 }
  end
end

local ALWAYS <const> = 1000

local function states(value, items)
  local out = {}
  for i, item in ipairs(items) do out[i] = value:state(item.id) end
  return out
end

-------------------------------------------------------------------------- states

test("an item is ok, no_answer or failed, and only a failed one has no mark", function(t)
  local items = bench.items(3)
  local run = bench.run { env = { rollout = function(item, ctx)
    if item.number == 1 then return { hard = 1, soft = 0.5 } end
    if item.number == 2 then ctx:no_answer "said nothing" end
    error(bench.weather(), 0)
  end } }
  local value = bench.evaluate(run, items)
  t.equal(states(value, items), { "ok", "no_answer", "failed" })
  t.equal({ value:marks "q1", value:marks "q2", value:marks "q3" }, { { 1 }, { 0 }, {} })
  t.equal({ value.n, value:mean "hard", value:mean "soft" }, { 2, 0.5, 0.25 })
end)

test("refused, filtered, too long and cut replies are no_answer", function(t)
  for _, kind in ipairs { "refused", "filtered", "too_long", "truncated" } do
    local run = bench.run { env = { rollout = function()
      error({ kind = kind, message = "m" }, 0)
    end } }
    t.equal(bench.evaluate(run, bench.items(2)):state "q1", "no_answer", kind)
  end
end)

test("a fault of the environment is failed, not zero", function(t)
  local faults = {
    bug = function() return ("x") + 1 end,
    data = function() return { hard = 0 / 0 } end,
    usage = function(_, ctx) return ctx:chat { usr = 1 } end,
  }
  for _, f in pairs(faults) do
    local run = bench.run { env = { rollout = function(item, ctx)
      if item.number == 2 then return f(item, ctx) end
      return { hard = 0 }
    end } }
    local value = bench.evaluate(run, bench.items(2))
    t.equal({ value:state "q2", value.n, value:mean "hard" }, { "failed", 1, 0.0 })
  end
end)

test("marks that are no numbers from 0 to 1 are failed", function(t)
  for _, mark in ipairs { 0 / 0, 1 / 0, -1 / 0, 2, -0.5, "1", {} } do
    local run = bench.run { env = { rollout = function(item)
      if item.number == 2 then return { hard = mark } end
      return { hard = 1 }
    end } }
    t.equal(bench.evaluate(run, bench.items(2)):state "q2", "failed")
  end
end)

test("a mark that is not finite is no mark, and a missing soft mark is the hard one", function(t)
  local case = json.decode(test.read "tests/cases/a14_nan_scores.json", { allow_nan = true })
  local by_id, path = {}, support.folder() .. "/out"
  for _, mark in ipairs(case.results) do by_id[mark.id] = mark end
  local run = bench.run { path = path,
    env = { rollout = function(item) return by_id[item.id] end } }
  local err = t.raises(function() bench.evaluate(run, case.results) end)
  t.ok(err.message:find("2 of 3 items failed", 1, true), err.message)
  t.equal(bench.evaluate(run, { by_id.q2, by_id.q3 }):marks("q3", "soft"), { 1 })
end)

test("a rollout without a result is failed", function(t)
  local run = bench.run { env = { rollout = function(item)
    if item.number == 1 then return { hard = 1 } end
  end } }
  t.equal(bench.evaluate(run, bench.items(2)):state "q2", "failed")
end)

test("a mark that cannot be written down is failed, and the others stand", function(t)
  local odd = { function() end, { 1, nil, 3, x = 2 }, "\xff\xfe" }
  for i, value in ipairs(odd) do
    local path = support.folder() .. "/out"
    local run = bench.run { path = path, env = { rollout = function(item)
      return { hard = 1, extra = item.number == 2 and value or nil }
    end } }
    local got = bench.evaluate(run, bench.items(2))
    t.equal({ got:state "q1", got:state "q2" }, { "ok", "failed" }, "value " .. i)
  end
end)

test("no_answer is shown apart in the rows", function(t)
  local path = support.folder() .. "/out"
  local run = bench.run { path = path,
    env = { rollout = function(_, ctx) ctx:no_answer "turn limit" end } }
  bench.evaluate(run, bench.items(1))
  local row = bench.rows(path .. "/eval/results.jsonl")[1]
  t.equal({ row.state, row.hard, row.soft, row.fail_reason, row.predicted_answer },
    { "no_answer", 0, 0, "no answer: turn limit", "" })
end)

test("a failed row has a reason in stable words and no marks", function(t)
  local path = support.folder() .. "/out"
  local run = bench.run { path = path, env = { rollout = failing { q2 = ALWAYS } } }
  bench.evaluate(run, bench.items(2))
  local row = bench.rows(path .. "/eval/results.jsonl")[2]
  t.equal({ row.state, row.kind, row.hard, row.soft, row.fail_reason },
    { "failed", "network", nil, nil, "the connection to the model failed" })
end)

test("the raw words of a failure are in the log", function(t)
  local run = bench.run { env = { rollout = failing { q2 = ALWAYS } } }
  bench.evaluate(run, bench.items(2))
  t.equal({ run.logged[1].event, run.logged[1].slot, run.logged[1].message },
    { "failed", "eval/q2", "it is down" })
end)

----------------------------------------------------------------- pass two, coverage

local function count_rollouts(times, items, options)
  local calls = 0
  local inner = failing(times, options and options.error)
  local run = bench.run { env = { rollout = function(item, ctx)
    calls = calls + 1
    return inner(item, ctx)
  end } }
  local ok, value = pcall(bench.evaluate, run, items, options and options.evaluate)
  return ok, value, calls, run
end

test("one failed item of twenty is covered and is not tried again", function(t)
  local ok, value, calls = count_rollouts({ q5 = ALWAYS }, bench.items(20))
  t.equal({ ok, calls, value.n, value.coverage }, { true, 20, 19, 0.95 })
end)

test("two failed items of twenty get a second pass", function(t)
  local ok, value, calls = count_rollouts({ q5 = 1, q9 = 1 }, bench.items(20))
  t.equal({ ok, calls, value.n }, { true, 22, 20 })
end)

test("two that fail twice of twenty stop the run with the reason", function(t)
  local ok, err, calls = count_rollouts({ q5 = ALWAYS, q9 = ALWAYS }, bench.items(20))
  t.equal({ ok, calls, err.kind, err.fatal }, { false, 22, "network", true })
  t.ok(err.message:find("2 of 20 items failed: it is down", 1, true), err.message)
  t.ok(err.hint:find("run the same command again", 1, true), err.hint)
end)

test("five failed items of a hundred are covered, six are not", function(t)
  local times = { q1 = ALWAYS, q2 = ALWAYS, q3 = ALWAYS, q4 = ALWAYS, q5 = ALWAYS }
  t.equal(count_rollouts(times, bench.items(100)), true)
  times.q6 = ALWAYS
  t.equal(count_rollouts(times, bench.items(100)), false)
end)

test("an evaluation in which all failed stops, however small", function(t)
  local ok, err = count_rollouts({ q1 = ALWAYS }, bench.items(1))
  t.equal({ ok, err.kind }, { false, "network" })
end)

test("the most frequent reason is given", function(t)
  local n = 0
  local ok, err = count_rollouts({ q1 = ALWAYS, q2 = ALWAYS, q3 = ALWAYS }, bench.items(3),
    { error = function()
    n = n + 1
    return bench.weather(n == 1 and "network" or "server")
  end })
  t.equal({ ok, err.kind }, { false, "server" })
end)

test("training rollouts go on when half of them answered", function(t)
  local feedback = { evaluate = { feedback = true } }
  local ok, value = count_rollouts({ q1 = ALWAYS, q2 = ALWAYS }, bench.items(4), feedback)
  t.equal({ ok, value.n }, { true, 2 })
  t.equal(count_rollouts({ q1 = ALWAYS, q2 = ALWAYS, q3 = ALWAYS }, bench.items(4), feedback),
    false)
end)

test("a fault of the environment gets no second pass", function(t)
  local ok, err, calls = count_rollouts({ q1 = ALWAYS, q2 = ALWAYS }, bench.items(4),
    { error = function() return { kind = "data", message = "bad item" } end })
  t.equal({ ok, err.kind, calls }, { false, "data", 4 })
end)

test("an evaluation of nothing has no score and does not stop", function(t)
  local ok, value = count_rollouts({}, {})
  t.equal({ ok, value.n, value.score }, { true, 0, nil })
end)

test("a policy cannot go on after an evaluation that measured nothing", function(t)
  local run = bench.run { env = { rollout = function() error("bug", 0) end } }
  t.raises(function()
    bench.at(run, function(ctx)
      return ctx:try(function() return ctx:evaluate("s", bench.items(3)) end)
    end)
  end)
end)

test("cancelled and budget end the run, not the item", function(t)
  for _, kind in ipairs { "cancelled", "budget" } do
    local run = bench.run { env = { rollout = function()
      error({ kind = kind, message = "stop" }, 0)
    end } }
    t.equal(t.raises(function() bench.evaluate(run, bench.items(2)) end).kind, kind)
  end
end)

test("a first call that fails ends the run at once", function(t)
  local calls = 0
  local run = bench.run { workers = 1, env = { rollout = function()
    calls = calls + 1
    error({ kind = "auth", message = "no key", fatal = true }, 0)
  end } }
  t.equal(t.raises(function() bench.evaluate(run, bench.items(5)) end).kind, "auth")
  t.equal(calls, 1)
end)

test("a log that cannot be written is said once and changes no score", function(t)
  local path, said = support.folder() .. "/out", {}
  assert(file.mkdir(path .. "/log.jsonl"))
  local run = bench.run { path = path, env = { rollout = failing { q1 = ALWAYS, q2 = ALWAYS } } }
  local write = stdout.error
  stdout.error = function(text) said[#said + 1] = text end
  local ok, value = pcall(bench.evaluate, run, bench.items(40))
  stdout.error = write
  t.ok(ok, value)
  t.equal({ value.n, #value.failed, #said }, { 38, 2, 1 })
  t.ok(said[1]:find("log.jsonl", 1, true), said[1])
end)

---------------------------------------------------------------------------- seal

local function sealed_run(j, rollout, more)
  local options = { journal = j, env = { rollout = rollout } }
  for k, v in pairs(more or {}) do options[k] = v end
  return bench.run(options)
end

test("the seal says how many were decided, which failed and what was spent", function(t)
  local j <close> = assert(journal.open())
  local run = sealed_run(j, function(item, ctx)
    if item.number == 3 then error(bench.weather "server", 0) end
    return { hard = #ctx:chat({ user = item.id }).text }
  end, { target = function() return { text = "x" } end })
  bench.evaluate(run, bench.items(4))
  t.equal(json.decode(j:read(j:find("value", "eval", "seal"))),
    { n = 4, decided = 4, failed = { { "q3", 1, "server" } }, spent = { calls = 3, tokens = 6 } })
end)

test("a sealed failed item is not started again", function(t)
  local j <close> = assert(journal.open())
  bench.evaluate(sealed_run(j, failing { q2 = ALWAYS }), bench.items(3))
  local started = {}
  local value = bench.evaluate(sealed_run(j, function(item)
    started[#started + 1] = item.id
    return { hard = 1 }
  end), bench.items(3))
  t.equal({ started, value:state "q2" }, { { "q1", "q3" }, "failed" })
end)

test("an evaluation without a seal starts all its items", function(t)
  local j <close> = assert(journal.open())
  pcall(bench.evaluate, sealed_run(j, failing { q1 = ALWAYS, q2 = ALWAYS }), bench.items(3))
  local started = {}
  bench.evaluate(sealed_run(j, function(item)
    started[#started + 1] = item.id
    return { hard = 1 }
  end), bench.items(3))
  t.equal(started, { "q1", "q2", "q3" })
end)

test("a resumed evaluation pays only for what is not on file", function(t)
  local j <close> = assert(journal.open())
  local asked = {}
  local function rollout(item, ctx)
    return { hard = #ctx:chat({ user = item.id }).text }
  end
  local down = true
  local function target(request)
    local id = request.messages[1].content[1].text
    if down and id ~= "q1" then error(bench.weather(), 0) end
    asked[#asked + 1] = id
    return { text = "x" }
  end
  pcall(bench.evaluate, sealed_run(j, rollout, { target = target }), bench.items(3))
  down = false
  bench.evaluate(sealed_run(j, rollout, { target = target }), bench.items(3))
  t.equal(asked, { "q1", "q2", "q3" })
end)

test("what a sealed evaluation had spent is spent again when it is resumed", function(t)
  local j <close> = assert(journal.open())
  local tries = 0
  local function rollout(item, ctx)
    ctx:chat { user = item.id }
    tries = tries + 1
    if item.number == 2 then error(bench.weather(), 0) end
    return { hard = 1 }
  end
  local function spent()
    local run = sealed_run(j, rollout, { target = function() return { text = "x" } end })
    return bench.at(run, function(ctx)
      ctx:evaluate("s", bench.items(20), { label = "eval" })
      return ctx.spent
    end)
  end
  local first = spent()
  t.equal(first.calls, 20)
  t.equal(spent(), first)
end)

test("an item that was sealed as answered and now fails stops the run", function(t)
  local j <close> = assert(journal.open())
  bench.evaluate(sealed_run(j, failing {}), bench.items(3))
  local err = t.raises(function()
    bench.evaluate(sealed_run(j, function() error("a new bug", 0) end), bench.items(3))
  end)
  t.ok(tostring(err.message):find("eval/q1", 1, true)
    or tostring(err.message):find("a new bug", 1, true),
    tostring(err.message))
end)

test("a seal over another number of items stops the run", function(t)
  for _, n in ipairs { 2, 4 } do
    local j <close> = assert(journal.open())
    bench.evaluate(sealed_run(j, failing {}), bench.items(3))
    local err = t.raises(function()
      bench.evaluate(sealed_run(j, failing {}), bench.items(n))
    end)
    t.equal(err.kind, "io")
    t.ok(err.message:find(("with 3 tries and has %d now"):format(n), 1, true), err.message)
  end
end)

test("each label has its own seal, a label used again too", function(t)
  local j <close> = assert(journal.open())
  local run = sealed_run(j, failing {})
  bench.at(run, function(ctx)
    ctx:evaluate("s", bench.items(1), { label = "selection_eval" })
    ctx:evaluate("s", bench.items(1), { label = "selection_eval" })
  end)
  t.ok(j:find("value", "selection_eval", "seal"))
  t.ok(j:find("value", "selection_eval~2", "seal"))
end)

------------------------------------------------------------------------- repeats

test("repeats are samples of their own with slots of their own", function(t)
  local slots, replies = {}, 0
  local j <close> = assert(journal.open())
  local run = sealed_run(j, function(item, ctx)
    slots[#slots + 1] = task.slot()
    return { hard = tonumber(ctx:chat({ user = item.id }).text) }
  end, { workers = 1, target = function()
    replies = replies + 1
    return { text = replies % 2 == 1 and "1" or "0" }
  end })
  local value = bench.evaluate(run, bench.items(2), { repeats = 2 })
  t.equal(slots, { "eval/q1", "eval/q1~2", "eval/q2", "eval/q2~2" })
  t.equal({ value:marks "q1", value.score }, { { 1, 0 }, 0.5 })
end)

test("of two repeats one may fail and the item keeps the other mark", function(t)
  local n = 0
  local run = bench.run { workers = 1, env = { rollout = function()
    n = n + 1
    if n == 2 then error(bench.weather(), 0) end
    return { hard = 1 }
  end } }
  local value = bench.evaluate(run, bench.items(2), { repeats = 2 })
  t.equal({ value:marks "q1", value:marks "q2", value.n }, { { 1 }, { 1, 1 }, 2 })
end)

test("repeats must be a whole number of at least 1", function(t)
  local run = bench.run { env = { rollout = failing {} } }
  for _, wrong in ipairs { 0, -1, 1.5, "2" } do
    t.raises(function() bench.evaluate(run, bench.items(1), { repeats = wrong }) end)
  end
end)

--------------------------------------------------------------------------- order

--- Files of a run folder by name, without log and journal.
local function files_below(path, prefix, out)
  for _, name in ipairs(assert(file.list(path))) do
    local full, short = path .. "/" .. name, prefix .. name
    if file.kind(full) == "folder" then
      files_below(full, short .. "/", out)
    else
      out[short] = test.read(full)
    end
  end
  return out
end

local function evaluated(workers)
  local path = support.folder() .. "/out"
  local run = bench.run { path = path, workers = workers, env = {
    rollout = function(item, ctx)
      pause((item.number * 7) % 5)
      local first = ctx:chat { user = "first " .. item.id }
      local both = task.map({ 1, 2 }, function(k)
        pause(3 - k)
        return ctx:chat { user = ("%s.%d"):format(item.id, k) }.text
      end, { label = "parts" })
      if item.number == 9 then error(bench.weather(), 0) end
      if item.number % 10 == 0 then ctx:no_answer "nothing to say" end
      return { hard = item.number % 2, soft = 0.1 * (item.number % 10), draw = ctx.rng:random(),
        answer = first.text .. both[1] .. both[2] }
    end,
    feedback = function(item) return "expected " .. item.id end,
  }, target = function(request)
    return { text = "about " .. request.messages[1].content[1].text }
  end }
  bench.at(run, function(ctx)
    local value = ctx:evaluate("s", bench.items(40), { label = "eval", feedback = true })
    ctx:record("marks", { score = value.score, text = value:render(), spent = ctx.spent.calls })
    run.flush_events()
  end)
  local files = files_below(path, "", {})
  files["log.jsonl"] = nil -- it has times, and is no part of what must be equal
  return files
end

test("64 items at once leave the same bytes as one at a time", function(t)
  local one, many = evaluated(1), evaluated(64)
  t.ok(one["eval/results.jsonl"] and one["eval/predictions/q1/conversation.json"]
    and one["events.jsonl"])
  for name, text in pairs(one) do t.equal(many[name], text, name) end
  for name in pairs(many) do t.ok(one[name], name) end
end)

test("what ends first does not change the sums", function(t)
  local case = json.decode(test.read "tests/cases/c01_sum_order.json")
  local items = { { id = "q1" }, { id = "q2" }, { id = "q3" } }
  local function mean(finish_order)
    local turn = {}
    for place, pair in ipairs(finish_order) do turn[pair[1]] = place end
    local ended = {}
    local run = bench.run { env = { rollout = function(item)
      pause(3 * turn[item.id])
      ended[#ended + 1] = item.id
      return { hard = 0, soft = case.current[item.id] }
    end } }
    local value = bench.evaluate(run, items):mean "soft"
    for place, pair in ipairs(finish_order) do t.equal(ended[place], pair[1]) end
    return value
  end
  local backwards = case.candidate_in_finish_order
  t.equal(mean(backwards), mean { backwards[3], backwards[2], backwards[1] })
  t.equal(mean(backwards), (0.3 + 0.2 + 0.1) / 3)
end)

test("at most the run's workers are at work", function(t)
  local now, most = 0, 0
  local run = bench.run { workers = 3, env = { rollout = function()
    now = now + 1
    most = math.max(most, now)
    pause(2)
    now = now - 1
    return { hard = 1 }
  end } }
  bench.evaluate(run, bench.items(10))
  t.equal(most, 3)
end)

--------------------------------------------------------------------------- files

local function write_run(options, items, evaluate)
  local path = support.folder() .. "/out"
  options.path = path
  bench.evaluate(bench.run(options), items, evaluate)
  return path .. "/eval"
end

test("results.jsonl has a row an item in item order, fields in their order", function(t)
  local path = write_run({ env = { rollout = function(item)
    pause(4 - item.number)
    return { hard = 1, soft = 0.5, answer = "a" .. item.number, extra = { 1 } }
  end } }, bench.items(2))
  t.equal(test.read(path .. "/results.jsonl"),
    [[{"id": "q1", "state": "ok", "hard": 1, "soft": 0.5, "task_type": "inline", ]]
    .. [["fail_reason": "", "predicted_answer": "a1", "n_turns": 0, "answer": "a1", ]]
    .. '"extra": [1]}\n'
    .. [[{"id": "q2", "state": "ok", "hard": 1, "soft": 0.5, "task_type": "inline", ]]
    .. [["fail_reason": "", "predicted_answer": "a2", "n_turns": 0, "answer": "a2", ]]
    .. '"extra": [1]}\n')
end)

test("soft is hard when a rollout gives none", function(t)
  local path = write_run({ env = { rollout = function() return { hard = 1 } end } }, bench.items(1))
  t.equal(bench.rows(path .. "/results.jsonl")[1].soft, 1)
end)

local function talker(_, ctx)
  ctx:chat { system = "be brief", user = "hello" }
  return { hard = 0 }
end

local function echo() return { text = "reply" } end

test("a prediction has conversation and prompts of the first call", function(t)
  local path = write_run({ env = { rollout = talker }, target = echo }, bench.items(1))
  local folder = path .. "/predictions/q1/"
  t.equal(json.decode(test.read(folder .. "conversation.json")),
    { { role = "assistant", content = "reply" } })
  t.equal(test.read(folder .. "target_system_prompt.txt"), "be brief")
  t.equal(test.read(folder .. "target_user_prompt.txt"), "hello")
end)

test("feedback follows the conversation as role system, in training rollouts only", function(t)
  local env = { rollout = talker,
    feedback = function(item, mark) return item.id .. " got " .. mark.hard end }
  local path = write_run({ env = env, target = echo }, bench.items(1), { feedback = true })
  t.equal(json.decode(test.read(path .. "/predictions/q1/conversation.json"))[2],
    { role = "system", content = "q1 got 0" })
  path = write_run({ env = env, target = echo }, bench.items(1))
  t.equal(#json.decode(test.read(path .. "/predictions/q1/conversation.json")), 1)
end)

test("predictions may be written for what failed only, or not at all", function(t)
  local env = { rollout = function(item, ctx)
    ctx:chat { user = "hello" }
    return { hard = item.number == 1 and 1 or 0 }
  end }
  local path = write_run({ env = env, target = echo, predictions = "failed" }, bench.items(2))
  t.equal(file.list(path .. "/predictions"), { "q2" })
  path = write_run({ env = env, target = echo, predictions = "none" }, bench.items(2))
  t.equal(file.kind(path .. "/predictions"), "none")
end)

test("ids that differ by case only have folders of their own", function(t)
  local items = { { id = "Q" }, { id = "q" }, { id = "other" } }
  local path = write_run({ env = { rollout = talker }, target = echo }, items)
  local names = file.list(path .. "/predictions")
  t.equal(#names, 3)
  local seen = {}
  for _, name in ipairs(names) do
    t.ok(not seen[name:lower()], name)
    seen[name:lower()] = true
  end
  t.ok(seen.q)
end)

test("hostile ids stay inside their folder", function(t)
  local case = json.decode(test.read "tests/cases/d02_hostile_ids.json")
  local items = {}
  for _, one in ipairs(case.ids or case.items or case) do
    items[#items + 1] = { id = type(one) == "table" and one.id or tostring(one) }
  end
  local path = write_run({ env = { rollout = talker }, target = echo }, items)
  t.equal(#file.list(path .. "/predictions"), #items)
  t.equal(#bench.rows(path .. "/results.jsonl"), #items)
end)

test("two items with one id are refused", function(t)
  local run = bench.run { env = { rollout = failing {} } }
  local err = t.raises(function() bench.evaluate(run, { { id = "a" }, { id = "a" } }) end)
  t.ok(tostring(err.message or err):find("two items have the id 'a'", 1, true))
end)

test("an image in a conversation does not stop the evaluation", function(t)
  local path = write_run({ env = { rollout = function(_, ctx)
    local talk = ctx:conversation()
    talk:ask { { text = "what is it?" }, { image = "\x89PNG\xff\x00", type = "image/png" } }
    return { hard = 1 }
  end }, target = echo }, bench.items(1))
  local talk = json.decode(test.read(path .. "/predictions/q1/conversation.json"))
  t.equal(talk[2].content, "reply")
  t.ok(not test.read(path .. "/predictions/q1/conversation.json"):find("PNG\xff", 1, true))
end)

test("an event of an item is written as any other, whatever its marks", function(t)
  local items = bench.items(2100) -- more different marks than texts are kept
  local path = support.folder() .. "/out"
  local run = bench.run { path = path, env = { rollout = function(item)
    if item.number == 3 then error(bench.weather(), 0) end
    if item.number == 4 then return { hard = 1, soft = 1.0 } end
    if item.number == 5 then return { hard = 1.0, soft = 1 } end
    return { hard = item.number % 2, soft = item.number / 2100 }
  end } }
  bench.at(run, function(ctx)
    ctx:evaluate("s", items, { label = "eval" })
    run.flush_events()
  end)
  local n = 0
  for line in file.read(path .. "/events.jsonl"):gmatch "([^\n]*)\n" do
    local event = json.decode(line)
    if event.event == "item" then
      n = n + 1
      t.equal(line, json.encode(event, { keys = { "event", "slot" } }))
      local soft = n == 4 and 1.0 or n == 5 and 1 or n / 2100
      if n == 3 then t.equal({ event.state, event.soft }, { "failed" })
      else t.equal({ event.soft, math.type(event.soft) }, { soft, math.type(soft) }) end
    end
  end
  t.equal(n, 2100)
end)

test("events tell the final states in item order", function(t)
  local path = support.folder() .. "/out"
  local run = bench.run { path = path, env = { rollout = function(item)
    pause(5 - item.number)
    if item.number == 2 then error(bench.weather(), 0) end
    return { hard = 1 }
  end } }
  bench.at(run, function(ctx)
    ctx:evaluate("s", bench.items(3), { label = "eval" })
    run.flush_events()
  end)
  local seen = {}
  for i, row in ipairs(bench.rows(path .. "/events.jsonl")) do
    seen[i] = row.slot .. " " .. row.state
  end
  t.equal(seen, { "eval/q1 ok", "eval/q2 failed", "eval/q3 ok" })
end)

-------------------------------------------------------------------- the contract

test("a rollout sees its skill as text, its options and whether it trains", function(t)
  local seen
  local run = bench.run { env = { rollout = function(_, ctx)
    seen = { ctx.skill, ctx.is_training, type(ctx.opt) }
    return { hard = 1 }
  end } }
  bench.evaluate(run, bench.items(1), { feedback = true })
  t.equal(seen, { "s", true, "table" })
  bench.evaluate(run, bench.items(1))
  t.equal(seen[2], false)
end)

test("prepare is called with item and seed before the first rollout", function(t)
  local run = bench.run { env = {
    prepare = function(item, seed) return item.number + seed end,
    rollout = function(_, ctx) return { hard = ctx.prepared == 101 and 1 or 0 } end,
  } }
  t.equal(bench.evaluate(run, bench.items(1), { seed = 100 }):mean "hard", 1.0)
end)

test("options of an environment are read-only", function(t)
  local run = bench.run { env = { rollout = function(item, ctx)
    if item.number == 1 then ctx.opt.fresh = true end
    return { hard = 1 }
  end } }
  t.equal(bench.evaluate(run, bench.items(2)):state "q1", "failed")
end)

test("a rollout cannot evaluate", function(t)
  local run = bench.run { env = { rollout = function(_, ctx) return ctx:evaluate("s", {}) end } }
  local err = t.raises(function() bench.evaluate(run, bench.items(1)) end)
  t.ok(err.message:find("cannot be called in a rollout", 1, true), err.message)
end)

test("no_answer is for rollouts", function(t)
  local run = bench.run { env = { rollout = failing {} } }
  t.raises(function() bench.at(run, function(ctx) ctx:no_answer "x" end) end, "is for rollouts")
end)

test("a conversation is kept for render while the evaluation has feedback", function(t)
  local run = bench.run { env = { rollout = talker }, target = echo }
  local value = bench.evaluate(run, bench.items(1), { feedback = true })
  t.ok(value:render():find("reply", 1, true))
  local plain = bench.evaluate(run, bench.items(1))
  t.raises(function() plain:render() end, "there are no trajectories")
end)

test("when a file cannot be written the calls on the way are stored and none is sent", function(t)
  local j <close> = assert(journal.open())
  local run = bench.run { journal = j, path = support.folder() .. "/out", workers = 2, env = {
    rollout = function(item)
      if item.number == 1 then
        pause(3)
      else
        effect.perform(item.run.effects, ("d"):rep(64), function(plane)
          plane:start()
          flow.sleep(0.05)
          return { value = { text = "late" } }
        end)
      end
      return { hard = 1 }
    end } }
  local items = bench.items(4)
  for _, item in ipairs(items) do item.run = run end
  run.write = function() error({ kind = "io", message = "no room" }, 0) end
  t.equal(t.raises(function() bench.evaluate(run, items) end).message, "no room")
  t.equal({ j:find("effect", "eval/q2", ("d"):rep(64)) ~= nil, run.effects.counts.asked },
    { true, 1 })
end)

test("a seal over other items than these stops with the reason", function(t)
  local j <close> = assert(journal.open())
  local items = bench.items(20)
  bench.evaluate(bench.run { journal = j, env = { rollout = failing { q2 = ALWAYS } } }, items)
  items[2].id = "other"
  local err = t.raises(function()
    bench.evaluate(bench.run { journal = j, env = { rollout = failing {} } }, items)
  end)
  t.equal({ err.kind, err.fatal }, { "io", true })
  t.ok(err.message:find("q2 was an item of eval", 1, true), err.message)
end)

test("a result that says its state or is another item's is a faulty one", function(t)
  local results = { q1 = { hard = 0, state = "failed" }, q2 = { hard = 1, id = "q1" },
    q3 = { hard = 1, id = "q3" } }
  local items = bench.items(3)
  local run = bench.run { env = { rollout = function(item) return results[item.id] end } }
  local _, err = pcall(bench.evaluate, run, items)
  t.equal({ err.kind, err.too_little }, { "data", true })
  results.q1, results.q2 = { hard = 1 }, { hard = 1 }
  t.equal(states(bench.evaluate(run, items), items), { "ok", "ok", "ok" })
end)
