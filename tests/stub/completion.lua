--- Bodies of the Chat Completions API, plain and as a stream of events. Everything in
--- them comes from the reply and the request: the same request gets the same bytes.
local json = require "rt.json"

local M = {}

local CREATED <const> = 1700000000
local STREAM_PIECE <const> = 12 -- code points of text in one event

--- About four bytes a token, and never none for a text.
local function tokens_of(text)
  return (#text + 3) // 4
end

local function prompt_tokens(request)
  local count = 0
  for _, message in ipairs(type(request.messages) == "table" and request.messages or {}) do
    local content = message.content
    for _, part in ipairs(type(content) == "table" and content or { { text = content } }) do
      count = count + 4 + tokens_of(type(part.text) == "string" and part.text or "")
    end
  end
  return count
end

--- What the provider says was used: `reply.usage` (false: nothing), else an estimate.
---@param reply table
---@param request table
---@return table|nil
function M.usage(reply, request)
  if reply.usage ~= nil then return reply.usage or nil end
  local reasoning = tokens_of(reply.reasoning or "")
  local input, output = prompt_tokens(request), tokens_of(reply.text or "") + reasoning
  local usage = { prompt_tokens = input, completion_tokens = output, total_tokens = input + output }
  if reasoning > 0 then usage.completion_tokens_details = { reasoning_tokens = reasoning } end
  return usage
end

local function tool_calls(reply, digest)
  if not reply.tool_calls then return nil end
  local calls = json.array {}
  for i, call in ipairs(reply.tool_calls) do
    local arguments = call.arguments or "{}"
    calls[i] = {
      id = call.id or ("call_%s_%d"):format(digest:sub(1, 8), i),
      type = "function",
      ["function"] = {
        name = call.name,
        arguments = type(arguments) == "string" and arguments or json.encode(arguments),
      },
    }
  end
  return calls
end

local function finish_of(reply)
  if reply.finish == false then return json.null end
  return reply.finish or (reply.tool_calls and "tool_calls" or "stop")
end

local function head(reply, request, digest, object)
  return {
    id = "chatcmpl-" .. digest:sub(1, 24),
    object = object,
    created = CREATED,
    model = reply.model or request.model or "stub",
  }
end

--- The body of a plain reply.
---@param reply table
---@param request table
---@param digest string
---@return string
function M.plain(reply, request, digest)
  local body = head(reply, request, digest, "chat.completion")
  local message = {
    role = "assistant",
    content = reply.text or (reply.tool_calls and json.null or ""),
    reasoning_content = reply.reasoning,
    tool_calls = tool_calls(reply, digest),
  }
  body.choices = json.array { { index = 0, message = message, finish_reason = finish_of(reply) } }
  body.usage = M.usage(reply, request)
  return json.encode(body)
end

local function event(out, body)
  out[#out + 1] = "data: " .. json.encode(body) .. "\n\n"
end

local function pieces_of(text)
  local pieces, at = {}, 1
  while at <= #text do
    local next_at = utf8.offset(text, STREAM_PIECE + 1, at) or #text + 1
    pieces[#pieces + 1] = text:sub(at, next_at - 1)
    at = next_at
  end
  return pieces
end

local function deltas_of(reply, digest)
  local deltas = { { role = "assistant", content = "" } }
  for _, piece in ipairs(pieces_of(reply.reasoning or "")) do
    deltas[#deltas + 1] = { reasoning_content = piece }
  end
  for _, piece in ipairs(pieces_of(reply.text or "")) do
    deltas[#deltas + 1] = { content = piece }
  end
  for i, call in ipairs(tool_calls(reply, digest) or {}) do
    call.index = i - 1
    deltas[#deltas + 1] = { tool_calls = json.array { call } }
  end
  return deltas
end

--- The body of a streamed reply: one event a delta, then the reason to stop, the usage
--- when the request asks for it, and `[DONE]`.
---@param reply table
---@param request table
---@param digest string
---@return string
function M.stream(reply, request, digest)
  local out = {}
  local chunk = head(reply, request, digest, "chat.completion.chunk")
  local function add(delta, finish)
    local choice = { index = 0, delta = json.object(delta), finish_reason = finish }
    chunk.choices = json.array { choice }
    event(out, chunk)
  end
  for _, delta in ipairs(deltas_of(reply, digest)) do add(delta, json.null) end
  add({}, finish_of(reply))
  local wants = type(request.stream_options) == "table" and request.stream_options.include_usage
  chunk.usage = wants and M.usage(reply, request) or nil
  if chunk.usage then
    chunk.choices = json.array {}
    event(out, chunk)
  end
  out[#out + 1] = "data: [DONE]\n\n"
  return table.concat(out)
end

return M
