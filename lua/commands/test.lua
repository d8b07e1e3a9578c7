--- `skillopt test PATH...`: run test files (`*_test.lua`) and train what is small enough to
--- be a test (`smoke.yaml`).
local cli = require "skillopt.cli"
local file = require "rt.file"
local smoke = require "skillopt.smoke"
local stdout = require "rt.stdout"

local M = { summary = cli.commands.test.summary }

local function is_test(name)
  return name:find "_test%.lua$" or name == smoke.NAME
end

local function add_files(path, files)
  if file.kind(path) ~= "folder" then
    files[#files + 1] = path
    return
  end
  for _, name in ipairs(assert(file.list(path))) do
    local full = path .. "/" .. name
    if file.kind(full) == "folder" then
      add_files(full, files)
    elseif is_test(name) then
      files[#files + 1] = full
    end
  end
end

local function say(outcome, name, why)
  stdout.write(string.format("%s - %s%s\n", outcome, name,
    why and (": " .. why:gsub("\n", "\n    ")) or ""))
  return outcome == "FAIL" and 1 or 0
end

--- Tests of one file; how many failed.
local function run_file(path, only)
  local test = require "skillopt.test"
  local text = assert(file.read(path))
  local chunk, message = load(text, "@" .. path, "t", _G)
  if not chunk then error(message, 0) end
  chunk(path)
  local failed = 0
  for _, one in ipairs(test.take()) do
    if not only or one.name:find(only, 1, true) then
      local outcome, why = test.run(one)
      failed = failed + say(outcome, one.name, why)
    end
  end
  return failed
end

--- One file of tests, or one small training; how many failed.
---@async
local function run_one(path, only)
  if path:match "[^/]*$" == smoke.NAME then
    local name = path .. " trains"
    if only and not name:find(only, 1, true) then return 0 end
    return say(smoke.run(path, name))
  end
  local ok, count = xpcall(run_file, debug.traceback, path, only)
  if ok then return count end
  return say("FAIL", path .. " loads", tostring(count))
end

---@async
---@param args string[]
---@return integer? code
---@return skillopt.Err? err
function M.run(args)
  local line, err = cli.parse("test", args)
  if not line then return nil, err end
  if line.help then
    stdout.write(line.help)
    return 0
  end
  local files, failed = {}, 0
  for _, path in ipairs(line.arguments) do add_files(path, files) end
  if #files == 0 then
    return nil, { kind = "usage", message = "no test file", hint = "skillopt test --help" }
  end
  for _, path in ipairs(files) do failed = failed + run_one(path, line.options.only) end
  return failed == 0 and 0 or 1
end

return M
