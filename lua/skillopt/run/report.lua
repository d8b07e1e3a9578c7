--- What a run says while it goes on: plain lines, on a terminal with a live line below them
--- (run/live.lua), or one JSON object a line, or nothing.
local console = require "skillopt.console"
local flow = require "rt.flow"
local json = require "rt.json"
local live_of = require "skillopt.run.live"
local stdout = require "rt.stdout"

local M = {}

--- Seconds between two lines of progress within one evaluation; its end has a line too.
local SECONDS_BETWEEN <const> = 2

local ACTIONS = {
  accept_new_best = "ACCEPT (new best)", accept = "ACCEPT", reject = "REJECT",
  force_accept = "FORCE-ACCEPT",
}
local COLORS <const> = { accept_new_best = "green", accept = "green", reject = "yellow",
  force_accept = "green" }

local function action_words(action)
  local words = ACTIONS[action] or action
  return COLORS[action] and console.paint(words, COLORS[action]) or words
end

local function score(x)
  return type(x) == "number" and string.format("%.4f", x) or "-"
end

local function why(d) return d.reason and ": " .. d.reason or "" end

local LINES = {
  open = function(d)
    local how = d.mode == "fork"
        and string.format("fork of %s: of its %d answers those to the same questions are taken",
          d.parent, d.calls)
      or d.mode == "continue" and d.ended and "this run has ended; showing it again"
      or d.mode == "continue" and not d.step
        and string.format("continuing, %d answers on file", d.calls)
      or d.mode == "continue" and string.format("continuing at step %d of %d, %d answers on file",
          d.step, d.steps, d.calls)
      or "new run"
    return string.format("%s: %s", d.path, how)
  end,
  retry = function(d)
    return string.format("rolled out again: %d failed items, of %d evaluations", d.items,
      d.evaluations)
  end,
  note = function(d) return "note: " .. d.message end,
  model = function(d)
    return string.format("%s: %s, model %s%s", d.role, d.backend,
      d.model ~= "" and d.model or "(its own)", d.base_url and " at " .. d.base_url or "")
  end,
  plan = function(d)
    return string.format("%d train, %d selection, %d test items; %d epochs, %d steps; in all "
      .. "about %d rollouts and %d calls of the optimizer, or less", d.train, d.val, d.test,
      d.epochs, d.steps, d.rollouts, d.optimizer_calls)
  end,
  eval_plan = function(d)
    return string.format("%d skill%s, %d model%s; items: %s; %d rollouts", d.skills,
      d.skills == 1 and "" or "s", d.models, d.models == 1 and "" or "s", d.items, d.rollouts)
  end,
  epoch = function(d) return string.format("[EPOCH %d/%d]", d.epoch, d.epochs) end,
  step = function(d, run)
    return string.format("[STEP %d/%d] epoch %d", d.step, run.plan.steps, d.epoch)
  end,
  step_done = function(d)
    if d.action:find "^skip" then
      return string.format("  [skip] %s: %s", d.action, d.gate_reason)
    end
    local s = d.edit_apply_summary
    return string.format("  [6/6 EVALUATE] %s: %s; %s; current %s, best %s (step %d), "
      .. "skill %d tokens (regions %d)%s", action_words(d.action), d.gate_reason,
      s and string.format("%d of %d edits applied", s.applied, s.total) or "written anew",
      score(d.current_score), score(d.best_score), d.best_step, d.skill_tokens,
      d.skill_region_tokens, d.leaks and string.format("; leaks: %d", #d.leaks) or "")
  end,
  slow = function(d) return "[slow update] acceptance=" .. d.acceptance end,
  slow_update = function(d)
    return string.format("[SLOW UPDATE epoch %d] %s%s", d.epoch, d.action, why(d))
  end,
  meta_skill = function(d)
    return string.format("[META SKILL epoch %d] %s%s", d.epoch, d.action, why(d))
  end,
  final = function() return "[FINAL] last skill, then the test set" end,
  progress = function(d)
    return string.format("  [%s] %d/%d hard=%s%s%s calls=%d", d.label, d.done, d.total,
      score(d.hard),
      d.no_answer > 0 and string.format(" no_answer=%d", d.no_answer) or "",
      d.failed > 0 and string.format(" failed=%d", d.failed) or "", d.calls)
  end,
}

local function write_event(event, data)
  local line = { event = event }
  for k, v in pairs(data) do line[k] = v end
  stdout.write(json.encode(line, { keys = { "event" } }) .. "\n")
end

local function count(d, rep)
  d.done = d.done + 1
  if rep.state == "failed" then
    d.failed = d.failed + 1
    return
  end
  d.marked = d.marked + 1
  if rep.state == "no_answer" then
    d.no_answer = d.no_answer + 1
  else
    d.sum = d.sum + rep.marks.hard
  end
end

--- Progress of evaluations: lines now and then, or a live line and one at the end.
local function progress_of(run, say, live)
  local function tell(d)
    say("progress", { label = d.label, done = d.done, total = d.total, no_answer = d.no_answer,
      failed = d.failed, hard = d.marked > 0 and d.sum / d.marked or nil, calls = run.calls() })
  end
  return function(label, total)
    local d = { label = label, done = 0, total = total, sum = 0.0, marked = 0, no_answer = 0,
      failed = 0 }
    local said = flow.now()
    if live then live:begin(d) end
    return function(rep)
      count(d, rep)
      if live and d.done < total then return live:draw() end
      if live then live:finish(d) end
      if d.done < total and flow.now() - said < SECONDS_BETWEEN then return end
      said = flow.now()
      tell(d)
    end
  end
end

--- A reporter: `say(event, data)`, `progress(label, total) -> function(rep)`, and the live
--- line when there is one.
---@param options {quiet: boolean?, json: boolean?, run: table}
---@return fun(event: string, data: table) say
---@return fun(label: string, total: integer): fun(rep: table) progress
---@return table? live
function M.new(options)
  local run = options.run
  local live = not (options.quiet or options.json) and live_of.new(run) or nil
  local function say(event, data)
    if live and event == "step" then
      live.step = string.format("step %d/%d", data.step, run.plan.steps)
    end
    if options.quiet then return end
    if options.json then
      write_event(event, data)
    elseif LINES[event] then
      stdout.write(LINES[event](data, run) .. "\n")
    end
  end
  return say, progress_of(run, say, live), live
end

return M
