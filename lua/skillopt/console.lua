--- The terminal as the commands of environments see it: they may say something and ask.
local stdin = require "rt.stdin"
local stdout = require "rt.stdout"

local M = {}

---@class skillopt.Console
---@field columns integer width of the terminal
local Console = {}
Console.__index = Console

--- Write a line.
---@param text string
function Console:say(text)
  stdout.write(text .. "\n")
end

--- Ask for a line; nil when there is none any more. An interrupt raises.
---@param question string shown when a person types
---@return string?
function Console:ask(question)
  if stdin.is_terminal() then stdout.write(question) end
  local line, err = stdin.line()
  if err then error(err, 0) end
  return line
end

--- The console of this process.
---@return skillopt.Console
function M.new()
  return setmetatable({ columns = stdout.columns() }, Console)
end

return M
