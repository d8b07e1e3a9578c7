--- As editor: several patches become one, and the best supported edits are chosen.
local json = require "rt.json"
local learn = require "backends.sim.learn"
local rule_of = require "backends.sim.rule"

local M = {}

local KEYS <const> = { "reasoning",
  edits = { "op", "target", "content", "support_count", "source_type" } }

--- The patches: the JSON list at the end of the request.
local function patches_of(user)
  local from = 1
  while true do
    from = user:find("\n[", from, true)
    if not from then return {} end
    local value = json.decode((user:sub(from + 1):gsub("%s+$", "")))
    if value then return value end
    from = from + 1
  end
end

--- Edits of all patches with the rules they state.
local function entries_of(patches)
  local list = {}
  for _, patch in ipairs(patches) do
    for _, edit in ipairs(type(patch) == "table" and patch.edits or {}) do
      list[#list + 1] = {
        edit = edit, rule = rule_of.read(edit.content or ""),
        support = math.tointeger(edit.support_count) or 1,
      }
    end
  end
  return list
end

-------------------------------------------------------------------- two of one kind

local function union(a, b)
  if not a or not b then return nil end
  local out, seen = {}, {}
  for _, list in ipairs { a, b } do
    for _, cue in ipairs(list) do
      if not seen[cue] then seen[cue], out[#out + 1] = true, cue end
    end
  end
  return out
end

local function explains_all(rule, other)
  for _, example in ipairs(other.examples) do
    if not rule_of.explains(rule, example) then return false end
  end
  return #other.examples > 0
end

local function together(rule, other)
  local all = table.move(rule.examples, 1, #rule.examples, 1, {})
  local examples = learn.distinct(table.move(other.examples, 1, #other.examples, #all + 1, all))
  return { value = rule.value, answer = rule.answer, pieces = rule.pieces, examples = examples,
    cues = union(rule.cues, other.cues) }
end

--- One rule in the place of two about the same values; nil when they exclude each other.
local function one_of(a, b)
  if a.answer == b.answer or explains_all(a, b) then return together(a, b) end
  if explains_all(b, a) then return together(b, a) end
  local cluster = learn.reconciled(learn.shown(a), b)
  return cluster and learn.rule(cluster, { cues = union(a.cues, b.cues),
    examples = together(a, b).examples })
end

local function share_cues(a, b)
  if not a.cues or not b.cues then return true end
  for _, cue in ipairs(a.cues) do
    for _, other in ipairs(b.cues) do
      if cue == other then return true end
    end
  end
  return false
end

local function rule_text(entry)
  return entry.rule and rule_of.write(entry.rule) or entry.edit.content
end

--- Put a second entry of the same kind into the first. False when both stay.
local function join(entry, other)
  local a, b = entry.rule, other.rule
  local same_place = entry.edit.target and entry.edit.target == other.edit.target
  if not a or not b then
    if not same_place and entry.edit.content ~= other.edit.content then return false end
    entry.support = entry.support + other.support
    return true
  end
  if a.value ~= b.value then return same_place end
  local one = one_of(a, b)
  if one then
    entry.rule, entry.support = one, entry.support + other.support
    entry.edit = entry.edit.target and entry.edit or other.edit
    return true
  end
  return same_place or share_cues(a, b)
end

local function merged(entries)
  table.sort(entries, function(a, b) return a.support > b.support end)
  local kept = {}
  for _, entry in ipairs(entries) do
    local is_gone = false
    for _, other in ipairs(kept) do
      if join(other, entry) then
        is_gone = true
        break
      end
    end
    if not is_gone then kept[#kept + 1] = entry end
  end
  table.sort(kept, function(a, b) return a.support > b.support end)
  return kept
end

--- The reply to a request to merge patches.
---@param user string the request's user message
---@return string
function M.merge(user)
  local entries = entries_of(patches_of(user))
  local count, edits = #entries, json.array {}
  for i, entry in ipairs(merged(entries)) do
    edits[i] = { op = entry.edit.op, target = entry.edit.target, content = rule_text(entry),
      support_count = entry.support, source_type = entry.edit.source_type }
  end
  return json.encode({
    reasoning = ("%d edits became %d: those about the same values were put together.")
      :format(count, #edits),
    edits = edits,
  }, { indent = true, keys = KEYS })
end

--------------------------------------------------------------------------- ranking

--- The reply to a request to choose: most support first, corrections before new rules.
---@param user string the request's user message
---@return string
function M.rank(user)
  local pool = {}
  for index, op, rest in user:gmatch "\n%[(%d+)%] ([%a_]+)([^\n]*)" do
    pool[#pool + 1] = { index = math.tointeger(tonumber(index)), is_mending = op ~= "append",
      support = tonumber(rest:match "support (%d+)%s*$") or 0 }
  end
  table.sort(pool, function(a, b)
    if a.support ~= b.support then return a.support > b.support end
    return a.is_mending and not b.is_mending
  end)
  local rate = tonumber(user:match "Choose (%d+) of them") or #pool
  local chosen = json.array {}
  for i = 1, math.min(rate, #pool) do chosen[i] = pool[i].index end
  return json.encode({ reasoning = "The edits with most support, corrections first.",
    selected_indices = chosen }, { keys = { "reasoning", "selected_indices" } })
end

return M
