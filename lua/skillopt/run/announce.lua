--- The first lines of a run: which folder it is, what was changed, who is asked, how much.
local folder_of = require "skillopt.run.folder"
local forecast = require "skillopt.run.forecast"
local stdout = require "rt.stdout"

local M = {}

--- Rows of a kind, and of one key where that is given.
---@param j rt.Journal
---@param kind string
---@param key string?
---@return integer
function M.count_rows(j, kind, key)
  local n, count = j:next(kind, 0), 0
  while n do
    if not key or j:row(n).key == key then count = count + 1 end
    n = j:next(kind, n)
  end
  return count
end

--- What was given up with --accept-loss is said whoever asked for quiet.
local function say_loss(run)
  local lost = run.journal:lost()
  if lost == 0 then return end
  run.log { event = "loss", rows = lost }
  stdout.error(string.format(
    "skillopt: %d row%s of the journal %s lost; what they held is asked again\n",
    lost, lost == 1 and "" or "s", lost == 1 and "is" or "are"))
end

--- Answers that this start may use.
---@param opened table from skillopt.run.folder
---@return integer
function M.answers_on_file(opened)
  local n = M.count_rows(opened.journal, "effect")
  for _, parent in ipairs(opened.parents or {}) do
    n = math.max(n, M.count_rows(parent.journal, "effect"))
  end
  return n
end

local function say_notes(run, list, front)
  for _, words in ipairs(list or {}) do
    run.say("note", { message = (front or "") .. words })
  end
end

--- Say which folder it is, what was changed, who is asked.
---@param run table
---@param opened table from skillopt.run.folder
---@param opt {retry_failed: boolean?}
function M.say(run, opened, opt)
  say_loss(run)
  local plan = run.program.announce(run, opened)
  local parent = opened.mode == "fork" and opened.parents[1] or nil
  local open = { path = run.path, mode = opened.mode,
    ended = folder_of.has_ended(run.journal),
    parent = parent and parent.path:match "[^/]*$",
    calls = M.count_rows((parent or opened).journal, "effect") }
  for name, value in pairs(plan.open or {}) do open[name] = value end
  run.say("open", open)
  if parent and opt.retry_failed then
    local items, evaluations = forecast.failed(parent.journal)
    run.say("retry", { items = items, evaluations = evaluations })
  end
  say_notes(run, opened.notes)
  say_notes(run, opened.hard, "changed: ")
  say_notes(run, opened.soft, "changed: ")
  say_notes(run, run.config.notes)
  say_notes(run, plan.notes)
  say_notes(run, { run.spending:remark() })
  for _, role in ipairs { "target", "optimizer" } do
    local spec = run.config.roles[role]
    if spec then
      run.say("model", { role = role, backend = spec.backend, model = spec.model,
        base_url = spec.settings.base_url })
    end
  end
  if run.spending.is_capped then
    run.say("note", { message = "spent so far: " .. run.spending:words() })
  end
  run.say(plan.event, plan.data)
end

return M
