--- Other processes of this program, from a test.
local file = require "rt.file"
local json = require "rt.json"
local test = require "skillopt.test"
local support = test.support "tests/lua/support.lua"

local M = {}

-- The shell's parent is this process.
local PROGRAM <const> = '"$(readlink /proc/$PPID/exe)"'

local function quote(text)
  return "'" .. text:gsub("'", "'\\''") .. "'"
end

--- Run the program with these arguments and wait. `before` stands in front of the command,
--- as `TZ=Asia/Tokyo` or `cd x &&`, `after` behind it: `>/dev/full`.
---@param args string[]
---@param options {before: string?, after: string?}?
---@return {code: integer, signal: boolean, out: string, err: string}
function M.run(args, options)
  local folder = file.absolute(support.folder())
  local words = {}
  for i, arg in ipairs(args) do words[i] = quote(arg) end
  local command = ("%s %s %s >%s/out 2>%s/err %s"):format(options and options.before or "",
    PROGRAM, table.concat(words, " "), folder, folder, options and options.after or "")
  local _, how, code = os.execute(command)
  return { code = code, signal = how == "signal" or code > 128, out = test.read(folder .. "/out"),
    err = test.read(folder .. "/err") }
end

--- Run a Lua text in another process.
---@param text string
---@param options {before: string?}?
---@return table as run
function M.lua(text, options)
  local path = support.folder() .. "/script.lua"
  support.write(path, text)
  return M.run({ "lua", file.absolute(path) }, options)
end

--- A new folder with the program tests/programs/driven and its data, to run in.
---@return string folder
function M.program()
  local folder = support.folder()
  assert(file.mkdir(folder .. "/prompts"))
  for _, name in ipairs { "driven.lua", "experiment.lua", "skill.md", "prompts/rollout.md" } do
    support.write(folder .. "/" .. name, test.read("tests/programs/driven/" .. name))
  end
  local function items(first, last)
    local out = {}
    for n = first, last do
      out[#out + 1] = { id = "b" .. n, question = "What holds box " .. n .. "?",
        answer = "thing " .. n }
    end
    return out
  end
  support.write_splits(folder .. "/data",
    { train = items(1, 4), val = items(5, 8), test = items(9, 11) })
  return folder
end

--- `skillopt run experiment.lua` in the folder, with the scripted models of drive.lua, in a
--- process of its own.
---@param folder string
---@param options table? those of drive.lua but log; `args` are added to the file's name
---@return table result as drive.lua writes it, with `asked` (slots of the calls) and `signal`
function M.drive(folder, options)
  options = options or {}
  local here = file.absolute(folder)
  local own = file.absolute(support.folder())
  local all = { log = own .. "/asked" }
  for name, value in pairs(options) do all[name] = value end
  all.args = { "experiment.lua", table.unpack(options.args or {}) }
  support.write(own .. "/options.json", json.encode(all))
  local driver = file.absolute "tests/lua/drive.lua"
  local done = M.run({ "lua", driver, own .. "/options.json", own .. "/result.json" },
    { before = "cd " .. quote(here) .. " &&" })
  local text = file.read(own .. "/result.json")
  local result = text and json.decode(text) or { ok = false }
  result.signal, result.asked = done.signal, {}
  if not text and not done.signal then
    error("the driver ended without a result: " .. done.err, 2)
  end
  for slot in (file.read(all.log) or ""):gmatch "[^\n]+" do
    result.asked[#result.asked + 1] = slot
  end
  return result
end

return M
