--- `skillopt test` as a command: what it runs, what it says, how it ends.
local file = require "rt.file"
local test = require "skillopt.test"
local process = test.support "tests/lua/process.lua"
local support = test.support "tests/lua/support.lua"

--- Run the command over a file of these tests.
local function run(text, ...)
  local path = support.folder() .. "/planted_test.lua"
  support.write(path, 'local test = require "skillopt.test"\n' .. text)
  return process.run { "test", file.absolute(path), ... }
end

test("skillopt test says one line a test and ends with 1 when one failed", function(t)
  local done = run [[
    test("is fine", function(u) u.ok(true) end)
    test("is not", function(u) u.equal(1, 2) end)
    test("has no data", function(u) u.skip "no data" end)
  ]]
  t.equal(done.code, 1)
  t.equal(done.out, "ok - is fine\nFAIL - is not: planted_test.lua:3: got 1, wanted 2\n"
    .. "skip - has no data: no data\n")
end)

test("skillopt test fails what a test leaves behind, and runs the next one without it", function(t)
  local done = run [[
    local core, flow = require "rt.task", require "rt.flow"
    test("leaves a task", function() core.spawn("left", nil, 1, flow.sleep, 600) end)
    test("leaves a global", function() rawset(_G, "left_here", 1) end)
    test("is clean", function(u) u.equal(core.count(), 1) end)
  ]]
  t.equal(done.code, 1)
  t.equal(done.out, "FAIL - leaves a task: left behind: tasks: 1\n"
    .. "FAIL - leaves a global: left behind: globals: left_here\nok - is clean\n")
end)

test("skillopt test --only runs what has the text in its name, and something at least", function(t)
  local text = 'test("one", function() end)\ntest("two", function(u) u.ok(false) end)\n'
  t.equal(run(text, "--only", "one").out, "ok - one\n")
  local none = run(text, "--only", "three")
  t.equal({ none.code, none.out }, { 2, "" })
  t.ok(none.err:find("no test has this in its name: three", 1, true), none.err)
  t.equal(run(text, "--only").code, 2)
  t.equal(run("").code, 2)
end)

test("skillopt test counts a file that does not load as failed", function(t)
  local done = run "error 'broken'"
  t.equal(done.code, 1)
  t.ok(done.out:find("planted_test.lua loads: ", 1, true), done.out)
end)
