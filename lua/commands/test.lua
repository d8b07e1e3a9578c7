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

--- How many tests ran and failed, over all files.
local function new_tally() return { ran = 0, failed = 0 } end

local function say(tally, outcome, name, why)
  tally.ran = tally.ran + 1
  if outcome == "FAIL" then tally.failed = tally.failed + 1 end
  stdout.write(string.format("%s - %s%s\n", outcome, name,
    why and (": " .. why:gsub("\n", "\n    ")) or ""))
end

--- Tests of one file.
local function run_file(path, only, tally)
  local test = require "skillopt.test"
  local text = assert(file.read(path))
  local chunk, message = load(text, "@" .. path, "t", _G)
  if not chunk then error(message, 0) end
  chunk(path)
  for _, one in ipairs(test.take()) do
    if not only or one.name:find(only, 1, true) then
      local outcome, why = test.run(one)
      say(tally, outcome, one.name, why)
    end
  end
end

--- One file of tests, or one small training.
---@async
local function run_one(path, only, tally)
  if path:match "[^/]*$" == smoke.NAME then
    local name = path .. " trains"
    if not only or name:find(only, 1, true) then say(tally, smoke.run(path, name)) end
    return
  end
  local ok, why = xpcall(run_file, debug.traceback, path, only, tally)
  if not ok then say(tally, "FAIL", path .. " loads", tostring(why)) end
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
  for _, path in ipairs(line.arguments) do
    if file.kind(path) == "none" then
      return nil, { kind = "usage", message = "there is no " .. path, retry = false,
        hint = "name a test file, a smoke.yaml, or a folder that has some" }
    end
  end
  local files, only, tally = {}, line.options.only, new_tally()
  for _, path in ipairs(line.arguments) do add_files(path, files) end
  if #files == 0 then
    return nil, { kind = "usage", message = "no test file", hint = "skillopt test --help" }
  end
  for _, path in ipairs(files) do run_one(path, only, tally) end
  if tally.ran == 0 then
    return nil, { kind = "usage", message = only and "no test has this in its name: " .. only
      or "there is no test in these files" }
  end
  return tally.failed == 0 and 0 or 1
end

return M
