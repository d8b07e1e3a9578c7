local core = require "rt.task"
local task = require "skillopt.task"
local test = require "skillopt.test"

local function pause(n)
  -- Give way to others n times: a child that ends at once wakes its parent.
  for _ = 1, n do task.map({ 1 }, function() end, { label = "pause" }) end
end

test("map gives results in item order, whatever ends first", function(t)
  local out = task.map({ 3, 1, 2 }, function(n)
    pause(n)
    return n * 10
  end)
  t:equal(out, { 30, 10, 20, n = 3 })
end)

test("map leaves a hole for nil and keeps n", function(t)
  local out = task.map({ 1, 2, 3 }, function(i) return i ~= 2 and i or nil end)
  t:equal(out, { 1, nil, 3, n = 3 })
end)

test("map bounds how many run at once", function(t)
  local live, most = 0, 0
  task.map({ 1, 2, 3, 4, 5, 6, 7 }, function()
    live = live + 1
    most = math.max(most, live)
    pause(2)
    live = live - 1
  end, { limit = 3 })
  t:equal(most, 3)
end)

test("of several errors the one of the smallest index is reported", function(t)
  local err = t:raises(function()
    task.map({ 3, 2, 1 }, function(n, i)
      pause(n)
      error({ kind = "data", message = "item " .. i })
    end)
  end)
  t:equal(err.message, "item 1")
end)

test("an error cancels the items behind it and lets earlier ones end", function(t)
  local ended = {}
  t:raises(function()
    task.map({ "slow", "bad", "late" }, function(name, i)
      if name == "bad" then error({ kind = "data", message = "bad" }) end
      pause(5)
      ended[#ended + 1] = i
    end)
  end)
  t:equal(ended, { 1 })
end)

test("collected errors stand beside the results", function(t)
  local out, errors = task.map({ 1, 2, 3 }, function(i)
    if i == 2 then error("no", 0) end
    return i
  end, { errors = "collect" })
  t:equal(out, { 1, nil, 3, n = 3 })
  t:equal(errors[2].message, "no")
end)

test("weather is not collected", function(t)
  local err = t:raises(function()
    task.map({ 1 }, function() error({ kind = "network", message = "gone" }) end,
      { errors = "collect" })
  end)
  t:equal(err.kind, "network")
end)

test("a slot is the path of labels, a label used again gets a number", function(t)
  local slots = {}
  for _ = 1, 2 do
    task.map({ "a/b", ".x" }, function() slots[#slots + 1] = core.slot() end,
      { label = "eval", key = function(id) return id end })
  end
  local base = core.slot()
  local prefix = base == "" and "" or base .. "/"
  t:equal(slots, { prefix .. "eval/a%2Fb", prefix .. "eval/%2Ex", prefix .. "eval~2/a%2Fb",
    prefix .. "eval~2/%2Ex" })
end)

test("labels that lie within each other are refused, in either order", function(t)
  task.scope("nesting", function()
    task.map({ 1 }, function() end, { label = "outer" })
    t.raises(function() task.scope("outer/1", function() end) end, "lie within each other")
    task.scope("deep/er", function() end)
    t.raises(function() task.map({ 1 }, function() end, { label = "deep" }) end,
      "lie within each other")
    task.scope("deep/est", function() end)
    task.scope("deep/er", function() end)
  end)
end)

test("scope gives all results and its own slot", function(t)
  local a, b, slot = task.scope("steps/step_0001", function() return 1, nil, core.slot() end)
  t:equal({ a, b }, { 1 })
  t:ok(slot:find("steps/step_0001$"), slot)
end)

test("equal keys are refused", function(t)
  t:raises(function() task.map({ 1, 1 }, function() end, { key = tostring }) end, "the key '1'")
end)

test("unknown options are refused with the nearest name", function(t)
  t:raises(function() task.map({}, print, { limits = 2 }) end, "did you mean 'limit'")
end)

test("waiting inside gsub is refused before anything starts", function(t)
  t:raises(function()
    ("x"):gsub("x", function() task.map({ 1 }, function() end) end)
  end, "cannot wait here")
  t:equal(core.count() >= 1, true)
end)

test("a plain coroutine cannot wait", function(t)
  local co = coroutine.create(function() core.join(0) end)
  local ok, message = coroutine.resume(co)
  t:equal(ok, false)
  t:ok(tostring(message):find "plain coroutine")
end)

test("a bare yield is misuse, not a busy loop", function(t)
  local err = t:raises(function() task.map({ 1 }, function() coroutine.yield() end) end)
  t:ok(err.message:find("coroutine.yield", 1, true), err.message)
end)

test("an error object that cannot be shown ends only its task", function(t)
  local err = t:raises(function()
    task.map({ 1 }, function()
      error(setmetatable({}, { __tostring = function() error "again" end }))
    end)
  end)
  t:equal(type(err), "table")
end)

test("cancellation is deep and the parent ends last", function(t)
  local trail = {}
  local err = t:raises(function()
    task.map({ 1, 2 }, function(i)
      if i == 1 then
        pause(3)
        error({ kind = "data", message = "first" })
      end
      local guard <close> = setmetatable({},
        { __close = function() trail[#trail + 1] = "outer" end })
      task.map({ 1 }, function()
        local inner <close> = setmetatable({},
          { __close = function() trail[#trail + 1] = "inner" end })
        pause(50)
        return inner and guard
      end)
    end)
  end)
  t:equal(err.message, "first")
  t:equal(trail, { "inner", "outer" })
end)

test("a hundred thousand short tasks end in one map", function(t)
  local list = {}
  for i = 1, 100000 do list[i] = i end
  local sum = 0
  task.map(list, function(i) sum = sum + i end, { limit = 1000 })
  t:equal(sum, 5000050000)
end)

test("signals wake one waiter and a word said before is not lost", function(t)
  local signal, order = core.signal(), {}
  task.map({ 1, 2 }, function(i)
    if i == 1 then
      signal:wait()
      order[#order + 1] = "woken"
    else
      order[#order + 1] = "raise"
      signal:raise()
    end
  end)
  signal:raise()
  signal:wait()
  t:equal(order, { "raise", "woken" })
end)

test("events come out in program order", function(t)
  task.take_events()
  task.map({ 3, 1, 2 }, function(n, i)
    pause(n)
    task.event { i = i }
  end)
  task.scope("x", function() task.event { i = 4 } end)
  local seen = {}
  for _, event in ipairs(task.take_events()) do seen[#seen + 1] = event.i end
  t:equal(seen, { 1, 2, 3, 4 })
end)
