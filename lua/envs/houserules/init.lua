--- Questions about a company's records, answered in the form its house rules ask for. The
--- rules are nowhere stated: they show in the expected answers only. Hard is equality (case
--- counts, runs of blanks do not), soft is token F1.
local skillopt = require "skillopt"
local score = require "rt.score"
local text = require "rt.text"

local function check(item)
  if type(item.context) ~= "string" then return false, "the context is no text" end
  local expected = type(item.answers) == "table" and item.answers[1]
  if type(expected) ~= "string" or text.strip(expected) == "" then
    return false, "answers must be a list with one text"
  end
  return true
end

local function reason(predicted)
  return predicted == "" and "no answer in its tag" or "the answer is not the expected one"
end

return skillopt.env {
  name = "houserules",
  required = { "question", "context", "answers" },
  answers = { "answers" },
  check = check,
  rollout = function(item, ctx)
    local prompt = ctx:prompt("rollout",
      { skill = ctx.skill, context = item.context, question = item.question })
    local reply = ctx:conversation({ system = prompt.system }):ask(prompt.user)
    local predicted = text.collapse(score.tagged(reply.text, "answer") or "")
    local is_equal = predicted == text.collapse(item.answers[1])
    return {
      hard = is_equal and 1 or 0, soft = is_equal and 1.0 or score.f1(predicted, item.answers),
      question = item.question, task_description = item.question, predicted_answer = predicted,
      gold_answers = item.answers, response = reply.text,
      fail_reason = is_equal and "" or reason(predicted),
    }
  end,
  feedback = function(item, mark)
    return ("Question: %s\nPredicted answer: %s\nExpected answer: %s")
      :format(item.question, mark.predicted_answer, text.collapse(item.answers[1]))
  end,
}
