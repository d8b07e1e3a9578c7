--- rt.limit: places at an endpoint, given in program order; when to try again.
local flow = require "rt.flow"
local limit = require "rt.limit"
local task = require "skillopt.task"
local test = require "skillopt.test"

local OK <const> = { outcome = "ok" }

--- A limit whose first call has succeeded, so that its window is open.
local function open(options)
  local l = limit.new(options)
  l:enter():leave(OK)
  return l
end

local function pause(n)
  for _ = 1, n do task.map({ 1 }, function() end, { label = "pause" }) end
end

test("limit.new has one place until a call succeeded, then all of its window", function(t)
  local l = limit.new { max = 5 }
  t.equal(l:view(), { in_flight = 0, window = 1, waiting = 0, is_alone = true, paused_s = 0.0 })
  local entry = l:enter()
  t.equal(l:view().in_flight, 1)
  entry:leave(OK)
  t.equal(l:view(), { in_flight = 0, window = 5, waiting = 0, is_alone = false, paused_s = 0.0 })
end)

test("limit:enter gives places in program order, not in that of asking", function(t)
  local l, order = open { max = 1 }, {}
  task.map({ 0, 9, 6, 3 }, function(n, i)
    pause(n)
    local entry <close> = l:enter()
    order[#order + 1] = i
    if i == 1 then pause(20) end -- all others are in line by now
    entry:leave(OK)
  end, { label = "line" })
  t.equal(order, { 1, 2, 3, 4 })
end)

test("no more than max are in flight", function(t)
  local l, most = open { max = 3 }, 0
  task.map({ 1, 2, 3, 4, 5, 6, 7, 8 }, function()
    local entry = l:enter()
    most = math.max(most, l:view().in_flight)
    pause(2)
    entry:leave(OK)
  end)
  t.equal({ most, l:view().in_flight }, { 3, 0 })
end)

test("an entry that is closed without leave gives its place back", function(t)
  local l = open { max = 1 }
  do local entry <close> = l:enter() t.ok(entry) end
  t.equal(l:view().in_flight, 0)
end)

test("entry:leave twice gives one place back", function(t)
  local l = open { max = 2 }
  local one, two = l:enter(), l:enter()
  one:leave(OK)
  one:leave(OK)
  t.equal(l:view().in_flight, 1)
  two:leave(OK)
end)

test("a call that was not sent counts as never started", function(t)
  local l = limit.new { max = 4 }
  l:enter():leave { outcome = "unused" }
  t.equal({ l:view().is_alone, l:view().in_flight }, { true, 0 })
end)

test("a fault of the first call leaves the next one alone", function(t)
  local l = limit.new { max = 4 }
  l:enter():leave { outcome = "fault" }
  t.equal({ l:view().is_alone, l:view().window }, { true, 1 })
end)

test("a busy server halves the window", function(t)
  local l = open { max = 8 }
  local entries = {}
  for i = 1, 8 do entries[i] = l:enter() end
  entries[1]:leave { outcome = "rate_limited", retry_after_s = 0.001 }
  t.equal(l:view().window, 4)
  for i = 2, 8 do entries[i]:leave(OK) end
end)

test("Retry-After pauses everybody", function(t)
  local l = open { max = 2 }
  l:enter():leave { outcome = "rate_limited", retry_after_s = 0.02 }
  t.ok(l:view().paused_s > 0)
  local before = flow.now()
  l:enter():leave(OK)
  t.ok(flow.now() - before >= 0.015, "it did not wait")
end)

test("what headers say is left holds the next call back until it is refilled", function(t)
  local l = open { max = 2 }
  l:enter():leave { outcome = "ok",
    limits = { requests = { limit = 100, remaining = 0, reset_s = 1 } } }
  local before = flow.now()
  l:enter():leave(OK)
  t.ok(flow.now() - before >= 0.005, "it did not wait")
end)

test("requests a minute are kept", function(t)
  local l = open { max = 100, rpm = 6000 } -- 100 a second, so a burst of 100, then 10 ms each
  local before = flow.now()
  for _ = 1, 103 do l:enter():leave(OK) end
  t.ok(flow.now() - before >= 0.02, "it did not wait")
end)

test("one who is cancelled in line makes room for the next", function(t)
  local l, trail = open { max = 1 }, {}
  local held = l:enter()
  pcall(task.map, { 1, 2 }, function(i)
    if i == 1 then
      pause(2)
      error { kind = "data", message = "first" }
    end
    l:enter()
    trail[#trail + 1] = "entered"
  end)
  t.equal({ l:view().waiting, trail }, { 0, {} })
  held:leave(OK)
  t.equal(l:view().in_flight, 0)
end)

test("a place given to a task that was cancelled before it ran is free again", function(t)
  local l = open { max = 1 }
  pcall(task.map, { 1, 2 }, function(i)
    if i == 2 then return l:enter() end
    local entry = l:enter()
    pause(2) -- the other one stands in line
    entry:leave(OK) -- and gets the place ...
    error { kind = "data", message = "first" } -- ... and is cancelled
  end)
  t.equal(l:view().in_flight, 0)
end)

test("wrong options are refused", function(t)
  t.raises(function() limit.new { most = 3 } end, "most")
  t.raises(function() limit.new { max = 0 } end, "max")
  t.raises(function() limit.new { max = 2 }:enter():leave { outcome = "fine" } end, "fine")
  t.raises(function() limit.new { max = 2 }:enter():leave { outcom = "ok" } end, "outcom")
end)

test("limit:enter cannot wait in a callback", function(t)
  local l = limit.new { max = 1 }
  t.raises(function() ("x"):gsub("x", function() l:enter() end) end, "cannot wait here")
  t.equal(l:view().waiting, 0)
end)

-------------------------------------------------------------------- retry_delay

local function delay(kind, attempt, more)
  local try = { kind = kind, attempt = attempt, key = "slot" }
  for k, v in pairs(more or {}) do try[k] = v end
  return limit.retry_delay(try)
end

test("limit.retry_delay doubles from a second to a minute, spread by the key", function(t)
  for attempt = 1, 5 do
    local d = delay("network", attempt)
    t.ok(d >= 2 ^ (attempt - 1) / 2 and d <= 2 ^ (attempt - 1), attempt .. ": " .. d)
  end
  t.equal(delay("rate_limit", 11) <= 60, true)
  t.equal(delay("network", 1), delay("network", 1))
  t.ok(delay("network", 1) ~= delay("network", 1, { key = "other" }))
end)

test("limit.retry_delay gives up after the tries of the class", function(t)
  t.equal({ delay("network", 6), delay("rate_limit", 12), delay("parse", 3) }, {})
  t.ok(delay("network", 5) and delay("rate_limit", 11) and delay("parse", 2))
end)

test("limit.retry_delay never tries what will not go away", function(t)
  for _, kind in ipairs { "auth", "bad_request", "refused", "filtered", "too_long", "bug",
    "cancelled", "budget" } do
    t.equal(delay(kind, 1), nil, kind)
  end
end)

test("limit.retry_delay keeps Retry-After and gives up past half an hour", function(t)
  t.equal(delay("rate_limit", 1, { retry_after_s = 17.5 }), 17.5)
  t.equal(delay("rate_limit", 1, { retry_after_s = 1801 }), nil)
  t.equal(delay("rate_limit", 1, { retry_after_s = 10, elapsed_s = 1795 }), nil)
end)

test("limit.retry_delay keeps a configured number of tries", function(t)
  t.equal(delay("network", 2, { max_attempts = 2 }), nil)
  t.ok(delay("network", 7, { max_attempts = 9 }))
  t.equal(delay("auth", 1, { max_attempts = 9 }), nil)
end)
