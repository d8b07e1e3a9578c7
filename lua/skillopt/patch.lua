--- Patches: what an optimizer proposes, checked once at the door.
---
--- A patch is `{reasoning, edits = {item...}}` or has another list of items, one of the
--- kinds of skillopt.item; items carry `support_count`, `source_type` and `merge_level`
--- beside what they say. A raw patch is an analyst's
--- answer about one minibatch: `{batch_size, source_type, patch, failure_summary or
--- success_patterns, dropped}`. Every item that does not go on is in some `dropped` list
--- with its fate. Counts are ours, never what a model claims.

local appendix = require "skillopt.appendix"
local item_of = require "skillopt.item"
local json = require "rt.json"
local text = require "rt.text"

local M = {}

local PREVIEW <const> = 200
local EDITS <const> = "edits"

--------------------------------------------------------------------------- items

local function is_nothing(value) return value == nil or value == json.null end

--- The name of the list of items in a patch, and of their kind.
---@param patch table
---@return string
function M.kind(patch)
  for key in pairs(item_of.kinds) do
    if patch[key] ~= nil then return key end
  end
  return EDITS
end

--- The items of a patch.
---@param patch table
---@return table[]
function M.items(patch) return patch[M.kind(patch)] end

--- An item that goes no further: what it was, where it stood, its fate and why.
---@param index integer 1-based
---@param item any
---@param fate string
---@param reason string
---@return table
function M.drop(index, item, fate, reason)
  local row = { index = index, fate = fate, reason = reason }
  if json.is_object(item) then
    for _, field in ipairs(item_of.kind_of(item).fields) do
      local value = item[field]
      if type(value) == "string" then row[field] = text.sub(value, 1, PREVIEW) end
    end
  end
  return row
end

local function count(value)
  return math.type(value) == "integer" and value > 0 and value or nil
end

local function clean(item, kind)
  if not json.is_object(item) then return nil, "malformed", "not an object" end
  return item_of.kinds[kind].clean(item)
end

--- The items of a list, checked: ops in any case, nothing (null) is empty text. What
--- cannot be an edit comes back with its place and the reason; nothing is made up.
---@param list any[]
---@param kind string? default "edits"
---@return table[] items
---@return {index: integer, fate: string, reason: string}[] faults
---@return integer[] places where in the list each item stood
function M.check(list, kind)
  local items, faults, places = json.array {}, json.array {}, {}
  for index, item in ipairs(list) do
    local good, fate, reason = clean(item, kind or EDITS)
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
---@param kind string? default "edits"
---@return any[]? list
---@return string? reason
function M.list(reply, kind)
  kind = kind or EDITS
  if json.is_array(reply) and #reply > 0 then return reply end
  if not json.is_object(reply) then return nil, "the reply is no JSON object" end
  local inner = reply
  if not is_nothing(reply.patch) then inner = reply.patch end
  if not json.is_object(inner) then return nil, '"patch" is no JSON object' end
  if inner[kind] == nil then return nil, ('"%s" is missing'):format(kind) end
  if not json.is_array(inner[kind]) then return nil, ('"%s" is no list'):format(kind) end
  return inner[kind]
end

local function fault_words(faults, kind)
  local out = {}
  for i, fault in ipairs(faults) do
    out[i] = ("item %d of \"%s\": %s"):format(fault.index, kind, fault.reason)
  end
  return table.concat(out, "; ")
end

--- Can something be taken from this reply? For `ctx:ask`: a list that is empty or has at
--- least one good item.
---@param reply any
---@param kind string? default "edits"
---@return boolean
---@return string? reason
function M.is_usable(reply, kind)
  local list, reason = M.list(reply, kind)
  if not list then return false, reason end
  local items, faults = M.check(list, kind)
  if #items == 0 and #faults > 0 then return false, fault_words(faults, kind or EDITS) end
  return true
end

--- Is every item of this reply good? For a reply that replaces its inputs, where a lost
--- item would be lost for good.
---@param reply any
---@param kind string? default "edits"
---@return boolean
---@return string? reason
function M.is_whole(reply, kind)
  local list, reason = M.list(reply, kind)
  if not list then return false, reason end
  local _, faults = M.check(list, kind)
  if #faults > 0 then return false, fault_words(faults, kind or EDITS) end
  return true
end

-------------------------------------------------------------------------- raw patches

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
  local items, dropped, places = M.check(list, facts.kind)
  local kept = json.array {}
  for i, item in ipairs(items) do
    local leak = facts.leak and facts.leak(item_of.kind_of(item).content(item))
    if leak then
      dropped[#dropped + 1] = M.drop(places[i], item, "leak", leak)
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

--- Notes of a reply, or nil.
local function notes_in(reply)
  local notes = json.array(appendix.notes_in(reply.appendix_notes))
  return #notes > 0 and notes or nil
end

--- Note what of the minibatch was not shown, if anything.
local function shown_in(raw, facts)
  raw.cut = facts.cut and #facts.cut > 0 and facts.cut or nil
  raw.split = facts.split
  return raw
end

---@class skillopt.BatchFacts
---@field has_notes boolean? are notes for the appendix taken?
---@field batch_size integer items of the minibatch
---@field source_type "failure"|"success"
---@field budget integer edits kept
---@field cut {id: string, characters: integer}[]? what was cut out of which trajectory
---@field split {of: string, part: integer, parts: integer}? when it is part of a minibatch
---@field leak (fun(text: string): string?)? why a text is refused as a leak, or nil; as
---       `ctx.step.leak`
---@field kind string? of the items, default "edits"

--- The raw patch of a reply that `is_usable` accepts.
---@param reply any
---@param facts skillopt.BatchFacts
---@return table raw
function M.raw(reply, facts)
  local kept, dropped = admit(M.list(reply, facts.kind), facts)
  local raw = {
    batch_size = facts.batch_size,
    source_type = facts.source_type,
    patch = { reasoning = reasoning_of(reply), [facts.kind or EDITS] = kept },
    dropped = #dropped > 0 and dropped or nil,
  }
  if facts.source_type == "failure" then
    raw.failure_summary = summary(reply.failure_summary, facts.batch_size)
  else
    raw.success_patterns = item_of.texts(reply.success_patterns)
  end
  shown_in(raw, facts)
  if facts.has_notes then raw.appendix_notes = notes_in(reply) end
  return raw
end

--- The raw patch of a minibatch whose reply stayed unusable.
---@param err skillopt.Err
---@param facts skillopt.BatchFacts
---@return table raw
function M.malformed(err, facts)
  return shown_in({
    malformed = true,
    kind = err.kind,
    source_type = facts.source_type,
    batch_size = facts.batch_size,
  }, facts)
end

--- A patch without items.
---@param reasoning string
---@param kind string? default "edits"
---@return table
function M.empty(reasoning, kind)
  return { reasoning = reasoning, [kind or EDITS] = json.array {} }
end

--------------------------------------------------------------------------- normalise

local function copy(item)
  local out = {}
  for field, value in pairs(item) do out[field] = value end
  return out
end

--- A raw patch's items with where they come from and how many items stand behind them.
local function sourced(raw, inner, kind)
  local source = type(raw.source_type) == "string" and raw.source_type or "failure"
  local reasoning = type(inner.reasoning) == "string" and inner.reasoning or ""
  local patch = M.empty(reasoning, kind)
  for _, item in ipairs(inner[kind]) do
    if json.is_object(item) then
      local own = copy(item)
      own.source_type, own.support_count = source, count(raw.batch_size) or 1
      table.insert(patch[kind], own)
    end
  end
  return patch, source
end

--- Raw patches as patches, those of successes apart from all others. Raw patches without
--- items are left out; malformed ones are counted.
---@param raws table[]
---@param kind string? of the items, default "edits"
---@return {failure: table[], success: table[], malformed: integer}
function M.normalise(raws, kind)
  kind = kind or EDITS
  local out = { failure = {}, success = {}, malformed = 0 }
  for _, raw in ipairs(raws) do
    local inner = raw
    if json.is_object(raw) and raw.patch ~= nil then inner = raw.patch end
    if json.is_object(raw) and raw.malformed == true then
      out.malformed = out.malformed + 1
    elseif json.is_object(inner) and json.is_array(inner[kind]) then
      local patch, source = sourced(raw, inner, kind)
      if #patch[kind] > 0 then
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
    for _, item in ipairs(M.items(one)) do
      most = math.max(most, item.support_count or 1)
    end
    sum = sum + most
  end
  return sum
end

local function size_of(inputs)
  local n = 0
  for _, one in ipairs(inputs) do n = n + #M.items(one) end
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
    for _, item in ipairs(M.items(one)) do
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
  local kind = M.kind(inputs[1])
  local items = M.check(M.list(reply, kind), kind)
  local most, own = support_of(inputs), support_by_key(inputs)
  for _, item in ipairs(items) do
    item.merge_level = level or item.merge_level
    item.support_count = math.min(item.support_count or own[M.key(item)] or 1, most)
  end
  local note = #items == 0 and ("A merge kept none of %d %s.")
    :format(size_of(inputs), item_of.kinds[kind].word)
  local out = { reasoning = reasoning_of(reply), [kind] = items }
  out.notes = notes_of(inputs, note or nil)
  return out
end

--- All items of some patches one behind the other; what stands in for a merge.
---@param inputs table[]
---@param note string why; becomes the reasoning and, when there are items, a note
---@param level integer? merge level of items that have none
---@return table patch
function M.concat(inputs, note, level)
  local kind = inputs[1] and M.kind(inputs[1]) or EDITS
  local out = M.empty(note, kind)
  for _, one in ipairs(inputs) do
    for _, item in ipairs(M.items(one)) do
      local own = copy(item)
      own.merge_level = own.merge_level or level
      table.insert(out[kind], own)
    end
  end
  out.notes = notes_of(inputs, #out[kind] > 0 and note or nil)
  return out
end

--- The patch with the number of merges that were split to fit their prompts.
---@param patch table
---@param n integer
---@return table
function M.with_splits(patch, n)
  if n == 0 then return patch end
  local out = copy(patch)
  out.n_merges_split = n
  return out
end

--------------------------------------------------------------------------- as text

--- One line about an item for a prompt.
M.describe = item_of.describe

--- What the memory keeps of an item.
M.compact = item_of.compact

--- Two items that say the same to the same place have one key.
M.key = item_of.key

--- The items of a patch as lines numbered from 0.
---@param patch table
---@return string
function M.pool(patch)
  local out = {}
  for i, item in ipairs(M.items(patch)) do
    out[i] = ("[%d] %s"):format(i - 1, item_of.describe(item))
  end
  return table.concat(out, "\n")
end

return M
