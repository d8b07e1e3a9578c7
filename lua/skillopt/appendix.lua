--- Notes at the end of the skill: reminders of rules that are there but were not followed.
---
--- They are gathered once a step, after the gate and whatever came of the step, go into
--- the current skill unmeasured, and never into best. The policy may make them fewer.
local document = require "rt.document"
local json = require "rt.json"
local skill_of = require "skillopt.skill"

local M = {}

local function is_said(value) return type(value) == "string" and value:find "%S" ~= nil end

--- The notes of one reply: a list or a single text; an entry is a text or an object with
--- `note` or `content`.
---@param value any
---@return string[]
function M.notes_in(value)
  if type(value) == "string" then value = { value } end
  local out = {}
  for _, one in ipairs(type(value) == "table" and value or {}) do
    if type(one) == "table" then one = is_said(one.note) and one.note or one.content end
    if is_said(one) then
      out[#out + 1] = one:match "^%s*(.-)%s*$"
    end
  end
  return out
end

local function joined(a, b)
  return table.move(b, 1, #b, #a + 1, table.move(a, 1, #a, 1, {}))
end

local function with_notes(skill, notes)
  return skill_of.new(document.with_notes(skill.text, notes))
end

--- The notes that may go into the skill, one after the other; the others with their fate.
local function admitted(state, record, notes)
  local kept, dropped, skill = {}, json.array {}, state.skill
  for _, note in ipairs(notes) do
    local longer = with_notes(skill, joined(document.notes(skill.text), { note }))
    local refusal = state.admission:fault(longer, skill, { record = record, where = "notes" })
    if refusal then
      dropped[#dropped + 1] =
        { note = note, fate = refusal:match "^[%l_]+", reason = refusal }
    else
      kept[#kept + 1], skill = note, longer
    end
  end
  return kept, #dropped > 0 and dropped or nil
end

--- Fewer notes in the place of all, when the policy has them.
local function compacted(state, record, all)
  if not state.run.policies.appendix.compact then return all end
  local fewer = state:invoke("appendix", "compact", all)
  if not fewer or #fewer == 0 or #fewer >= #all then return all end
  local written = with_notes(state.skill, fewer)
  if state.admission:fault(written, state.skill, { record = record, where = "notes" }) then
    return all
  end
  record.n_appendix_notes_consolidated = #fewer
  return fewer
end

--- Put this step's notes into the current skill.
---@async
---@param state skillopt.TrainState
---@param step table
function M.flush(state, step)
  if not state.run.policies.appendix then return end
  local notes = state:call("appendix", step.raws)
  if #notes == 0 then return end
  local record, before = step.record, document.notes(state.skill.text)
  local kept, dropped = admitted(state, record, notes)
  local all = document.distinct_notes(joined(before, kept))
  record.n_execution_lapse_notes, record.n_appendix_notes_added = #notes, #all - #before
  if #kept > 0 then all = compacted(state, record, all) end
  record.n_appendix_notes_total = #all
  state.ctx:record("appendix_notes",
    { step_notes = notes, appendix_after = all, dropped = dropped })
  if #kept > 0 then state:replace(with_notes(state.skill, all), state.current_origin) end
end

--- The place for notes in a skill that has none yet.
---@param skill skillopt.Skill
---@return skillopt.Skill
function M.prepared(skill)
  if document.region(skill.text, "appendix") then return skill end
  return skill_of.new(document.with_notes(skill.text, {}))
end

return M
