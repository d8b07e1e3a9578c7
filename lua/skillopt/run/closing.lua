--- The last lines of a run: what was gained on the test set, item by item, and where the
--- skill is.
local arms_of = require "skillopt.run.arms"
local figures = require "skillopt.figures"
local ending = require "skillopt.ending"
local json = require "rt.json"
local stdout = require "rt.stdout"

local M = {}

local function number(x)
  return type(x) == "number" and string.format("%.4f", x) or "not run"
end

local function table_text(run)
  local lines = { string.format("  %-28s %7s %10s %11s", "role/stage", "calls", "prompt",
    "completion") }
  for name, row in pairs(run.token_table()) do
    if name ~= "_total" then
      lines[#lines + 1] = string.format("  %-28s %7d %10d %11d%s", name, row.calls,
        row.prompt_tokens, row.completion_tokens,
        row.estimated > 0 and string.format("  (%d estimated)", row.estimated) or "")
    end
  end
  return table.concat(lines, "\n")
end

local NAMES <const> = { no_skill = "no skill" }

local function name_of(arm) return NAMES[arm] or arm end

local NOT_RUN <const> = "not run"

--- The arms of the test, then who is how much above whom.
local function test_lines(summary)
  local arms, pairings = { arms_of.heading "test set" }, { arms_of.pair_heading "item by item" }
  for i, name in ipairs(ending.ARMS) do
    local arm = summary.arms[name]
    local title = "  " .. name_of(name)
    arms[i + 1] = arm == NOT_RUN and { title, NOT_RUN } or arms_of.row(title, arm)
  end
  for i, one in ipairs(summary.comparisons) do
    local title = string.format("  %s over %s", name_of(one.arm), name_of(one.over))
    pairings[i + 1] = one.n and arms_of.pair_row(title, one) or { title, NOT_RUN }
  end
  local lines = figures.lines(arms, 1)
  return table.move(figures.lines(pairings, 1), 1, #pairings, #lines + 1, lines)
end

--- What a reader of the best skill should know.
---@param summary table
---@return string[]
function M.remarks(summary)
  local out = json.array { summary.best_skill_remark }
  local leaks = summary.best_skill_leaks
  if leaks then
    out[#out + 1] = string.format("%d leak%s in the best skill; the first: %s", #leaks,
      #leaks > 1 and "s" or "", leaks[1])
  end
  return out
end

--- Where the best skill is, its size, and the remarks on it.
---@param path string of the run's folder
---@param summary table
---@return string[] lines
function M.skill_lines(path, summary)
  local lines = { string.format(
    "best skill: %s/best_skill.md (%d tokens: body %d, protected regions %d)", path,
    summary.best_skill_tokens, summary.best_skill_body_tokens,
    summary.best_skill_region_tokens) }
  for i, remark in ipairs(M.remarks(summary)) do lines[i + 1] = "remark: " .. remark end
  return lines
end

--- Show the end of a run.
---@param run table
---@param result table
---@param options {json: boolean?}
function M.show(run, result, options)
  local s = result.summary
  if options.json then
    stdout.write(json.encode({ event = "done", path = run.path, test_hard = s.test_hard,
      baseline_test_hard = s.baseline_test_hard, arms = s.arms, comparisons = s.comparisons,
      best_score = s.best_selection_hard, best_step = s.best_step,
      best_skill_tokens = s.best_skill_tokens, remarks = M.remarks(s), calls = run.calls() },
      { keys = { "event" } }) .. "\n")
    return
  end
  local lines = {
    string.format("%d steps: %d accepted, %d rejected, %d skipped", s.total_steps, s.total_accepts,
      s.total_rejects, s.total_skips),
    string.format("selection set: initial %s, best %s (step %d)", number(s.baseline_selection_hard),
      number(s.best_selection_hard), s.best_step),
  }
  local tests = test_lines(s)
  table.move(tests, 1, #tests, #lines + 1, lines)
  lines[#lines + 1] = table_text(run)
  if run.spending.is_capped or run.spending.has_prices then
    lines[#lines + 1] = "spent: " .. run.spending:words()
  end
  lines[#lines + 1] = string.format("%d of %d calls answered by the journal",
    run.effects.counts.stored + run.effects.counts.copied, run.calls())
  table.move(M.skill_lines(run.path, s), 1, 3, #lines + 1, lines)
  stdout.write(table.concat(lines, "\n") .. "\n")
end

return M
