--- The marks of one skill on some items: the value class of `lua/meta/ctx.lua`.
---
--- Marks are kept as one plain array of numbers a name, over all repeats of all items in
--- item order ("places"); texts of the items stay only while the evaluation was made with
--- trajectories. A failed or not-run repeat has no marks and is in no mean. All sums run
--- in item order, so equal marks give equal means whatever finished first.

local trajectory = require "skillopt.trajectory"
local json = require "rt.json"
local raw = require "rt.raw"

local M = {}
local Evaluation = {}
Evaluation.__index = Evaluation
Evaluation.__name = "evaluation"

--- What an evaluation is made of, hidden from its users:
--- ids, first (place of an item's first repeat; one more at the end), states (one
--- character a place), columns (marks by name), types (task type by place), faults (kind
--- and reason by place), rows and source (only with trajectories), metric, index (made on
--- demand).
local inside = setmetatable({}, { __mode = "k" })

local LETTERS <const> = { ok = "o", no_answer = "n", failed = "f", not_run = "-" }
local STATES <const> = { o = "ok", n = "no_answer", f = "failed", ["-"] = "not_run" }

--- Slack for weights that do not add up to exactly 1.
local SLACK <const> = 1e-9

-------------------------------------------------------------------------- marks

local function fault(form, ...)
  return { kind = "data", message = form:format(...), retry = false }
end

local function is_finite(x) return x == x and x ~= math.huge and x ~= -math.huge end

local RANGE <const> = "the result's '%s' must be a number from 0 to 1, got %s"

--- A mark between 0 and 1.
local function share(result, name, otherwise)
  local value = result[name]
  if value == nil or value == json.null then value = otherwise end
  if type(value) == "boolean" then value = value and 1 or 0 end
  if type(value) ~= "number" then
    return nil, fault(RANGE, name,
      type(value) == "string" and ("%q"):format(value) or "nothing of the kind")
  end
  if not is_finite(value) or value < -SLACK or value > 1 + SLACK then
    return nil, fault(RANGE, name, value)
  end
  if value < 0 then return 0.0 end
  return value > 1 and 1.0 or value
end

--- The marks of a rollout's result: `hard`, `soft` (default: hard) and every other number
--- in it. Truth values count as 1 and 0. nil and an error of kind `data` when a mark is
--- missing, no number, out of range or not finite: such an item has no mark at all.
---@param result table
---@return table<string, number>? marks
---@return skillopt.Err? err
function M.check(result)
  local hard, err = share(result, "hard")
  if not hard then return nil, err end
  local soft, err2 = share(result, "soft", hard)
  if not soft then return nil, err2 end
  local marks = {}
  for name, value in pairs(result) do
    if math.type(value) then
      if not is_finite(value) then
        return nil, fault("the result's '%s' is not a finite number", name)
      end
      marks[name] = value
    end
  end
  marks.hard, marks.soft = hard, soft
  return marks
end

--- Is a mark so low that the item failed? One threshold for reflection and records.
---@param hard number
---@return boolean
function M.is_failure(hard) return hard < 1e-9 end

local NO_ANSWER <const> = { hard = 0, soft = 0 }

local HARD <const> = {
  opt = {},
  item = function(marks) return marks.hard end,
}

--- Marks of one repeat with the metric's own among them; nil for a repeat without marks.
local function marks_of(rep, metric, id)
  local marks, err
  if rep.state == "no_answer" then
    marks = { hard = NO_ANSWER.hard, soft = NO_ANSWER.soft }
  elseif rep.state == "ok" then
    marks, err = M.check(rep.marks)
    if not marks then error(fault("item %s: %s", id, err.message), 0) end
  else
    return nil
  end
  local value = metric.item(marks, metric.opt)
  if not math.type(value) or not is_finite(value) then
    local words = "item %s: the metric gives %s, not a finite number"
    error(fault(words, id, tostring(value)), 0)
  end
  if metric.max and value > metric.max then
    local words = "item %s: the metric gives %s, and says that it gives at most %s"
    error(fault(words, id, tostring(value), tostring(metric.max)), 0)
  end
  marks.metric = value
  return marks
end

------------------------------------------------------------------------ building

--- The row of a repeat with the prompts of its first call.
local function kept_row(rep)
  local row = {}
  for name, value in pairs(rep.row or {}) do row[name] = value end
  row.target_system_prompt = row.target_system_prompt or rep.system
  row.target_user_prompt = row.target_user_prompt or rep.user
  return row
end

local function type_of(rep)
  local name = rep.row and rep.row.task_type
  return type(name) == "string" and name or false
end

--- Repeats as lists by place: states, marks, types, rows, faults.
local function spread(spec, metric)
  local decided = spec.decided or #spec.rows
  local flat = {
    ids = {}, first = {}, states = {}, marks = {}, types = {}, rows = {}, faults = {},
  }
  local place = 0
  for i, row in ipairs(spec.rows) do
    flat.ids[i] = row.id
    flat.first[i] = place + 1
    local reps = #row.reps > 0 and row.reps or { { state = "not_run" } }
    for _, rep in ipairs(reps) do
      place = place + 1
      local state = i <= decided and rep.state or "not_run"
      flat.states[place] = LETTERS[state] or error("unknown state " .. tostring(state), 3)
      flat.marks[place] = state ~= "not_run" and marks_of(rep, metric, row.id) or false
      flat.rows[place] = spec.trajectory and kept_row(rep) or nil
      flat.types[place] = type_of(rep)
      if state == "failed" then flat.faults[place] = { rep.kind, rep.reason } end
    end
  end
  flat.first[#flat.ids + 1] = place + 1
  return flat
end

--- One array of numbers (false or nil where there is none) for each name of a mark.
local function columns_of(marks)
  local columns = {}
  for place, own in ipairs(marks) do
    for name in raw.next, own or {} do
      columns[name] = columns[name] or {}
    end
    for name, column in raw.next, columns do
      column[place] = own and own[name] or false
    end
  end
  return columns
end

--- Mean of one item's marks, or nil when it has none.
local function item_mean(data, i, column)
  local sum, n = 0, 0
  for place = data.first[i], data.first[i + 1] - 1 do
    local mark = column and column[place]
    if mark then sum, n = sum + mark, n + 1 end
  end
  if n > 0 then return sum / n end
end

local function mean(data, name)
  local column = data.columns[name]
  local sum, n = 0.0, 0
  for i = 1, #data.ids do
    local value = item_mean(data, i, column)
    if value then sum, n = sum + value, n + 1 end
  end
  if n > 0 then return sum / n, n end
  return nil, 0
end

local function score(data)
  local value = mean(data, "metric")
  local adjust = data.metric.adjust
  if not value or not adjust then return value end
  value = adjust(value, data.skill, data.metric.opt)
  if not math.type(value) or not is_finite(value) then
    error(fault("the metric's adjust gives %s, not a finite number", tostring(value)), 0)
  end
  return value
end

local function last_state(data, i)
  local place = data.first[i + 1] - 1
  return STATES[data.states:sub(place, place)]
end

--- Has the item a repeat in one of the states whose letters are in `set`?
local function has_state(data, i, set)
  local states = data.states:sub(data.first[i], data.first[i + 1] - 1)
  return states:find(set) ~= nil
end

local function failed_list(data)
  local out = {}
  for i, id in ipairs(data.ids) do
    for place = data.first[i], data.first[i + 1] - 1 do
      local why = data.faults[place]
      if why then
        out[#out + 1] =
          { id = id, rep = place - data.first[i] + 1, kind = why[1], reason = why[2] }
      end
    end
  end
  return out
end

local function finish(data)
  local self = setmetatable({ skill = data.skill }, Evaluation)
  inside[self] = data
  local decided = 0
  for i = 1, #data.ids do
    if has_state(data, i, "[onf]") then decided = decided + 1 end
  end
  local _, n = mean(data, "metric")
  self.n = n
  self.coverage = decided > 0 and n / decided or 0.0
  self.not_run = #data.ids - decided
  self.failed = failed_list(data)
  self.score = score(data)
  return self
end

---@class skillopt.EvaluationSpec
---@field rows {id: string, reps: skillopt.EvaluationRep[]}[] in item order
---@field skill skillopt.Skill?
---@field metric skillopt.Policy? default: hard
---@field decided integer? items that count, from the front; what lies behind is `not_run`
---@field trajectory (fun(id: string, rep: integer): table[]?)? conversation of a repeat;
---       given only while `render` may be asked: the rows are then kept too

---@class skillopt.EvaluationRep
---@field state "ok"|"no_answer"|"failed"|"not_run"
---@field marks table<string, number>? of an `ok` repeat, as `check` gives them
---@field row table? result row, as in `results.jsonl`; `task_type` is kept in any case
---@field system string? system prompt of the first call, for `render`
---@field user string? user prompt of the first call, for `render`
---@field kind skillopt.ErrKind? why it failed
---@field reason string? the same in words

--- Make an evaluation. A mark that `check` would refuse, or a metric that gives no finite
--- number, raises an error of kind `data`.
---@param spec skillopt.EvaluationSpec
---@return skillopt.Evaluation
function M.new(spec)
  local metric = spec.metric or HARD
  local flat = spread(spec, metric)
  return finish {
    skill = spec.skill,
    metric = metric,
    ids = flat.ids,
    first = flat.first,
    states = table.concat(flat.states),
    columns = columns_of(flat.marks),
    types = flat.types,
    faults = flat.faults,
    rows = spec.trajectory and flat.rows or nil,
    source = spec.trajectory,
  }
end

------------------------------------------------------------------------- reading

local function data_of(self)
  return inside[self] or error("expected an evaluation", 3)
end

local function index_of(data)
  if not data.index then
    data.index = {}
    for i, id in ipairs(data.ids) do data.index[id] = i end
  end
  return data.index
end

--- Ids of all items, in item order.
---@return string[]
function Evaluation:ids()
  return table.move(data_of(self).ids, 1, #data_of(self).ids, 1, {})
end

--- Marks of one item, one a repeat; a repeat without marks is left out.
---@param id string
---@param name string? default "metric"
---@return number[]
function Evaluation:marks(id, name)
  local data = data_of(self)
  local i, column = index_of(data)[id], data.columns[name or "metric"]
  local out = {}
  if not i or not column then return out end
  for place = data.first[i], data.first[i + 1] - 1 do
    if column[place] then out[#out + 1] = column[place] end
  end
  return out
end

--- State of an item's last repeat.
---@param id string
---@return "ok"|"no_answer"|"failed"|"not_run"|nil
function Evaluation:state(id)
  local data = data_of(self)
  local i = index_of(data)[id]
  return i and last_state(data, i)
end

--- Mean over the items that have the mark, each item's repeats averaged first.
---@param name string? default "metric"
---@return number?
function Evaluation:mean(name)
  return (mean(data_of(self), name or "metric"))
end

--- The row of one repeat: what is left of it when the texts are not kept.
local function row_of(data, id, place)
  local row = {}
  for name, value in pairs(data.rows and data.rows[place] or {}) do row[name] = value end
  row.id, row.state = id, STATES[data.states:sub(place, place)]
  row.task_type = data.types[place] or nil
  for name, column in pairs(data.columns) do
    if name ~= "metric" and column[place] then row[name] = column[place] end
  end
  local why = data.faults[place]
  if why then
    row.hard, row.soft = nil, nil
    row.kind, row.fail_reason = why[1], why[2] or row.fail_reason
  end
  return row
end

--- One row a repeat, in item order; what was not run has none. Texts other than the task
--- type are there only while trajectories are kept.
---@return table[]
function Evaluation:rows()
  local data = data_of(self)
  local out = {}
  for i, id in ipairs(data.ids) do
    for place = data.first[i], data.first[i + 1] - 1 do
      local row = row_of(data, id, place)
      if row.state ~= "not_run" then out[#out + 1] = row end
    end
  end
  return out
end

------------------------------------------------------------------------ choosing

--- The evaluation on the places listed for each item: `parts` = {id, list of places}.
local function cut(data, parts, source)
  local new = {
    skill = data.skill, metric = data.metric, source = source,
    ids = {}, first = {}, columns = {}, types = {}, faults = {},
    rows = data.rows and {} or nil,
  }
  local states, n = {}, 0
  for name in pairs(data.columns) do new.columns[name] = {} end
  for i, part in ipairs(parts) do
    new.ids[i], new.first[i] = part.id, n + 1
    for _, at in ipairs(part) do
      n = n + 1
      local from, place = at.data, at.place
      states[n] = from.states:sub(place, place)
      for name, column in raw.next, new.columns do
        column[n] = from.columns[name] and from.columns[name][place] or false
      end
      new.types[n], new.faults[n] = from.types[place], from.faults[place]
      if new.rows then new.rows[n] = from.rows and from.rows[place] or {} end
    end
  end
  new.first[#new.ids + 1] = n + 1
  new.states = table.concat(states)
  return finish(new)
end

--- All repeats of item i, for `cut`.
local function part_of(data, i, id)
  local part = { id = id }
  for place = data.first[i], data.first[i + 1] - 1 do
    part[#part + 1] = { data = data, place = place }
  end
  return part
end

--- The evaluation on `ids`, in the order of the list.
local function pick(data, ids)
  local index, parts = index_of(data), {}
  for n, id in ipairs(ids) do parts[n] = part_of(data, index[id], id) end
  return cut(data, parts, data.source)
end

--- The evaluation on some of its items, in item order.
---@param ids string[]
---@return skillopt.Evaluation
function Evaluation:only(ids)
  local data = data_of(self)
  local index, wanted, chosen = index_of(data), {}, {}
  for _, id in ipairs(ids) do
    if not index[id] then error(("only: no item %q in this evaluation"):format(id), 2) end
    wanted[id] = true
  end
  for _, id in ipairs(data.ids) do
    if wanted[id] then chosen[#chosen + 1] = id end
  end
  return pick(data, chosen)
end

--- Repeats of both for one item; a placeholder that was not run gives way.
local function join_part(data, other, id)
  local part = { id = id }
  for _, from in ipairs { data, other } do
    local i = index_of(from)[id]
    if i and has_state(from, i, "[onf]") then
      for _, at in ipairs(part_of(from, i, id)) do part[#part + 1] = at end
    end
  end
  if #part > 0 then return part end
  local from = index_of(data)[id] and data or other
  return part_of(from, index_of(from)[id], id)
end

--- Conversations of joined repeats: the first ones are `data`'s.
local function join_source(data, other)
  if not data.source then return nil end
  return function(id, rep)
    local i = index_of(data)[id]
    local is_own = i and has_state(data, i, "[onf]")
    local own = is_own and data.first[i + 1] - data.first[i] or 0
    if rep <= own then return data.source(id, rep) end
    return other.source and other.source(id, rep - own)
  end
end

local function add_names(data, other)
  for name in pairs(other.columns) do
    if not data.columns[name] then data.columns[name] = {} end
  end
end

--- Marks of both, for the same skill: this one's repeats first, its items first.
---@param other skillopt.Evaluation
---@return skillopt.Evaluation
function Evaluation:with(other)
  local data, second = data_of(self), data_of(other)
  if data.skill and second.skill and data.skill.key ~= second.skill.key then
    error("with: the evaluations are of different skills", 2)
  end
  local parts = {}
  for _, id in ipairs(data.ids) do parts[#parts + 1] = join_part(data, second, id) end
  for _, id in ipairs(second.ids) do
    if not index_of(data)[id] then parts[#parts + 1] = join_part(data, second, id) end
  end
  add_names(data, second)
  return cut(data, parts, join_source(data, second))
end

--- The same evaluations on the items that have a mark in all of them, in the order of the
--- first: what a gate compares.
---@param list skillopt.Evaluation[]
---@return skillopt.Evaluation[]
function M.paired(list)
  local common = {}
  for _, id in ipairs(data_of(list[1]).ids) do
    local everywhere = true
    for _, evaluation in ipairs(list) do
      everywhere = everywhere and #evaluation:marks(id) > 0
    end
    if everywhere then common[#common + 1] = id end
  end
  local out = {}
  for i, evaluation in ipairs(list) do out[i] = pick(data_of(evaluation), common) end
  return out
end

----------------------------------------------------------------------- rendering

--- The last repeat of item i that has marks and a conversation.
local function last_conversation(data, i)
  for place = data.first[i + 1] - 1, data.first[i], -1 do
    if data.columns.metric and data.columns.metric[place] then
      local entries = data.source(data.ids[i], place - data.first[i] + 1)
      if entries and #entries > 0 then return entries, data.rows[place] end
    end
  end
end

--- The conversations as text, one block an item, in the order of `ids`.
---@param options {max_tokens: integer?, ids: string[]?}? default: no limit, all items
---@return string
function Evaluation:render(options)
  local data = data_of(self)
  options = options or {}
  if not data.source then
    error("render: there are no trajectories (evaluate with feedback = true)", 2)
  end
  local blocks = {}
  for position, id in ipairs(options.ids or data.ids) do
    local i = index_of(data)[id] or error(("render: no item %q"):format(id), 2)
    local entries, row = last_conversation(data, i)
    if entries then
      blocks[#blocks + 1] =
        { position = position, id = id, row = row, conversation = entries }
    end
  end
  local limits = { max_tokens = options.max_tokens, skill = self.skill }
  return trajectory.render(blocks, limits)
end

------------------------------------------------------------------------- by type

local function bucket(buckets, by_name, name)
  local own = by_name[name]
  if not own then
    own = { name = name, total = 0, hard = 0.0, soft = 0.0 }
    by_name[name] = own
    buckets[#buckets + 1] = own
  end
  return own
end

local function count_row(own, row)
  own.total = own.total + 1
  own.hard = own.hard + row.hard
  own.soft = own.soft + row.soft
end

--- Sums by task type, as the tables of a test run show them: the types given, then
--- `overall`, then other types in order of appearance. Rows without a mark do not count;
--- a row without a type is of type `other`.
---@param rows table[] as `Evaluation:rows` gives them
---@param types string[]
---@return {name: string, total: integer, hard: number, soft: number}[]
function M.by_type(rows, types)
  local buckets, by_name = {}, {}
  for _, name in ipairs(types) do bucket(buckets, by_name, name) end
  local overall = bucket(buckets, by_name, "overall")
  for _, row in ipairs(rows) do
    if row.hard then
      local own = bucket(buckets, by_name, row.task_type or "other")
      count_row(overall, row)
      if own ~= overall then count_row(own, row) end
    end
  end
  return buckets
end

return M
