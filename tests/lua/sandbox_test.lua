--- The world of environments and policies: what is there, what is not, and what looks
--- the same in every run.
local core = require "rt.task"
local digest = require "rt.digest"
local flow = require "rt.flow"
local loader = require "skillopt.loader"
local rng = require "rt.rng"
local sandbox = require "skillopt.sandbox"
local task = require "skillopt.task"
local test = require "skillopt.test"
local support = test.support "tests/lua/support.lua"

local NOT_HERE <const> = "is not there for environments and policies"

--- The value of a module of the user's world with this text.
local function module(text)
  local path = support.folder() .. "/module.lua"
  support.write(path, text)
  return loader.user_file(path)
end

--- What `f` gives as the only child of that slot; asked again it is the same slot.
local function at(slot, f, ...)
  local out = {}
  core.spawn(slot, out, 0, f, ...)
  core.join(0)
  return table.unpack(out, 1, out.n)
end

local function with_seed(seed, f)
  sandbox.set_seed(seed)
  local ok, err = pcall(f)
  sandbox.set_seed(0)
  if not ok then error(err, 0) end
end

------------------------------------------------------------------------- chance

local draw = module [[return function()
  return math.random(1, 1000000), math.random(), math.random(6)
end]]

test("math.random is the stream of seed and slot", function(t)
  with_seed(7, function()
    local stream = rng.from_text "7\nrandom/q1"
    local want = { 1 + stream:below(1000000), stream:random(), 1 + stream:below(6) }
    t.equal({ at("random/q1", draw) }, want)
  end)
end)

test("an item that is run again draws the same numbers", function(t)
  with_seed(7, function() t.equal({ at("random/q2", draw) }, { at("random/q2", draw) }) end)
end)

test("another seed draws other numbers", function(t)
  local first
  with_seed(7, function() first = at("random/q3", draw) end)
  with_seed(8, function() t.ok(first ~= at("random/q3", draw)) end)
end)

test("another slot draws other numbers", function(t)
  with_seed(7, function() t.ok(at("random/q4", draw) ~= at("random/q5", draw)) end)
end)

test("what a sibling draws does not move a task's own stream", function(t)
  local alone = at("random/both/1", draw)
  local out = task.map({ 3, 0 }, function(n)
    for _ = 1, n do draw() end
    task.scope("wait", function() end)
    return (draw())
  end, { label = "random/mixed" })
  local again = at("random/mixed/2", draw)
  t.equal(out[2], again)
  t.ok(alone ~= again)
end)

test("math.random takes whole floats as whole numbers", function(t)
  local value = at("random/q6", module "return function() return math.random(1.0, 3.0) end")
  t.equal(math.type(value), "integer")
end)

test("math.random of an empty interval raises", function(t)
  local f = module "return function() return math.random(2, 1) end"
  t.raises(f, "interval is empty")
end)

test("math.randomseed raises", function(t)
  t.raises(module "return function() math.randomseed(1) end", "math.randomseed " .. NOT_HERE)
end)

--------------------------------------------------------------------------- clock

local clock = module [[return function()
  return os.time(), os.clock(), os.date "!%Y-%m-%d %H:%M:%S"
end]]

test("os.time, os.clock and os.date read the task's clock", function(t)
  local got = { at("clock/a", function()
    core.set_time(4102444800.75)
    return clock()
  end) }
  t.equal(got, { 4102444800, 4102444800.75, "2100-01-01 00:00:00" })
end)

test("os.date is UTC whatever is asked", function(t)
  local date = module "return function() return os.date('%H', 3600), os.date('*t', 3600).hour end"
  t.equal({ date() }, { "01", 1 })
end)

test("os.date refuses a format that could keep it busy", function(t)
  local date = module "return function(n) return os.date(('%H'):rep(n), 0) end"
  t.equal(#date(500), 1000)
  t.raises(function() date(501) end, "too long")
end)

test("os.time of a date is the inverse of os.date", function(t)
  local back = module "return function(n) return os.time(os.date('*t', n)) end"
  t.equal(back(1700000000), 1700000000)
end)

test("a sibling's clock is not seen by items that start later", function(t)
  local seen = {}
  task.map({ 1, 2 }, function(i)
    seen[i] = core.time()
    core.set_time(seen[1] + 1000 * i)
  end, { label = "clock/turns", limit = 1 })
  t.equal(seen[2], seen[1])
end)

test("a parent has the latest time of its children once all have ended", function(t)
  local before, after
  at("clock/parent", function()
    before = core.time()
    task.map({ 3, 1, 2 }, function(n) core.set_time(before + n) end)
    after = core.time()
  end)
  t.equal(after, before + 3)
end)

-------------------------------------------------------------------- the outside

local function input_of(kind, name)
  for i = #sandbox.inputs, 1, -1 do
    local one = sandbox.inputs[i]
    if one.kind == kind and one.name == name then return one end
  end
end

test("io.open reads a file and its digest is on record", function(t)
  local path = support.folder() .. "/notes.txt"
  support.write(path, "one\ntwo\n")
  local read = module "return function(path) local f <close> = io.open(path) return f:read('a') end"
  t.equal(read(path), "one\ntwo\n")
  t.equal(input_of("file", path).digest, digest.sha256 "one\ntwo\n")
end)

test("a file read twice is one input", function(t)
  local path = support.folder() .. "/notes.txt"
  support.write(path, "same")
  local read = module "return function(path) return io.open(path):read('a') end"
  read(path)
  local count = #sandbox.inputs
  read(path)
  t.equal(#sandbox.inputs, count)
end)

test("io.open in a mode that writes raises", function(t)
  local open = module "return function(mode) return io.open('build/tmp/never', mode) end"
  for _, mode in ipairs { "w", "a", "r+", "w+b" } do
    t.raises(function() open(mode) end, "io.open is read-only here")
  end
end)

test("io.open of a missing file gives nil and words", function(t)
  local handle, words = module "return function() return io.open 'build/tmp/not_there' end"()
  t.equal(handle, nil)
  t.ok(words:find("not_there", 1, true), words)
end)

test("a handle reads lines, numbers and counts of bytes", function(t)
  local path = support.folder() .. "/numbers.txt"
  support.write(path, "12 0x1F\nrest\nend")
  local read = module [[return function(path)
    local f = io.open(path)
    return f:read "n", f:read "n", f:read "l", f:read(2), f:read "L", f:read "l", f:read "l",
      f:read "a"
  end]]
  t.equal({ read(path) }, { 12, 31, "", "re", "st\n", "end", nil, "" })
end)

test("a handle reads several formats in one call", function(t)
  local path = support.folder() .. "/two.txt"
  support.write(path, "a\nb\n")
  local read = module "return function(path) return io.open(path):read('l', 'l') end"
  t.equal({ read(path) }, { "a", "b" })
end)

test("io.lines walks the lines of a file", function(t)
  local path = support.folder() .. "/lines.txt"
  support.write(path, "a\n\nb")
  local lines = module [[return function(path)
    local out = {}
    for line in io.lines(path) do out[#out + 1] = line end
    return out
  end]]
  t.equal(lines(path), { "a", "", "b" })
end)

test("a handle does not write", function(t)
  local path = support.folder() .. "/fixed.txt"
  support.write(path, "x")
  local write = module "return function(path) io.open(path):write 'y' end"
  t.raises(function() write(path) end, "writing a file " .. NOT_HERE)
end)

test("os.getenv gives the value and its digest is on record", function(t)
  local home = module "return function() return os.getenv 'PATH' end"()
  t.equal(home, os.getenv "PATH")
  t.equal(input_of("env", "PATH").digest, digest.sha256(home))
end)

test("what would touch the system raises with words", function(t)
  local calls = { "os.execute('true')", "os.exit(0)", "os.remove('x')", "os.rename('x', 'y')",
    "os.tmpname()", "os.setlocale('C')", "io.popen('true')", "io.write('x')", "io.read()" }
  for _, call in ipairs(calls) do
    t.raises(module("return function() " .. call .. " end"), NOT_HERE)
  end
end)

test("debug, coroutine, package and collectgarbage are not defined", function(t)
  for _, name in ipairs { "debug", "coroutine", "package", "collectgarbage", "dofile",
    "loadfile" } do
    t.raises(module("return function() return " .. name .. " end"),
      ("global '%s' is not defined here"):format(name))
  end
end)

-------------------------------------------------------------------------- tables

test("setmetatable refuses finalizers and weak tables", function(t)
  local set = module "return function(meta) return setmetatable({}, meta) end"
  t.raises(function() set { __gc = function() end } end, "__gc and __mode")
  t.raises(function() set { __mode = "k" } end, "__gc and __mode")
  t.equal(getmetatable(set { __index = { a = 1 } }).__index.a, 1)
end)

test("a global that is not defined raises when read", function(t)
  t.raises(module "return function() return not_defined end",
    "global 'not_defined' is not defined here")
end)

test("assignment to a global raises", function(t)
  t.raises(module "return function() forgotten = 1 end",
    "assignment to global 'forgotten' (write `local`)")
end)

test("a function declared without local raises when the module loads", function(t)
  t.raises(function() module "function helper() end return {}" end, "assignment to global 'helper'")
end)

test("the strictness of globals cannot be taken off", function(t)
  t.raises(module "return function() setmetatable(_G, nil) end", "protected metatable")
end)

test("a global cannot be made behind the strictness", function(t)
  t.raises(module "return function() rawset(_G, 'hidden_state', 1) end",
    "assignment to global 'hidden_state'")
end)

test("load gets the user's world", function(t)
  local loads = module "return function(text) return load(text) end"
  t.raises(loads "return debug", "global 'debug' is not defined here")
  t.raises(loads "os.execute 'true'", NOT_HERE)
end)

test("load reads long text, and says where a fault in it is", function(t)
  local loaded = module "return function(s) return load(s, '=long') end"
  local text = ("--" .. ("x"):rep(100) .. "\n"):rep(3000)
  t.equal(loaded(text .. "return 7")(), 7)
  local none, words = loaded(text .. "return return")
  t.equal({ none, words:match "^long:%d+:" }, { nil, "long:3001:" })
end)

test("load takes text only, and only source", function(t)
  local loads = module "return function(...) return load(...) end"
  t.raises(function() loads(function() return "return 1" end) end, "load takes text here")
  t.raises(function() loads("return 1", "x", "b") end, "source text only")
  local chunk, message = loads(string.dump(function() return 1 end))
  t.equal(chunk, nil)
  t.ok(message:find("binary", 1, true), message)
end)

test("load runs in the world it is given", function(t)
  local chunk = module [[return function()
    return load("return answer", "x", "t", { answer = 42 })
  end]]()
  t.equal(chunk(), 42)
end)

------------------------------------------------------------------------- errors

local HANDLER <const> = ", function() return { kind = 'data', message = 'handled' } end"

local function protected(kind)
  return module(([[return function(raise)
    local ok, err = %s(raise%s)
    return "caught", ok, err
  end]]):format(kind, kind == "xpcall" and HANDLER or ""))
end

--- An error as the runtime raises it after its retries.
local function weather(kind)
  return { kind = kind, message = "m", retry = true, weather = true }
end

test("pcall lets weather, cancelled and budget through", function(t)
  local catch = protected "pcall"
  for _, kind in ipairs { "network", "timeout", "rate_limit", "server", "parse", "process",
    "sandbox",
    "cancelled", "budget" } do
    t.equal(t.raises(function() catch(function() error(weather(kind)) end) end).kind, kind)
  end
end)

test("xpcall lets weather, cancelled and budget through and asks no handler", function(t)
  local catch = protected "xpcall"
  for _, kind in ipairs { "network", "server", "parse", "cancelled", "budget" } do
    t.equal(t.raises(function() catch(function() error(weather(kind)) end) end).kind, kind)
  end
end)

test("pcall catches a fault of the environment", function(t)
  local word, ok, err = protected "pcall"(function() error({ kind = "data", message = "bad" }) end)
  t.equal({ word, ok, err.message }, { "caught", false, "bad" })
end)

test("xpcall hands a fault of the environment to its handler", function(t)
  local _, ok, err = protected "xpcall"(function() error "bad" end)
  t.equal({ ok, err.message }, { false, "handled" })
end)

test("pcall catches a parse error of the environment's own reading", function(t)
  local _, ok, err = protected "pcall"(function() error({ kind = "parse",
    message = "no JSON" }) end)
  t.equal({ ok, err.kind }, { false, "parse" })
end)

test("pcall lets through what ends the whole run", function(t)
  local catch = protected "pcall"
  t.raises(function() catch(function() error { kind = "auth", message = "m",
    fatal = true } end) end)
  t.raises(function() catch(function() error { kind = "io", message = "m", at_end = true } end) end)
end)

test("a table that cannot be shown is printed without an address", function(t)
  local show = module [[return function()
    return tostring({}), tostring(print), ("%s"):format({})
  end]]
  t.equal({ show() }, { "table", "function", "table" })
end)

test("user code cannot tell how long it was at work", function(t)
  local before = { at("clock/idle", clock) }
  flow.sleep(0.002)
  t.equal({ at("clock/idle", clock) }, before)
end)
