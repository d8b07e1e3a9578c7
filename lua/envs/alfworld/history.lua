--- What was seen and done before, as a prompt shows it.
local text = require "rt.text"

local M = {}

---@class alfworld.Step
---@field observation string what was to be seen before the command
---@field action string? the command; nil when the reply had none

--- The latest steps, at most `length` of them.
---@param steps alfworld.Step[]
---@param length integer
---@return integer first index of the first one shown; `#steps + 1` for none
function M.window(steps, length)
  return #steps - math.min(length, #steps) + 1
end

--- The lines of the window, one step after the other.
---@param steps alfworld.Step[]
---@param length integer
---@return string
function M.text(steps, length)
  local lines = {}
  for i = M.window(steps, length), #steps do
    local step = steps[i]
    lines[#lines + 1] = ("[step %d] You saw: %s"):format(i, text.collapse(step.observation))
    lines[#lines + 1] = ("[step %d] You did: %s"):format(i, step.action or "(nothing)")
  end
  return table.concat(lines, "\n")
end

return M
