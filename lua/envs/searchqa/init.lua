--- SearchQA: a trivia question, noisy search snippets, a short answer. Hard is exact match
--- and soft is token F1 after SQuAD normalisation (lower case, no ASCII punctuation, no
--- articles), against the best of the accepted answers.
local skillopt = require "skillopt"
local json = require "rt.json"
local score = require "rt.score"
local text_of = require "rt.text"

local function is_text_list(value)
  if type(value) ~= "table" or not json.is_array(value) or #value == 0 then return false end
  for _, one in ipairs(value) do
    if type(one) ~= "string" then return false end
  end
  return true
end

--- One accepted answer may be given as a text; no context is the empty one.
local function items(raw)
  local item = {}
  for k, v in pairs(raw) do item[k] = v end
  if type(item.answers) == "string" then item.answers = { item.answers } end
  if item.context == nil or item.context == json.null then item.context = "" end
  return item
end

local function check(item)
  if type(item.question) ~= "string" then return false, "the question is no text" end
  if type(item.context) ~= "string" then return false, "the context is no text" end
  if not is_text_list(item.answers) then
    return false, "answers must be a list of at least one text"
  end
  return true
end

local function answer_in(text)
  return score.tagged(text, "answer", { fallback = "last_line" }) or ""
end

--- Ask; in later turns have the answer checked against the same material, until it
--- stands or the turns are used up. A later reply without an answer changes nothing.
---@async
local function ask(item, ctx)
  local prompt = ctx:prompt("rollout", {
    skill = ctx.skill, question = item.question,
    context = text_of.cut_at(item.context, ctx.opt.context_limit, "[DOC]"),
  })
  local talk = ctx:conversation { system = prompt.system }
  local text = talk:ask(prompt.user).text
  local answer = answer_in(text)
  for _ = 2, ctx.opt.max_turns do
    local reply = talk:ask(ctx:prompt("recheck", { answer = answer }).user, { partial = true })
    local checked = answer_in(reply.text)
    if checked == "" or checked == answer then break end
    text, answer = reply.text, checked
  end
  return text, answer
end

local function reason(em, answer, golds)
  if em == 1 then return "" end
  if answer == "" then return "EM=0: empty answer" end
  return string.format("EM=0: predicted %s, expected %s", json.encode(answer), json.encode(golds))
end

return skillopt.env {
  name = "searchqa",
  required = { "question", "answers" },
  answers = { "answers" },
  items = items,
  check = check,
  options = {
    max_turns = { "integer", 1, "turns: 1, or more to have the answer checked", min = 1, max = 10 },
    context_limit = { "integer", 6000, "characters of context shown, cut at a document's start",
      min = 100 },
  },
  task_type = function() return "qa" end,
  rollout = function(item, ctx)
    local text, answer = ask(item, ctx)
    local em = score.exact_match(answer, item.answers)
    local f1 = score.f1(answer, item.answers)
    return {
      hard = math.floor(em), soft = f1, em = em, f1 = f1,
      sub_em = score.sub_em(answer, item.answers),
      question = item.question, task_description = item.question, predicted_answer = answer,
      gold_answers = item.answers, response = text, agent_ok = true,
      fail_reason = reason(em, answer, item.answers),
    }
  end,
  feedback = function(item, mark)
    return string.format("Question: %s\nPredicted answer: %s\nAccepted answers: %s\n"
      .. "Exact match: %d, token F1: %.4f", item.question, json.encode(mark.predicted_answer),
      json.encode(item.answers), mark.em, mark.f1)
  end,
}
