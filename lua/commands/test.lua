--- `skillopt test PATH...`: run test files (`*_test.lua`).
local file = require "rt.file"
local stdout = require "rt.stdout"

local M = { summary = "run test files (*_test.lua)" }

local HELP = [[
usage: skillopt test PATH... [--only TEXT]

Runs every file `*_test.lua` below the paths, or the files named. One line a test:
`ok - name`, `FAIL - name: why` or `skip - name: why`.
  --only TEXT   only tests whose name has TEXT in it
]]

local function add_files(path, files)
  if file.kind(path) ~= "folder" then
    files[#files + 1] = path
    return
  end
  for _, name in ipairs(assert(file.list(path))) do
    local full = path .. "/" .. name
    if file.kind(full) == "folder" then
      add_files(full, files)
    elseif name:find "_test%.lua$" then
      files[#files + 1] = full
    end
  end
end

local function run_file(path, only)
  local test = require "skillopt.test"
  local text = assert(file.read(path))
  local chunk, message = load(text, "@" .. path, "t", _G)
  if not chunk then error(message, 0) end
  chunk()
  local failed, ran = 0, 0
  for _, one in ipairs(test.take()) do
    if not only or one.name:find(only, 1, true) then
      local outcome, why = test.run(one)
      ran = ran + 1
      if outcome == "FAIL" then failed = failed + 1 end
      stdout.write(string.format("%s - %s%s\n", outcome, one.name,
        why and (": " .. why:gsub("\n", "\n    ")) or ""))
    end
  end
  return failed, ran
end

---@async
---@param args string[]
---@return integer? code
---@return skillopt.Err? err
function M.run(args)
  local files, only = {}, nil
  local i = 1
  while args[i] do
    if args[i] == "--only" then
      i = i + 1
      only = args[i]
    elseif args[i] == "-h" or args[i] == "--help" then
      stdout.write(HELP)
      return 0
    else
      add_files(args[i], files)
    end
    i = i + 1
  end
  if #files == 0 then return nil, { kind = "usage", message = "no test file", hint = HELP } end
  local failed = 0
  for _, path in ipairs(files) do
    local ok, count = xpcall(run_file, debug.traceback, path, only)
    if not ok then
      stdout.write(string.format("FAIL - %s loads: %s\n", path, tostring(count)))
      failed = failed + 1
    else
      failed = failed + count
    end
  end
  return failed == 0 and 0 or 1
end

return M
