--- What the program says about itself, and the other names it has.
local test = require "skillopt.test"
local loader = require "skillopt.loader"
local rt_version = require "rt.version"
local version = require "skillopt.version"
local process = test.support "tests/lua/process.lua"

local LIBRARIES <const> = { "Lua", "libcurl", "libyaml", "libuv", "SQLite", "zstd", "OpenSSL",
  "utf8proc", "libzip" }

test("rt.version.libraries names each library with a version", function(t)
  local names = {}
  for i, library in ipairs(rt_version.libraries()) do
    names[i] = library.name
    t.ok(library.version:find "^%d+%.%d+", library.name)
  end
  t.equal(names, LIBRARIES)
end)

test("--version says version, commit, libraries and optional programs", function(t)
  local out = process.run({ "--version" }).out
  t.equal(out:match "^[^\n]*", ("skillopt %s (%s)"):format(loader.version, loader.commit))
  for _, name in ipairs(LIBRARIES) do
    t.ok(out:find("\n  " .. name .. " +%d"), name)
  end
  for _, program in ipairs(version.PROGRAMS) do
    t.ok(out:find("\n  " .. program.name .. " ", 1, true), program.name)
  end
end)

test("a program is found in the folders of PATH, and only there", function(t)
  t.ok(version.find("sh"):find "/sh$")
  t.equal(version.find "no-such-program-anywhere", nil)
end)

test("README.md names each optional program", function(t)
  local text = test.read "README.md"
  for _, program in ipairs(version.PROGRAMS) do
    t.ok(text:find("`" .. program.name .. "`", 1, true), program.name)
  end
end)
