--- The terminal: as the commands of environments see it, who may say something and ask, and
--- what it can show.
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

local function is_set(name)
  local value = os.getenv(name)
  return value ~= nil and value ~= ""
end

--- Can a line be drawn over? On a terminal that knows escapes.
---@return boolean
function M.is_live()
  return stdout.is_terminal() and is_set "TERM" and os.getenv "TERM" ~= "dumb"
end

--- May text be coloured? Not where NO_COLOR says so.
---@return boolean
function M.has_color()
  return M.is_live() and not is_set "NO_COLOR"
end

local COLORS <const> = { green = 32, yellow = 33, red = 31, dim = 2 }

--- The text in a colour, where there are colours.
---@param text string
---@param color "green"|"yellow"|"red"|"dim"
---@return string
function M.paint(text, color)
  if not M.has_color() then return text end
  return string.format("\27[%dm%s\27[0m", COLORS[color], text)
end

--- The console of this process.
---@return skillopt.Console
function M.new()
  return setmetatable({ columns = stdout.columns() }, Console)
end

return M
