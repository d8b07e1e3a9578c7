--- The single proposals in a patch. There are three kinds, one an update mode: edits of
--- the document, suggestions for whoever rewrites it, and whole documents. The name of a
--- kind is that of the list they stand in.
---
--- Each kind says how an item is checked, what of it is text for the target, how it reads
--- on one line, and what the memory keeps of it.

local digest = require "rt.digest"
local json = require "rt.json"
local text = require "rt.text"

local M = {}

local OPS <const> = { append = true, insert_after = true, replace = true, delete = true }
local NEEDS_TARGET <const> = { insert_after = true, replace = true, delete = true }
local NEEDS_CONTENT <const> = { append = true, insert_after = true }

--- Most tokens of a reply that proposes pieces, and of one that proposes whole documents.
local PIECES <const> = 16384
local DOCUMENTS <const> = 64000

local function is_nothing(value) return value == nil or value == json.null end

--- A text field: "" for nothing, nil when it is no text.
local function field_text(item, field)
  if is_nothing(item[field]) then return "" end
  if type(item[field]) == "string" then return item[field] end
end

local function text_or(value, otherwise)
  return type(value) == "string" and value or otherwise
end

local function is_blank(value) return text.strip(value) == "" end

local function count(value)
  return math.type(value) == "integer" and value > 0 and value or nil
end

--- An item with the bookkeeping of the raw one.
local function with_facts(item, raw)
  item.support_count = count(raw.support_count)
  item.source_type = type(raw.source_type) == "string" and raw.source_type or nil
  item.merge_level = count(raw.merge_level)
  return item
end

--------------------------------------------------------------------------- edits

local Edit = { key = "edits", word = "edits", prompt = "", max_tokens = PIECES,
  fields = { "op", "target", "content" } }

--- Fate and reason of an edit that cannot be applied to any document, or nil.
local function edit_fault(op, target, content)
  if not target then return "malformed", "target is no text" end
  if not content then return "malformed", "content is no text" end
  if NEEDS_TARGET[op] and target == "" then
    return "empty_target", op .. " needs the text it refers to as target"
  end
  if NEEDS_CONTENT[op] and is_blank(content) then
    return "malformed", op .. " has no content"
  end
end

--- An item from what a model wrote; nil, fate and reason when it is none.
function Edit.clean(raw)
  if type(raw.op) ~= "string" then return nil, "malformed", "op is no text" end
  local op = text.lower(text.strip(raw.op))
  if not OPS[op] then return nil, "unknown_op", ("there is no op %q"):format(raw.op) end
  local target, content = field_text(raw, "target"), field_text(raw, "content")
  local fate, reason = edit_fault(op, target, content)
  if fate then return nil, fate, reason end
  return with_facts({
    op = op,
    target = target ~= "" and target or nil,
    content = (content ~= "" or op == "replace") and content or nil,
  }, raw)
end

--- The text an item brings.
function Edit.content(item) return item.content or "" end

--- An item for a prompt, as parts of one line.
function Edit.describe(item)
  local out = { item.op or "?" }
  if item.target then out[#out + 1] = "target " .. json.encode(item.target) end
  if item.content then out[#out + 1] = "content " .. json.encode(item.content) end
  return out
end

--- What the optimizer is shown of an item.
function Edit.compact(item)
  return { op = text_or(item.op, "?"), content = text_or(item.content, ""),
    target = text_or(item.target, "") }
end

--- What makes two items the same.
function Edit.same(item)
  local own = Edit.compact(item)
  return { own.op, text.strip(own.target), text.strip(own.content) }
end

--------------------------------------------------------------------- suggestions

local Suggestion = { key = "revise_suggestions", word = "suggestions", prompt = "_rewrite",
  max_tokens = PIECES,
  fields = { "type", "title", "motivation", "instruction", "priority_hint" } }

local TYPES <const> = { add_rule = true, remove_rule = true, merge_rules = true,
  reorganize = true, compress = true, clarify = true }
local PRIORITIES <const> = { high = true, medium = true, low = true }

--- An item from what a model wrote; nil, fate and reason when it is none.
function Suggestion.clean(raw)
  local own = {}
  for _, field in ipairs(Suggestion.fields) do
    own[field] = field_text(raw, field)
    if not own[field] then return nil, "malformed", field .. " is no text" end
  end
  if is_blank(own.instruction) then return nil, "malformed", "instruction is missing" end
  local kind, priority = text.lower(text.strip(own.type)), text.lower(own.priority_hint)
  if not TYPES[kind] then
    return nil, "unknown_op", ("there is no type %q"):format(own.type)
  end
  own.type, own.priority_hint = kind, PRIORITIES[priority] and priority or "medium"
  return with_facts(own, raw)
end

--- The text an item brings.
function Suggestion.content(item) return item.title .. "\n" .. item.instruction end

--- An item for a prompt, as parts of one line.
function Suggestion.describe(item)
  return { text_or(item.type, "?"), "title " .. json.encode(text_or(item.title, "")),
    "instruction " .. json.encode(text_or(item.instruction, "")),
    "priority " .. text_or(item.priority_hint, "medium") }
end

--- What the optimizer is shown of an item.
function Suggestion.compact(item)
  return { type = text_or(item.type, "?"), title = text_or(item.title, ""),
    instruction = text_or(item.instruction, "") }
end

--- What makes two items the same.
function Suggestion.same(item)
  return { text_or(item.type, "?"), text.strip(text_or(item.instruction, "")) }
end

---------------------------------------------------------------------- candidates

local Candidate = { key = "skill_candidates", word = "skill candidates",
  prompt = "_full_rewrite", max_tokens = DOCUMENTS,
  fields = { "title", "change_summary", "new_skill" } }

--- The texts of a list; a text alone is a list of one.
---@param value any
---@return string[]
function M.texts(value)
  if type(value) == "string" then value = json.array { value } end
  local out = json.array {}
  for _, one in ipairs(json.is_array(value) and value or {}) do
    if type(one) == "string" and not is_blank(one) then out[#out + 1] = one end
  end
  return out
end

--- An item from what a model wrote; nil, fate and reason when it is none.
function Candidate.clean(raw)
  if type(raw.new_skill) ~= "string" then
    return nil, "malformed", "new_skill is no text"
  end
  if is_blank(raw.new_skill) then return nil, "malformed", "new_skill is empty" end
  return with_facts({ title = text_or(raw.title, ""), new_skill = raw.new_skill,
    change_summary = M.texts(raw.change_summary) }, raw)
end

--- The text an item brings.
function Candidate.content(item) return item.new_skill end

--- An item for a prompt, as parts of one line.
function Candidate.describe(item)
  return { "title " .. json.encode(text_or(item.title, "")),
    "changes " .. json.encode(M.texts(item.change_summary)),
    "document " .. json.encode(text_or(item.new_skill, "")) }
end

--- What the optimizer is shown of an item.
function Candidate.compact(item)
  return { title = text_or(item.title, ""), change_summary = M.texts(item.change_summary),
    source_type = text_or(item.source_type, "") }
end

--- What makes two items the same.
function Candidate.same(item) return { text.strip(text_or(item.new_skill, "")) } end

--------------------------------------------------------------------------- kinds

---@class skillopt.ItemKind
---@field key string the list the items stand in
---@field word string what they are called
---@field prompt string end of the names of prompts that ask for them
---@field fields string[] what a model writes of an item, in order
---@field clean fun(raw: table): table?, string?, string? the item, or nil, fate, reason
---@field content fun(item: table): string what could reach the target
---@field describe fun(item: table): string[] the parts of its line
---@field compact fun(item: table): table what the memory keeps
---@field same fun(item: table): any[] equal for items that say the same

--- By key.
---@type table<string, skillopt.ItemKind>
M.kinds = { edits = Edit, revise_suggestions = Suggestion, skill_candidates = Candidate }

--- The kind of an item, whole or compact.
---@param item table
---@return skillopt.ItemKind
function M.kind_of(item)
  if item.new_skill ~= nil or item.change_summary ~= nil then return Candidate end
  if item.op == nil and (item.instruction ~= nil or item.type ~= nil) then
    return Suggestion
  end
  return Edit
end

--- One line about an item for a prompt.
---@param item table
---@return string
function M.describe(item)
  local parts = M.kind_of(item).describe(item)
  parts[#parts + 1] = ("support %d"):format(item.support_count or 0)
  return table.concat(parts, ", ")
end

--- What the memory keeps of an item.
---@param item table
---@return table
function M.compact(item) return M.kind_of(item).compact(item) end

--- Two items that say the same to the same place have one key.
---@param item table
---@return string
function M.key(item)
  return digest.short(json.canonical(json.array(M.kind_of(item).same(item))))
end

return M
