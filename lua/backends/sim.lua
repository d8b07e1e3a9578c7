--- `sim`: a small deterministic model for trying the program without a key. It is no
--- language model.
---
--- It is given the bytes of a request and gives those of a reply, and knows nothing else.
--- What is asked of it shows in the instructions: the JSON they want (an optimizer's work)
--- or a question about a text (a target's). As target it follows the rules that the skill
--- states in its own form of sentence (sim/rule.lua) and no others; as optimizer it finds
--- such rules by comparing values with expected answers. Slips, delays, failures and
--- unreadable replies are drawn from the request's `seed`.
local json = require "rt.json"
local flow = require "rt.flow"
local rng = require "rt.rng"
local text = require "rt.text"
local protocol = require "skillopt.protocol.openai_chat"
local advise = require "backends.sim.advise"
local analyst = require "backends.sim.analyst"
local merge = require "backends.sim.merge"
local play = require "backends.sim.play"
local play_learn = require "backends.sim.play_learn"
local rewrite = require "backends.sim.rewrite"
local target = require "backends.sim.target"

local M = { name = "sim", protocol = protocol, sends_seed = true, is_free = true }

local UNKNOWN <const> = "I am a simulated model. I answer questions about a text that comes "
  .. "with them, and I find, merge and rank rules for such answers. This request asks for "
  .. "something else."
local REMARK <const> = "- Read the record twice before you answer."
local HEADERS <const> = { ["content-type"] = "application/json" }

-------------------------------------------------------------------------- request

local function content_of(message)
  local content = message.content
  if type(content) == "string" then return content end
  local parts = {}
  for _, part in ipairs(type(content) == "table" and content or {}) do
    if type(part) == "table" and type(part.text) == "string" then parts[#parts + 1] = part.text end
  end
  return table.concat(parts, "\n")
end

--- Instructions and the first user message: what comes later asks for the same again.
local function read_messages(messages)
  local system, user = {}, nil
  for _, message in ipairs(messages) do
    if type(message) == "table" then
      if message.role == "system" then system[#system + 1] = content_of(message) end
      if message.role == "user" then user = user or content_of(message) end
    end
  end
  return table.concat(system, "\n"), user or ""
end

----------------------------------------------------------------------------- reply

--- Work of one name in the JSON, and of the names that stand beside `patch`.
local WORK <const> = {
  { "selected_indices", merge.rank }, { "slow_update_content", advise.guidance },
  { "meta_skill_content", advise.memory }, { "learning_rate", advise.rate },
  { "skill_candidates", rewrite.merge_documents },
  { "revise_suggestions", rewrite.merge_suggestions }, { "new_skill", rewrite.rewritten },
  { "edits", merge.merge }, { "appendix_notes", advise.notes },
}
local FORMS <const> = { { "skill_candidates", rewrite.as_document },
  { "revise_suggestions", rewrite.as_suggestions } }

--- Analysis of trajectories, in the form the instructions want.
local function analysis(wants, user)
  local reader = play_learn.is_about(user) and play_learn or analyst
  local wants_notes = wants "appendix_notes" ~= nil
  local function read(user_text)
    local about = wants "success_patterns" and reader.successes or reader.failures
    return about(user_text, wants_notes)
  end
  for _, form in ipairs(FORMS) do
    if wants(form[1]) then return function() return form[2](read(user), user) end end
  end
  return read
end

--- What the request asks for, by the names of the JSON its instructions want.
local function work_of(instructions, user)
  local function wants(name) return instructions:find(('"%s"'):format(name), 1, true) end
  if wants "patch" and (wants "failure_summary" or wants "success_patterns") then
    return analysis(wants, user)
  end
  for _, work in ipairs(WORK) do
    if wants(work[1]) then return work[2] end
  end
end

--- An optimizer's slip: its last edit is a remark that changes nothing.
local function with_slip(reply)
  local value = json.decode(reply)
  local edits = (value.patch or value).edits
  if not edits or #edits == 0 then return reply end
  edits[#edits] = { op = "append", content = REMARK }
  return json.encode(value, { indent = true, keys = { "reasoning", edits = { "op" } } })
end

--- An unreadable reply: half of one, or none at all.
local function spoil(reply, draw)
  if draw < 0.5 then return reply:sub(1, #reply // 2) end
  return "I have looked at all of it and would change the rules that failed most."
end

local function reply_to(system, user, settings, random)
  local slips = random:random() < (settings.noise or 0)
  local is_malformed, how = random:random() < (settings.malformed_rate or 0), random:random()
  local work = work_of(system ~= "" and system or user, user)
  if not work then
    return play.answer(system, user, { noise = settings.noise or 0, seed = random:below(1 << 30) })
      or target.answer(system, user, { misreads = slips }) or UNKNOWN
  end
  local reply = work(user)
  if slips then reply = with_slip(reply) end
  return is_malformed and spoil(reply, how) or reply
end

local function answer(status, value)
  return { status = status, headers = HEADERS, body = json.encode(value) }
end

local function failure(status, kind, message)
  return answer(status, { error = { message = message, type = kind, code = kind } })
end

--- At most so many tokens of the reply, and why it ends. A mark without room leaves the
--- beginning alone.
local function cut(reply, limit)
  if type(limit) ~= "number" or text.tokens(reply) <= limit then return reply, "stop" end
  return (text.cut_middle(reply, math.max(1, math.floor(limit)), reply)), "length"
end

local function completion(reply, request, prompt)
  local words, finish = cut(reply, request.max_completion_tokens or request.max_tokens)
  local asked, given = text.tokens(prompt), text.tokens(words)
  return {
    id = "sim", object = "chat.completion", created = 0, model = "sim",
    choices = json.array { { index = 0, finish_reason = finish,
      message = { role = "assistant", content = words } } },
    usage = { prompt_tokens = asked, completion_tokens = given, total_tokens = asked + given },
  }
end

---@class sim.Settings
---@field noise number? share of replies with a slip
---@field latency_s number? time a reply takes, half to one and a half of it
---@field error_rate number? share of requests that fail
---@field malformed_rate number? share of optimizer replies that cannot be read

--- The reply to a request in the form of the OpenAI chat API.
---@async
---@param body string bytes of the request
---@param settings sim.Settings
---@return {status: integer, headers: table<string, string>, body: string}
function M.handle(body, settings)
  local request = json.decode(body)
  if type(request) ~= "table" or type(request.messages) ~= "table" then
    return failure(400, "invalid_request_error", "the request has no messages")
  end
  local random = rng.from_text(request.seed and "sim " .. tostring(request.seed) or "sim " .. body)
  local wait, fails = random:random(), random:random()
  if (settings.latency_s or 0) > 0 then flow.sleep(settings.latency_s * (0.5 + wait)) end
  if fails < (settings.error_rate or 0) then
    return failure(503, "overloaded", "the simulated model is overloaded")
  end
  local system, user = read_messages(request.messages)
  return answer(200, completion(reply_to(system, user, settings, random), request, system .. user))
end

return M
