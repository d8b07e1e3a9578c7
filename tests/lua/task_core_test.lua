--- rt.task: the functions that structured tasks are made of, one by one.
local core = require "rt.task"
local task = require "skillopt.task"
local test = require "skillopt.test"

local function pause(n)
  for _ = 1, n do task.map({ 1 }, function() end, { label = "pause" }) end
end

--- Run `f` as a task of its own, so that what it spawns is nobody else's.
local function apart(f)
  return task.scope("apart", f)
end

test("core.spawn puts one result in its place, or all of them and their number", function(t)
  apart(function()
    local list, all = {}, {}
    core.spawn("one", list, 3, function(a, b) return a + b, "dropped" end, 1, 2)
    core.spawn("all", all, 0, function() return "a", nil, "c" end)
    core.spawn("none", nil, 0, function() return "x" end)
    core.join(0)
    t.equal({ list, all }, { { [3] = 3 }, { "a", nil, "c", n = 3 } })
  end)
end)

test("core.join waits until so many are left and says how many", function(t)
  apart(function()
    local ended = 0
    for i = 1, 4 do
      core.spawn("c" .. i, nil, 0, function()
        pause(i)
        ended = ended + 1
      end)
    end
    local left = core.join(2)
    t.equal({ left, ended >= 2, core.join() }, { left, true, 0 })
    t.ok(left <= 2)
    t.equal(ended, 4)
  end)
end)

test("core.join raises the error of the first spawned, whichever came first", function(t)
  apart(function()
    for i = 1, 2 do
      core.spawn("c" .. i, nil, 0, function()
        pause(3 - i)
        error { kind = "data", message = "child " .. i }
      end)
    end
    t.equal(t.raises(function() core.join(0) end).message, "child 1")
  end)
end)

test("core.room waits for a place for one more and raises no child's error", function(t)
  apart(function()
    local live, most = 0, 0
    for i = 1, 6 do
      core.room(2)
      core.spawn("c" .. i, nil, 0, function()
        live = live + 1
        most = math.max(most, live)
        pause(1)
        live = live - 1
      end)
    end
    core.join(0)
    t.equal(most, 2)
    core.spawn("fails", nil, 0, function() error { kind = "data", message = "m" } end)
    core.room(1)
    t.raises(function() core.join(0) end)
    t.raises(function() core.room(0) end, "must be positive")
  end)
end)

test("core.stopped is true once a child failed", function(t)
  apart(function()
    t.equal(core.stopped(), false)
    core.spawn("fails", nil, 0, function() error { kind = "data", message = "m" } end)
    core.room(1)
    t.equal(core.stopped(), true)
    pcall(core.join, 0)
    t.equal(core.stopped(), false)
  end)
end)

test("core.cancel_behind ends the children with a greater index", function(t)
  apart(function()
    local ended = {}
    for i = 1, 3 do
      core.spawn("c" .. i, ended, i, function()
        pause(5)
        return "whole"
      end)
    end
    core.cancel_behind(1)
    core.join(0)
    t.equal(ended, { "whole" })
  end)
end)

test("core.still gives what the function gives, and nothing in it may wait", function(t)
  t.equal({ core.still(function(...) return select("#", ...), ... end, "a", nil) }, { 2, "a", nil })
  t.raises(function() core.still(pause, 1) end, "cannot wait here")
  t.equal(t.raises(function() core.still(error, { kind = "data" }) end).kind, "data")
end)

test("core.locals are the task's own, core.parent_locals those above", function(t)
  apart(function()
    core.locals().name = "upper"
    task.scope("child", function()
      t.equal({ core.locals().name, core.parent_locals().name, core.parent_locals(1).name },
        { nil, "upper", "upper" })
      task.scope("grandchild", function() t.equal(core.parent_locals(2).name, "upper") end)
    end)
    t.equal(core.parent_locals(1000), nil)
  end)
end)

test("core.keep_time leaves the parent's clock alone", function(t)
  apart(function()
    local before = core.time()
    core.spawn("kept", nil, 0, function()
      core.keep_time()
      core.set_time(before + 1000)
    end)
    core.join(0)
    t.equal(core.time(), before)
  end)
end)

test("a clock never goes back, and a failed map has the clock of what failed", function(t)
  apart(function()
    local before = core.time()
    core.set_time(before - 5)
    t.equal(core.time(), before)
    pcall(task.map, { 1, 2, 3 }, function(i)
      core.set_time(before + ({ 10, 20, 3000 })[i])
      if i == 2 then
        pause(2)
        error { kind = "data", message = "m" }
      end
    end)
    t.equal(core.time(), before + 20)
  end)
end)

test("core.is_task is false where nothing may wait", function(t)
  t.equal(core.is_task(), true)
  t.equal(core.still(core.is_task), false)
end)

test("what came for a cancelled task is dropped by the one that waited for it", function(t)
  local signal, trail = core.signal(), {}
  pcall(task.map, { 1, 2 }, function(i)
    if i == 2 then
      signal:wait()
      trail[1] = "seen"
      return
    end
    pause(1)
    signal:raise()
    error { kind = "data", message = "m" }
  end)
  t.equal(trail, {})
end)
