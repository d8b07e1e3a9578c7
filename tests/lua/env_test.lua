--- What an environment must say about itself, and where it is found.
local env_of = require "skillopt.env"
local file = require "rt.file"
local loader = require "skillopt.loader"
local skillopt = require "skillopt"
local test = require "skillopt.test"
local support = test.support "tests/lua/support.lua"

local function rollout() return { hard = 1 } end

local function refused(t, spec, piece, hint)
  local err = t.raises(function() skillopt.env(spec) end)
  t.equal(err.kind, "config")
  t.ok(err.message:find(piece, 1, true), err.message)
  if hint then t.equal(err.hint, hint) end
end

test("an environment with name and rollout is complete", function(t)
  local spec = { name = "boxes", rollout = rollout }
  t.ok(rawequal(skillopt.env(spec), spec))
end)

test("an unknown field is refused with the nearest name", function(t)
  refused(t, { name = "boxes", rollout = rollout, feed_back = rollout },
    "unknown field 'feed_back'",
    "did you mean 'feedback'?")
end)

test("a field of another type is refused", function(t)
  refused(t, { name = "boxes", rollout = "rollout" },
    "field 'rollout' must be a function, got string")
  refused(t, { name = "boxes", rollout = rollout, required = "question" },
    "field 'required' must be a table")
end)

test("a name is lower-case letters, digits and _", function(t)
  for _, name in ipairs { "Boxes", "1box", "box-es", "../x", "" } do
    refused(t, { name = name, rollout = rollout }, "'name' must be")
  end
  refused(t, { rollout = rollout }, "'name' must be")
end)

test("an environment without a rollout is refused with an example", function(t)
  refused(t, { name = "boxes" }, "has no rollout function")
end)

test("anything but a table is misuse", function(t)
  t.raises(function() skillopt.env "boxes" end, "takes one table")
end)

--------------------------------------------------------------------------- found

local function write_env(folder, path, name)
  assert(file.mkdir(folder .. "/" .. (path:match "^(.*)/" or ".")))
  support.write(folder .. "/" .. path, ("return require('skillopt').env { name = '%s', "
    .. "rollout = function() return { hard = 1 } end }"):format(name))
end

test("an environment is found in its four forms", function(t)
  for _, path in ipairs { "one.lua", "one/init.lua", "envs/one.lua", "envs/one/init.lua" } do
    local folder = support.folder()
    write_env(folder, path, "one")
    local spec, where = env_of.load("one", { folder })
    t.equal({ spec.name, where }, { "one", (folder .. "/" .. path):match "^(.*)/" })
  end
end)

test("the first folder that has it wins, before the installed one", function(t)
  local first, second = support.folder(), support.folder()
  write_env(first, "searchqa.lua", "mine")
  write_env(second, "searchqa.lua", "other")
  t.equal(env_of.load("searchqa", { first, second }).name, "mine")
end)

test("an installed environment is found without any folder", function(t)
  local spec, where = env_of.load("searchqa", {})
  t.equal({ spec.name, where }, { "searchqa", loader.home .. "/lua/envs/searchqa" })
end)

test("an environment that is nowhere is refused with the nearest one", function(t)
  local err = t.raises(function() env_of.load("serchqa", { "build" }) end)
  t.equal({ err.kind, err.hint }, { "config", "did you mean 'searchqa'?" })
end)

test("a file that returns something else is refused", function(t)
  local folder = support.folder()
  support.write(folder .. "/odd.lua", "return 5")
  local err = t.raises(function() env_of.load("odd", { folder }) end)
  t.ok(err.message:find("does not return skillopt.env{...}", 1, true), err.message)
end)

test("installed lists the environments that are here", function(t)
  local names = {}
  for _, name in ipairs(env_of.installed()) do names[name] = true end
  t.equal(names.searchqa, true)
end)

test("a loaded environment is read-only", function(t)
  local folder = support.folder()
  write_env(folder, "fixed.lua", "fixed")
  local spec = env_of.load("fixed", { folder })
  t.raises(function() spec.rollout = nil end, "read-only")
end)
