--- As target: reads the value and gives it in the form that the rules in the document
--- say; as it stands when no rule speaks of it.
local reader = require "backends.sim.reader"
local rule_of = require "backends.sim.rule"

local M = {}

--- The answer in the tag the instructions ask for, if they ask for one.
local function tagged(answer, instructions)
  local tag = instructions:match "<([%a_]+)>[^<]*</%1>"
  return tag and ("<%s>%s</%s>"):format(tag, answer, tag) or answer
end

--- The reply to a question about a text; nil when there is no question or no such text.
---@param instructions string the system message, with the document
---@param user string the user message
---@param options {misreads: boolean} take the line that fits second best
---@return string?
function M.answer(instructions, user, options)
  local question, context = reader.question(user)
  local reading = question and reader.read(context, question)
  if not reading then return nil end
  local value = options.misreads and reading.other or reading.value
  local answer, followed = rule_of.follow(rule_of.all(instructions), value, question)
  local why = followed and ("A rule speaks of values like `%s`."):format(followed.value)
    or "No rule speaks of it, so it is given as it stands."
  return ("The line that fits is \"%s\"; it says \"%s\". %s\n%s")
    :format(reading.label, value, why, tagged(answer, instructions))
end

return M
