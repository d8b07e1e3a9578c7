--- What `skillopt show` says of an evaluation's folder, of `skillopt eval` or the reference's.
local figures = require "skillopt.figures"
local json = require "rt.json"
local visible = require "skillopt.visible"

local M = {}

local function number(x) return type(x) == "number" and x or nil end

local function entries(x) return type(x) == "table" and x or {} end

local function row_of(arm, total)
  total = entries(total)
  return { skill = tostring(arm.skill or "?"), model = tostring(arm.model or "-"),
    n = number(total.n) or number(total.n_items), hard = number(total.hard),
    soft = number(total.soft), no_answer = number(total.no_answer),
    failed = number(total.failed) }
end

--- Everything about an evaluation that one page can say.
---@param view skillopt.RunView
---@return table
function M.facts(view)
  local e, arms = entries(view.evaluation), json.array {}
  for _, arm in ipairs(entries(e.arms)) do
    arm = entries(arm)
    arms[#arms + 1] = row_of(arm, arm.total)
  end
  if #arms == 0 and view.evaluation then arms[1] = row_of(e, e) end
  return { path = view.path, program = view.is_reference and "reference" or "skillopt",
    kind = "evaluation", state = (view:standing()), split = tostring(e.split or "-"), arms = arms,
    missing = json.array(view.missing), damaged = json.array(view.damaged) }
end

local function share(x) return x and string.format("%.4f", x) or "-" end

local function whole(x) return x and string.format("%d", x // 1) or "-" end

--- The page of an evaluation.
---@param facts table as `facts` gives it
---@return string
function M.page(facts)
  local lines = { string.format("%s: %s, an evaluation on %s%s", visible.line(facts.path, 200),
    facts.state, visible.line(facts.split, 80),
    facts.program == "reference" and ", made by the reference" or "") }
  local rows = { { "skill", "model", "n", "hard", "soft", "no answer", "failed" } }
  for _, a in ipairs(facts.arms) do
    rows[#rows + 1] = { visible.line(a.skill, 80), visible.line(a.model, 40), whole(a.n),
      share(a.hard), share(a.soft), whole(a.no_answer), whole(a.failed) }
  end
  if #rows == 1 then lines[2] = "nothing is measured yet"
  else table.move(figures.lines(rows, 2), 1, #rows, 2, lines) end
  for _, one in ipairs(facts.missing) do lines[#lines + 1] = "missing: " .. one end
  for _, one in ipairs(facts.damaged) do
    lines[#lines + 1] = "damaged: " .. visible.line(one, 400)
  end
  return table.concat(lines, "\n") .. "\n"
end

return M
