--- House rules as sentences. A rule stands on a line of its own, in one form, so that it
--- can be written by one call and followed by another:
---
---   - A value like `{Word} {Word}` is answered as `{2}, {1}`. Example: `Alpha Beta`
---     becomes `Beta, Alpha`.            (all on one line)
---   - To questions that begin with "where" or "in which", a value like ...
---
--- A rule whose value is given whole goes before one with classes, one for some questions
--- before one for all.
local shape = require "backends.sim.shape"
local template = require "backends.sim.template"

local M = {}

---@class sim.Rule
---@field value string a pattern, or a whole value
---@field answer string the template in words
---@field cues string[]? how the questions begin; nil: all questions
---@field examples {[1]: string, [2]: string}[] value and answer
---@field line string? the line it was read from
---@field pieces sim.Piece[]

local HEAD <const> = "A value like `%s` is answered as `%s`."
local CUE_HEAD <const> = "To questions that begin with %s, a value like `%s` is answered as `%s`."
local BODY_PATTERN <const> = " value like `([^`]+)` is answered as `([^`]+)`%.(.*)$"
local HEAD_PATTERN <const> = "^%- A" .. BODY_PATTERN
local CUE_PATTERN <const> = "^%- To questions that begin with (.-), a" .. BODY_PATTERN

--- The sentence of a rule, as a line of a list.
---@param rule sim.Rule
---@return string
function M.write(rule)
  local examples, cues = {}, {}
  for i, one in ipairs(rule.examples) do
    examples[i] = ("`%s` becomes `%s`"):format(one[1], one[2])
  end
  for i, cue in ipairs(rule.cues or {}) do cues[i] = ('"%s"'):format(cue) end
  local head = rule.cues and CUE_HEAD:format(table.concat(cues, " or "), rule.value, rule.answer)
    or HEAD:format(rule.value, rule.answer)
  if #examples == 0 then return "- " .. head end
  return ("- %s Example: %s."):format(head, table.concat(examples, "; "))
end

--- The rule on a line; nil when there is none.
---@param line string
---@return sim.Rule?
function M.read(line)
  local who, value, answer, rest = line:match(CUE_PATTERN)
  if not who then value, answer, rest = line:match(HEAD_PATTERN) end
  local pieces = answer and template.read(answer)
  if not pieces then return nil end
  local rule = { value = value, answer = answer, pieces = pieces, examples = {}, line = line }
  for cue in (who or ""):gmatch '"([^"]+)"' do
    rule.cues = rule.cues or {}
    table.insert(rule.cues, cue)
  end
  if who and not rule.cues then return nil end
  for raw, out in rest:gmatch "`([^`]+)` becomes `([^`]+)`" do
    table.insert(rule.examples, { raw, out })
  end
  return rule
end

--- All rules of a document, in order.
---@param document string
---@return sim.Rule[]
function M.all(document)
  local rules = {}
  for line in document:gmatch "[^\n]+" do rules[#rules + 1] = M.read(line) end
  return rules
end

---------------------------------------------------------------------------- using

-- Words that say little alone when a question begins with them.
local OPENERS <const> = { how = true, what = true, which = true, at = true, by = true, from = true,
  ["in"] = true, of = true, on = true, to = true, with = true, ["for"] = true }

--- How a question begins: its first word, two when the first says little.
---@param question string
---@return string
function M.cue(question)
  local first, second = question:lower():match "^%W*([%w\128-\255]+)%W*([%w\128-\255]*)"
  if first and OPENERS[first] and second ~= "" then return first .. " " .. second end
  return first or ""
end

local function has_cue(rule, question)
  for _, cue in ipairs(rule.cues) do
    if (question:lower() .. " "):find("^%W*" .. cue:gsub("%p", "%%%0") .. "%f[^%w\128-\255]") then
      return true
    end
  end
  return false
end

--- How closely a rule speaks of this value and question; nil when it does not.
---@param rule sim.Rule
---@param seen sim.Shape
---@param question string
---@return integer?
function M.closeness(rule, seen, question)
  local whole = rule.value == seen.value
  if not whole and rule.value ~= seen.pattern then return nil end
  if rule.cues and not has_cue(rule, question) then return nil end
  return (whole and 2 or 0) + (rule.cues and 1 or 0)
end

--- The answer to a value under some rules, and the rule that was followed; the value
--- itself when none speaks of it.
---@param rules sim.Rule[]
---@param value string
---@param question string
---@return string answer
---@return sim.Rule? rule
function M.follow(rules, value, question)
  local seen = shape.of(value)
  local best, best_closeness, best_answer
  for _, rule in ipairs(rules) do
    local closeness = M.closeness(rule, seen, question)
    if closeness and (not best or closeness >= best_closeness) then
      local answer = template.fill(rule.pieces, seen.slots)
      if answer then best, best_closeness, best_answer = rule, closeness, answer end
    end
  end
  return best_answer or value, best
end

--- Does the rule say this of the value?
---@param rule sim.Rule
---@param example {[1]: string, [2]: string}
---@return boolean
function M.explains(rule, example)
  local seen = shape.of(example[1])
  if rule.value ~= seen.value and rule.value ~= seen.pattern then return false end
  return template.fill(rule.pieces, seen.slots) == example[2]
end

return M
