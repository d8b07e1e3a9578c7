--- As writer: the same edits as an analyst or editor would make, said as suggestions or
--- carried out in a whole document.
local document = require "rt.document"
local json = require "rt.json"
local merge = require "backends.sim.merge"

local M = {}

local SUGGESTION_KEYS <const> = { "type", "title", "motivation", "instruction", "priority_hint" }
local STATE <const> = "State this rule: "
local REPLACE <const> = "Put a rule in the place of another: "
local NEXT <const> = { "Budget", "Earlier steps", "What earlier epochs", "Failed tasks",
  "Solved tasks", "To merge", "Suggestions" }

--- The document that a request shows.
local function document_in(user)
  local _, from = user:find("## Current skill\n\n", 1, true)
  if not from then return "" end
  local to = #user + 1
  for _, heading in ipairs(NEXT) do
    to = math.min(to, user:find("\n\n## " .. heading, from, true) or to)
  end
  return user:sub(from + 1, to - 1)
end

--- The JSON list at the end of a request, and where it begins.
local function list_in(user)
  local from = 1
  while true do
    from = user:find("\n[", from, true)
    if not from then return {}, #user + 1 end
    local value = json.decode((user:sub(from + 1):gsub("%s+$", "")))
    if value then return value, from end
    from = from + 1
  end
end

--------------------------------------------------------------------- suggestions

local function suggestion_of(edit)
  local is_mending = edit.op == "replace"
  local said = is_mending and REPLACE .. json.encode { edit.target, edit.content }
    or STATE .. edit.content
  return { type = is_mending and "clarify" or "add_rule", title = "the form of an answer",
    motivation = "answers did not have it", instruction = said,
    priority_hint = is_mending and "high" or "medium",
    support_count = edit.support_count, source_type = edit.source_type }
end

local function edit_of(suggestion)
  local said = suggestion.instruction or ""
  local edit = { support_count = suggestion.support_count, source_type = suggestion.source_type }
  if said:sub(1, #REPLACE) == REPLACE then
    local both = json.decode(said:sub(#REPLACE + 1)) or { "", "" }
    edit.op, edit.target, edit.content = "replace", both[1], both[2]
  else
    local is_rule = said:sub(1, #STATE) == STATE
    edit.op, edit.content = "append", is_rule and said:sub(#STATE + 1) or said
  end
  return edit
end

local function all(list, convert)
  local out = json.array {}
  for i, one in ipairs(list or {}) do out[i] = convert(one) end
  return out
end

local function encode(value, key)
  return json.encode(value, { indent = true,
    keys = { "reasoning", "patch", [key] = SUGGESTION_KEYS } })
end

--- An analyst's reply as suggestions.
---@param reply string with edits
---@return string
function M.as_suggestions(reply)
  local value = json.decode(reply)
  value.patch.revise_suggestions = all(value.patch.edits, suggestion_of)
  value.patch.edits = nil
  return encode(value, "revise_suggestions")
end

--- The edits of some patches of another kind, merged by the editor.
local function merged_edits(user, patches)
  local _, from = list_in(user)
  return json.decode(merge.merge(user:sub(1, from) .. json.encode(json.array(patches))))
end

--- The reply to a request to merge suggestions.
---@param user string
---@return string
function M.merge_suggestions(user)
  local patches = {}
  for i, patch in ipairs((list_in(user))) do
    patches[i] = { edits = all(patch.revise_suggestions, edit_of) }
  end
  local value = merged_edits(user, patches)
  value.revise_suggestions, value.edits = all(value.edits, suggestion_of), nil
  return encode(value, "revise_suggestions")
end

--- The document with the suggestions carried out.
---@param user string
---@return string
function M.rewritten(user)
  local list = list_in(user:gsub("\n\n## Earlier steps\n.*$", ""))
  local new = document.apply(document_in(user), all(list, edit_of))
  return json.encode({ reasoning = ("%d suggestions were carried out."):format(#list),
    change_summary = json.array { ("%d rules stated or mended"):format(#list) },
    new_skill = new ~= "" and new or "# Skill\n" }, { keys = { "reasoning", "change_summary" } })
end

----------------------------------------------------------------------- documents

local function candidate(text, n, facts)
  return { title = "forms of answers", new_skill = text,
    change_summary = json.array { ("%d rules stated or mended"):format(n) },
    support_count = facts and facts.support_count, source_type = facts and facts.source_type }
end

--- An analyst's reply as a whole document; none when nothing is to be changed.
---@param reply string with edits
---@param user string
---@return string
function M.as_document(reply, user)
  local value = json.decode(reply)
  local edits, out = value.patch.edits, json.array {}
  local new = document.apply(document_in(user), edits)
  if #edits > 0 and new then out[1] = candidate(new, #edits) end
  value.patch.skill_candidates, value.patch.edits = out, nil
  return json.encode(value, { indent = true, keys = { "reasoning", "patch" } })
end

--- Lines of a document that another lacks.
local function new_lines(text, old)
  local out = {}
  for line in text:gmatch "[^\n]+" do
    if not old:find(line, 1, true) then out[#out + 1] = line end
  end
  return out
end

--- The reply to a request to merge documents: the first one with what the others add.
---@param user string
---@return string
function M.merge_documents(user)
  local first, n, support = nil, 0, 0
  for _, patch in ipairs((list_in(user))) do
    for _, one in ipairs(patch.skill_candidates or {}) do
      support = support + (math.tointeger(one.support_count) or 1)
      first = first or one
      local lines = new_lines(one.new_skill or "", first.new_skill)
      if #lines > 0 then
        first.new_skill = ("%s\n\n%s\n")
          :format((first.new_skill:gsub("%s*$", "")), table.concat(lines, "\n"))
        n = n + #lines
      end
    end
  end
  local out = json.array {}
  if first then
    first.support_count = support
    out[1] = candidate(first.new_skill, n, first)
  end
  return json.encode({ reasoning = "The documents were put together.", skill_candidates = out },
    { indent = true, keys = { "reasoning" } })
end

return M
