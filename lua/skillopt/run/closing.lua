--- The last lines of a run: what was gained on the test set, item by item, and where the
--- skill is.
local json = require "rt.json"
local stdout = require "rt.stdout"

local M = {}

local function number(x)
  return type(x) == "number" and string.format("%.4f", x) or "not run"
end

--- Wins, ties and losses of `b` against `a` on the items marked on both sides.
---@param a skillopt.Evaluation
---@param b skillopt.Evaluation
---@return {n: integer, wins: integer, ties: integer, losses: integer, lift: number}
function M.pair(a, b)
  local out = { n = 0, wins = 0, ties = 0, losses = 0, lift = 0.0 }
  for _, id in ipairs(a:ids()) do
    local old, new = a:marks(id, "hard")[1], b:marks(id, "hard")[1]
    if old and new then
      out.n = out.n + 1
      out.lift = out.lift + (new - old)
      local field = new > old and "wins" or new < old and "losses" or "ties"
      out[field] = out[field] + 1
    end
  end
  if out.n > 0 then out.lift = out.lift / out.n end
  return out
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

local function test_lines(result)
  local tests = result.tests
  if not tests then return { "test set: not run (evaluation.eval_test is off)" } end
  local pair = M.pair(tests.baseline.value, tests.best.value)
  return {
    string.format("test set (n=%d): initial %s, best %s, last %s", tests.best.n,
      number(tests.baseline.hard), number(tests.best.hard), number(tests.last.hard)),
    string.format(
      "best against initial, item by item (n=%d): %d wins, %d ties, %d losses, lift %+.4f",
      pair.n, pair.wins, pair.ties, pair.losses, pair.lift),
  }
end

--- Show the end of a run.
---@param run table
---@param result table
---@param options {json: boolean?}
function M.show(run, result, options)
  if options.json then
    local s = result.summary
    stdout.write(json.encode({ event = "done", path = run.path, test_hard = s.test_hard,
      baseline_test_hard = s.baseline_test_hard, best_score = s.best_selection_hard,
      best_step = s.best_step, calls = run.calls() }, { keys = { "event" } }) .. "\n")
    return
  end
  local s = result.summary
  local lines = {
    string.format("%d steps: %d accepted, %d rejected, %d skipped", s.total_steps, s.total_accepts,
      s.total_rejects, s.total_skips),
    string.format("selection set: initial %s, best %s (step %d)", number(s.baseline_selection_hard),
      number(s.best_selection_hard), s.best_step),
  }
  table.move(test_lines(result), 1, 2, #lines + 1, lines)
  lines[#lines + 1] = table_text(run)
  if run.spending.is_capped or run.spending.has_prices then
    lines[#lines + 1] = "spent: " .. run.spending:words()
  end
  lines[#lines + 1] = string.format("%d of %d calls answered by the journal",
    run.effects.counts.stored + run.effects.counts.copied, run.calls())
  lines[#lines + 1] = string.format("best skill: %s/best_skill.md (%d tokens)", run.path,
    s.best_skill_tokens)
  stdout.write(table.concat(lines, "\n") .. "\n")
end

return M
