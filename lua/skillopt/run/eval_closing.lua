--- The last lines of an evaluation: one table over models, skills and splits, the task
--- types, then who is above whom item by item.
local arms_of = require "skillopt.run.arms"
local figures = require "skillopt.figures"
local json = require "rt.json"
local stdout = require "rt.stdout"

local M = {}

--- Cells behind the first one go behind those of `front`.
local function behind(front, cells)
  return table.move(cells, 2, #cells, #front + 1, front)
end

--- Names of the splits of an arm, `total` last where there are several.
local function parts_of(arm, splits)
  local parts = {}
  for _, split in ipairs(splits) do parts[#parts + 1] = { split, arm.splits[split] } end
  if #splits > 1 then parts[#parts + 1] = { "total", arm.total } end
  return parts
end

local function figures_table(result, splits)
  local rows = { behind({ "model", "skill", "split" }, arms_of.heading "") }
  for _, arm in ipairs(result.arms) do
    for _, part in ipairs(parts_of(arm, splits)) do
      rows[#rows + 1] = behind({ arm.model, arm.skill, part[1] }, arms_of.row("", part[2]))
    end
  end
  return figures.lines(rows, 3)
end

--- Name of an arm in a heading: of its skill, its model, or both, whatever tells it apart.
local function title_of(arm, result)
  local first, last = result.arms[1], result.arms[#result.arms]
  if first.model == last.model then return arm.skill end
  return first.skill == last.skill and arm.model or arm.model .. " " .. arm.skill
end

local function marks_by_type(arm)
  local marks = {}
  for _, one in ipairs(arm.total.task_types) do marks[one.task_type] = one end
  return marks
end

--- The hard marks of all splits together, a row a task type and a column an arm; nothing
--- where there is one type only.
local function types_table(result)
  local types, heading, columns_of = result.arms[1].total.task_types, { "task type", "n" }, {}
  if #types < 2 then return {} end
  for i, arm in ipairs(result.arms) do
    heading[i + 2], columns_of[i] = title_of(arm, result), marks_by_type(arm)
  end
  local rows = { heading }
  for i, one in ipairs(types) do
    local cells = { one.task_type, string.format("%d", one.n) }
    for k, marks in ipairs(columns_of) do
      local mark = marks[one.task_type]
      cells[k + 2] = mark and string.format("%.4f", mark.hard) or "-"
    end
    rows[i + 1] = cells
  end
  return figures.lines(rows, 1)
end

--- What differs between the two sides stands first.
local function pair_title(one)
  local arm, over = one.arm, one.over
  local title = arm.model == over.model
    and { string.format("%s over %s", arm.skill, over.skill), arm.model }
    or { string.format("%s over %s", arm.model, over.model), arm.skill }
  title[3] = one.split
  return title
end

local function pairs_table(result)
  if #result.comparisons == 0 then return {} end
  local rows = { behind({ "item by item", "with", "split" }, arms_of.pair_heading "") }
  for i, one in ipairs(result.comparisons) do
    rows[i + 1] = behind(pair_title(one), arms_of.pair_row("", one))
  end
  return figures.lines(rows, 3)
end

--- The first comparison over all items of which too few were measured on both sides, or nil.
---@param result table the summary
---@param options {splits: string[], min_items: integer}
---@return table?
function M.undecided(result, options)
  local all = #options.splits > 1 and "total" or options.splits[1]
  for _, one in ipairs(result.comparisons) do
    if one.split == all and one.n < options.min_items then return one end
  end
end

local function add(lines, more)
  table.move(more, 1, #more, #lines + 1, lines)
end

--- Show the end of an evaluation.
---@param run table
---@param result table the summary
---@param options {json: boolean?, splits: string[]}
function M.show(run, result, options)
  if options.json then
    local line = { event = "done", path = run.path, calls = run.calls() }
    for name, value in pairs(result) do line[name] = value end
    stdout.write(json.encode(line, { keys = { "event", "path" } }) .. "\n")
    return
  end
  local lines = {}
  add(lines, figures_table(result, options.splits))
  add(lines, types_table(result))
  add(lines, pairs_table(result))
  if run.spending.is_capped or run.spending.has_prices then
    lines[#lines + 1] = "spent: " .. run.spending:words()
  end
  lines[#lines + 1] = string.format("%d of %d calls answered by the journal",
    run.effects.counts.stored + run.effects.counts.copied, run.calls())
  lines[#lines + 1] = string.format("figures: %s/eval_summary.json, rows: %s/results.jsonl",
    run.path, run.path)
  stdout.write(table.concat(lines, "\n") .. "\n")
end

return M
