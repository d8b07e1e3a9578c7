--- What may get into the skill: one door for edits, documents written anew, guidance and
--- notes, whatever policy proposes them.
---
--- Two things are looked at: whether the text gives away what belongs to single tasks
--- (skillopt.leak) and whether the skill gets too large (skillopt.size). Leaks are told in
--- the records' field `leaks`, a list of `{where, fate, reason}`: with `optimizer.leakage:
--- report` the fate is `reported` and the text goes on, with `refuse` it is `leak` and the
--- text does not; `off` looks at nothing.
local json = require "rt.json"
local item_of = require "skillopt.item"
local leak = require "skillopt.leak"
local patch = require "skillopt.patch"
local size = require "skillopt.size"

local M = {}

local Admission = {}
Admission.__index = Admission

---@class skillopt.Admission
---@field limit integer tokens, 0 = no limit

--- The door of a run.
---@param run table
---@return skillopt.Admission
function M.new(run)
  local mode = run.config:get "optimizer.leakage"
  local guard = mode ~= "off" and leak.new { data = run.data, env = run.env, opt = run.env_opt,
    judge = run.judge } or nil
  return setmetatable({ limit = run.config:get "optimizer.max_skill_tokens", guard = guard,
    is_strict = mode == "refuse" }, Admission)
end

--- Guard what the rows of an evaluation hide from here on.
---@param value skillopt.Evaluation
function Admission:see(value)
  if self.guard then self.guard:see(value:rows()) end
end

--- Why `text` may not go into the skill `before`, or nil. Puts nothing on record.
---@param text string
---@param before skillopt.Skill
---@return string? reason starts with the fate
function Admission:leak(text, before)
  if not self.is_strict then return nil end
  local finding = self.guard:find(text, before.text)[1]
  return finding and leak.words(finding)
end

local function note(record, where, fate, reason)
  record.leaks = record.leaks or json.array {}
  table.insert(record.leaks, { where = where, fate = fate, reason = reason })
end

--- For policies: why a whole skill is refused, or nil.
---@param candidate skillopt.Skill
---@param current skillopt.Skill
---@param step skillopt.Step
---@return string? reason starts with the fate
function M.refusal(candidate, current, step)
  return step.leak and step.leak(candidate.text)
    or size.fault(candidate, current, math.type(step.max_size) and step.max_size)
end

local TOLD <const> =
  "the text names a task, gives the answer of one or quotes what only a judge reads"

--- The reason for the one who wrote the text: it must not teach what items there are.
local function told(refusal)
  return refusal and refusal:find("^" .. leak.FATE) and TOLD or refusal
end

--- For policies that let a model write: a check for `ctx:ask` that takes a reply when the
--- skill it makes may go on, so that the model is asked again, with the reason, otherwise.
---@param current skillopt.Skill
---@param step skillopt.Step
---@param make fun(reply: any): skillopt.Skill?, string? the skill, or nil and what is wrong
---@return fun(reply: any): boolean, string? check
---@return fun(): string? refusal the reason of the last skill that was refused
function M.check(current, step, make)
  local refusal
  return function(reply)
    local candidate, why = make(reply)
    if not candidate then return false, why end
    refusal = M.refusal(candidate, current, step)
    return not refusal, told(refusal)
  end, function() return refusal end
end

--- Put what was refused before it came here on a record.
---@param record table
---@param dropped table[]? rows of a `dropped` list
---@param where string
function Admission.note_dropped(_, record, dropped, where)
  for _, row in ipairs(dropped or {}) do
    if row.fate == leak.FATE then note(record, where, row.fate, row.reason) end
  end
end

--- What a skill gives away that the text it began as did not; nil when that is nothing.
---@param skill skillopt.Skill
---@param initial string
---@return string[]?
function Admission:reasons(skill, initial)
  local out = json.array {}
  for i, finding in ipairs(self.guard and self.guard:find(skill.text, initial) or {}) do
    out[i] = leak.words(finding)
  end
  return #out > 0 and out or nil
end

--- Look at a text that goes into the skill; what it gives away is put on record.
---@param text string
---@param before skillopt.Skill
---@param options {record: table, where: string}
---@return string? reason when it is refused
function Admission:inspect(text, before, options)
  if not self.guard then return nil end
  local refusal
  for _, finding in ipairs(self.guard:find(text, before.text)) do
    local words = leak.words(finding)
    note(options.record, options.where, self.is_strict and leak.FATE or "reported", words)
    refusal = refusal or self.is_strict and words or nil
  end
  return refusal
end

--- Look at a skill that is to take the place of another: leaks and size.
---@param candidate skillopt.Skill
---@param current skillopt.Skill
---@param options {record: table, where: string}
---@return string? reason when it is refused; starts with the fate
function Admission:fault(candidate, current, options)
  if candidate.key == current.key then return nil end
  return self:inspect(candidate.text, current, options)
    or size.fault(candidate, current, self.limit)
end

--- The items of a patch that may go into the skill; what is refused is listed in `dropped`
--- and on record.
---@param whole table patch
---@param before skillopt.Skill
---@param record table
---@return table patch the same when nothing is refused
function Admission:items(whole, before, record)
  local kind = patch.kind(whole)
  local kept, dropped = json.array {}, json.array {}
  for i, item in ipairs(whole[kind]) do
    local reason = self:leak(item_of.kind_of(item).content(item), before)
    if reason then dropped[#dropped + 1] = patch.drop(i, item, leak.FATE, reason)
    else kept[#kept + 1] = item end
  end
  if #dropped == 0 then return whole end
  self:note_dropped(record, dropped, "edits")
  local out = {}
  for field, value in pairs(whole) do out[field] = value end
  out[kind], out.dropped = kept, dropped
  return out
end

return M
