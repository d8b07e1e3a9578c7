--- One model call: the logical request and its digest, what a usable answer is, and
--- the second try. How it travels is skillopt.endpoint's business.
local core = require "rt.task"
local digest = require "rt.digest"
local effect = require "skillopt.effect"
local json = require "rt.json"
local options = require "skillopt.options"
local reply_text = require "rt.reply"
local skill = require "skillopt.skill"

local M = {}

M.OPTIONS = {
  system = true, user = true, messages = true, tools = true, role = true, stage = true,
  json = true, schema = true, max_tokens = true, reasoning_effort = true, timeout_s = true,
  partial = true,
}

-- Raised to end a rollout item as `no_answer`; evaluate knows it.
local NoAnswer = { __tostring = function(e) return "no answer: " .. e.reason end }

--- End the item of the calling task.
---@param reason string stable words
function M.no_answer(reason)
  error(setmetatable({ no_answer = true, reason = reason, kind = "truncated", message = reason },
    NoAnswer), 0)
end

---------------------------------------------------------------- logical request

local function check_text(value)
  if type(value) ~= "string" and not skill.is_skill(value) then
    error(string.format("a message must be text, got %s", type(value)), 5)
  end
  return skill.text(value)
end

local function part_of(part)
  if type(part) ~= "table" or (part.text == nil) == (part.image == nil) then
    error("a part of a message is {text = ...} or {image = bytes, type = ...}", 4)
  end
  if part.text then return { text = check_text(part.text) } end
  return { image = part.image, type = part.type or "image/png", detail = part.detail or "auto" }
end

local function content_of(content)
  if content == nil then return json.array {} end
  if type(content) ~= "table" or skill.is_skill(content) then
    return json.array { { text = check_text(content) } }
  end
  local parts = json.array {}
  for i, part in ipairs(content) do parts[i] = part_of(part) end
  return parts
end

local ROLES = { system = true, user = true, assistant = true, tool = true }

local function message_of(message)
  if not ROLES[message.role] then
    error(string.format("a message has the role '%s' (system, user, assistant or tool)",
      tostring(message.role)), 3)
  end
  return {
    role = message.role, content = content_of(message.content),
    tool_calls = message.tool_calls and #message.tool_calls > 0 and message.tool_calls or nil,
    tool_call_id = message.tool_call_id,
  }
end

local function messages_of(opt)
  local list = {}
  if opt.system ~= nil and skill.text(opt.system) ~= "" then
    list[1] = { role = "system", content = content_of(opt.system) }
  end
  if opt.messages and opt.user then error("give `user` or `messages`, not both", 3) end
  for _, message in ipairs(opt.messages or {}) do list[#list + 1] = message_of(message) end
  if opt.user ~= nil then list[#list + 1] = { role = "user", content = content_of(opt.user) } end
  if #list == 0 then error("a call needs `user` or `messages`", 3) end
  return list
end

--- A schema whose properties are an object even when there are none.
local function parameters_of(schema)
  local out = { type = "object", properties = json.object {} }
  for k, v in pairs(schema or {}) do
    if k ~= "properties" or next(v) ~= nil then out[k] = v end
  end
  return out
end

local function tools_of(tools)
  if not tools or #tools == 0 then return nil end
  local out = json.array {}
  for i, tool in ipairs(tools) do
    out[i] = {
      name = tool.name, description = tool.description or "",
      parameters = parameters_of(tool.parameters),
    }
  end
  return out
end

--- What a digest is taken of: images by their own digest.
local function digest_form(message)
  local parts = nil
  for i, part in ipairs(message.content) do
    if part.image then
      parts = parts or table.move(message.content, 1, #message.content, 1, json.array {})
      parts[i] = { image = digest.sha256(part.image), type = part.type, detail = part.detail }
    end
  end
  if not parts then return message end
  return { role = message.role, content = parts, tool_calls = message.tool_calls,
    tool_call_id = message.tool_call_id }
end

-- The system message digested last: many calls in a row have the same.
local system = { text = nil, id = nil }

local function message_id(message)
  local content = message.content
  local text = message.role == "system" and #content == 1 and content[1].text
  if text and text == system.text then return system.id end
  local id = digest.canonical(digest_form(message))
  if text then system.text, system.id = text, id end
  return id
end

--- Digest of a logical request, and those of its messages.
---@param request table {provider, model, params, tools, format, messages}
---@return string digest
---@return string[] ids
function M.identity(request)
  local ids = json.array {}
  for i, message in ipairs(request.messages) do ids[i] = message_id(message) end
  return digest.canonical {
    kind = "chat", provider = request.provider, model = request.model, params = request.params,
    tools = request.tools, format = request.format, messages = ids,
  }, ids
end

--- The bodies of a request's messages, to be kept once.
---@param request table
---@param ids string[]
---@return {key: string, bytes: string}[]
function M.bodies(request, ids)
  local bodies = {}
  for i, message in ipairs(request.messages) do
    bodies[i] = { key = ids[i], bytes = json.canonical(digest_form(message)) }
  end
  return bodies
end

local function request_of(endpoint, opt, max_tokens)
  local params = endpoint:params { max_tokens = max_tokens,
    reasoning_effort = opt.reasoning_effort }
  local format = opt.schema and { schema = opt.schema } or (opt.json and "json" or nil)
  return {
    provider = endpoint.provider, model = endpoint.model, params = params,
    tools = tools_of(opt.tools), format = format, messages = messages_of(opt),
  }
end

------------------------------------------------------------------- the call

local function arguments_of(call)
  local value = call.arguments
  if type(value) ~= "string" then return value end
  local parsed = json.decode(value)
  if type(parsed) == "table" and json.is_object(parsed) then return parsed end
  return value
end

--- What ctx hands out, from the stored reply.
local function finished(stored)
  local calls = {}
  for i, call in ipairs(stored.tool_calls or {}) do
    calls[i] = { id = call.id, name = call.name, arguments = arguments_of(call) }
  end
  return {
    text = stored.text, tool_calls = calls, finish = stored.finish, usage = stored.usage,
    outcome = stored.outcome, reasoning = stored.reasoning,
    message = { role = "assistant", content = stored.text,
      tool_calls = #calls > 0 and stored.tool_calls or nil },
  }
end

local function text_of_message(message)
  local content = message and message.content or {}
  if #content == 1 and content[1].text then return content[1].text end
  local parts = {}
  for _, part in ipairs(content) do
    parts[#parts + 1] = part.text or string.format("[%s, %d bytes]", part.type, #part.image)
  end
  return table.concat(parts, "\n")
end

--- The reply becomes part of the item's trajectory, the first one with the prompts it
--- answers.
local function note_reply(request, stored)
  local locals = core.locals()
  locals.replies = locals.replies or {}
  local reply = { role = "assistant", content = stored.text,
    tool_calls = stored.tool_calls and #stored.tool_calls > 0 and stored.tool_calls or nil }
  locals.replies[#locals.replies + 1] = reply
  if #locals.replies > 1 then return end
  local messages = request.messages
  local has_system = messages[1].role == "system"
  reply.system = has_system and text_of_message(messages[1]) or ""
  reply.user = text_of_message(messages[has_system and 2 or 1])
end

--- Send a call, `{request, ids, endpoint, stage, timeout_s}`.
---@async
local function send(plane, count, call)
  return call.endpoint:ask(call.request, { stage = call.stage, timeout_s = call.timeout_s,
    plane = plane, count = count })
end

local function bodies_of(call) return M.bodies(call.request, call.ids) end

--- Ask once. The reply, or an error that is an answer (refused, filtered, ...).
---@async
local function ask_once(place, endpoint, opt, max_tokens)
  local request = request_of(endpoint, opt, max_tokens)
  local id, ids = M.identity(request)
  local run = place.run
  local stage = opt.stage or place.stage
  local stored = effect.perform(run.effects, id, send, bodies_of, { request = request, ids = ids,
    endpoint = endpoint, stage = stage, timeout_s = opt.timeout_s or place.timeout_s })
  run.tally(endpoint.role, stage, stored, endpoint.model)
  if stored.error then return nil, stored.error end
  if place.item and endpoint.role == "target" then note_reply(request, stored) end
  return finished(stored)
end

local REASONS = {
  empty = "the reply was empty",
  reasoning_only = "no final answer (the output was spent on reasoning)",
  truncated = "the reply was cut at the output limit",
}

--- Why a reply cannot be used, or nil.
local function unusable(reply)
  if #reply.tool_calls > 0 then return nil end
  if reply.finish == "length" and reply.outcome ~= "reasoning_only" then return "truncated" end
  if reply.outcome == "reasoning_only" then return "reasoning_only" end
  if reply.text:find "%S" == nil then return "empty" end
  return nil
end
M.unusable = unusable

--- The parsed reply, or what is wrong with it.
local function parse(reply, opt)
  if not opt.json and not opt.schema then return true end
  local value, err = reply_text.extract(reply.text, { array = true })
  if value == nil then return false, err.message end
  reply.json = value
  return true
end

local function answer_error(err)
  return { kind = err.kind, message = err.message, retry = false }
end

local function endpoint_of(place, role)
  role = role or place.role
  if role ~= "target" and role ~= "optimizer" then
    error(string.format("there is no role '%s' (target or optimizer)", tostring(role)), 4)
  end
  return place.run.endpoint(role)
end

--- See lua/meta/ctx.lua. `place` says for whom.
---@async
---@param place table
---@param opt skillopt.ChatOptions
---@return skillopt.Reply
function M.chat(place, opt)
  options.check(opt, M.OPTIONS, "ctx:chat")
  local endpoint = endpoint_of(place, opt.role)
  local max_tokens = opt.max_tokens or endpoint.max_tokens
  local why
  for try = 1, 2 do
    local reply, err = ask_once(place, endpoint, opt, try == 1 and max_tokens or 2 * max_tokens)
    if err and (err.kind ~= "truncated" or opt.partial or try == 2) then
      error(answer_error(err), 0)
    elseif reply then
      local fault = unusable(reply)
      local ok, message = parse(reply, opt)
      if opt.partial or (not fault and ok) then return reply end
      why = fault and REASONS[fault] or "the reply is no JSON (" .. tostring(message) .. ")"
    end
  end
  if place.kind == "rollout" then M.no_answer(why) end
  error({ kind = "truncated", message = why, retry = false }, 0)
end

return M
