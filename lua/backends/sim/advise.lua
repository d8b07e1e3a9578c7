--- As adviser: what lasts beyond a step. It keeps rules that were lost between two epochs,
--- counts what became of the tasks, says how many proposals are well supported, and takes
--- doubled notes out.
local json = require "rt.json"
local text = require "rt.text"
local rule_of = require "backends.sim.rule"

local M = {}

local GENERAL <const> = "- Take the value whose label fits the question, and give it in the "
  .. "form the document states."

local COSTLY <const> =
  "- The last changes cost solved tasks: mend a rule rather than replace it."
local HELD <const> =
  "- Rules that state a form and show an example held; go on with such rules."

--- What stands between two headings.
local function section(user, heading, ...)
  local _, from = user:find("## " .. heading .. "\n\n", 1, true)
  if not from then return "" end
  local to = #user + 1
  for _, next_heading in ipairs { ... } do
    to = math.min(to, user:find("\n\n## " .. next_heading, from, true) or to)
  end
  return user:sub(from + 1, to - 1)
end

local function lost_rules(user)
  local before = section(user, "Skill at the end of the epoch before", "Skill now")
  local now = section(user, "Skill now", "Guidance in force", "Remembered until now",
    "The same tasks")
  local out = {}
  for _, rule in ipairs(rule_of.all(before)) do
    if not now:find(rule.line, 1, true) then out[#out + 1] = rule.line end
  end
  return out
end

local function counts(user)
  return user:match "\n(%d+ tasks: [^\n]*)" or "The tasks are not counted."
end

local function is_worse(user)
  local regressed = tonumber(user:match "tasks: (%d+) regressed") or 0
  local improved = tonumber(user:match "(%d+) improved") or 0
  return regressed > improved
end

--- Guidance: rules that are gone when more tasks were lost than won, else what was in force.
---@param user string the request's user message
---@return string
function M.guidance(user)
  local old = section(user, "Guidance in force until now", "The same tasks")
  local lost = is_worse(user) and lost_rules(user) or {}
  local content = #lost > 0 and table.concat(lost, "\n") or old ~= "" and old or GENERAL
  return json.encode({ reasoning = counts(user), slow_update_content = content },
    { keys = { "reasoning" } })
end

--- Memory for the optimizer.
---@param user string the request's user message
---@return string
function M.memory(user)
  local lesson = is_worse(user) and COSTLY or HELD
  return json.encode({ reasoning = counts(user), meta_skill_content = lesson },
    { keys = { "reasoning" } })
end

--- How many proposals: those that more than one task supports, but at least one.
---@param user string the request's user message
---@return string
function M.rate(user)
  local n = 0
  for _, support in user:gmatch "\n%[(%d+)%] [^\n]*support (%d+)" do
    if tonumber(support) > 1 then n = n + 1 end
  end
  return json.encode({ learning_rate = math.max(n, 1), confidence = "medium",
    reasoning = "So many proposals have the support of more than one task.",
    risk_notes = json.array {} }, { keys = { "learning_rate" } })
end

--- The notes, each kind of saying once.
---@param user string the request's user message
---@return string
function M.notes(user)
  local out, seen = json.array {}, {}
  for note in user:gmatch "\n%d+%. ([^\n]+)" do
    local key = text.casefold(note):gsub("[^%w]+", "")
    if not seen[key] then seen[key], out[#out + 1] = true, note end
  end
  return json.encode { appendix_notes = out }
end

return M
