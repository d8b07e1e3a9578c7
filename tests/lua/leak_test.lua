--- What a test leaves behind makes it fail, and is gone for the next one.
local core = require "rt.task"
local file = require "rt.file"
local flow = require "rt.flow"
local journal = require "rt.journal"
local raw = require "rt.raw"
local task = require "skillopt.task"
local test = require "skillopt.test"
local watch = require "rt.watch"
local support = test.support "tests/lua/support.lua"

--- Outcome and reason of a test that does `f`.
local function outcome(f)
  return table.pack(test.run { name = "inner", run = f })
end

test("a task that is left behind fails the test and is ended", function(t)
  local live = core.count()
  local got = outcome(function() core.spawn("left", nil, 1, flow.sleep, 600) end)
  t.equal({ got[1], got[2], core.count() }, { "FAIL", "left behind: tasks: 1", live })
end)

test("a global that is left behind fails the test", function(t)
  local got = outcome(function() rawset(_G, "left_here", 1) end)
  raw.set(_G, "left_here", nil)
  t.equal({ got[1], got[2] }, { "FAIL", "left behind: globals: left_here" })
end)

local kept

test("an open file that is left behind fails the test, a forgotten one is collected", function(t)
  local path = support.folder() .. "/left.db"
  local got = outcome(function() kept = assert(journal.open(path)) end)
  kept:close()
  t.equal(got[1], "FAIL")
  t.ok(got[2]:find("left behind: files: ", 1, true) and got[2]:find("left.db", 1, true), got[2])
  t.equal(outcome(function() assert(journal.open(path)) end)[1], "ok")
end)

test("another working directory that is left behind fails the test", function(t)
  -- Nothing here can change it: the answer to where the program is is changed instead.
  local absolute = file.absolute
  local got = outcome(function() raw.set(file, "absolute", function() return "/else/where" end) end)
  raw.set(file, "absolute", absolute)
  t.equal({ got[1], got[2] }, { "FAIL", "left behind: the working directory: /else/where" })
end)

test("all that is left behind is named", function(t)
  local path = support.folder() .. "/all.db"
  local got = outcome(function()
    core.spawn("left", nil, 1, flow.sleep, 600)
    rawset(_G, "left_here", 1)
    kept = assert(journal.open(path))
  end)
  kept:close()
  raw.set(_G, "left_here", nil)
  t.ok(got[2]:find "^left behind: tasks: 1; globals: left_here; files: .*all%.db", got[2])
end)

test("a test that fails while its tasks run leaves none for the next", function(t)
  local live = core.count()
  local got = outcome(function(u)
    core.spawn("left", nil, 1, flow.sleep, 600)
    u.equal(1, 2)
  end)
  t.equal({ got[1], core.count() }, { "FAIL", live })
  t.ok(got[2]:find("got 1, wanted 2; left behind: tasks: 1", 1, true), got[2])
end)

test("a failing test says both what failed and what it left", function(t)
  local got = outcome(function(u)
    rawset(_G, "left_here", 1)
    u.ok(false, "was wrong")
  end)
  raw.set(_G, "left_here", nil)
  t.ok(got[2]:find("was wrong; left behind: globals", 1, true), got[2])
end)

test("a test that cleans up is ok, and a skipped one stays skipped", function(t)
  t.equal(outcome(function() task.map({ 1 }, function() end) end)[1], "ok")
  t.equal({ outcome(function(u) u.skip "no data" end)[1] }, { "skip" })
end)

test("watch.files lists what is open and no device", function(t)
  local path = support.folder() .. "/open.db"
  local j = assert(journal.open(path))
  local seen = {}
  for _, name in pairs(watch.files()) do seen[name:match "[^/]*$"] = true end
  j:close()
  t.equal({ seen["open.db"], seen["null"] }, { true })
end)
