--- User code that runs on, recurses too deep or holds too much is named and ended.
local core = require "rt.task"
local document = require "rt.document"
local json = require "rt.json"
local task = require "skillopt.task"
local test = require "skillopt.test"
local watch = require "rt.watch"
local bench = test.support "tests/lua/bench.lua"
local plugin = require "skillopt.plugin"
local process = test.support "tests/lua/process.lua"

--- Run `f` with other limits.
local function with(limits, f)
  local patience = watch.patience(limits.patience or 0.1)
  local memory = watch.memory(limits.memory or 1 << 30)
  local out = table.pack(pcall(f))
  watch.patience(patience)
  watch.memory(memory)
  if not out[1] then error(out[2], 0) end
  return table.unpack(out, 2, out.n)
end

--- Evaluate twenty items of which the second calls `f`; the evaluation and the run.
local function evaluated(f, limits)
  local run = bench.run { env = { rollout = function(item, ctx)
    if item.number == 2 then f(ctx) end
    return { hard = 1 }
  end } }
  return with(limits or {}, function() return bench.evaluate(run, bench.items(20)) end), run
end

local function forever()
  local n = 0
  while true do n = n + 1 end
end

--- The item failed with `limit`, the others are marked, and the log has the words.
local function is_ended(t, f, words, limits)
  local value, run = evaluated(f, limits)
  t.equal({ value:state "q2", value.failed[1].kind, value.n }, { "failed", "limit", 19 },
    run.logged[1] and run.logged[1].message)
  t.equal({ run.logged[1].slot, run.logged[1].kind }, { "eval/q2", "limit" })
  t.ok(run.logged[1].message:find(words, 1, true), run.logged[1].message)
end

test("a loop without end is named and ended, its item failed, and the others go on", function(t)
  is_ended(t, forever, "eval/q2: tests/lua/watch_test.lua:34: the code ran for 0.1 s")
end)

test("a loop in a coroutine of a coroutine is ended", function(t)
  is_ended(t, function()
    coroutine.wrap(function() coroutine.wrap(forever)() end)()
  end, "eval/q2: ")
  is_ended(t, function()
    local ok, err = coroutine.resume(coroutine.create(forever))
    if not ok then error(err, 0) end
  end, "eval/q2: ")
end)

test("a loop in a child of the item is ended with its slot", function(t)
  is_ended(t, function() task.map({ 1 }, forever, { label = "deep" }) end, "eval/q2/deep/1: ")
end)

test("a loop in what is asked about an item that ended is ended with its slot", function(t)
  for _, name in ipairs { "feedback", "task_type" } do
    local env = { rollout = function() return { hard = 1 } end, [name] = forever }
    local run = bench.run { env = env }
    local err = t.raises(function()
      with({}, function() bench.evaluate(run, bench.items(3), { feedback = true }) end)
    end)
    t.equal(err.kind, "limit", name)
    t.ok(err.message:find("eval/q1: ", 1, true), err.message)
  end
end)

test("a loop behind a wait is ended", function(t)
  is_ended(t, function()
    task.map({ 1 }, function() end)
    forever()
  end, "eval/q2: ")
end)

test("a comparator that never ends is ended", function(t)
  is_ended(t, function() table.sort({ 2, 1 }, forever) end, "eval/q2: ")
end)

test("patterns without end are named and ended", function(t)
  local text = ("a"):rep(1 << 14)
  local endless = ("a-"):rep(30) .. "b"
  is_ended(t, function() return text:find(endless) end, "the code ran for 0.1 s")
  is_ended(t, function() return text:match(endless) end, "the code ran for 0.1 s")
  is_ended(t, function() return text:gmatch(endless)() end, "the code ran for 0.1 s")
  is_ended(t, function() return text:gsub(endless, "%0") end, "the code ran for 0.1 s")
  is_ended(t, function() return ("("):rep(1 << 20):find "%b()" end, "the code ran for 0.1 s")
  is_ended(t, function() return text:gsub("a", function() return text:find(endless) end) end,
    "watch_test.lua:")
end)

test("a pattern that takes too many steps is a limit, whatever the time", function(t)
  if test.form() == "short" then t.skip "the long form takes the steps" end
  is_ended(t, function() return ("a"):rep(1 << 14):find(("a-"):rep(30) .. "b") end,
    "does not come to an end", { patience = 100 })
end)

test("a pattern that is too complex is a limit", function(t)
  is_ended(t, function() return ("a"):rep(300):find(("a?"):rep(200)) end, "too complex")
end)

test("loops over lengths that are not true are ended", function(t)
  local endless = setmetatable({}, { __len = function() return 1 << 60 end })
  local nothing = setmetatable({}, { __len = function() return 1 << 60 end,
    __index = function() return "" end })
  is_ended(t, function() table.insert(endless, 1, "x") end, "the code ran")
  is_ended(t, function() table.remove(endless, 1) end, "the code ran")
  is_ended(t, function() table.move({}, 1, 1 << 60, 2) end, "the code ran")
  is_ended(t, function() table.concat(nothing) end, "the code ran")
  is_ended(t, function() table.unpack(endless) end, "too many results")
  is_ended(t, function() table.sort(endless) end, "array too big")
end)

test("many edits of a long document are ended", function(t)
  local body, edits = ("some words, a number "):rep(50000), {}
  for i = 1, 2000 do edits[i] = { op = "delete", target = "words, a numbers " .. i } end
  is_ended(t, function() document.apply(body, edits) end, "the code ran")
end)

test("a sort that takes its time is ended", function(t)
  local list = {}
  for i = 1, 2000000 do list[i] = i * 7919 % 2000003 end
  is_ended(t, function()
    table.move(list, 1, #list, #list + 1)
    table.sort(list)
  end, "the code ran")
end)

test("recursion without end is a limit", function(t)
  local function deeper() return 1 + deeper() end
  is_ended(t, deeper, "stack overflow", { patience = 10 })
  is_ended(t, function()
    local function nested(s) return s:gsub(".", nested) end
    nested "x"
  end, "stack overflow", { patience = 10 })
  is_ended(t, function()
    local function wrapped() return coroutine.wrap(wrapped)() end
    wrapped()
  end, "stack overflow", { patience = 10 })
  is_ended(t, function()
    local deep = setmetatable({}, {})
    getmetatable(deep).__index = function(same, k) return same[k .. "x"] end
    return deep.x
  end, "stack overflow", { patience = 10 })
end)

test("what is repeated without being anything is there at once", function(t)
  t.equal({ (""):rep(1 << 62), (""):rep(1 << 62, ""), ("x"):rep(-1) }, { "", "", "" })
end)

test("texts and tables without end meet the ceiling", function(t)
  is_ended(t, function() return ("x"):rep(1 << 32) end, "string too large", { patience = 60 })
  is_ended(t, function() return ("x"):rep(2000 << 20) end, "not enough memory", { patience = 60 })
  is_ended(t, function()
    local s = "x"
    while true do s = s .. s end
  end, "not enough memory", { patience = 60, memory = 128 << 20 })
  is_ended(t, function()
    local list = {}
    for i = 1, math.huge do list[i] = { i } end
    return list
  end, "not enough memory", { patience = 60, memory = 128 << 20 })
end)

test("calls that would make something huge meet a limit", function(t)
  local small = { patience = 60, memory = 128 << 20 }
  local big = ("x"):rep(1 << 20)
  is_ended(t, function() return string.pack("c2000000000", "") end, "not enough memory", small)
  is_ended(t, function()
    local list = {}
    for i = 1, 1000 do list[i] = big end
    return table.concat(list)
  end, "not enough memory", small)
  is_ended(t, function() return big:gsub("x", big) end, "not enough memory", small)
  is_ended(t, function() return ("%s"):rep(200):format(table.unpack(setmetatable({}, {
    __index = function() return big end }), 1, 200)) end, "not enough memory", small)
  is_ended(t, function() return { big:rep(2):byte(1, -1) } end, "string slice too long", small)
end)

test("depth without end in metamethods, comparators and values is a limit", function(t)
  local calm = { patience = 60 }
  local deep = setmetatable({}, { __tostring = function(self) return tostring(self) end,
    __lt = function(a, b) return a < b end, __concat = function(a, b) return a .. b end })
  is_ended(t, function() return tostring(deep) end, "stack overflow", calm)
  is_ended(t, function() return deep < deep end, "stack overflow", calm)
  is_ended(t, function() return deep .. deep end, "stack overflow", calm)
  is_ended(t, function()
    local function sorted() table.sort({ 1, 2 }, sorted) end
    sorted()
  end, "stack overflow", calm)
end)

test("deep JSON and source are refused and end nothing", function(t)
  local seen = {}
  local value = evaluated(function()
    local _, err = json.decode(("["):rep(1000000))
    seen[1] = err.kind
    local nested = {}
    for _ = 1, 100000 do nested = { nested } end
    seen[2] = pcall(json.encode, nested)
    seen[3] = load(("("):rep(1000000))
    seen[4] = pcall(string.format, "%99999d", 1)
    seen[5] = utf8.len(("\xff"):rep(1000000))
  end, { patience = 60 })
  t.equal({ value:state "q2", value.n }, { "ok", 20 })
  t.equal(seen, { "parse", false, [4] = false })
end)

test("user code cannot catch the end of what ran on", function(t)
  local caught = 0
  local function stubborn(call)
    while true do
      call(forever)
      caught = caught + 1
    end
  end
  local env = require("skillopt.sandbox").environment(require "skillopt.loader")
  is_ended(t, function() stubborn(env.pcall) end, "eval/q2: ")
  is_ended(t, function(ctx) stubborn(function(f) return ctx:try(f) end) end, "eval/q2: ")
  is_ended(t, function()
    stubborn(function(f) task.map({ 1 }, f, { errors = "collect" }) end)
  end, "eval/q2/map/1: ")
  t.equal(caught, 0)
end)

test("a policy that runs on stops the run with words", function(t)
  local run = bench.run { env = { rollout = function() return { hard = 1 } end } }
  local err = t.raises(function()
    with({}, function()
      bench.at(run, function()
        watch.on()
        forever()
      end)
    end)
  end)
  t.equal({ err.kind, err.runaway }, { "limit", true })
end)

test("a metric that runs on stops the evaluation", function(t)
  local run = bench.run { env = { rollout = function() return { hard = 1 } end } }
  local call = plugin.call("policy.metric", "item(marks, opt)", forever)
  run.metric = { opt = {}, calls = { item = call }, item = plugin.guard(call) }
  local err = t.raises(function()
    with({}, function() bench.evaluate(run, bench.items(2), {}) end)
  end)
  t.equal(err.runaway, true)
end)

test("a stop that runs on stops the evaluation", function(t)
  local run = bench.run { env = { rollout = function() return { hard = 1 } end } }
  local err = t.raises(function()
    with({}, function() bench.evaluate(run, bench.items(2), { stop = forever }) end)
  end)
  t.equal({ err.kind, err.message:match "^eval: " }, { "limit", "eval: " })
end)

test("what waits often may run for as long as it likes, and so may the library", function(t)
  with({ patience = 0.05 }, function()
    local started = os.clock()
    while os.clock() - started < 0.4 do end
    task.map({ 1 }, function()
      watch.on()
      for _ = 1, 8 do
        local from = os.clock()
        while os.clock() - from < 0.02 do end
        task.map({ 1 }, function() end)
      end
      watch.off()
    end)
  end)
  t.ok(true)
end)

test("coroutine.wrap, resume and close do what they did", function(t)
  local co = coroutine.wrap(function(a, b)
    local c, d = coroutine.yield(a + b, nil)
    return c, d, nil
  end)
  t.equal(table.pack(co(1, 2)), { 3, nil, n = 2 })
  t.equal(table.pack(co("c", "d")), { "c", "d", nil, n = 3 })
  t.raises(co, "cannot resume dead coroutine")
  local closed = {}
  local bad = coroutine.wrap(function()
    local guard <close> = setmetatable({}, { __close = function() closed[1] = true end })
    error({ kind = "data", message = "as it was", guard = guard ~= nil }, 0)
  end)
  local _, err = pcall(bad)
  t.equal({ err.kind, err.message, closed[1] }, { "data", "as it was", true })
  local open = coroutine.create(function()
    local guard <close> = setmetatable({}, { __close = function() closed[2] = true end })
    coroutine.yield(guard)
  end)
  coroutine.resume(open)
  t.equal({ coroutine.close(open), closed[2], coroutine.status(open) }, { true, true, "dead" })
  t.raises(function() coroutine.resume(1) end, "expected")
  t.raises(function() coroutine.wrap(1) end, "function expected")
  t.equal({ coroutine.resume(coroutine.create(function() return 7 end)) }, { true, 7 })
end)

test("watch.patience and watch.memory give what they were and refuse nonsense", function(t)
  local before = watch.patience(3)
  t.equal({ watch.patience(before), watch.patience() }, { 3.0, before })
  t.raises(function() watch.patience(0) end, "must be positive")
  t.raises(function() watch.memory(-1) end, "must be positive")
  t.ok(watch.memory() > 1 << 20)
end)

test("a second interrupt ends the program at once while Lua is busy", function(t)
  for _, busy in ipairs { "while true do end",
    '("a"):rep(1 << 14):find(("a-"):rep(30) .. "b")' } do
    local done = process.lua('for _ = 1, 2 do os.execute "kill -TERM $PPID" end\n' .. busy)
    t.equal({ done.code, done.out }, { 130, "" })
  end
end)

test("what cannot be unwound ends the process with its slot", function(t)
  local done = process.lua [[
    local watch, task = require "rt.watch", require "skillopt.task"
    watch.patience(0.05)
    local long = ("%c"):rep(1 << 23)
    task.map({ 1 }, function()
      watch.on()
      return os.date(long, 0)
    end, { label = "stuck" })
  ]]
  t.equal(done.code, 70)
  t.ok(done.err:find("stuck/1 runs on", 1, true), done.err)
end)

test("watch.off ends the watching of the calling task alone", function(t)
  with({ patience = 0.05 }, function()
    task.map({ 1 }, function()
      watch.on()
      watch.off()
      local started = os.clock()
      while os.clock() - started < 0.4 do end
    end)
  end)
  t.ok(core.is_task())
end)
