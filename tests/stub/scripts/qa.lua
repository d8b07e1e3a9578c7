--- A provider for training runs on question answering: as target it answers with a word of
--- the prompt, as optimizer it proposes, merges and ranks edits. All follows from the body.
local digest = require "rt.digest"
local json = require "rt.json"

local function number_of(text)
  return tonumber(digest.sha256(text):sub(1, 8), 16)
end

local function rule(text, i)
  return { op = "append", content = ("- Rule %s: prefer the shorter answer."):format(
    digest.sha256(text .. i):sub(1, 4)) }
end

local function optimizer(system, body)
  if system:find("selected_indices", 1, true) then
    return json.encode { reasoning = "in order", selected_indices = { 0, 1 } }
  end
  local edits = { rule(body, 1), rule(body, 2), rule(body, 3) }
  if system:find('"patch"', 1, true) then
    return json.encode { batch_size = 1, failure_summary = { { failure_type = "other", count = 1,
      description = "too long" } }, patch = { reasoning = "shorter", edits = edits } }
  end
  return json.encode { reasoning = "merged", edits = edits }
end

--- A word of the question or its context; with more rules in the skill more often a good one.
local function target(system, user, body)
  local words = {}
  for word in user:gmatch "[%w\x80-\xFF]+" do words[#words + 1] = word end
  local word = words[number_of(body) % math.max(1, #words) + 1] or "yes"
  local _, rules = system:gsub("prefer the shorter", "")
  if number_of(user) % 10 < 2 + rules then word = "yes" end
  return "Thinking it over.\n<answer>" .. word .. "</answer>"
end

return {
  reply = function(request, info)
    if not request then return { status = 404, body = "{}" } end
    local messages = request.messages
    local system = messages[1].role == "system" and messages[1].content or ""
    local user = messages[#messages].content
    if system:find('"edits"', 1, true) or system:find("selected_indices", 1, true) then
      return { text = optimizer(system, info.body) }
    end
    return { text = target(system, user, info.body) }
  end,
}
