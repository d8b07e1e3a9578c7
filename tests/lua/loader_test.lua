--- Finding modules, the two worlds, and what is read-only once it is loaded.
local json = require "rt.json"
local loader = require "skillopt.loader"
local task = require "skillopt.task"
local test = require "skillopt.test"
local process = test.support "tests/lua/process.lua"
local support = test.support "tests/lua/support.lua"

--- A folder with these files, searched first.
local function tree(files)
  local folder = support.folder()
  for name, text in pairs(files) do
    local sub = name:match "^(.*)/"
    if sub then assert(require "rt.file".mkdir(folder .. "/" .. sub)) end
    support.write(folder .. "/" .. name, text)
  end
  loader.set_search { folder }
  return folder
end

local function load_in(folder, name)
  return loader.user_file(folder .. "/" .. name)
end

------------------------------------------------------------------------- finding

test("a user's module is found in the experiment's folder first", function(t)
  local first = tree { ["shared.lua"] = "return 'first'" }
  local second = tree { ["shared.lua"] = "return 'second'", ["own.lua"] = "return 'own'" }
  loader.set_search { first, second }
  t.equal({ loader.user_require "shared", loader.user_require "own" }, { "first", "own" })
end)

test("a module beside the experiment stands before the installed one", function(t)
  tree { ["policies/metric/hard.lua"] = "return 'mine'" }
  local ok, mine = pcall(loader.user_require, "policies.metric.hard")
  t.equal({ ok, mine }, { true, "mine" })
end)

test("a folder with init.lua is a module", function(t)
  tree { ["pack/init.lua"] = "return 'the folder'" }
  t.equal(loader.user_require "pack", "the folder")
end)

test("a module that is nowhere is refused with the folders that were searched", function(t)
  local folder = tree {}
  local message = t.raises(function() loader.user_require "no_such_module" end,
    "module 'no_such_module' not found")
  t.ok(message:find(folder, 1, true), message)
end)

test("a module name cannot leave its folder", function(t)
  tree {}
  t.raises(function() loader.user_require "a/../../b" end, "is no module name")
  t.raises(function() loader.user_require "..secret" end, "is no module name")
end)

test("a module runs once however often it is required", function(t)
  tree { ["once.lua"] = "return { token = {} }" }
  t.ok(rawequal(loader.user_require "once", loader.user_require "once"))
end)

test("a module that returns nothing is true", function(t)
  tree { ["silent.lua"] = "local _ = 1" }
  t.equal(loader.user_require "silent", true)
end)

test("a module with a fault in its syntax names file and line", function(t)
  local folder = tree { ["broken.lua"] = "return {\n  a = = 1\n}" }
  t.raises(function() load_in(folder, "broken.lua") end, "broken.lua:2:")
end)

test("a module that raises can be loaded once it is mended", function(t)
  local folder = tree { ["flaky.lua"] = "error 'not yet'" }
  t.raises(function() load_in(folder, "flaky.lua") end, "not yet")
  support.write(folder .. "/flaky.lua", "return 'mended'")
  t.equal(load_in(folder, "flaky.lua"), "mended")
end)

test("modules that require each other are named as a circle", function(t)
  tree { ["left.lua"] = "return require 'right'", ["right.lua"] = "return require 'left'" }
  t.raises(function() loader.user_require "left" end, "modules require each other in a circle")
end)

test("a module cannot wait while it loads", function(t)
  tree { ["waits.lua"] = "local task = require 'skillopt.task'\n"
    .. "task.map({ 1 }, function() end)\nreturn true" }
  t.raises(function() loader.user_require "waits" end, "while a module loads")
end)

-------------------------------------------------------------------------- worlds

test("the rt modules that only compute are there for user code", function(t)
  for _, name in ipairs { "json", "yaml", "text", "score", "digest", "document", "reply",
    "template",
    "game", "rng" } do
    t.equal(type(loader.user_require("rt." .. name)), "table", name)
  end
end)

test("rt modules that change or ask the world are refused", function(t)
  for _, name in ipairs { "file", "task", "flow", "journal", "lock", "lines", "limit", "stdout",
    "raw",
    "http" } do
    t.raises(function() loader.user_require("rt." .. name) end,
      "is not for environments and policies")
  end
end)

test("the library's inside is not for user code", function(t)
  tree {}
  for _, name in ipairs { "skillopt.loader", "skillopt.sandbox", "skillopt.test",
    "skillopt.effect" } do
    t.raises(function() loader.user_require(name) end, "is not for environments and policies")
  end
end)

test("skillopt is the same table in both worlds", function(t)
  t.ok(rawequal(loader.user_require "skillopt", require "skillopt"))
end)

test("what user code loads is listed as the user's", function(t)
  local folder = tree { ["listed.lua"] = "return 1" }
  loader.user_require "listed"
  local last = loader.sources()[#loader.sources()]
  t.equal(last, { path = folder .. "/listed.lua", text = "return 1", world = "user" })
end)

test("texts of an overlay stand before the files on disk", function(t)
  local folder = tree { ["both.lua"] = "return 'disk'", ["only.lua"] = "return 'disk only'" }
  loader.set_overlay { [folder .. "/both.lua"] = "return 'overlay'" }
  local ok, got = pcall(loader.user_require, "both")
  local is_there = loader.exists(folder .. "/only.lua")
  loader.set_overlay(nil)
  t.equal({ ok, got, is_there }, { true, "overlay", false })
end)

-------------------------------------------------------------------------- frozen

--- Functions of the user's world that act on a value.
local acts = loader.user_file((function()
  local path = support.folder() .. "/acts.lua"
  support.write(path, [[return {
    set = function(t, k, v) t[k] = v end,
    rawset = function(t, k, v) rawset(t, k, v) end,
    insert = function(t, v) table.insert(t, v) end,
    remove = function(t) table.remove(t) end,
    sort = function(t) table.sort(t) end,
    move = function(from, to) table.move(from, 1, #from, 1, to) end,
    setmetatable = function(t) setmetatable(t, {}) end,
    state_of_pairs = function(t) local _, state = pairs(t) return state end,
    string_library = function() string.upper = nil end,
    table_library = function() table.extra = true end,
    math_library = function() math.pi = 3 end,
    method_of_a_text = function() getmetatable("").__index.upper = nil end,
  }]])
  return path
end)())

local function frozen()
  local folder = tree { ["frozen.lua"] =
    "return { list = { 2, 1, 3 }, deep = { deeper = { value = 1 } } }" }
  return load_in(folder, "frozen.lua")
end

test("a loaded module is read-only, and so are the tables in it", function(t)
  local module = frozen()
  local words = "a module is read-only once it is loaded"
  t.raises(function() acts.set(module, "fresh", 1) end, words)
  t.raises(function() acts.set(module, "list", 1) end, words)
  t.raises(function() acts.set(module.deep.deeper, "value", 2) end, words)
  t.equal(module.deep.deeper.value, 1)
end)

test("rawset does not reach a loaded module", function(t)
  t.raises(function() acts.rawset(frozen(), "fresh", 1) end,
    "a module is read-only once it is loaded")
end)

test("the table library does not change a loaded module", function(t)
  local list = frozen().list
  local words = "a module is read-only once it is loaded"
  t.raises(function() acts.insert(list, 4) end, words)
  t.raises(function() acts.remove(list) end, words)
  t.raises(function() acts.sort(list) end, words)
  t.raises(function() acts.move({ 9 }, list) end, words)
  t.equal({ list[1], list[2], list[3], #list }, { 2, 1, 3, 3 })
end)

test("a loaded module keeps its metatable", function(t)
  t.raises(function() acts.setmetatable(frozen()) end, "protected metatable")
end)

test("walking a loaded module does not hand out its content", function(t)
  local module = frozen()
  t.raises(function() acts.set(acts.state_of_pairs(module), "fresh", 1) end,
    "a module is read-only once it is loaded")
end)

test("a loaded module is read like any table", function(t)
  local list = frozen().list
  local seen = {}
  for i, v in ipairs(list) do seen[i] = v end
  t.equal(seen, { 2, 1, 3 })
  t.equal({ table.unpack(list) }, { 2, 1, 3 })
  t.equal(table.concat(list, ","), "2,1,3")
  t.equal({ next(list) }, { 1, 2 })
  t.equal(json.encode(list), "[2, 1, 3]")
  t.equal(json.is_array(list), true)
end)

test("lists of a loaded module are seen by the scoring functions", function(t)
  local folder = tree { ["golds.lua"] = "return { names = { 'Paris', 'Lutetia' } }" }
  local score = loader.user_require "rt.score"
  t.equal(score.exact_match("Lutetia", load_in(folder, "golds.lua").names), 1.0)
end)

test("a list of a loaded module can be drawn from but not shuffled in place", function(t)
  local list, rng = frozen().list, loader.user_require "rt.rng"
  t.raises(function() rng.new(1):shuffle(list) end, "a module is read-only once it is loaded")
  t.equal(#rng.new(1):sample(list, 2), 2)
end)

test("an object with a class of its own is fixed too", function(t)
  local folder = tree { ["object.lua"] = "local Class = {}\nClass.__index = Class\n"
    .. "function Class.total(self) return self.n end\nreturn setmetatable({ n = 1 }, Class)" }
  local object = load_in(folder, "object.lua")
  t.equal(object:total(), 1)
  t.raises(function() acts.set(object, "n", 2) end, "a module is read-only once it is loaded")
end)

test("a class that a module returns still makes objects", function(t)
  local folder = tree { ["class.lua"] = "local Class = {}\nClass.__index = Class\n"
    .. "function Class.new(n) return setmetatable({ n = n }, Class) end\n"
    .. "function Class:twice() return 2 * self.n end\nreturn Class" }
  local class = load_in(folder, "class.lua")
  t.equal(class.new(4):twice(), 8)
  t.raises(function() acts.set(class, "twice", nil) end, "a module is read-only once it is loaded")
end)

test("a callable module stays callable and is fixed", function(t)
  local folder = tree { ["callable.lua"] =
    "return setmetatable({ n = 1 }, { __call = function(self, x) return self.n + x end })" }
  local callable = load_in(folder, "callable.lua")
  t.equal(callable(2), 3)
  t.raises(function() acts.set(callable, "n", 2) end, "a module is read-only once it is loaded")
end)

test("a module that holds itself is fixed and ends", function(t)
  local folder = tree { ["ring.lua"] = "local M = {}\nM.self = M\nreturn M" }
  local ring = load_in(folder, "ring.lua")
  t.ok(rawequal(ring.self, ring))
  t.raises(function() acts.set(ring, "x", 1) end, "a module is read-only once it is loaded")
end)

test("the shared libraries are read-only for user code", function(t)
  local words = "a module is read-only once it is loaded"
  t.raises(acts.string_library, words)
  t.raises(acts.table_library, words)
  t.raises(acts.math_library, words)
end)

test("the methods of texts cannot be changed by user code", function(t)
  t.raises(acts.method_of_a_text, "attempt to index")
  t.equal(("x"):upper(), "X")
end)

test("the library's own modules are read-only once user code has them", function(t)
  t.raises(function() acts.set(loader.user_require "skillopt.policy", "define", nil) end,
    "a module is read-only once it is loaded")
end)

test("a module that is not loaded yet cannot be required in the middle of a run", function(t)
  tree { ["early.lua"] = "return 'early'", ["late.lua"] = "return 'late'" }
  loader.user_require "early"
  task.scope("run", function()
    task.set_place {}
    t.equal(loader.user_require "early", "early")
    t.raises(function() loader.user_require "late" end,
      "late.lua is required in the middle of a run")
  end)
end)

test("a module counts as loading only for the task that loads it", function(t)
  tree { ["slow.lua"] = "return 'loaded'" }
  local out = task.map({ 1, 2 }, function() return loader.user_require "slow" end,
    { label = "loading" })
  t.equal(out, { "loaded", "loaded", n = 2 })
end)

test("what a file of the user's gets wrong is a mistake in the configuration", function(t)
  local folder = tree { ["raises.lua"] = "local x\nreturn x.y", ["none.lua"] = "error()",
    ["table.lua"] = "error {}", ["kind.lua"] = "error { kind = 'data', message = 'no items' }",
    ["syntax.lua"] = "return {" }
  local function raised(name)
    local _, err = pcall(load_in, folder, name)
    return { err.kind, (err.message:gsub("^.*/", "")) }
  end
  t.equal(raised "raises.lua",
    { "config", "raises.lua:2: attempt to index a nil value (local 'x')" })
  t.equal(raised "none.lua", { "config", "none.lua: it raised nil while it was loaded" })
  t.equal(raised "table.lua",
    { "config", "table.lua: it raised a table without kind and message while it was loaded" })
  t.equal(raised "kind.lua", { "data", "no items" })
  t.equal(raised "syntax.lua", { "config", "syntax.lua:1: unexpected symbol near <eof>" })
end)

--------------------------------------------------------------------- built or edited

test("an edited file of the installed tree counts at once, and messages name its lines", function(t)
  local home = require "rt.file".absolute(support.folder())
  assert(os.execute(("cp -r lua %s/lua"):format(home)))
  local path = home .. "/lua/skillopt/version.lua"
  local text, edited = test.read(path):gsub('"libraries:"', '"edited:"')
  t.equal(edited, 1)
  local before = { before = ("SKILLOPT_HOME='%s'"):format(home) }
  support.write(path, text)
  t.ok(process.run({ "--version" }, before).out:find("\nedited:\n", 1, true))
  support.write(path, "error 'on purpose'\n" .. text)
  local said = process.run({ "--version" }, before).err
  t.ok(said:find("/lua/skillopt/version.lua:1: on purpose", 1, true), said)
  t.ok(said:find("/lua/skillopt/main%.lua:%d+:"), said)
end)
