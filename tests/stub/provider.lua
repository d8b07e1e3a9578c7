--- What the stub answers: login, faults, the script, the figures, the log.
---
--- A script is a Lua file that returns `{ reply = function(request, info) ... end }`.
--- `request` is the decoded body (nil when it is not JSON), `info` has method, path,
--- query, headers (lower-case names), body, digest (SHA-256 of the body) and attempt
--- (how often this body has been asked, counted from 1). README.md lists what a reply
--- may say.
local digest = require "rt.digest"
local json = require "rt.json"
local completion = require "completion"
local faults = require "faults"
local options = require "options"

local M = {}

local REPLY_KEYS <const> = {
  status = true, headers = true, body = true, raw = true, delay_ms = true, cut = true,
  pause_ms = true, piece_bytes = true, stream = true, text = true, reasoning = true,
  tool_calls = true, finish = true, usage = true, model = true,
}

local LOG_KEYS <const> = {
  "n", "method", "path", "model", "digest", "attempt", "status", "fault", "key",
}

local CANNED <const> = ("<answer>canned</answer> "):rep(28)

local settings, script, log
local seen, figures = {}, nil

local function new_figures()
  return {
    calls = 0, script_errors = 0,
    by_status = json.object {}, by_model = json.object {}, by_fault = json.object {},
    tokens = { prompt = 0, completion = 0 }, bodies = { distinct = 0, repeated = 0 },
  }
end

local function count(where, key)
  where[key] = (where[key] or 0) + 1
end

--- The key a request carries: what follows `Bearer`, or `api-key`.
local function key_of(headers)
  return (headers.authorization or ""):match("^[Bb]earer%s+(.+)$") or headers["api-key"] or ""
end

local function is_chat(info)
  return info.method == "POST" and info.path:match("/chat/completions$") ~= nil
end

--- Transport fields of the script's reply, with its body made.
local function answer_of(reply, request, info)
  if type(reply) == "string" then reply = { text = reply } end
  for key in pairs(reply) do
    if not REPLY_KEYS[key] then error(("a reply has no field %q"):format(tostring(key)), 0) end
  end
  local answer = {
    status = reply.status or 200, headers = reply.headers or {}, delay_ms = reply.delay_ms,
    cut = reply.cut, pause_ms = reply.pause_ms, piece_bytes = reply.piece_bytes,
    raw = reply.raw ~= nil, stream = reply.stream,
  }
  answer.body = reply.raw or reply.body
  if type(answer.body) == "table" then answer.body = json.encode(answer.body) end
  if answer.body then return answer end
  if answer.stream == nil then answer.stream = request.stream == true end
  local make = answer.stream and completion.stream or completion.plain
  answer.body = make(reply, request, info.digest)
  answer.usage = completion.usage(reply, request)
  return answer
end

local function scripted(request, info)
  local ok, answer = pcall(function()
    return answer_of(script.reply(request, info), request or {}, info)
  end)
  if ok then return answer end
  figures.script_errors = figures.script_errors + 1
  io.stderr:write("stub: ", settings.script, ": ", tostring(answer), "\n")
  return faults.error(500, "script: " .. tostring(answer), "script_error")
end

local function decide(request, info)
  if settings.key and key_of(info.headers) ~= settings.key then
    return faults.error(401, "Incorrect API key provided", "invalid_api_key"), "login"
  end
  local kind = faults.pick(settings, info.digest, info.attempt)
  if kind then
    local function normal() return scripted(request, info) end
    return faults.answer(kind, settings, normal), kind
  end
  if is_chat(info) and type(request) ~= "table" then
    return faults.error(400, "the body is not a JSON object", "invalid_request_error")
  end
  return scripted(request, info)
end

local function count_call(info, answer, kind)
  figures.calls = figures.calls + 1
  count(figures.by_status, tostring(answer.status))
  count(figures.by_model, info.model)
  if kind then count(figures.by_fault, kind) end
  local usage, tokens = answer.usage or {}, figures.tokens
  tokens.prompt = tokens.prompt + (math.tointeger(usage.prompt_tokens) or 0)
  tokens.completion = tokens.completion + (math.tointeger(usage.completion_tokens) or 0)
end

--- One line a request, in the order of arrival; of the key only its digest is kept.
local function write_log(info, answer, kind)
  local key = key_of(info.headers)
  log:write(json.encode({
    n = figures.calls, method = info.method, path = info.path, model = info.model,
    digest = info.digest, attempt = info.attempt, status = answer.status,
    fault = kind or json.null, key = key == "" and json.null or digest.sha256(key),
  }, { keys = LOG_KEYS }), "\n")
end

local function see(body)
  local d = digest.sha256(body)
  count(figures.bodies, seen[d] and "repeated" or "distinct")
  count(seen, d)
  return d, seen[d]
end

local function finish(answer)
  answer.delay_ms = (answer.delay_ms or 0) + settings.latency_ms
  local headers = answer.headers or {}
  answer.headers = headers
  if not headers["Content-Type"] then
    headers["Content-Type"] = answer.stream and "text/event-stream" or "application/json"
  end
  return answer
end

local function stats(request)
  figures.in_flight, figures.in_flight_max = request.in_flight, request.in_flight_max
  figures.closed_early = request.closed_early
  if settings.fast then figures.calls = request.fast_calls end
  return { status = 200, body = json.encode(figures) }
end

--- The answer to one request.
---@param request table method, path, query, headers, body; figures for /stats
---@return table answer status, headers, body, delay_ms, cut, pause_ms, piece_bytes, stream, raw
function M.serve(request)
  if request.path == "/stats" then return stats(request) end
  if request.path == "/reset" then
    seen, figures = {}, new_figures()
    return { status = 200, body = "{}" }
  end
  local info = request
  info.digest, info.attempt = see(info.body)
  local body = json.decode(info.body)
  info.model = type(body) == "table" and type(body.model) == "string" and body.model or ""
  local answer, kind = decide(body, info)
  count_call(info, answer, kind)
  if log then write_log(info, answer, kind) end
  return finish(answer)
end

--- Read the options, load the script, open the log; raises on what is wrong with them.
---@param args string[]
---@return table settings
function M.start(args)
  settings, figures = options.read(args), new_figures()
  if settings.script then
    local chunk, message = loadfile(settings.script)
    if not chunk then error(message, 0) end
    script = chunk()
    local is_script = type(script) == "table" and type(script.reply) == "function"
    if not is_script then error(settings.script .. " returns no { reply = function }", 0) end
  end
  if settings.log then
    log = assert(io.open(settings.log, "a"))
    log:setvbuf("line")
  end
  settings.canned = completion.plain({ text = CANNED }, {}, digest.sha256(CANNED))
  return settings
end

return M
