--- What the target did, as text for an optimizer.
---
--- A conversation becomes lines, one block an item. Only the fields of a result row that
--- are named here are shown, so a judge's own text never gets in by being in the row, and
--- pieces of texts the row lists as `hidden` are masked wherever they were quoted. A
--- system prompt all items share is said once at the top, with the skill in it cut out.
--- What does not fit the token limits is cut in the middle, with a mark, the longest blocks
--- first.

local json = require "rt.json"
local text = require "rt.text"

local M = {}

--- Sections of a block: field of the row, heading.
local SECTIONS <const> = {
  { "reference_text", "Reference (hidden from the target)", strip = true },
  { "target_user_prompt", "User prompt" },
  { "codex_trace_summary", "Trace summary" },
  { "codex_probe_trace_steps", "Trace steps", strip = true },
  { "spreadsheet_preview", "Spreadsheet preview" },
}

--- Longest system prompt shown, as a share of the limit.
local PROMPT_SHARE <const> = 4
--- Pieces of a hidden text at least so long (bytes) are masked; shorter hidden texts only
--- as a whole, and below the least length not at all: they would be everyday words.
local PIECE <const>, LEAST_PIECE <const> = 12, 6

-------------------------------------------------------------------------- lines

local function is_nothing(value) return value == nil or value == json.null end

--- One part of a message: text, or a word for an image.
local function part_text(part)
  if type(part) == "string" then return part end
  if type(part) ~= "table" then return nil end
  if type(part.text) == "string" then return part.text end
  if part.image then return ("[image %s]"):format(part.type or "of unknown type") end
end

local function parts_text(list)
  local out = {}
  for i, part in ipairs(list) do
    out[i] = part_text(part)
    if not out[i] then return nil end
  end
  if #out > 0 then return table.concat(out, "\n") end
end

--- Any value as text: nothing is empty, a list of message parts is their text, other
--- tables are JSON.
local function show(value)
  if is_nothing(value) then return "" end
  if type(value) == "string" then return value end
  if math.type(value) then return json.format_number(value) end
  if type(value) ~= "table" then return tostring(value) end
  return parts_text(value) or json.encode(value)
end

local function call_line(call)
  local name, arguments = call.name, call.arguments
  if type(call["function"]) == "table" then
    name, arguments = call["function"].name, call["function"].arguments
  end
  return ("[action] %s %s"):format(show(name), show(arguments))
end

local function message_lines(entry, lines)
  local role = is_nothing(entry.role) and "agent" or show(entry.role)
  local calls = type(entry.tool_calls) == "table" and entry.tool_calls or {}
  local content = show(entry.content)
  if role == "system" then role = "verification" end
  if content ~= "" or #calls == 0 then
    lines[#lines + 1] = ("[%s] %s"):format(role, content)
  end
  for _, call in ipairs(calls) do lines[#lines + 1] = call_line(call) end
end

local function step_lines(entry, lines)
  local step = is_nothing(entry.step) and "?" or show(entry.step)
  local reasoning = show(entry.reasoning)
  if reasoning ~= "" then
    lines[#lines + 1] = ("[step %s think] %s"):format(step, reasoning)
  end
  lines[#lines + 1] = ("[step %s action] %s"):format(step, show(entry.action))
  lines[#lines + 1] = ("[step %s obs]    %s"):format(step, show(entry.env_feedback))
end

local function entry_lines(entry, lines)
  if type(entry) ~= "table" then
    lines[#lines + 1] = "[agent] " .. show(entry)
  elseif entry.type == "tool_call" then
    lines[#lines + 1] = "[action] " .. show(entry.cmd)
    lines[#lines + 1] = "[obs]    " .. show(entry.obs)
  elseif entry.action ~= nil and entry.env_feedback ~= nil then
    step_lines(entry, lines)
  else
    message_lines(entry, lines)
  end
end

--- The entries of a conversation as lines: messages, tool calls, game steps, and the
--- environment's feedback (role `system`) as `[verification]`.
---@param conversation any[]
---@return string
function M.lines(conversation)
  local lines = {}
  for _, entry in ipairs(conversation) do entry_lines(entry, lines) end
  return table.concat(lines, "\n")
end

------------------------------------------------------------------------- hidden

--- Move `at` to the border of a character, in steps of `step`.
local function border(s, at, step)
  while at >= 1 and at <= #s and s:byte(at) & 0xC0 == 0x80 do at = at + step end
  return at
end

local function pieces_of(hidden, size)
  local pieces = {}
  for i = 1, #hidden - size + 1 do pieces[hidden:sub(i, i + size - 1)] = true end
  return pieces
end

local function mask_one(s, hidden)
  local size = math.min(PIECE, #hidden)
  if size < LEAST_PIECE then return s end
  local pieces, out, from, at = pieces_of(hidden, size), {}, 1, 1
  while at <= #s - size + 1 do
    if pieces[s:sub(at, at + size - 1)] then
      local last = at
      while pieces[s:sub(last + 1, last + size)] do last = last + 1 end
      out[#out + 1] = s:sub(from, border(s, at, -1) - 1) .. "[hidden]"
      from = border(s, last + size, 1)
      at = from
    else
      at = at + 1
    end
  end
  out[#out + 1] = s:sub(from)
  return table.concat(out)
end

--- Replace every piece (12 bytes or more) of the hidden texts by `[hidden]`.
---@param s string
---@param hidden string[]
---@return string
function M.mask(s, hidden)
  for _, one in ipairs(hidden) do s = mask_one(s, one) end
  return s
end

--- Hidden texts of a row: its field `hidden`, a text or a list of texts.
---@param row table
---@return string[]
function M.hidden(row)
  local hidden = row.hidden
  if type(hidden) == "string" then return { hidden } end
  local out = {}
  for _, one in ipairs(type(hidden) == "table" and hidden or {}) do
    if type(one) == "string" then out[#out + 1] = one end
  end
  return out
end

------------------------------------------------------------------------- blocks

--- The system prompt of an item and its conversation without it.
local function system_of(block)
  local entries = block.conversation
  local head = entries[1]
  local system = show(block.row.target_system_prompt)
  local is_message = type(head) == "table" and head.role == "system"
  if is_message and #entries > 1 and (system == "" or show(head.content) == system) then
    return show(head.content), table.move(entries, 2, #entries, 1, {})
  end
  return system, entries
end

--- Does the conversation begin with this user message?
local function repeats(entries, prompt)
  local head = entries[1]
  return type(head) == "table" and head.role == "user" and show(head.content) == prompt
end

local function add_section(lines, heading, body)
  if body ~= "" then
    lines[#lines + 1] = ("\n#### %s\n%s"):format(heading, body)
  end
end

local function first_of(row, ...)
  for _, name in ipairs { ... } do
    if not is_nothing(row[name]) then return show(row[name]) end
  end
  return ""
end

local function body_of(block, entries, system)
  local row = block.row
  local lines = {
    "Task: " .. first_of(row, "task_description", "instruction", "question"),
    "Type: " .. first_of(row, "task_type", "instruction_type"),
  }
  local reason = show(row.fail_reason)
  if reason ~= "" then lines[#lines + 1] = "Failure reason: " .. reason end
  lines[#lines + 1] = "Steps: " .. (is_nothing(row.n_turns) and "?" or show(row.n_turns))
  for _, section in ipairs(SECTIONS) do
    local field, heading = section[1], section[2]
    local body = show(row[field])
    if section.strip then body = text.strip(body) end
    if field == "target_user_prompt" then
      add_section(lines, "System prompt", system)
      if repeats(entries, body) then body = "" end
    end
    add_section(lines, heading, body)
  end
  add_section(lines, "Conversation", M.lines(entries))
  return table.concat(lines, "\n")
end

--- Blocks as `{heading, body}`, and the system prompt they share ("" when none).
local function prepare(blocks)
  local out, shared = {}, nil
  for i, block in ipairs(blocks) do
    local system, entries = system_of(block)
    local hidden = M.hidden(block.row)
    shared = shared or M.mask(system, hidden)
    local own = M.mask(system, hidden)
    local body = M.mask(body_of(block, entries, own ~= shared and own or ""), hidden)
    local heading = ("### Trajectory %d (id: %s)\n"):format(block.position, block.id)
    out[i] = { id = block.id, heading = heading, body = body, removed = 0 }
  end
  return out, shared or ""
end

-------------------------------------------------------------------------- limit

--- The largest share so that blocks cut to it fit `room` together.
local function fair_share(sizes, room)
  table.sort(sizes)
  for i, size in ipairs(sizes) do
    local share = room // (#sizes - i + 1)
    if size >= share then return share end
    room = room - size
  end
  return math.maxinteger
end

local function mark(what) return ("\n[... %s cut to fit ...]\n"):format(what) end

--- Cut a block to at most so many tokens; what is gone is counted.
local function cut_block(block, tokens)
  local removed
  block.body, removed = text.cut_middle(block.body, tokens, mark "middle of this trajectory")
  block.removed = block.removed + removed
end

local function cut_blocks(blocks, room)
  local sizes = {}
  for i, block in ipairs(blocks) do
    sizes[i] = text.tokens(block.body)
    room = room - text.tokens(block.heading)
  end
  local share = math.max(fair_share(sizes, room), 1)
  for _, block in ipairs(blocks) do cut_block(block, share) end
end

local SKILL_NOTE <const> = "[the current skill document stands here]"
local SHARED_HEADING <const> =
  "### System prompt of the target (the same in all of these)\n"

--- A prompt that is the skill alone, or holds it, without the skill.
local function without_skill(prompt, skill)
  if not skill or text.strip(skill.text) == "" then return prompt end
  return (text.replace(prompt, text.strip(skill.text), SKILL_NOTE))
end

---@class skillopt.Block
---@field position integer place in the batch, 1-based
---@field id string
---@field row table result row
---@field conversation any[] not empty

local SEPARATOR <const> = "\n\n---\n\n"

--- The texts of a rendering: what is shared, if anything, then the blocks.
local function pieces_of_rendering(shared, blocks)
  local out = {}
  if shared ~= "" then out[1] = shared end
  for _, block in ipairs(blocks) do out[#out + 1] = block.heading .. block.body end
  return out
end

--- What was shown and what not: ids and tokens of the blocks, tokens of what they share
--- (separators counted in), what was cut.
local function facts_of(shared, blocks, removed)
  local out = { shared = shared ~= "" and text.tokens(shared) + 2 or 0, ids = {}, blocks = {},
    cut = json.array {} }
  if removed > 0 then
    out.cut[1] = { id = "system prompt", characters = removed }
  end
  for i, block in ipairs(blocks) do
    out.ids[i] = block.id
    out.blocks[i] = { tokens = text.tokens(block.heading) + text.tokens(block.body) + 2 }
    if block.removed > 0 then
      out.cut[#out.cut + 1] = { id = block.id, characters = block.removed }
    end
  end
  return out
end

---@class skillopt.RenderFacts
---@field shared integer tokens of the system prompt that all blocks share
---@field ids string[] of the blocks
---@field blocks {tokens: integer}[]
---@field cut {id: string, characters: integer}[] what was cut out of which block; the
---       shared prompt's id is `system prompt`

--- Blocks as text, in order, separated by a rule; "" when there are none. A block longer
--- than `max_each` tokens is cut in its middle. When all together have more than
--- `max_tokens`, the shared prompt is cut to a quarter of that and the longest blocks to
--- what is left; else nothing more is cut.
---@param blocks skillopt.Block[]
---@param options {max_tokens: integer?, max_each: integer?, skill: skillopt.Skill?}?
---@return string
---@return skillopt.RenderFacts
function M.render(blocks, options)
  options = options or {}
  local prepared, shared = prepare(blocks)
  local limit, removed = options.max_tokens, 0
  for _, block in ipairs(options.max_each and prepared or {}) do
    cut_block(block, options.max_each)
  end
  if shared ~= "" then shared = SHARED_HEADING .. without_skill(shared, options.skill) end
  local whole = table.concat(pieces_of_rendering(shared, prepared), SEPARATOR)
  if limit and text.tokens(whole) > limit then
    shared, removed =
      text.cut_middle(shared, limit // PROMPT_SHARE, mark "middle of the prompt")
    cut_blocks(prepared, limit - text.tokens(shared) - 4 * #prepared)
    whole = table.concat(pieces_of_rendering(shared, prepared), SEPARATOR)
  end
  return whole, facts_of(shared, prepared, removed)
end

return M
