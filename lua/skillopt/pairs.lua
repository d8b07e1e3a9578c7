--- Two epochs side by side: the same tasks with the skill of the epoch before and with the
--- current one. A pair is a task that has a mark on both sides; its category says what
--- became of it.

local budget = require "skillopt.budget"
local evaluation = require "skillopt.evaluation"
local json = require "rt.json"
local lists = require "skillopt.lists"
local text = require "rt.text"

local M = {}

--- Categories in the order an optimizer reads them.
local GROUPS <const> = {
  { name = "regressed", heading = "Regressed: solved before, failed now (look here first)",
    is_shown = true },
  { name = "persistent_fail", heading = "Failed before and now", is_shown = true },
  { name = "improved", heading = "Improved: failed before, solved now", is_shown = true },
  { name = "stable_success", heading = "Solved before and now" },
}

local KEPT <const> = {
  mixed = { improved = true, regressed = true, persistent_fail = true, stable_success = true },
  changed = { improved = true, regressed = true },
  unchanged = { persistent_fail = true, stable_success = true },
}

local PREVIEW <const> = 400
--- Tokens of the headings over trajectories and of the rules between them.
local HEADINGS <const> = 100
local MARK <const> = "\n[... middle of the comparison cut to fit ...]\n"

--------------------------------------------------------------------------- building

local function mean(marks)
  local sum = 0.0
  for _, mark in ipairs(marks) do sum = sum + mark end
  return sum / #marks
end

local function text_of(...)
  for _, value in ipairs { ... } do
    if type(value) == "string" and value ~= "" then return value end
  end
end

local function rows_by_id(side)
  local out = {}
  for _, row in ipairs(side:rows()) do out[row.id] = row end
  return out
end

local function side_of(side, id, row)
  local hard = mean(side:marks(id, "hard"))
  return {
    hard = evaluation.is_failure(hard) and 0 or 1, soft = mean(side:marks(id, "soft")),
    predicted_answer = text_of(row.predicted_answer or false, row.answer or false) or "N/A",
    fail_reason = text_of(row.fail_reason or false) or "",
  }
end

local function category(before, now)
  if before.hard == 1 then return now.hard == 1 and "stable_success" or "regressed" end
  return now.hard == 1 and "improved" or "persistent_fail"
end

--- The pairs of two evaluations, in the order of the current one.
---@param previous skillopt.Evaluation
---@param current skillopt.Evaluation
---@param items table[]? the tasks, for their texts
---@return table[] pairs `{id, task, category, prev, curr}`
function M.build(previous, current, items)
  local before, now = rows_by_id(previous), rows_by_id(current)
  local places = lists.ids(items or {})
  local out = json.array {}
  for _, id in ipairs(current:ids()) do
    if #previous:marks(id) > 0 and #current:marks(id) > 0 then
      local prev, curr = side_of(previous, id, before[id]), side_of(current, id, now[id])
      local place = places:find(id)
      local item = place and items[place] or now[id]
      out[#out + 1] = { id = id, category = category(prev, curr), prev = prev, curr = curr,
        task = text_of(item.question or false, item.task_description or false,
          item.instruction or false) or id }
    end
  end
  return out
end

--- Pairs of a category, by its name.
---@param list table[]
---@return table<string, integer>
function M.counts(list)
  local out = {}
  for _, group in ipairs(GROUPS) do out[group.name] = 0 end
  for _, pair in ipairs(list) do out[pair.category] = out[pair.category] + 1 end
  return out
end

--- The pairs that a policy compares.
---@param list table[]
---@param policy "mixed"|"changed"|"unchanged"
---@return table[]
function M.keep(list, policy)
  local out = json.array {}
  for _, pair in ipairs(list) do
    if KEPT[policy][pair.category] then out[#out + 1] = pair end
  end
  return out
end

---@param list table[]
---@return string[]
function M.ids(list)
  local out = {}
  for i, pair in ipairs(list) do out[i] = pair.id end
  return out
end

------------------------------------------------------------------------- as text

local function quote(s)
  if text.length(s) > PREVIEW then s = text.sub(s, 1, PREVIEW) .. " ..." end
  return json.encode(s)
end

local function side_line(word, side)
  local reason = side.hard == 0 and side.fail_reason ~= "" and ", " .. quote(side.fail_reason)
  return ("- %s: %s, partial mark %.2f, answer %s%s"):format(word,
    side.hard == 1 and "PASS" or "FAIL", side.soft, quote(side.predicted_answer), reason or "")
end

local function pair_lines(pair)
  return table.concat({ ("### %s: %s"):format(pair.id, quote(pair.task)),
    side_line("before", pair.prev), side_line("now", pair.curr) }, "\n")
end

--- Trajectories of one side under a heading; what was cut is added to `shown.cut`.
local function trajectories(side, ids, heading, shown)
  if shown.room == 0 then return nil end
  local seen, facts = side:render { ids = ids, max_tokens = shown.room,
    max_each = shown.max_each }
  table.move(facts.cut, 1, #facts.cut, #shown.cut + 1, shown.cut)
  return seen ~= "" and ("### %s\n\n%s"):format(heading, seen) or nil
end

local function group_text(group, list, sides, shown)
  local lines = { "## " .. group.heading }
  for _, pair in ipairs(list) do lines[#lines + 1] = pair_lines(pair) end
  if #list == 0 then lines[2] = "None." end
  if group.is_shown and #list > 0 then
    local ids = M.ids(list)
    lines[#lines + 1] = trajectories(sides.previous, ids, "What the target did before", shown)
    lines[#lines + 1] = trajectories(sides.current, ids, "What the target did now", shown)
  end
  return table.concat(lines, "\n\n")
end

--- Pairs by category, and how many have trajectories that are shown.
local function grouped(list)
  local groups, n = {}, 0
  for _, group in ipairs(GROUPS) do groups[group.name] = json.array {} end
  for _, pair in ipairs(list) do
    table.insert(groups[pair.category], pair)
    if pair.category ~= "stable_success" then n = n + 1 end
  end
  return groups, n
end

--- The comparison with trajectories of `room` tokens together; without a room they are
--- whole, with one of 0 left out.
local function written(list, sides, room, max_each)
  local counts, cut = M.counts(list), json.array {}
  local groups, n = grouped(list)
  local out = { ("%d tasks: %d regressed, %d failed twice, %d improved, %d solved twice.")
    :format(#list, counts.regressed, counts.persistent_fail, counts.improved,
      counts.stable_success) }
  for _, group in ipairs(GROUPS) do
    local share = room and room * #groups[group.name] // (2 * math.max(n, 1))
    if room and room > 0 then share = math.max(share, 1) end
    out[#out + 1] = group_text(group, groups[group.name], sides,
      { room = share, max_each = max_each, cut = cut })
  end
  return table.concat(out, "\n\n"), cut
end

--- The comparison for an optimizer: totals, then the groups, worst first. When it does not
--- fit the room the trajectories (of all but what was solved twice) share what the rest
--- leaves; a rest that alone is too long is cut in its middle.
---@param list table[] pairs
---@param sides {previous: skillopt.Evaluation, current: skillopt.Evaluation} with feedback
---@param options {room: integer, max_each: integer} tokens of all, and of one trajectory
---@return string
---@return {id: string, characters: integer}[] cut what was cut out of which trajectory; the
---        comparison itself has the id `comparison`
function M.comparison(list, sides, options)
  local whole, cut = written(list, sides, nil, options.max_each)
  if text.tokens(whole) <= options.room then return whole, cut end
  local bare = text.tokens((written(list, sides, 0)))
  whole, cut = written(list, sides, math.max(options.room - bare - HEADINGS, 0),
    options.max_each)
  local fitting, removed = text.cut_middle(whole, options.room, MARK)
  if removed > 0 then cut[#cut + 1] = { id = "comparison", characters = removed } end
  return fitting, cut
end

--- Put the comparison, as much of it as fits the prompt, into the inputs of a question; what
--- was cut is put on record (`comparison_cut`) and in the log.
---@param list table[] pairs
---@param sides {previous: skillopt.Evaluation, current: skillopt.Evaluation} with feedback
---@param ctx skillopt.Ctx
---@param asked {prompt: string, inputs: table, tokens: integer, max_each: integer} tokens of
---       the whole prompt and of one trajectory
function M.show(list, sides, ctx, asked)
  local room = budget.room(ctx, asked.tokens,
    { prompt = asked.prompt, inputs = asked.inputs, open = "comparison" })
  local seen, cut = M.comparison(list, sides, { room = room, max_each = asked.max_each })
  asked.inputs.comparison = seen
  if #cut > 0 then ctx:record("comparison_cut", cut) end
  for _, one in ipairs(cut) do
    ctx:log { event = "cut", id = one.id, characters = one.characters }
  end
end

return M
