--- How arms and their comparisons are shown: the rows of two tables.
local M = {}

local function share(x)
  return math.type(x) and string.format("%.4f", x) or "-"
end

local function difference(x)
  return math.type(x) and string.format("%+.4f", x) or "-"
end

local function whole(n) return string.format("%d", n) end

--- Heading of a table of arms.
---@param title string
---@return string[]
function M.heading(title)
  return { title, "n", "hard", "soft", "no answer", "failed" }
end

--- One arm.
---@param name string
---@param arm skillopt.Arm
---@return string[]
function M.row(name, arm)
  return { name, whole(arm.n), share(arm.hard), share(arm.soft), whole(arm.no_answer),
    whole(arm.failed) }
end

--- Heading of a table of comparisons.
---@param title string
---@return string[]
function M.pair_heading(title)
  return { title, "n", "wins", "ties", "losses", "lift", "95 % interval", "" }
end

--- One comparison.
---@param name string
---@param one skillopt.Pairing
---@return string[]
function M.pair_row(name, one)
  local bounds = one.interval and difference(one.interval[1]) .. " to "
    .. difference(one.interval[2]) or "-"
  return { name, whole(one.n), whole(one.wins), whole(one.ties), whole(one.losses),
    difference(one.lift), bounds, one.verdict }
end

return M
