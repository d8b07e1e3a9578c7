--- The marks of one skill on some items: the value class of `lua/meta/ctx.lua`.
---
--- Marks are kept as one column of numbers a name, over all repeats of all items in item
--- order ("places"), 9 bytes a mark; texts of the items stay only while the evaluation was
--- made with trajectories. A failed or not-run repeat has no marks and is in no mean. All
--- sums run in item order, so equal marks give equal means whatever finished first.
---
--- An evaluation may grow: its repeats are put in whatever order they end, and it reaches
--- one item after the other; what it has not reached is not part of it yet.
local columns = require "rt.columns"
local json = require "rt.json"
local plugin = require "skillopt.plugin"
local raw = require "rt.raw"
local trajectory = require "skillopt.trajectory"
local watch = require "rt.watch"

local M = {}
local Evaluation = {}
Evaluation.__index = Evaluation
Evaluation.__name = "evaluation"

--- What an evaluation is made of, hidden from its users:
--- ids (of all items), n (items reached), each (repeats an item) or first (place of an
--- item's first repeat; one more at the end), states (code by place, none: not run), marks
--- (column by name), types (number of the task type by place) and type_names, faults (kind
--- and reason by place), rows and source (only with trajectories), metric, sums (running,
--- by name), decided (items with a state).
local inside = setmetatable({}, { __mode = "k" })

local STATES <const> = { "ok", "no_answer", "failed" }
local CODES <const> = { ok = 1, no_answer = 2, failed = 3 }

local NO_TEXTS <const> = {}

--- Slack for weights that do not add up to exactly 1.
local SLACK <const> = 1e-9

-------------------------------------------------------------------------- marks

local function fault(form, ...)
  return { kind = "data", message = form:format(...), retry = false }
end

local function is_finite(x) return x - x == 0 end

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
  local marks = { hard = nil, soft = nil } -- room
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

--- The metric's own mark of a repeat, from its other marks.
local function metric_of(metric, marks, id)
  local ending <close> = plugin.about(id)
  if metric.calls then watch.on() end
  local value = metric.item(marks, metric.opt)
  if metric.calls then watch.off() end
  if metric.max and value > metric.max then
    plugin.wrong(metric.calls.item, "the metric gives %s, and says that it gives at most %s",
      tostring(value), tostring(metric.max))
  end
  return value
end

------------------------------------------------------------------------- places

--- First place of item i, and the last.
local function range(data, i)
  if data.first then return data.first[i], data.first[i + 1] - 1 end
  return (i - 1) * data.each + 1, i * data.each
end

local function state_at(data, place) return STATES[data.states[place]] or "not_run" end

--- Has item i a repeat that was run?
local function is_decided(data, i)
  local first, last = range(data, i)
  for place = first, last do
    if data.states[place] then return true end
  end
  return false
end

local function column(data, name)
  local own = data.marks[name]
  if not own then
    own = columns.numbers(#data.states)
    data.marks[name] = own
  end
  return own
end

--- The number under which a task type is kept.
local function type_number(data, name)
  local names = data.type_names
  if not names[name] then
    names[#names + 1] = name
    names[name] = #names
  end
  return names[name]
end

--- Mean of one item's marks, or nil when it has none.
local function item_mean(data, i, marks)
  local sum, n = 0, 0
  local first, last = range(data, i)
  for place = first, last do
    local mark = marks[place]
    if mark then sum, n = sum + mark, n + 1 end
  end
  if n > 0 then return sum / n end
end

--- Mean over the items reached; what was summed up once is kept.
local function mean(data, name)
  local own, marks = data.sums[name], data.marks[name]
  if not own then
    own = { sum = 0.0, n = 0, upto = 0 }
    data.sums[name] = own
  end
  for i = own.upto + 1, marks and data.n or 0 do
    local value = item_mean(data, i, marks)
    if value then own.sum, own.n = own.sum + value, own.n + 1 end
  end
  own.upto = data.n
  if own.n > 0 then return own.sum / own.n, own.n end
  return nil, 0
end

local function score(data)
  local value = mean(data, "metric")
  local adjust = data.metric.adjust
  if not value or not adjust then return value end
  return adjust(value, data.skill, data.metric.opt)
end

------------------------------------------------------------------------ growing

--- Marks of one repeat as a table.
local function marks_at(data, place)
  local marks = { hard = nil, soft = nil } -- room
  for name, own in raw.next, data.marks do marks[name] = own[place] end
  return marks
end

--- Take item i in: its metric, its state, its faults.
local function take_in(self, data, i)
  local first, last = range(data, i)
  for place = first, last do
    local why = data.faults[place]
    if why then
      self.failed[#self.failed + 1] = { id = data.ids[i], rep = place - first + 1,
        kind = why[1], reason = why[2] }
    elseif data.states[place] and not data.has_metric then
      local value = metric_of(data.metric, marks_at(data, place), data.ids[i])
      column(data, "metric")[place] = value
    end
  end
  if is_decided(data, i) then data.decided = data.decided + 1 end
end

--- Let an evaluation reach item `n`: all repeats up to it have been put, or are not run.
---@param self skillopt.Evaluation
---@param n integer
function M.reach(self, n)
  local data = inside[self]
  for i = data.n + 1, n do take_in(self, data, i) end
  data.n = n
  local _, marked = mean(data, "metric")
  self.n = marked
  self.coverage = data.decided > 0 and marked / data.decided or 0.0
  self.not_run = n - data.decided
  self.score = score(data)
end

local function made(data)
  data.n, data.decided, data.sums = 0, 0, {}
  data.metric = data.metric or HARD
  local self = setmetatable({ skill = data.skill, failed = {} }, Evaluation)
  inside[self] = data
  return self
end

---@class skillopt.GrowingSpec
---@field ids rt.Texts
---@field each integer? repeats an item
---@field first rt.Numbers? place of each item's first repeat, when they are not all alike
---@field skill skillopt.Skill?
---@field metric skillopt.Policy? default: hard
---@field trajectory (fun(id: string, rep: integer): table[]?)?

--- An evaluation that has reached no item yet.
---@param spec skillopt.GrowingSpec
---@return skillopt.Evaluation
function M.start(spec)
  local places = spec.first and spec.first[#spec.first] - 1 or #spec.ids * spec.each
  return made { skill = spec.skill, metric = spec.metric, ids = spec.ids, each = spec.each,
    first = spec.first, states = columns.numbers(places), types = columns.numbers(places),
    type_names = {}, marks = {}, faults = {}, rows = spec.trajectory and {} or nil,
    source = spec.trajectory }
end

--- An evaluation of what is put into this one that has reached no item yet: it grows by
--- itself and stays as it is when this one goes on.
---@param self skillopt.Evaluation
---@return skillopt.Evaluation
function M.prefix_of(self)
  local data = {}
  for name, value in raw.next, inside[self] do data[name] = value end
  return made(data)
end

--- The row of a repeat with the prompts of its first call.
local function kept_row(rep)
  local row = {}
  for name, value in pairs(rep.row or {}) do row[name] = value end
  row.target_system_prompt = row.target_system_prompt or rep.system
  row.target_user_prompt = row.target_user_prompt or rep.user
  return row
end

--- Put repeat `r` of item `i`; what was put there before is forgotten.
---@param self skillopt.Evaluation
---@param i integer
---@param r integer
---@param rep skillopt.EvaluationRep with marks as `check` gives them
function M.put(self, i, r, rep)
  local data = inside[self]
  local place = range(data, i) + r - 1
  data.states[place] = CODES[rep.state]
  for name, value in raw.next, rep.state == "ok" and rep.marks
    or rep.state == "no_answer" and NO_ANSWER or {} do
    column(data, name)[place] = value
  end
  local name = rep.row and rep.row.task_type
  data.types[place] = type(name) == "string" and type_number(data, name) or nil
  data.faults[place] = rep.state == "failed" and { rep.kind, rep.reason } or nil
  if data.rows then data.rows[place] = kept_row(rep) end
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

--- Ids and first places of rows; one of at least one repeat.
local function layout(rows)
  local ids, first, place = columns.texts(), columns.numbers(), 1
  for _, row in ipairs(rows) do
    ids:add(row.id)
    first:add(place)
    place = place + math.max(#row.reps, 1)
  end
  first:add(place)
  return ids, first
end

local function checked(rep, id)
  if rep.state ~= "ok" and not CODES[rep.state] and rep.state ~= "not_run" then
    error("unknown state " .. tostring(rep.state), 4)
  end
  if rep.state ~= "ok" then return rep end
  local marks, err = M.check(rep.marks)
  if not marks then error(fault("item %s: %s", id, err.message), 0) end
  local out = {}
  for name, value in pairs(rep) do out[name] = value end
  out.marks = marks
  return out
end

--- Make an evaluation. A mark that `check` would refuse, or a metric that gives no finite
--- number, raises an error of kind `data`.
---@param spec skillopt.EvaluationSpec
---@return skillopt.Evaluation
function M.new(spec)
  local ids, first = layout(spec.rows)
  local self = M.start { ids = ids, first = first, skill = spec.skill, metric = spec.metric,
    trajectory = spec.trajectory }
  for i, row in ipairs(spec.rows) do
    for r, rep in ipairs(i <= (spec.decided or #spec.rows) and row.reps or {}) do
      M.put(self, i, r, checked(rep, row.id))
    end
  end
  M.reach(self, #spec.rows)
  return self
end

------------------------------------------------------------------------- reading

local function data_of(self)
  return inside[self] or error("expected an evaluation", 3)
end

--- Which item has that id, of those reached?
local function item_of(data, id)
  local i = type(id) == "string" and data.ids:find(id)
  return i and i <= data.n and i or nil
end

--- Ids of all items, in item order.
---@return string[]
function Evaluation:ids()
  local data, out = data_of(self), {}
  for i = 1, data.n do out[i] = data.ids[i] end
  return out
end

--- Marks of one item, one a repeat; a repeat without marks is left out.
---@param id string
---@param name string? default "metric"
---@return number[]
function Evaluation:marks(id, name)
  local data = data_of(self)
  local i, marks = item_of(data, id), data.marks[name or "metric"]
  local out = {}
  if not i or not marks then return out end
  local first, last = range(data, i)
  for place = first, last do out[#out + 1] = marks[place] end
  return out
end

--- State of an item's last repeat.
---@param id string
---@return "ok"|"no_answer"|"failed"|"not_run"|nil
function Evaluation:state(id)
  local data = data_of(self)
  local i = item_of(data, id)
  if not i then return nil end
  local _, last = range(data, i)
  return state_at(data, last)
end

--- Mean over the items that have the mark, each item's repeats averaged first.
---@param name string? default "metric"
---@return number?
function Evaluation:mean(name)
  return (mean(data_of(self), name or "metric"))
end

--- The row of one repeat: what is left of it when the texts are not kept.
local function row_of(data, id, place)
  local row = { id = nil, state = nil, task_type = nil, hard = nil, soft = nil } -- room
  for name, value in raw.next, data.rows and data.rows[place] or NO_TEXTS do row[name] = value end
  row.id, row.state = id, state_at(data, place)
  row.task_type = data.type_names[data.types[place]]
  for name, own in raw.next, data.marks do
    if name ~= "metric" then
      local mark = own[place]
      if mark then row[name] = mark end
    end
  end
  local why = data.faults[place]
  if why then
    row.hard, row.soft = nil, nil
    row.kind, row.fail_reason = why[1], why[2] or row.fail_reason
  end
  return row
end

--- Places of what was run, in item order, with item and repeat.
local function each_place(data)
  local i, place, first, last = 0, 0, 0, 0
  return function()
    repeat
      place = place + 1
      if place > last then
        i = i + 1
        if i > data.n then return nil end
        first, last = range(data, i)
        place = first
      end
    until data.states[place]
    return place, i, place - first + 1
  end
end

--- The rows one after the other, as `Evaluation:rows` lists them, with item and repeat.
---@param self skillopt.Evaluation
---@return fun(): table?, integer?, integer?
function M.each_row(self)
  local data = data_of(self)
  local next_place = each_place(data)
  return function()
    local place, i, r = next_place()
    if place then return row_of(data, data.ids[i], place), i, r end
  end
end

--- The same without a table for each: id, repeat, state, hard and soft mark, and of a
--- failed one its kind instead of the marks.
---@param self skillopt.Evaluation
---@return fun(): string?, integer?, string?, number?, number?, string?
function M.each_state(self)
  local data = data_of(self)
  local next_place, hard, soft = each_place(data), data.marks.hard, data.marks.soft
  return function()
    local place, i, r = next_place()
    if not place then return nil end
    local why = data.faults[place]
    if why then return data.ids[i], r, state_at(data, place), nil, nil, why[1] end
    return data.ids[i], r, state_at(data, place), hard and hard[place] or nil,
      soft and soft[place] or nil
  end
end

--- One row a repeat, in item order; what was not run has none. Texts other than the task
--- type are there only while trajectories are kept.
---@return table[]
function Evaluation:rows()
  local out = {}
  for row in M.each_row(self) do out[#out + 1] = row end
  return out
end

------------------------------------------------------------------------ choosing

--- Put the repeat at a place of another evaluation.
local function copy_place(new, to, from, place)
  new.states[to] = from.states[place]
  for name, own in raw.next, from.marks do column(new, name)[to] = own[place] end
  local number = from.types[place]
  new.types[to] = number and type_number(new, from.type_names[number]) or nil
  new.faults[to] = from.faults[place]
  if new.rows then new.rows[to] = from.rows and from.rows[place] or {} end
end

--- Put all repeats of item i of `from` at `to` and behind it; the next place.
local function copy_item(new, to, from, i)
  local first, last = range(from, i)
  for place = first, last do copy_place(new, to + place - first, from, place) end
  return to + last - first + 1
end

--- An evaluation like `data` with other items. `fill(each)` calls `each(id, from, i, ...)`
--- for every item: its repeats are those of item i of `from`, and so on for further pairs.
--- It is called twice.
local function cut(data, fill, source)
  local ids, first, place = columns.texts(), columns.numbers(), 1
  fill(function(id, ...)
    ids:add(id)
    first:add(place)
    for k = 1, select("#", ...), 2 do
      local from, i = select(k, ...)
      local head, last = range(from, i)
      place = place + last - head + 1
    end
  end)
  first:add(place)
  local self = M.start { ids = ids, first = first, skill = data.skill, metric = data.metric,
    trajectory = source }
  local new, to = inside[self], 1
  if data.rows and not new.rows then new.rows = {} end
  new.has_metric = true
  fill(function(_, ...)
    for k = 1, select("#", ...), 2 do
      local from, i = select(k, ...)
      to = copy_item(new, to, from, i)
    end
  end)
  M.reach(self, #ids)
  return self
end

--- The evaluation on the items at these places of the list, in their order.
local function pick(data, items)
  return cut(data, function(each)
    for k = 1, #items do each(data.ids[items[k]], data, items[k]) end
  end, data.source)
end

--- The evaluation on some of its items, in item order.
---@param ids string[]
---@return skillopt.Evaluation
function Evaluation:only(ids)
  local data = data_of(self)
  local wanted, chosen = {}, columns.numbers()
  for _, id in ipairs(ids) do
    local i = item_of(data, id)
    if not i then error(("only: no item %q in this evaluation"):format(id), 2) end
    wanted[i] = true
  end
  for i = 1, data.n do
    if wanted[i] then chosen:add(i) end
  end
  return pick(data, chosen)
end

--- Item `id` of a joined evaluation; a placeholder that was not run gives way.
local function join_item(each, id, data, i, second, k)
  local is_first, is_second = i and is_decided(data, i), k and is_decided(second, k)
  if is_first and is_second then return each(id, data, i, second, k) end
  if is_second or not i then return each(id, second, k) end
  each(id, data, i)
end

--- Conversations of joined repeats: the first ones are `data`'s.
local function join_source(data, other)
  if not data.source then return nil end
  return function(id, rep)
    local i, own = item_of(data, id), 0
    if i and is_decided(data, i) then
      local first, last = range(data, i)
      own = last - first + 1
    end
    if rep <= own then return data.source(id, rep) end
    return other.source and other.source(id, rep - own)
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
  return cut(data, function(each)
    for i = 1, data.n do
      local id = data.ids[i]
      join_item(each, id, data, i, second, item_of(second, id))
    end
    for k = 1, second.n do
      local id = second.ids[k]
      if not item_of(data, id) then each(id, second, k) end
    end
  end, join_source(data, second))
end

--- The item's number in another evaluation: the same when both are of one list.
local function in_other(data, other, i)
  if data.ids == other.ids then return i <= other.n and i or nil end
  return item_of(other, data.ids[i])
end

local function has_mark(data, i)
  return i ~= nil and data.marks.metric ~= nil and item_mean(data, i, data.marks.metric) ~= nil
end

--- The same evaluations on the items that have a mark in all of them, in the order of the
--- first: what a gate compares. One in which that changes nothing is given as it is.
---@param list skillopt.Evaluation[]
---@return skillopt.Evaluation[]
function M.paired(list)
  local first, common, out = data_of(list[1]), columns.numbers(), {}
  for i = 1, first.n do
    local everywhere = true
    for _, evaluation in ipairs(list) do
      local data = data_of(evaluation)
      everywhere = everywhere and has_mark(data, in_other(first, data, i))
    end
    if everywhere then common:add(i) end
  end
  for k, evaluation in ipairs(list) do
    local data = data_of(evaluation)
    if data.ids == first.ids and #common == data.n then
      out[k] = evaluation
    else
      out[k] = cut(data, function(each)
        for c = 1, #common do
          local i = in_other(first, data, common[c])
          each(data.ids[i], data, i)
        end
      end, data.source)
    end
  end
  return out
end

----------------------------------------------------------------------- item by item

--- Items reached.
---@param self skillopt.Evaluation
---@return integer
function M.size(self) return data_of(self).n end

--- Id of the i-th item.
---@param self skillopt.Evaluation
---@param i integer
---@return string
function M.id_at(self, i) return data_of(self).ids[i] end

--- Means of one item's marks on two sides: of the i-th item of `b`, and of the same item
--- in `a`; nil on a side without a mark.
---@param a skillopt.Evaluation
---@param b skillopt.Evaluation
---@param name string
---@param i integer
---@return number? in_a
---@return number? in_b
---@return boolean is_open `a` has not been run on it
function M.pair_at(a, b, name, i)
  local one, two = data_of(a), data_of(b)
  local left, right, k = one.marks[name], two.marks[name], in_other(two, one, i)
  local old = right and item_mean(two, i, right)
  if not k then return nil, old, true end
  local _, last = range(one, k)
  return left and item_mean(one, k, left), old, one.states[last] == nil
end

--- Do the items of `b` stand in the list of `a` in the same order (reached or not)?
---@param a skillopt.Evaluation
---@param b skillopt.Evaluation
---@return boolean
function M.is_in_order(a, b)
  local one, two, before = data_of(a), data_of(b), 0
  if one.ids == two.ids then return true end
  for i = 1, two.n do
    local k = one.ids:find(two.ids[i])
    if not k or k <= before then return false end
    before = k
  end
  return true
end

--- Are two marks the same at every repeat?
---@param self skillopt.Evaluation
---@param name string
---@param other string
---@return boolean
function M.has_equal(self, name, other)
  local data = data_of(self)
  local a, b = data.marks[name] or {}, data.marks[other] or {}
  for place = 1, #data.states do
    if a[place] ~= b[place] then return false end
  end
  return true
end

----------------------------------------------------------------------- rendering

--- The last repeat of item i that has marks and a conversation.
local function last_conversation(data, i)
  local first, last = range(data, i)
  for place = last, first, -1 do
    if data.marks.metric and data.marks.metric[place] then
      local entries = data.source(data.ids[i], place - first + 1)
      if entries and #entries > 0 then return entries, data.rows[place] end
    end
  end
end

--- The conversations as text, one block an item, in the order of `ids`.
---@param options {max_tokens: integer?, max_each: integer?, ids: string[]?}? default: no
---       limits, all items
---@return string
---@return skillopt.RenderFacts
function Evaluation:render(options)
  local data = data_of(self)
  options = options or {}
  if not data.source then
    error("render: there are no trajectories (evaluate with feedback = true)", 2)
  end
  local blocks = {}
  for position, id in ipairs(options.ids or self:ids()) do
    local i = item_of(data, id) or error(("render: no item %q"):format(id), 2)
    local entries, row = last_conversation(data, i)
    if entries then
      blocks[#blocks + 1] =
        { position = position, id = id, row = row, conversation = entries }
    end
  end
  local limits = { max_tokens = options.max_tokens, max_each = options.max_each,
    skill = self.skill }
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
---@param next_row fun(): table? gives one row after the other, as `each_row` does
---@param types string[]
---@return {name: string, total: integer, hard: number, soft: number}[]
function M.by_type(next_row, types)
  local buckets, by_name = {}, {}
  for _, name in ipairs(types) do bucket(buckets, by_name, name) end
  local overall = bucket(buckets, by_name, "overall")
  for row in next_row do
    if row.hard then
      local own = bucket(buckets, by_name, row.task_type or "other")
      count_row(overall, row)
      if own ~= overall then count_row(own, row) end
    end
  end
  return buckets
end

return M
