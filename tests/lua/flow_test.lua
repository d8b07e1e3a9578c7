--- rt.flow: time for the library, stopping, and stored answers in another order.
local core = require "rt.task"
local flow = require "rt.flow"
local http = require "rt.http"
local task = require "skillopt.task"
local test = require "skillopt.test"
local process = test.support "tests/lua/process.lua"

test("flow.now never goes back and flow.wall is the time of day", function(t)
  local a, b = flow.now(), flow.now()
  t.ok(b >= a)
  t.ok(math.abs(flow.wall() - os.time()) <= 2, flow.wall())
end)

test("flow.sleep waits at least so long and lets others run", function(t)
  local order, before = {}, flow.now()
  task.map({ 0.01, 0.002, 0 }, function(seconds)
    flow.sleep(seconds)
    order[#order + 1] = seconds
  end)
  t.equal(order, { 0, 0.002, 0.01 })
  t.ok(flow.now() - before >= 0.009)
end)

--- Two tasks that wake each other, so that one of them is always ready, until `f` is over:
--- how often, at most `most` times.
local function turns_beside(most, f)
  local ball, n, is_over = { core.signal(), core.signal() }, 0, false
  ball[1]:raise()
  task.map({ 1, 2, 3 }, function(i)
    if i == 3 then
      f()
      is_over = true
      return
    end
    while n < most and not is_over do
      ball[i]:wait()
      ball[3 - i]:raise()
      n = n + 1
    end
    ball[3 - i]:raise()
  end)
  return n
end

local MANY <const> = 10000000

test("tasks that are always ready do not keep time from passing", function(t)
  local n = turns_beside(MANY, function() flow.sleep(0.001) end)
  t.ok(n < MANY, n)
end)

test("tasks that are always ready do not keep an answer waiting", function(t)
  local n = turns_beside(MANY, function()
    http.request { url = "http://127.0.0.1:1/" } -- nothing listens there
  end)
  t.ok(n < MANY, n)
end)

test("flow.sleep refuses a negative time and a callback", function(t)
  t.raises(function() flow.sleep(-1) end, "must not be negative")
  t.raises(function() ("x"):gsub("x", function() flow.sleep(0) end) end, "cannot wait here")
end)

test("a cancelled sleep ends at once", function(t)
  local before = flow.now()
  t.raises(function()
    task.map({ 1, 2 }, function(i)
      if i == 2 then flow.sleep(60) end
      error { kind = "data", message = "m" }
    end)
  end)
  t.ok(flow.now() - before < 30)
end)

test("a program in which nothing can wake anybody ends and says who waits", function(t)
  local done = process.lua [[
    local core, flow = require "rt.task", require "rt.flow"
    local task = require "skillopt.task"
    core.spawn("draws", nil, 0, function() while true do flow.tick(0.01) end end)
    task.map({ 1, 2 }, function(i)
      if i == 2 then core.signal():wait() end
    end, { label = "items" })
  ]]
  t.equal(done.code, 70)
  t.ok(done.err:find("nothing is left that could wake one: draws, items/2", 1, true), done.err)
end)

test("a row that is being stored is waited for", function(t)
  local done = process.lua [[
    local j = require("rt.journal").open()
    for n = 1, 200 do assert(j:store("value", "", "v" .. n, "x")) end
    require("rt.stdout").write "stored"
  ]]
  t.equal(done.out .. done.err, "stored")
end)

test("flow.hold waits until it is cancelled", function(t)
  local err = t.raises(function()
    task.map({ 1, 2 }, function(i)
      if i == 2 then flow.hold() end
      task.map({ 1 }, function() end)
      error { kind = "data", message = "over" }
    end)
  end)
  t.equal(err.message, "over")
end)

test("flow.flight counts what is on the way for flow.flights", function(t)
  local before = flow.flights()
  flow.flight(2)
  local during = flow.flights()
  flow.flight(-2)
  t.equal({ during - before, flow.flights() - before }, { 2, 0 })
end)

test("flow.defer: tasks go on one by one, as the seed of flow.disorder draws", function(t)
  local function order(seed)
    local out = {}
    flow.disorder(seed)
    task.map({ 1, 2, 3, 4, 5, 6 }, function(i)
      flow.defer()
      out[#out + 1] = i
    end)
    return table.concat(out)
  end
  t.equal(order(1), order(1))
  local seen, different = {}, 0
  for seed = 1, 5 do
    local one = order(seed)
    if not seen[one] then different = different + 1 end
    seen[one] = true
  end
  t.ok(different >= 4, different .. " orders of 5 seeds")
end)

test("a deferred task can be cancelled", function(t)
  t.raises(function()
    task.map({ 1, 2 }, function(i)
      if i == 2 then flow.defer() end
      error { kind = "data", message = "m" }
    end)
  end)
  t.equal(core.stopped(), false)
end)

------------------------------------------------------------------------- stopping

local READY <const> = [[
  local flow, stdout = require "rt.flow", require "rt.stdout"
  local function interrupt() os.execute "kill -TERM $PPID" end
  local function until_stopping() while not flow.is_stopping() do flow.sleep(0.001) end end
]]

test("an interrupt with nothing on the way ends the program as cancelled", function(t)
  local done = process.lua(READY .. "interrupt() flow.sleep(60)")
  t.equal({ done.code, done.out }, { 130, "" })
end)

test("flow.is_stopping tells of an interrupt; what is in flight is waited for", function(t)
  local done = process.lua(READY .. [[
    flow.flight(1)
    interrupt()
    until_stopping()
    flow.sleep(0.01)
    stdout.write "stored\n"
    flow.flight(-1)
    flow.sleep(60)
    stdout.write "not reached\n"
  ]])
  t.equal({ done.code, done.out }, { 130, "stored\n" })
  t.ok(done.err:find("1 call in flight", 1, true), done.err)
end)

test("a deadline is not over once the program is stopping", function(t)
  local done = process.lua(READY .. [[
    local core = require "rt.task"
    flow.flight(1)
    core.deadline(0.5)
    interrupt()
    until_stopping()
    flow.sleep(0.8)
    stdout.write(tostring(core.end_deadline()))
    flow.flight(-1)
    flow.sleep(60)
  ]])
  t.equal({ done.code, done.out }, { 130, "false" })
end)

test("a second interrupt ends the program at once", function(t)
  local done = process.lua(READY .. [[
    flow.flight(1)
    interrupt()
    until_stopping()
    interrupt()
    flow.sleep(60)
  ]])
  t.equal(done.code, 130)
end)

test("closing variables are closed when the program is interrupted", function(t)
  local done = process.lua(READY .. [[
    local guard <close> = setmetatable({}, { __close = function() stdout.write "closed\n" end })
    interrupt()
    flow.sleep(60)
    return guard
  ]])
  t.equal({ done.code, done.out }, { 130, "closed\n" })
end)
