--- Evaluations that end before their last item, and items that have a deadline.
local core = require "rt.task"
local flow = require "rt.flow"
local journal = require "rt.journal"
local json = require "rt.json"
local file = require "rt.file"
local task = require "skillopt.task"
local test = require "skillopt.test"
local bench = test.support "tests/lua/bench.lua"
local support = test.support "tests/lua/support.lua"

local function pause(n)
  for _ = 1, n do task.map({ 1 }, function() end, { label = "pause" }) end
end

--- Ends an evaluation once so many items are in the prefix; notes the sizes it saw.
local function after(count, seen)
  return function(prefix)
    if seen then seen[#seen + 1] = #prefix:ids() end
    return #prefix:ids() >= count
  end
end

local function right(item) return { hard = item.number % 2 } end

local function states(value)
  local out = {}
  for i, id in ipairs(value:ids()) do out[i] = value:state(id) end
  return table.concat(out, " ")
end

local function seal_of(j)
  return json.decode(assert(j:read(j:find("value", "eval", "seal"))))
end

-------------------------------------------------------------------------- stop

test("stop is asked after each item in item order, and true ends the evaluation there", function(t)
  local seen = {}
  local run = bench.run { workers = 64, env = { rollout = function(item)
    pause(9 - item.number)
    return right(item)
  end } }
  local value = bench.evaluate(run, bench.items(8), { stop = after(3, seen) })
  t.equal(seen, { 1, 2, 3 })
  t.equal(states(value), "ok ok ok not_run not_run not_run not_run not_run")
  t.equal({ value.n, value.not_run, value.coverage, value:mean "hard" }, { 3, 5, 1.0, 2 / 3 })
end)

test("the prefix has marks, score and skill", function(t)
  local last
  local run = bench.run { env = { rollout = right } }
  bench.evaluate(run, bench.items(4), { stop = function(prefix)
    last = prefix
    return #prefix:ids() == 3
  end })
  t.equal({ last:ids(), last:marks "q3", last.score, last.skill.text },
    { { "q1", "q2", "q3" }, { 1 }, 2 / 3, "s" })
end)

test("a stop that is never true changes nothing", function(t)
  local j <close> = assert(journal.open())
  local run = bench.run { journal = j, env = { rollout = right } }
  local value = bench.evaluate(run, bench.items(5), { stop = function() return false end })
  t.equal({ value.n, value.not_run, seal_of(j).n, seal_of(j).decided }, { 5, 0, 5, 5 })
end)

test("the seal says how many were decided", function(t)
  local j <close> = assert(journal.open())
  local run = bench.run { journal = j, env = { rollout = right } }
  bench.evaluate(run, bench.items(5), { stop = after(2) })
  local seal = seal_of(j)
  t.equal({ seal.n, seal.decided, #seal.failed }, { 5, 2, 0 })
end)

test("with repeats stop is asked once an item, when all its repeats are in", function(t)
  local j <close> = assert(journal.open())
  local seen = {}
  local run = bench.run { journal = j, env = { rollout = right } }
  local value = bench.evaluate(run, bench.items(4), { repeats = 2, stop = after(2, seen) })
  t.equal({ seen, value:marks "q2", value:state "q3" }, { { 1, 2 }, { 0, 0 }, "not_run" })
  t.equal({ seal_of(j).n, seal_of(j).decided }, { 8, 4 })
end)

test("a resumed evaluation does not ask stop and runs nothing behind the end", function(t)
  local j <close> = assert(journal.open())
  local ran = {}
  local function again(stop)
    local run = bench.run { journal = j, workers = 1, env = { rollout = function(item)
      ran[#ran + 1] = item.id
      return right(item)
    end } }
    return bench.evaluate(run, bench.items(6), { stop = stop })
  end
  again(after(2))
  ran = {}
  local value = again(function() error "asked again" end)
  t.equal({ ran, value.not_run, value.score }, { { "q1", "q2" }, 4, 0.5 })
end)

test("an evaluation in which an item of the prefix failed is not stopped early", function(t)
  local seen = {}
  local run = bench.run { workers = 1, env = { rollout = function(item)
    if item.number == 2 then error(bench.weather(), 0) end
    return right(item)
  end } }
  local value = bench.evaluate(run, bench.items(20), { stop = after(3, seen) })
  t.equal({ seen, value.n, value.not_run }, { { 1 }, 19, 0 })
end)

test("a failure behind the end does not count", function(t)
  local j <close> = assert(journal.open())
  local run = bench.run { journal = j, workers = 64, env = { rollout = function(item)
    if item.number > 3 then error(bench.weather(), 0) end
    pause(5)
    return right(item)
  end } }
  local value = bench.evaluate(run, bench.items(20), { stop = after(2) })
  t.equal({ value.n, #value.failed, #seal_of(j).failed }, { 2, 0, 0 })
end)

test("an error behind the end that would stop the run does not count", function(t)
  local run = bench.run { workers = 64, env = { rollout = function(item)
    if item.number == 4 then error({ kind = "auth", message = "no", fatal = true }, 0) end
    pause(5)
    return right(item)
  end } }
  t.equal(bench.evaluate(run, bench.items(20), { stop = after(2) }).n, 2)
end)

test("an error before the end stops the run, and items behind it do not start", function(t)
  local started = 0
  local run = bench.run { workers = 2, env = { rollout = function(item)
    started = started + 1
    if item.number == 2 then error({ kind = "auth", message = "no", fatal = true }, 0) end
    pause(5)
    return right(item)
  end } }
  local err = t.raises(function() bench.evaluate(run, bench.items(20), { stop = after(9) }) end)
  t.equal({ err.kind, started <= 3 }, { "auth", true })
end)

test("stop runs in the evaluation's slot and cannot wait", function(t)
  local slot
  local run = bench.run { env = { rollout = right } }
  bench.evaluate(run, bench.items(2), { stop = function()
    slot = core.slot()
    return true
  end })
  t.equal(slot, "eval")
  t.raises(function()
    bench.evaluate(run, bench.items(2), { label = "other", stop = function() pause(1) end })
  end, "cannot wait here")
end)

test("what stop raises ends the evaluation", function(t)
  local run = bench.run { env = { rollout = right } }
  t.raises(function()
    bench.evaluate(run, bench.items(9), { stop = function() error "stop has a bug" end })
  end, "stop has a bug")
  t.raises(function()
    bench.evaluate(run, bench.items(2), { stop = true })
  end, "must be a function")
end)

----------------------------------------------------------------- nothing behind it

local function target(request)
  return { text = "about " .. request.messages[1].content[1].text }
end

--- Calls, pauses and draws; items far behind end long before those in front.
local function rollout(item, ctx)
  pause(item.number < 8 and (item.number * 7) % 5 + 4 or 0)
  local first = ctx:chat { user = "first " .. item.id }
  local both = task.map({ 1, 2 }, function(k)
    return ctx:chat { user = ("%s.%d"):format(item.id, k) }.text
  end, { label = "parts" })
  if item.number == 3 then ctx:no_answer "nothing to say" end
  return { hard = item.number % 2, draw = ctx.rng:random(),
    answer = first.text .. both[1] .. both[2] }
end

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

--- The files of an evaluation that ends at item 12, and of what follows it. `options`:
--- workers, journal, parent and disorder of the effects, rollout.
local function evaluated(options)
  local path = support.folder() .. "/out"
  local run = bench.run { path = path, workers = options.workers, journal = options.journal,
    target = target, env = {
      rollout = options.rollout or rollout,
      feedback = function(item) return "expected " .. item.id end,
    } }
  run.effects.parents = { options.parent }
  run.effects.disorder = options.disorder ~= nil
  if options.disorder then flow.disorder(options.disorder) end
  bench.at(run, function(ctx)
    local value = ctx:evaluate("s", bench.items(40), { label = "eval", feedback = true,
      stop = function(prefix) return prefix.n >= 12 end })
    local time = core.time()
    local next_value = ctx:evaluate("s2", bench.items(2), { label = "eval" })
    ctx:record("marks", { score = value.score, text = value:render(), spent = ctx.spent,
      rows = value:rows(), states = states(value), next = next_value.score, has_time = time > 0 })
    run.flush_events()
  end)
  return files_below(path, "", {})
end

local function same_files(t, got, wanted, what)
  for name, text in pairs(wanted) do t.equal(got[name], text, what .. " " .. name) end
  for name in pairs(got) do t.ok(wanted[name], what .. " " .. name) end
end

test("a stopped evaluation leaves the same bytes at 1 and at 64 items at once", function(t)
  local one = evaluated { workers = 1 }
  t.ok(one["eval/predictions/q12/conversation.json"] and one["eval~2/results.jsonl"])
  t.equal(one["eval/predictions/q13/conversation.json"], nil)
  same_files(t, evaluated { workers = 64 }, one, "64")
  same_files(t, evaluated { workers = 5 }, one, "5")
end)

test("calls behind the end write no row, file or event and are not spent", function(t)
  local files = evaluated { workers = 64 }
  t.equal(select(2, files["eval/results.jsonl"]:gsub("\n", "")), 12)
  for name in pairs(files) do t.equal(name:find "q1[3-9]" or name:find "q[234]%d", nil, name) end
  t.equal(files["events.jsonl"]:find('eval/q13"', 1, true), nil)
  t.equal(json.decode(files["marks.json"]).spent.calls, 3 * 12 + 3 * 2)
end)

test("stored answers that come in another order give the same bytes", function(t)
  local parent <close> = assert(journal.open())
  local one = evaluated { workers = 64, journal = parent }
  for seed = 1, 5 do
    local other = evaluated { workers = 64, parent = parent, disorder = seed }
    same_files(t, other, one, "seed " .. seed)
  end
end)

test("a stopped evaluation that was broken off at any item ends with the same bytes", function(t)
  local one = evaluated { workers = 1 }
  for broken = 1, 14, 3 do
    local j <close> = assert(journal.open())
    pcall(evaluated, { workers = 64, journal = j, rollout = function(item, ctx)
      if item.number == broken then error({ kind = "budget", message = "broken off" }, 0) end
      return rollout(item, ctx)
    end })
    same_files(t, evaluated { workers = 64, journal = j }, one, "broken at " .. broken)
  end
end)

test("the virtual clock does not see what came in behind the end", function(t)
  local j <close> = assert(journal.open())
  local run = bench.run { journal = j, workers = 64, target = target, env = {
    rollout = function(item, ctx)
      if item.number == 1 then
        ctx:chat { user = "front" }
        core.set_time(1000)
        pause(20)
      else
        core.set_time(5e9)
      end
      return right(item)
    end } }
  local times = {}
  for i = 1, 2 do
    bench.at(run, function(ctx)
      core.set_time(0)
      ctx:evaluate("s", bench.items(9), { label = "eval", stop = after(1) })
      times[i] = core.time() < 5e9
    end)
  end
  t.equal(times, { true, true })
end)

test("the virtual clock after an evaluation is that of the items with marks", function(t)
  local j <close> = assert(journal.open())
  local run = bench.run { journal = j, env = { rollout = function(item)
    core.set_time(core.time() + (item.number == 2 and 2 or 1))
    if item.number == 2 then error "broken" end
    return right(item)
  end } }
  for _, stop in ipairs { after(99), false } do
    local label = stop and "prefix" or "all"
    for _, when in ipairs { "live", "sealed" } do
      bench.at(run, function(ctx)
        local before = core.time()
        ctx:evaluate("s", bench.items(40), { label = label, stop = stop or nil })
        t.equal(core.time() - before, 1.0, label .. " " .. when)
      end)
    end
  end
end)

test("an item of the second pass starts at the clock of the first", function(t)
  local starts, tries = {}, 0
  local run = bench.run { env = { rollout = function(item)
    if item.number < 3 then
      starts[#starts + 1], tries = core.time(), tries + 1
      if tries <= 2 then error({ kind = "network", message = "down", weather = true }, 0) end
    end
    core.set_time(core.time() + 1)
    return right(item)
  end } }
  bench.evaluate(run, bench.items(20))
  t.equal({ starts[3], starts[4] }, { starts[1], starts[2] })
end)

---------------------------------------------------------------------- deadlines

local function late_run(options)
  local run = bench.run(options)
  run.item_timeout_s = 0.05
  return run
end

local function slow(item)
  if item.number == 2 then flow.sleep(60) end
  return { hard = 1 }
end

test("an item's deadline is its failed state", function(t)
  local path = support.folder() .. "/out"
  local run = late_run { path = path, env = { rollout = slow } }
  local value = bench.evaluate(run, bench.items(20))
  local row = bench.rows(path .. "/eval/results.jsonl")[2]
  t.equal({ row.state, row.kind, row.hard, value.n }, { "failed", "timeout", nil, 19 })
end)

test("a deadline reaches what the item waits for, however deep", function(t)
  local closed = 0
  local run = late_run { env = { rollout = function(item)
    if item.number == 2 then
      task.map({ 1, 2 }, function()
        local guard <close> = setmetatable({}, { __close = function() closed = closed + 1 end })
        task.map({ 1 }, function() flow.sleep(60) end)
        return guard
      end)
    end
    return { hard = 1 }
  end } }
  t.equal({ bench.evaluate(run, bench.items(20)):state "q2", closed }, { "failed", 2 })
end)

test("an item that ends in time is not touched by its deadline", function(t)
  local run = late_run { env = { rollout = function()
    flow.sleep(0.001)
    return { hard = 1 }
  end } }
  t.equal(bench.evaluate(run, bench.items(3)).n, 3)
end)

--- Items whose rollouts ask the simulated model twice, through a line of one place.
local function in_line(latency_s)
  local run = bench.run { env = { rollout = function(item, ctx)
    for i = 1, 2 do ctx:chat { user = item.id .. " " .. i } end
    return { hard = 1 }
  end }, model = { backend = "sim", calls_in_flight = 1, sim_latency_seconds = latency_s } }
  run.item_timeout_s = 0.25
  return run
end

test("waiting in line for a place is not the item's being late", function(t)
  local value = bench.evaluate(in_line(0.03), bench.items(20))
  t.equal({ value.n, #value.failed }, { 20, 0 })
end)

test("calls that take too long are, behind whatever line", function(t)
  local err = t.raises(function() bench.evaluate(in_line(0.4), bench.items(3)) end)
  t.equal(err.kind, "timeout")
  t.equal(err.message, "eval: 3 of 3 items failed: the item took longer than 0.25 s")
end)

test("a deadline stands while all that is on the way waits in line", function(t)
  local late = {}
  local function queue(seconds)
    core.effect(1)
    core.queue(1)
    flow.sleep(seconds)
    core.queue(-1)
    core.effect(-1)
  end
  local bodies = {
    function() queue(0.1) end,
    function() task.map({ 0.06, 0.1 }, queue) end,
    function() task.map({ 1, 2 }, function(i) -- one waits, the other works
      if i == 1 then return queue(0.1) end
      core.effect(1)
      flow.sleep(0.1)
      core.effect(-1)
    end) end,
    function()
      queue(0.1)
      flow.sleep(0.1)
    end,
  }
  task.map(bodies, function(f, i)
    core.deadline(0.05)
    pcall(f)
    late[i] = core.end_deadline()
  end)
  t.equal(late, { false, false, true, true })
end)

test("late items get the second pass", function(t)
  local tries = 0
  local run = late_run { env = { rollout = function(item)
    if item.number < 3 then
      tries = tries + 1
      if tries <= 2 then flow.sleep(60) end
    end
    return { hard = 1 }
  end } }
  t.equal({ bench.evaluate(run, bench.items(20)).n, tries }, { 20, 4 })
end)

test("an item that was sealed as late is not started again", function(t)
  local j <close> = assert(journal.open())
  bench.evaluate(late_run { journal = j, env = { rollout = slow } }, bench.items(20))
  local started = {}
  local value = bench.evaluate(bench.run { journal = j, env = { rollout = function(item)
    started[item.id] = true
    return { hard = 1 }
  end } }, bench.items(20))
  t.equal({ value:state "q2", started.q2, started.q1 }, { "failed", nil, true })
end)

test("core.deadline and core.end_deadline are about the calling task", function(t)
  local late = {}
  task.map({ 1, 2 }, function(i)
    core.deadline(i == 1 and 0.01 or 60)
    pcall(flow.sleep, 0.05)
    late[i] = core.end_deadline()
  end)
  t.equal(late, { true, false })
  t.raises(function() core.deadline(0) end, "must be positive")
end)
