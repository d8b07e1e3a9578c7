--- Skills beside each other on the same items: who wins how many, by how much, how sure.
---
--- Only items with a mark on both sides count. The interval is the adjusted normal
--- interval for matched pairs of A. Agresti and Y. Min, "Simple improved confidence
--- intervals for comparing matched proportions", Statistics in Medicine 24 (2005) 729-740:
--- two pairs are added, half of one to each of the four outcomes. With the sum S and the
--- sum of squares Q of the n differences, and N = n + 2:
---
---   middle = S / N,  error = sqrt(((Q + 1) / N - middle^2) / N),  middle +- 1.96 error
---
--- For marks of 0 and 1 that is theirs; marks between them enter with their own difference.
--- It asks for no dice, and says something where all pairs are ties.
local json = require "rt.json"

local M = {}

--- The 0.975 quantile of the normal distribution: 95 %, both sides.
local Z <const> = 1.959963984540054

--- Words for the reader of a file that holds such intervals.
M.METHOD = "95 %, matched pairs, Agresti and Min (2005)"

---@class skillopt.Arm
---@field n integer items with a mark
---@field hard number?
---@field soft number?
---@field no_answer integer items without a usable answer; they count as 0
---@field failed integer items that could not be measured; they count nowhere

---@class skillopt.Pairing
---@field n integer items with a mark on both sides
---@field wins integer
---@field ties integer
---@field losses integer
---@field lift number? mean of the differences
---@field lift_soft number? the same of the soft marks
---@field interval number[]? of the lift, 95 %
---@field verdict "better"|"worse"|"undecided"|"not measured"

--- The figures of one evaluation.
---@param value skillopt.Evaluation
---@return skillopt.Arm
function M.arm(value)
  local arm = { n = value.n, hard = value:mean "hard", soft = value:mean "soft", no_answer = 0,
    failed = 0 }
  for _, id in ipairs(value:ids()) do
    local state = value:state(id)
    if arm[state] then arm[state] = arm[state] + 1 end
  end
  return arm
end

--- Mean over an item's repeats; nil without a mark.
local function mark_of(value, id, name)
  local marks, sum = value:marks(id, name), 0.0
  if #marks == 0 then return nil end
  for _, mark in ipairs(marks) do sum = sum + mark end
  return sum / #marks
end

local function interval(n, sum, squares)
  local total = n + 2
  local middle = sum / total
  local reach = Z * math.sqrt(((squares + 1) / total - middle * middle) / total)
  local function bound(x) return json.round(math.max(-1.0, math.min(1.0, x)), 6) end
  return json.array { bound(middle - reach), bound(middle + reach) }
end

local function verdict(bounds)
  if bounds[1] > 0 then return "better" end
  return bounds[2] < 0 and "worse" or "undecided"
end

--- `new` against `old`, item by item in the order of `old`.
---@param old skillopt.Evaluation
---@param new skillopt.Evaluation
---@return skillopt.Pairing
function M.pair(old, new)
  local out = { n = 0, wins = 0, ties = 0, losses = 0, verdict = "not measured" }
  local sum, squares, soft = 0.0, 0.0, 0.0
  for _, id in ipairs(old:ids()) do
    local a, b = mark_of(old, id, "hard"), mark_of(new, id, "hard")
    if a and b then
      local field = b > a and "wins" or b < a and "losses" or "ties"
      out.n, out[field] = out.n + 1, out[field] + 1
      sum, squares = sum + (b - a), squares + (b - a) * (b - a)
      soft = soft + (mark_of(new, id, "soft") - mark_of(old, id, "soft"))
    end
  end
  if out.n == 0 then return out end
  out.lift, out.lift_soft = sum / out.n, soft / out.n
  out.interval = interval(out.n, sum, squares)
  out.verdict = verdict(out.interval)
  return out
end

return M
