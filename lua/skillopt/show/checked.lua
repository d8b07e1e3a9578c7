--- What a check found, for people: the plan, or a text to attach to a report.
local config_show = require "skillopt.config.show"
local file = require "rt.file"
local json = require "rt.json"
local runs = require "skillopt.runs"
local secrets = require "skillopt.secrets"
local version = require "skillopt.version"
local visible = require "skillopt.visible"

local M = {}

local function role_line(role)
  return string.format("%s: %s, model %s%s, %s", role.role, role.backend,
    role.model ~= "" and role.model or "(its own)", role.base_url and " at " .. role.base_url or "",
    role.login)
end

local ORDER <const> = { "loop", "reflect", "aggregate", "select", "update", "rate", "metric",
  "gate", "slow_update", "meta_skill", "appendix" }

local function policy_line(policies)
  local parts = {}
  for _, slot in ipairs(ORDER) do
    parts[#parts + 1] = string.format("%s %s", slot, policies[slot] or "none")
  end
  return "policies: " .. table.concat(parts, ", ")
end

local function plan_lines(plan)
  local n = plan.items
  local lines = {
    string.format("environment: %s", plan.env),
    string.format("items: %d train, %d selection, %d test", n.train, n.val, n.test),
  }
  for _, role in ipairs(plan.roles) do lines[#lines + 1] = role_line(role) end
  lines[#lines + 1] = policy_line(plan.policies)
  lines[#lines + 1] = string.format("initial skill: %d tokens", plan.skill_tokens)
  lines[#lines + 1] = string.format("run: %d steps in %d epochs, in all about %d rollouts and "
    .. "%d calls of the optimizer, or less, in %s", plan.steps, plan.epochs, plan.rollouts,
    plan.optimizer_calls, plan.folder)
  return lines
end

local function problem_line(err)
  local hint = err.hint and "\n  " .. err.hint or ""
  return string.format("problem (%s): %s%s", err.kind or "bug", tostring(err.message), hint)
end

local function verdict(checked)
  local n = #checked.problems
  if n == 0 then return "fine: nothing is in the way of this run" end
  return string.format("%d problem%s", n, n == 1 and "" or "s")
end

local function lines_of(checked)
  local lines = checked.plan and plan_lines(checked.plan) or {}
  for _, words in ipairs(checked.notes) do lines[#lines + 1] = "note: " .. words end
  for _, err in ipairs(checked.problems) do lines[#lines + 1] = problem_line(err) end
  lines[#lines + 1] = verdict(checked)
  return lines
end

--- The page of `skillopt check`.
---@param checked skillopt.Checked
---@return string
function M.page(checked)
  return visible.text(table.concat(lines_of(checked), "\n")) .. "\n"
end

--- The same as data.
---@param checked skillopt.Checked
---@return string
function M.json(checked)
  local problems = json.array {}
  for i, err in ipairs(checked.problems) do
    problems[i] = { kind = err.kind, message = tostring(err.message), hint = err.hint }
  end
  return json.encode({ problems = problems, notes = json.array(checked.notes),
    plan = checked.plan or json.null }, { indent = true }) .. "\n"
end

---------------------------------------------------------------------------- report

local LAST_LINES <const>, LONGEST <const> = 30, 400

--- The last lines of a file.
local function tail(path)
  local lines, out = {}, {}
  for line in (file.read(path) or ""):gmatch "[^\n]+" do lines[#lines + 1] = line end
  for i = math.max(1, #lines - LAST_LINES + 1), #lines do
    out[#out + 1] = visible.line(lines[i], LONGEST)
  end
  return out
end

local function add(lines, title, more)
  lines[#lines + 1] = "\n## " .. title .. "\n"
  if #more == 0 then more = { "(nothing)" } end
  table.move(more, 1, #more, #lines + 1, lines)
end

local function add_run(lines, line)
  local path = line.file and runs.find(line.file)
  if not path then return add(lines, "Run", { "none yet" }) end
  add(lines, "Run", { path })
  for _, name in ipairs { "runtime_state.json", "events.jsonl", "log.jsonl" } do
    add(lines, "Last lines of " .. name, tail(path .. "/" .. name))
  end
end

--- Logins out of a text: those of the configuration, what stands in addresses, and the
--- name of the home folder.
local function masked(text, config)
  text = secrets.scrubber(config and config:secrets() or {})(text)
  text = text:gsub("://[^/@%s]+@", "://***@")
  local home = os.getenv "HOME"
  if not home or #home < 2 then return text end
  return (text:gsub(home:gsub("%p", "%%%0"), "~"))
end

--- A text to attach to a report: versions, what was checked, every value with its origin,
--- the last events of the run. Logins are masked.
---@param checked skillopt.Checked
---@param line skillopt.CommandLine
---@return string
function M.report(checked, line)
  local lines = { "# skillopt report", "", (version.page():gsub("\n$", "")) }
  lines[#lines + 1] = string.format("file %s; LANG=%s TERM=%s", line.file or "(none)",
    os.getenv "LANG" or "", os.getenv "TERM" or "")
  add(lines, "Check", lines_of(checked))
  local config = checked.config
  add(lines, "Configuration", { config and config_show.page(config) or "could not be read" })
  add_run(lines, line)
  return masked(visible.text(table.concat(lines, "\n")), config) .. "\n"
end

return M
