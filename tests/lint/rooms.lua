--- Does the tree keep its rules? Plain Lua 5.4 and `git ls-files`:
---
---   lua5.4 tests/lint/rooms.lua [ROOT]
---
--- prints one line a violation, `file:line: rule: what to do`, then notes and sizes on
--- stderr. Exit code 1 when there is a violation.
local here = arg[0]:match("^(.*/)") or "./"
package.path = here .. "?.lua"

local source = require "source"
local binding_rules = require "binding_rules"
local c_rules = require "c_rules"
local lua_rules = require "lua_rules"
local sizes = require "sizes"
local text_rules = require "text_rules"

local function collector(lines)
  return function(file, line, rule, words)
    lines[#lines + 1] = ("%s:%d: %s: %s"):format(file.path, line, rule, words)
  end
end

local function open_all(root, paths)
  local files = {}
  for _, path in ipairs(paths) do files[#files + 1] = source.open(root, path) end
  return files
end

local function check(root)
  local violations, notes = {}, {}
  local report, note = collector(violations), collector(notes)
  local paths = source.paths(root)
  local files, known, names = open_all(root, paths), text_rules.known(paths), lua_rules.names(paths)
  local pure = lua_rules.pure(source.open(root, "lua/skillopt/loader.lua"))
  for _, file in ipairs(files) do
    text_rules.check(file, known, report)
    if file.kind == "c" then c_rules.check(file, known, report) end
    if file.kind == "lua" then lua_rules.check(file, names, pure, report) end
  end
  binding_rules.check(files, report)
  return violations, notes, sizes.report(files, note)
end

local function print_all(stream, lines, before)
  for _, line in ipairs(lines) do stream:write(before, line, "\n") end
end

local violations, notes, summary = check(arg[1] or ".")
print_all(io.stderr, notes, "note: ")
print_all(io.stderr, summary, "")
print_all(io.stdout, violations, "")
io.stderr:write(("%d violations, %d notes\n"):format(#violations, #notes))
os.exit(#violations == 0)
