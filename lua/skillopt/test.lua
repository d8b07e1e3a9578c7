--- The test harness: `test("a sentence", function(t) ... end)` registers a test,
--- `skillopt test DIR` runs them in order. A test that leaves a task, an open file, a global
--- or another working directory behind has failed.
local core = require "rt.task"
local file = require "rt.file"
local raw = require "rt.raw"
local watch = require "rt.watch"

local M = {}
local registered = {}
local SKIP = {}

---@class skillopt.Test
local Test = {}

local function show(value, depth)
  depth = depth or 0
  if type(value) == "string" then return string.format("%q", value) end
  if type(value) ~= "table" or depth > 6 then return tostring(value) end
  local parts = {}
  for k, v in pairs(value) do
    parts[#parts + 1] = string.format("[%s]=%s", show(k, depth + 1), show(v, depth + 1))
    if #parts > 40 then
      parts[#parts + 1] = "..."
      break
    end
  end
  return "{" .. table.concat(parts, ", ") .. "}"
end

local function same(a, b)
  if type(a) ~= type(b) then return false end
  if type(a) == "number" then
    return math.type(a) == math.type(b) and (a == b or (a ~= a and b ~= b))
  end
  if type(a) ~= "table" then return a == b end
  for k, v in pairs(a) do
    if not same(v, b[k]) then return false end
  end
  for k in pairs(b) do
    if a[k] == nil then return false end
  end
  return true
end
M.same = same

local function fail(message)
  error(setmetatable({ failure = message }, { __tostring = function(f) return f.failure end }), 0)
end

local function where()
  for level = 3, 9 do
    local info = debug.getinfo(level, "Sl")
    if info and not info.source:find "skillopt/test.lua" then
      return string.format("%s:%d", info.short_src:match "[^/]*$", info.currentline)
    end
  end
  return "?"
end

--- Deep equality; integers and floats differ.
---@param got any
---@param want any
---@param what any? words for the report
function Test.equal(got, want, what)
  if not same(got, want) then
    fail(string.format("%s: %sgot %s, wanted %s", where(), what and (tostring(what) .. ": ") or "",
      show(got):sub(1, 600), show(want):sub(1, 600)))
  end
end

--- The condition must be true.
---@param condition any
---@param why string?
function Test.ok(condition, why)
  if not condition then fail(string.format("%s: %s", where(), why or "not true")) end
end

--- What was raised, as text: of an error with a kind, that and its message.
local function words_of(err)
  local is_plain = type(err) == "table" and err.kind and not getmetatable(err)
  return is_plain and string.format("%s: %s", err.kind, err.message) or tostring(err)
end

--- `f` must raise, and the error's text must have `piece` in it (plain text).
---@param f fun(): ...
---@param piece string?
---@return any error
function Test.raises(f, piece)
  local ok, err = pcall(f)
  if ok then fail(string.format("%s: nothing was raised", where())) end
  if piece and not words_of(err):find(piece, 1, true) then
    fail(string.format("%s: raised %q, wanted %q in it", where(), words_of(err), piece))
  end
  return err
end

--- End the test as skipped.
---@param reason string
function Test.skip(reason)
  error({ [SKIP] = reason }, 0)
end

--- Bytes of a file of the tree.
---@param path string
---@return string
function M.read(path)
  local text, err = file.read(path)
  if not text then error(tostring(err), 2) end
  return text
end

--- A decoded file of tests/vectors.
---@param name string
---@return table
function M.vectors(name)
  local json = require "rt.json"
  local value, err = json.decode(M.read("tests/vectors/" .. name), { allow_nan = true })
  if not value then error(tostring(err), 2) end
  return value
end

local supports = {}

--- The value of a helper file beside the tests, run once.
---@param path string
---@return any
function M.support(path)
  if supports[path] == nil then
    local chunk, message = load(M.read(path), "@" .. path, "t", _G)
    if not chunk then error(message, 2) end
    supports[path] = chunk()
  end
  return supports[path]
end

--- Absolute path of something under $SKILLOPT_SHARED, nil when it is not there.
---@param path string
---@return string?
function M.shared(path)
  local root = os.getenv "SKILLOPT_SHARED"
  if not root or root == "" then root = "../shared" end
  local full = root .. "/" .. path
  return file.kind(full) ~= "none" and file.absolute(full) or nil
end

--- `short`, `long` or `full`: how much a slow test should do.
---@return string
function M.form()
  local form = os.getenv "SKILLOPT_TEST_FORM"
  return (form and form ~= "") and form or "short"
end

--- The tests registered since the last call.
---@return table[]
function M.take()
  local tests = registered
  registered = {}
  return tests
end

--- What a test gets: `t.equal(...)` and `t:equal(...)` are the same.
local function checks(name)
  local t = { name = name }
  for word, check in pairs(Test) do
    t[word] = function(first, ...)
      if rawequal(first, t) then return check(...) end
      return check(first, ...)
    end
  end
  return t
end

-------------------------------------------------------------------- left behind

local function globals()
  local names = {}
  for name in raw.next, _G do names[tostring(name)] = "global" end
  return names
end

--- Open files without the folder of all workspaces, which the process keeps once made.
local function open_files()
  local files = watch.files()
  for descriptor, path in pairs(files) do
    if path:find "/skillopt%-work%-[^/]*$" then files[descriptor] = nil end
  end
  return files
end

--- What a test may change and must not.
local function surroundings()
  return { tasks = core.count(), folder = file.absolute ".", globals = globals(),
    files = open_files() }
end

--- What is in `after` and not in `before`, sorted.
local function added(before, after)
  local out = {}
  for name, value in pairs(after) do
    if before[name] ~= value then out[#out + 1] = value == "global" and name or value end
  end
  return table.concat(out, ", ")
end

--- End the tasks that a test left, so that the next one starts without them.
local function end_tasks()
  core.cancel_behind(math.mininteger)
  pcall(core.join, 0)
end

--- Words for what was left behind, or nil. A file that only the collector would close counts
--- once it has had its chance.
local function left_behind(before)
  local after, words = surroundings(), {}
  if added(before.files, after.files) ~= "" then
    collectgarbage()
    collectgarbage()
    after.files = open_files()
  end
  if after.tasks > before.tasks then
    words[#words + 1] = string.format("tasks: %d", after.tasks - before.tasks)
    end_tasks()
  end
  for _, what in ipairs { "globals", "files" } do
    local names = added(before[what], after[what])
    if names ~= "" then words[#words + 1] = what .. ": " .. names end
  end
  if after.folder ~= before.folder then
    words[#words + 1] = "the working directory: " .. after.folder
  end
  return #words > 0 and "left behind: " .. table.concat(words, "; ") or nil
end

------------------------------------------------------------------------ running

local function outcome_of(ok, err)
  if ok then return "ok" end
  if type(err) == "table" and err[SKIP] then return "skip", err[SKIP] end
  if type(err) == "table" and err.kind then
    return "FAIL", string.format("%s: %s %s", err.kind, tostring(err.message), err.traceback or "")
  end
  return "FAIL", tostring(err)
end

--- Run one test. "ok", "FAIL" or "skip", and the reason.
---@async
---@param test table
---@return string outcome
---@return string? why
function M.run(test)
  local before = surroundings()
  local outcome, why = outcome_of(xpcall(test.run, function(e)
    return type(e) == "string" and debug.traceback(e, 2) or e
  end, checks(test.name)))
  local left = left_behind(before)
  if not left then return outcome, why end
  return "FAIL", why and why .. "; " .. left or left
end

return setmetatable(M, {
  __call = function(_, name, run)
    registered[#registered + 1] = { name = name, run = run }
  end,
})
