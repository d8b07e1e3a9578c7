--- `skillopt lua FILE [ARGS]`: run a Lua file with the library's modules.
local file = require "rt.file"

local M = { summary = "run a Lua file with rt.* and skillopt.* at hand" }

local HELP = [[
usage: skillopt lua FILE [ARGS...]

Runs FILE in a task, with `rt.*` and `skillopt.*` to require; its arguments are in `...`.
An integer it returns is the exit code. Effects use a journal in memory.
]]

---@async
---@param args string[]
---@return integer? code
---@return skillopt.Err? err
function M.run(args)
  if not args[1] or args[1] == "-h" or args[1] == "--help" then
    require("rt.stdout").write(HELP)
    return args[1] and 0 or 2
  end
  if args[1] == "" or file.kind(args[1]) ~= "file" then
    return nil, { kind = "usage", message = "there is no file " .. args[1], retry = false }
  end
  local text, err = file.read(args[1])
  if not text then return nil, err end
  local chunk, message = load(text, "@" .. args[1], "t", _G)
  if not chunk then return nil, { kind = "usage", message = message, retry = false } end
  local code = chunk(table.unpack(args, 2))
  return math.tointeger(code) or 0
end

return M
