--- What the optimizer is told about earlier steps.
---
--- Each step leaves an entry (also written as its `trajectory_digest`): the action, what
--- failed by reason, what the analysts said about it, the edits that were rejected and
--- those that could not be applied. The entries of the running epoch are told in full;
--- rejected edits are remembered over all epochs under a key of what they say, until a
--- step with the same edit is accepted. The text names no items, so that no edit can.

local evaluation = require "skillopt.evaluation"
local options = require "skillopt.options"
local patch = require "skillopt.patch"
local json = require "rt.json"
local text = require "rt.text"

local M = {}
local Memory = {}
Memory.__index = Memory
Memory.__name = "memory"

local MAX_TOKENS <const> = 8000
--- Rejected edits of earlier epochs that are told, the latest ones.
local TOLD <const> = 40
local PREVIEW <const> = 400

------------------------------------------------------------------------ patterns

local function reason_of(row)
  local reason = row.fail_reason
  if type(reason) ~= "string" then return "unknown" end
  local head = reason:match "^([^:]*):"
  return head and text.strip(head) or reason
end

--- Failing rows grouped by reason (what stands before the first colon), in order of
--- appearance. Rows without a mark are no failures.
---@param rows table[] as `Evaluation:rows` gives them
---@return {pattern: string, count: integer, task_ids: string[]}[]
function M.patterns(rows)
  local out, by_reason = json.array {}, {}
  for _, row in ipairs(rows) do
    if row.hard and evaluation.is_failure(row.hard) then
      local reason = reason_of(row)
      local group = by_reason[reason]
      if not group then
        group = { pattern = reason, count = 0, task_ids = {} }
        by_reason[reason] = group
        out[#out + 1] = group
      end
      group.count = group.count + 1
      group.task_ids[group.count] = row.id
    end
  end
  return out
end

--- What the analysts of failures said, as `type: description` or the type alone, in the
--- order of the raw patches. They are about what was seen, not about a group above.
---@param raws table[]
---@return string[]
function M.descriptions(raws)
  local out = json.array {}
  for _, raw in ipairs(raws) do
    for _, one in ipairs(raw.failure_summary or {}) do
      local description = text.strip(one.description)
      local kind = one.failure_type
      out[#out + 1] = description ~= "" and ("%s: %s"):format(kind, description) or kind
    end
  end
  return out
end

------------------------------------------------------------------------- entries

local function not_applied(fates)
  local out = json.array {}
  for _, row in ipairs(fates) do
    if row.fate ~= "applied" then
      out[#out + 1] = {
        op = row.op, target = row.target, content = row.content_preview, fate = row.fate,
        near = row.near,
      }
    end
  end
  return out
end

local function count_failures(patterns)
  local n = 0
  for _, group in ipairs(patterns) do n = n + group.count end
  return n
end

local FACTS <const> = {
  step = true, action = true, rows = true, raws = true, edits = true, fates = true,
  score_before = true, score_after = true,
}

local function entry_of(facts)
  local patterns = M.patterns(facts.rows)
  local entry = {
    step = facts.step,
    action = facts.action,
    n_total = math.max(#facts.rows, 1),
    n_fail = count_failures(patterns),
    failure_patterns = patterns,
    failure_descriptions = M.descriptions(facts.raws),
    not_applied = not_applied(facts.fates),
  }
  if facts.action == "reject" then
    entry.score_before, entry.score_after = facts.score_before, facts.score_after
    entry.rejected_edits = json.array {}
    for i, item in ipairs(facts.edits) do
      entry.rejected_edits[i] = patch.compact(item)
    end
  end
  return entry
end

--- A memory of nothing.
---@return skillopt.Memory
function M.new()
  return setmetatable({ entries = {}, rejected = {}, epoch = 1 }, Memory)
end

---@class skillopt.Memory
---@field entries table[] of the running epoch
---@field rejected table<string, table> by key of the edit
---@field epoch integer

--- From here on steps belong to the next epoch: entries are forgotten, rejected edits
--- are not.
function Memory:start_epoch()
  self.entries, self.epoch = {}, self.epoch + 1
end

local function remember(self, facts)
  for place, item in ipairs(facts.edits) do
    local key = patch.key(item)
    local known = self.rejected[key]
    if facts.action ~= "reject" then
      self.rejected[key] = nil
    else
      self.rejected[key] = {
        item = patch.compact(item), times = known and known.times + 1 or 1,
        step = facts.step, place = place, epoch = self.epoch,
        before = facts.score_before, after = facts.score_after,
      }
    end
  end
end

---@class skillopt.StepFacts
---@field step integer
---@field action string
---@field rows table[] of the step's rollouts
---@field raws table[] raw patches
---@field edits table[] the selected edits
---@field fates skillopt.Fate[] what became of them
---@field score_before number?
---@field score_after number?

--- Note a step. The entry is what the step's digest file holds.
---@param facts skillopt.StepFacts
---@return table entry
function Memory:add(facts)
  options.check(facts, FACTS, "memory:add")
  local entry = entry_of(facts)
  self.entries[#self.entries + 1] = entry
  remember(self, facts)
  return entry
end

---------------------------------------------------------------------------- text

local function quote(s)
  if text.length(s) > PREVIEW then s = text.sub(s, 1, PREVIEW) .. " ..." end
  return json.encode(s)
end

local function words_of(item)
  if item.instruction then
    return { item.type, quote(item.title), quote(item.instruction) }
  end
  local changes = table.concat(item.change_summary, "; ")
  return { "document " .. quote(item.title), quote(changes) }
end

local function item_line(item)
  if not item.op then return table.concat(words_of(item), ", ") end
  local out = { item.op }
  if item.target ~= "" then out[#out + 1] = "target " .. quote(item.target) end
  if item.content ~= "" then out[#out + 1] = "content " .. quote(item.content) end
  return table.concat(out, ", ")
end

local function scores(before, after)
  if not before or not after then return "" end
  return (" (score %.4f -> %.4f)"):format(before, after)
end

local function add_numbered(lines, heading, items, show)
  if #items == 0 then return end
  lines[#lines + 1] = heading
  for i, item in ipairs(items) do
    lines[#lines + 1] = ("  %d. %s"):format(i, show(item))
  end
end

local function fate_line(row)
  local why = row.near and ("%s; %s"):format(row.fate, row.near) or row.fate
  return ("%s: %s"):format(why, item_line(row))
end

local function entry_text(entry)
  local lines = { ("### Step %d: %s, %d of %d failed")
    :format(entry.step, entry.action:upper(), entry.n_fail, entry.n_total) }
  for _, group in ipairs(entry.failure_patterns) do
    local pattern = group.pattern ~= "" and quote(group.pattern) or "no reason given"
    lines[#lines + 1] = ("- %d x %s"):format(group.count, pattern)
  end
  for _, description in ipairs(entry.failure_descriptions) do
    lines[#lines + 1] = "- an analyst saw: " .. description
  end
  add_numbered(lines, "Rejected" .. scores(entry.score_before, entry.score_after) .. ":",
    entry.rejected_edits or {}, item_line)
  add_numbered(lines, "Could not be applied:", entry.not_applied, fate_line)
  return table.concat(lines, "\n")
end

--- Edits whose last rejection lies in an earlier epoch, those of the latest step first.
local function old_rejections(self)
  local list = {}
  for _, known in pairs(self.rejected) do
    if known.epoch < self.epoch then list[#list + 1] = known end
  end
  table.sort(list, function(a, b)
    return a.step > b.step or a.step == b.step and a.place < b.place
  end)
  return table.move(list, 1, math.min(#list, TOLD), 1, {})
end

local function rejection_line(known)
  local times = known.times > 1 and (" %d times"):format(known.times) or ""
  return ("rejected%s%s: %s")
    :format(times, scores(known.before, known.after), item_line(known.item))
end

local OLD_HEADING <const> =
  "### Edits rejected in earlier epochs (do not propose them again without new evidence)"
local HEADING <const> =
  "Do not repeat edits that did not help; put the failures that are still open first."

--- The newest blocks that fit, in the order of time; the newest one is there in any case.
local function newest(blocks, room)
  if #blocks > 0 then blocks[#blocks] = text.cut_middle(blocks[#blocks], room) end
  local first = #blocks + 1
  while first > 1 and text.tokens(blocks[first - 1]) <= room do
    first = first - 1
    room = room - text.tokens(blocks[first])
  end
  return table.move(blocks, first, #blocks, 1, {})
end

--- The text for `ctx.step.memory`; "" when there is nothing to tell. When it grows too
--- long the oldest steps are left out.
---@param opt {max_tokens: integer?}?
---@return string
function Memory:text(opt)
  opt = options.check(opt, { max_tokens = true }, "memory:text")
  local room = opt.max_tokens or MAX_TOKENS
  local old = {}
  add_numbered(old, OLD_HEADING, old_rejections(self), rejection_line)
  local head = text.cut_middle(table.concat(old, "\n"), room // 3)
  local blocks = {}
  for i, entry in ipairs(self.entries) do blocks[i] = entry_text(entry) end
  blocks = newest(blocks, room - text.tokens(head))
  if head ~= "" then table.insert(blocks, 1, head) end
  if #blocks == 0 then return "" end
  return HEADING .. "\n\n" .. table.concat(blocks, "\n\n")
end

return M
