--- The pages of `skillopt show`: a run, and one of its steps.
local figures = require "skillopt.figures"
local visible = require "skillopt.visible"

local M = {}

local function share(x) return x and string.format("%.4f", x) or "-" end

local function whole(x) return x and string.format("%d", x // 1) or "-" end

local function text(x) return x and visible.line(tostring(x), 200) or "-" end

local function append(lines, more) table.move(more, 1, #more, #lines + 1, lines) end

--- `name value` for what is known, in one line.
local function known(pairs_of)
  local out = {}
  for _, pair in ipairs(pairs_of) do
    if pair[2] then out[#out + 1] = pair[1] .. " " .. text(pair[2]) end
  end
  return table.concat(out, ", ")
end

local function modes(s)
  local slow = s.slow_update and s.slow_update ~= "none"
    and s.slow_update .. (s.slow_gated and " (gated)" or " (forced)") or s.slow_update
  return {
    known { { "environment", s.env }, { "target", s.target }, { "optimizer", s.optimizer } },
    known { { "update", s.update }, { "rate", s.rate }, { "control", s.control },
      { "edits", s.edits }, { "metric", s.metric }, { "gate", s.gate } },
    known { { "slow update", slow }, { "meta skill", s.meta_skill }, { "appendix", s.appendix },
      { "epochs", s.epochs }, { "batch", s.batch }, { "seed", s.seed } },
  }
end

local function standing(facts)
  local steps = facts.steps_planned and string.format("%d of %d steps", facts.steps_done,
    facts.steps_planned // 1) or string.format("%d steps", facts.steps_done)
  return string.format("%s: %s, %s%s", text(facts.path), facts.state, steps,
    facts.program == "reference" and ", made by the reference" or "")
end

local function score_lines(scores)
  local a, b = scores.selection, scores.test
  local lines = { string.format("selection: initial %s, best %s%s, current %s", share(a.initial),
    share(a.best), a.best_step and string.format(" (step %d)", a.best_step // 1) or "",
    share(a.current)) }
  if b.best or b.initial then
    lines[2] = string.format("test%s: %sinitial %s, best %s, last %s",
      b.n and string.format(" (n=%d)", b.n // 1) or "",
      b.no_skill and string.format("no skill %s, ", share(b.no_skill)) or "", share(b.initial),
      share(b.best), share(b.last))
  else
    lines[2] = "test: not run"
  end
  return lines
end

-- Behind the last heading stands an empty one, so that the actions stand to the left.
local HEADING <const> = { "step", "epoch", "rollout", "n", "candidate", "n", "current", "best",
  "edits", "skill", "regions", "tokens", "action", "" }

local function step_row(s)
  local edits = s.edits and string.format("%s/%s", whole(s.edits.applied), whole(s.edits.total))
    or "-"
  local what = text(s.action) .. (s.unmeasured and " (not measured)" or "")
  return { whole(s.step), whole(s.epoch), share(s.rollout), whole(s.rollout_n), share(s.candidate),
    whole(s.selection_n), share(s.current), share(s.best), edits, whole(s.skill_body_tokens),
    whole(s.skill_region_tokens), whole(s.tokens), what }
end

local function step_table(steps)
  local rows = { HEADING }
  for _, s in ipairs(steps) do rows[#rows + 1] = step_row(s) end
  local lines = figures.lines(rows, 0)
  if #steps == 0 then return { "no step has ended yet" } end
  return lines
end

local function event(name, one)
  if not one then return nil end
  return string.format("%s %s%s%s", name, text(one.action),
    one.score and " " .. share(one.score) or "", one.reason and ": " .. text(one.reason) or "")
end

local function event_lines(facts)
  local lines = {}
  for _, e in ipairs(facts.epochs) do
    local parts = {}
    parts[1] = event("slow update", e.slow_update)
    parts[#parts + 1] = event("meta skill", e.meta_skill)
    lines[#lines + 1] = string.format("epoch %d: %s", e.epoch, table.concat(parts, "; "))
  end
  for _, s in ipairs(facts.steps) do
    if s.notes then
      lines[#lines + 1] = string.format("step %d: %d notes added to the appendix, %s in all",
        s.step, s.notes // 1, whole(s.notes_total))
    end
  end
  return lines
end

local MOST_KINDS <const> = 8

local function kind_lines(title, list)
  local lines = {}
  for i, one in ipairs(list) do
    if i > MOST_KINDS then
      lines[i] = string.format("  ... and %d more kinds", #list - MOST_KINDS)
      break
    end
    lines[i] = string.format("  %5s  %s", whole(one.count), text(one.kind))
  end
  return #lines > 0 and { title, table.unpack(lines) } or {}
end

local function failure_lines(facts)
  local lines = kind_lines("wrong answers in training rollouts, by kind:", facts.failures)
  append(lines, kind_lines("as the analysts name them:", facts.failure_types))
  return lines
end

local function unmeasured_line(facts)
  local parts, malformed = {}, 0
  for kind, n in pairs(facts.failed) do
    parts[#parts + 1] = string.format("%d %s", n, text(kind))
  end
  for _, s in ipairs(facts.steps) do malformed = malformed + (s.malformed or 0) end
  local line = "not measured: " .. (#parts > 0 and table.concat(parts, ", ") or "0")
  if facts.program == "reference" then line = "not measured: the reference does not say" end
  return string.format("%s; no answer: %d; malformed optimizer replies: %d", line, facts.no_answer,
    malformed // 1)
end

local function stage_lines(stages)
  local rows = { { "tokens", "calls", "prompt", "completion" } }
  for name, row in pairs(stages) do
    row = type(row) == "table" and row or {}
    local function cell(x) return whole(type(x) == "number" and x or nil) end
    rows[#rows + 1] = { "  " .. text(name), cell(row.calls), cell(row.prompt_tokens),
      cell(row.completion_tokens) }
  end
  return #rows > 1 and figures.lines(rows, 1) or {}
end

local function gaps(facts)
  local lines = {}
  if #facts.missing > 0 then
    lines[1] = "missing: " .. visible.line(table.concat(facts.missing, ", "), 400)
  end
  for _, one in ipairs(facts.damaged) do
    lines[#lines + 1] = "damaged: " .. visible.line(one, 400)
  end
  return lines
end

--- The page of a run.
---@param facts table as `facts.run` gives it
---@return string
function M.run(facts)
  local lines = { standing(facts) }
  for _, line in ipairs(modes(facts.setting)) do
    if line ~= "" then lines[#lines + 1] = "  " .. line end
  end
  append(lines, score_lines(facts.scores))
  append(lines, step_table(facts.steps))
  append(lines, event_lines(facts))
  append(lines, failure_lines(facts))
  lines[#lines + 1] = unmeasured_line(facts)
  append(lines, stage_lines(facts.tokens))
  append(lines, gaps(facts))
  return table.concat(lines, "\n") .. "\n"
end

local function edit_lines(title, list)
  local lines = {}
  for i, e in ipairs(list) do
    lines[#lines + 1] = string.format("%4d. %-15s %s%s", i, text(e.fate), text(e.op),
      e.support and string.format(" (support %s)", whole(e.support)) or "")
    if e.target and e.target ~= "" then lines[#lines + 1] = "      at: " .. text(e.target) end
    if e.content and e.content ~= "" then lines[#lines + 1] = "      " .. text(e.content) end
  end
  return #lines > 0 and { title, table.unpack(lines) } or {}
end

--- The page of a step.
---@param s table as `facts.step` gives it
---@return string
function M.step(s)
  local lines = {
    string.format("%s: step %d, epoch %s", text(s.path), s.step, whole(s.epoch)),
    string.format("rollout: hard %s, soft %s on n=%s, %s failed; patches: %s failure, %s success, "
      .. "%s malformed", share(s.rollout), share(s.rollout_soft), whole(s.rollout_n),
      whole(s.rollout_failed), whole(s.patches.failure), whole(s.patches.success),
      whole(s.malformed)),
    string.format("edits: %s merged, rate %s, %s applied", whole(s.merged), whole(s.rate),
      whole(s.edits and s.edits.applied)),
  }
  append(lines, edit_lines("selected:", s.edit_list))
  append(lines, edit_lines("dropped on the way:", s.dropped))
  for _, change in ipairs(s.changes or {}) do lines[#lines + 1] = "  changed: " .. text(change) end
  append(lines, { string.format("candidate: %s on n=%s%s -> %s%s", share(s.candidate),
    whole(s.selection_n), s.not_run and string.format(" (%s not run)", whole(s.not_run)) or "",
    text(s.action), s.reason and ": " .. text(s.reason) or ""),
    string.format("afterwards: current %s, best %s (step %s); skill %s tokens, regions %s",
      share(s.current), share(s.best), whole(s.best_step), whole(s.skill_body_tokens),
      whole(s.skill_region_tokens)) })
  if s.leaks and s.leaks > 0 then lines[#lines + 1] = "leaks reported: " .. whole(s.leaks) end
  append(lines, failure_lines(s))
  append(lines, stage_lines(s.stages))
  lines[#lines + 1] = "files in " .. text(s.folder) .. ": "
    .. visible.line(table.concat(s.files, " "), 400)
  append(lines, gaps(s))
  return table.concat(lines, "\n") .. "\n"
end

return M
