--- `skillopt lua FILE [ARGS]`: run a Lua file with the library's modules.
local exits = require "skillopt.exits"
local file = require "rt.file"

local M = { summary = "run a Lua file with rt.* and skillopt.* at hand" }

local HELP = [[
usage: skillopt lua FILE [ARGS...]

Runs FILE in a task, with `rt.*` and `skillopt.*` to require; its arguments are in `...`.
An integer it returns is the exit code; when it raises that is 2, or what belongs to the kind of
error it raised. Effects use a journal in memory.
]]

--- What a raised value says of itself.
local function words_of(raised)
  if type(raised) ~= "table" then
    return type(raised) == "string" and raised or "the script raised " .. tostring(raised)
  end
  if type(raised.message) == "string" then return raised.message end
  local ok, words = pcall(tostring, raised)
  local has_own = ok and type(getmetatable(raised)) == "table" and getmetatable(raised).__tostring
  return has_own and words or "the script raised a table without a message"
end

--- How the calls of this command begin in a traceback.
local OWN <const> = "\n\t%[C%]: in function 'xpcall'\n\t[^\n]*commands/lua%.lua:.*$"

--- The calls of the script that led to it, without those of this command.
local function calls(traceback)
  return (traceback:gsub("^\n", ""):gsub(OWN, ""))
end

--- A script that raises is the user's file that failed, unless what it raised has a kind. A
--- task makes a fault of what is raised in it, which may have its own calls.
local function mistake(raised)
  local is_table = type(raised) == "table"
  local is_said = is_table and exits.is_kind(raised.kind) and type(raised.message) == "string"
  if is_said and raised.kind ~= "bug" then return raised end
  local own = is_said and type(raised.traceback) == "string" and raised.traceback
  return { kind = "config", message = words_of(raised), retry = false, is_users = true,
    traceback = calls(own or debug.traceback("", 2)) }
end

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
  local ok, code = xpcall(chunk, mistake, table.unpack(args, 2))
  if not ok then return nil, code end
  return math.tointeger(code) or 0
end

return M
