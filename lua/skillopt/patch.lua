--- Patches: what an optimizer proposes, checked once at the door.
---
--- A patch is `{reasoning, edits = {item...}}`, an item `{op, target?, content?}` with
--- bookkeeping `support_count`, `source_type`, `merge_level`. A raw patch is an analyst's
--- answer about one minibatch: `{batch_size, source_type, patch, failure_summary or
--- success_patterns, dropped}`. Every item that does not go on is in some `dropped` list
--- with its fate. Counts are ours, never what a model claims.

local digest = require "rt.digest"
local json = require "rt.json"
local text = require "rt.text"
local trajectory = require "skillopt.trajectory"

local M = {}

--- By update mode: where the items of a patch stand and what they are called.
M.modes = {
  patch = { key = "edits", word = "edits" },
}

local KEY <const> = M.modes.patch.key
local OPS <const> = { append = true, insert_after = true, replace = true, delete = true }
local NEEDS_TARGET <const> = { insert_after = true, replace = true, delete = true }
local NEEDS_CONTENT <const> = { append = true, insert_after = true }
local PREVIEW <const> = 200

--------------------------------------------------------------------------- items

local function is_nothing(value) return value == nil or value == json.null end

--- An item that goes no further: what it was, where it stood, its fate and why.
---@param index integer 1-based
---@param item any
---@param fate string
---@param reason string
---@return table
function M.drop(index, item, fate, reason)
  local row = { index = index, fate = fate, reason = reason }
  if json.is_object(item) then
    for _, field in ipairs { "op", "target", "content" } do
      local value = item[field]
      if type(value) == "string" then row[field] = text.sub(value, 1, PREVIEW) end
    end
  end
  return row
end

--- A text field: "" for nothing, nil when it is no text.
local function field_text(item, field)
  if is_nothing(item[field]) then return "" end
  if type(item[field]) == "string" then return item[field] end
end

--- Fate and reason of an item that cannot be applied to any document, or nil.
local function item_fault(op, target, content)
  if not target then return "malformed", "target is no text" end
  if not content then return "malformed", "content is no text" end
  if NEEDS_TARGET[op] and target == "" then
    return "empty_target", op .. " needs the text it refers to as target"
  end
  if NEEDS_CONTENT[op] and text.strip(content) == "" then
    return "malformed", op .. " has no content"
  end
end

local function count(value)
  return math.type(value) == "integer" and value > 0 and value or nil
end

local function clean(item)
  if not json.is_object(item) then return nil, "malformed", "not an object" end
  if type(item.op) ~= "string" then return nil, "malformed", "op is no text" end
  local op = text.lower(text.strip(item.op))
  if not OPS[op] then return nil, "unknown_op", ("there is no op %q"):format(item.op) end
  local target, content = field_text(item, "target"), field_text(item, "content")
  local fate, reason = item_fault(op, target, content)
  if fate then return nil, fate, reason end
  return {
    op = op,
    target = target ~= "" and target or nil,
    content = (content ~= "" or op == "replace") and content or nil,
    support_count = count(item.support_count),
    source_type = type(item.source_type) == "string" and item.source_type or nil,
    merge_level = count(item.merge_level),
  }
end

--- The items of a list, checked: ops in any case, nothing (null) is empty text. What
--- cannot be an edit comes back with its place and the reason; nothing is made up.
---@param list any[]
---@return table[] items
---@return {index: integer, fate: string, reason: string}[] faults
---@return integer[] places where in the list each item stood
function M.check(list)
  local items, faults, places = json.array {}, json.array {}, {}
  for index, item in ipairs(list) do
    local good, fate, reason = clean(item)
    if good then
      items[#items + 1] = good
      places[#items] = index
    else
      faults[#faults + 1] = M.drop(index, item, fate, reason)
    end
  end
  return items, faults, places
end

--- The list of items in an optimizer's reply, unchecked: in `patch`, at the top, or the
--- whole reply when it is a list. nil and words when there is none.
---@param reply any
---@return any[]? list
---@return string? reason
function M.list(reply)
  if json.is_array(reply) and #reply > 0 then return reply end
  if not json.is_object(reply) then return nil, "the reply is no JSON object" end
  local inner = reply
  if not is_nothing(reply.patch) then inner = reply.patch end
  if not json.is_object(inner) then return nil, '"patch" is no JSON object' end
  if inner[KEY] == nil then return nil, ('"%s" is missing'):format(KEY) end
  if not json.is_array(inner[KEY]) then return nil, ('"%s" is no list'):format(KEY) end
  return inner[KEY]
end

local function fault_words(faults)
  local out = {}
  for i, fault in ipairs(faults) do
    out[i] = ("item %d of \"%s\": %s"):format(fault.index, KEY, fault.reason)
  end
  return table.concat(out, "; ")
end

--- Can something be taken from this reply? For `ctx:ask`: a list that is empty or has at
--- least one good item.
---@param reply any
---@return boolean
---@return string? reason
function M.is_usable(reply)
  local list, reason = M.list(reply)
  if not list then return false, reason end
  local items, faults = M.check(list)
  if #items == 0 and #faults > 0 then return false, fault_words(faults) end
  return true
end

--- Is every item of this reply good? For a reply that replaces its inputs, where a lost
--- item would be lost for good.
---@param reply any
---@return boolean
---@return string? reason
function M.is_whole(reply)
  local list, reason = M.list(reply)
  if not list then return false, reason end
  local _, faults = M.check(list)
  if #faults > 0 then return false, fault_words(faults) end
  return true
end

---------------------------------------------------------------------------- leaks

---@class skillopt.Hidden
---@field pieces string[] no longer piece of these (a judge's pattern, a reference answer)
---@field whole string[] none of these as a whole (ids)

--- Does the item's new text quote something hidden?
---@param item table
---@param hidden skillopt.Hidden
---@return boolean
function M.is_leak(item, hidden)
  local content = item.content or ""
  for _, one in ipairs(hidden.whole) do
    if content:find(one, 1, true) then return true end
  end
  return trajectory.mask(content, hidden.pieces) ~= content
end

-------------------------------------------------------------------------- raw patches

local function texts(value)
  local out = json.array {}
  for _, one in ipairs(json.is_array(value) and value or {}) do
    if type(one) == "string" and text.strip(one) ~= "" then out[#out + 1] = one end
  end
  return out
end

--- The well-formed entries of a failure summary; counts beyond the batch are cut.
local function summary(value, batch_size)
  local out = json.array {}
  for _, one in ipairs(json.is_array(value) and value or {}) do
    local kind = type(one) == "table" and one.failure_type
    if type(kind) == "string" and text.strip(kind) ~= "" then
      out[#out + 1] = {
        failure_type = kind,
        count = math.min(count(one.count) or 1, batch_size),
        description = type(one.description) == "string" and one.description or "",
      }
    end
  end
  return out
end

--- Keep what is no leak and within the budget. What is dropped is listed in the order of
--- the reply.
local function admit(list, facts)
  local items, dropped, places = M.check(list)
  local kept = json.array {}
  for i, item in ipairs(items) do
    if M.is_leak(item, facts.hidden) then
      dropped[#dropped + 1] =
        M.drop(places[i], item, "leak", "quotes a text that is hidden")
    elseif #kept >= facts.budget then
      dropped[#dropped + 1] = M.drop(places[i], item, "over_budget",
        ("the budget is %d"):format(facts.budget))
    else
      kept[#kept + 1] = item
    end
  end
  table.sort(dropped, function(a, b) return a.index < b.index end)
  return kept, dropped
end

local function reasoning_of(reply)
  local inner = type(reply.patch) == "table" and reply.patch or reply
  return type(inner.reasoning) == "string" and inner.reasoning or ""
end

---@class skillopt.BatchFacts
---@field batch_size integer items of the minibatch
---@field source_type "failure"|"success"
---@field budget integer edits kept
---@field hidden skillopt.Hidden texts no edit may quote

--- The raw patch of a reply that `is_usable` accepts.
---@param reply any
---@param facts skillopt.BatchFacts
---@return table raw
function M.raw(reply, facts)
  local kept, dropped = admit(M.list(reply), facts)
  local raw = {
    batch_size = facts.batch_size,
    source_type = facts.source_type,
    patch = { reasoning = reasoning_of(reply), [KEY] = kept },
    dropped = #dropped > 0 and dropped or nil,
  }
  if facts.source_type == "failure" then
    raw.failure_summary = summary(reply.failure_summary, facts.batch_size)
  else
    raw.success_patterns = texts(reply.success_patterns)
  end
  return raw
end

--- The raw patch of a minibatch whose reply stayed unusable.
---@param err skillopt.Err
---@param facts skillopt.BatchFacts
---@return table raw
function M.malformed(err, facts)
  return {
    malformed = true,
    kind = err.kind,
    source_type = facts.source_type,
    batch_size = facts.batch_size,
  }
end

--- A patch without items.
---@param reasoning string
---@return table
function M.empty(reasoning)
  return { reasoning = reasoning, [KEY] = json.array {} }
end

--------------------------------------------------------------------------- normalise

local function copy(item)
  local out = {}
  for field, value in pairs(item) do out[field] = value end
  return out
end

--- A raw patch's items with where they come from and how many items stand behind them.
local function sourced(raw, inner)
  local source = type(raw.source_type) == "string" and raw.source_type or "failure"
  local patch = M.empty(type(inner.reasoning) == "string" and inner.reasoning or "")
  for _, item in ipairs(inner[KEY]) do
    if json.is_object(item) then
      local own = copy(item)
      own.source_type, own.support_count = source, count(raw.batch_size) or 1
      table.insert(patch[KEY], own)
    end
  end
  return patch, source
end

--- Raw patches as patches, those of successes apart from all others. Raw patches without
--- items are left out; malformed ones are counted.
---@param raws table[]
---@return {failure: table[], success: table[], malformed: integer}
function M.normalise(raws)
  local out = { failure = {}, success = {}, malformed = 0 }
  for _, raw in ipairs(raws) do
    local inner = raw
    if json.is_object(raw) and raw.patch ~= nil then inner = raw.patch end
    if json.is_object(raw) and raw.malformed == true then
      out.malformed = out.malformed + 1
    elseif json.is_object(inner) and json.is_array(inner[KEY]) then
      local patch, source = sourced(raw, inner)
      if #patch[KEY] > 0 then
        table.insert(source == "success" and out.success or out.failure, patch)
      end
    end
  end
  return out
end

----------------------------------------------------------------------------- merge

--- Most items that can stand behind an edit merged from these patches.
local function support_of(inputs)
  local sum = 0
  for _, one in ipairs(inputs) do
    local most = 0
    for _, item in ipairs(one[KEY]) do most = math.max(most, item.support_count or 1) end
    sum = sum + most
  end
  return sum
end

local function size_of(inputs)
  local n = 0
  for _, one in ipairs(inputs) do n = n + #one[KEY] end
  return n
end

--- Notes of the inputs and a new one, or nil.
local function notes_of(inputs, note)
  local notes = json.array {}
  for _, one in ipairs(inputs) do
    for _, old in ipairs(one.notes or {}) do notes[#notes + 1] = old end
  end
  notes[#notes + 1] = note
  return #notes > 0 and notes or nil
end

--- Support by key of all items of the inputs: what an item that was copied stands on.
local function support_by_key(inputs)
  local out = {}
  for _, one in ipairs(inputs) do
    for _, item in ipairs(one[KEY]) do
      local key = M.key(item)
      out[key] = (out[key] or 0) + (item.support_count or 1)
    end
  end
  return out
end

--- The patch of a merge reply that `is_whole` accepts. An item's support is what the
--- reply claims, but at most that of all inputs together; without a claim it is that of
--- the inputs it repeats, or 1.
---@param reply any
---@param inputs table[] the patches that were merged
---@param level integer? merge level of the items; nil: they keep theirs
---@return table patch
function M.merged(reply, inputs, level)
  local items = M.check(M.list(reply))
  local most, own = support_of(inputs), support_by_key(inputs)
  for _, item in ipairs(items) do
    item.merge_level = level or item.merge_level
    item.support_count = math.min(item.support_count or own[M.key(item)] or 1, most)
  end
  local note = #items == 0 and ("A merge kept none of %d edits."):format(size_of(inputs))
  local out = { reasoning = reasoning_of(reply), [KEY] = items }
  out.notes = notes_of(inputs, note or nil)
  return out
end

--- All items of some patches one behind the other; what stands in for a merge.
---@param inputs table[]
---@param note string why; becomes the reasoning and, when there are items, a note
---@param level integer? merge level of items that have none
---@return table patch
function M.concat(inputs, note, level)
  local out = M.empty(note)
  for _, one in ipairs(inputs) do
    for _, item in ipairs(one[KEY]) do
      local own = copy(item)
      own.merge_level = own.merge_level or level
      table.insert(out[KEY], own)
    end
  end
  out.notes = notes_of(inputs, #out[KEY] > 0 and note or nil)
  return out
end

--------------------------------------------------------------------------- as text

--- One line about an item for a prompt.
---@param item table
---@return string
function M.describe(item)
  local out = { item.op or "?" }
  if item.target then out[#out + 1] = "target " .. json.encode(item.target) end
  if item.content then out[#out + 1] = "content " .. json.encode(item.content) end
  out[#out + 1] = ("support %d"):format(item.support_count or 0)
  return table.concat(out, ", ")
end

--- The items of a patch as lines numbered from 0.
---@param patch table
---@return string
function M.pool(patch)
  local out = {}
  for i, item in ipairs(patch[KEY]) do
    out[i] = ("[%d] %s"):format(i - 1, M.describe(item))
  end
  return table.concat(out, "\n")
end

--- What the memory keeps of an item.
---@param item table
---@return {op: string, content: string, target: string}
function M.compact(item)
  return {
    op = type(item.op) == "string" and item.op or "?",
    content = type(item.content) == "string" and item.content or "",
    target = type(item.target) == "string" and item.target or "",
  }
end

--- Two items that say the same to the same place have one key.
---@param item table
---@return string
function M.key(item)
  local own = M.compact(item)
  local target, content = text.strip(own.target), text.strip(own.content)
  return digest.short(json.canonical { own.op, target, content })
end

return M
