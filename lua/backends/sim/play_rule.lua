--- Rules about text games: what the document says in these sentences, and how it is said.
local command_of = require "backends.sim.play_command"

local M = {}

local STEPS <const> = "- When the task says %s, the steps are: %s."
local FIRST <const> = "- Before you leave a place, `%s` it if that is possible."
local LOOK <const> = "- Look for a `%s` first at: %s."

--- What one does without rules: take what the task names, put it where the task says.
M.PLAIN = { "take {it}", "put {it} in {it}" }

---@class sim.Way
---@field cues string[] words of the task
---@field steps string[]
---@field line string?

---@class sim.PlayRules
---@field ways sim.Way[]
---@field firsts string[] words of what is done at a place before leaving it
---@field looks table<string, {places: string[], line: string}> where a kind may be

local function list(words, form, joint)
  local out = {}
  for i, word in ipairs(words) do out[i] = form:format(word) end
  return table.concat(out, joint)
end

--- The sentence of a way.
---@param way sim.Way
---@return string
function M.write_way(way)
  return STEPS:format(list(way.cues, '"%s"', " or "), list(way.steps, "`%s`", ", "))
end

--- The sentence about what is done before leaving.
---@param verb string
---@return string
function M.write_first(verb) return FIRST:format(verb) end

--- The sentence about where to look.
---@param kind string
---@param places string[]
---@return string
function M.write_look(kind, places) return LOOK:format(kind, list(places, "`%s`", ", ")) end

local function quoted(words, mark)
  local out = {}
  for word in words:gmatch(mark .. "([^" .. mark .. "]+)" .. mark) do out[#out + 1] = word end
  return out
end

local function read(line, rules)
  local cues, steps = line:match "^%- When the task says (.-), the steps are: (.*)%.$"
  if cues then
    local way = { cues = quoted(cues, '"'), steps = quoted(steps, "`"), line = line }
    if #way.cues > 0 and #way.steps > 0 then rules.ways[#rules.ways + 1] = way end
    return
  end
  local verb = line:match "^%- Before you leave a place, `([^`]+)` it if that is possible%.$"
  if verb then
    rules.firsts[#rules.firsts + 1] = verb
    return
  end
  local kind, places = line:match "^%- Look for a `([^`]+)` first at: (.*)%.$"
  if kind then rules.looks[kind] = { places = quoted(places, "`"), line = line } end
end

--- The rules of a document.
---@param document string
---@return sim.PlayRules
function M.all(document)
  local rules = { ways = {}, firsts = {}, looks = {} }
  for line in document:gmatch "[^\n]+" do read(line, rules) end
  return rules
end

--- Is the word said in the task?
---@param task string
---@param word string
---@return boolean
function M.says(task, word)
  return task:lower():find("%f[%w]" .. word .. "%f[%W]") ~= nil
end

--- The way of a task: the last that fits it.
---@param rules sim.PlayRules
---@param task string
---@return string[] steps
---@return sim.Way? way nil without a rule
function M.way(rules, task)
  for i = #rules.ways, 1, -1 do
    for _, cue in ipairs(rules.ways[i].cues) do
      if M.says(task, cue) then return rules.ways[i].steps, rules.ways[i] end
    end
  end
  return M.PLAIN
end

--- Are two lists of steps the same, whatever the word for putting is?
---@param a string[]
---@param b string[]
---@return boolean
function M.same_steps(a, b)
  if #a ~= #b then return false end
  for i, step in ipairs(a) do
    local other = b[i]
    local both_put = command_of.is_put(step) and command_of.is_put(other)
    local kinds, other_kinds = command_of.kinds(step), command_of.kinds(other)
    local same_kinds = table.concat(kinds, " ") == table.concat(other_kinds, " ")
    if step ~= other and not (both_put and same_kinds) then return false end
  end
  return true
end

return M
