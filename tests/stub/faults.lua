--- Faults of a provider. Which call gets which one is decided by digests alone, so that
--- a run meets the same weather however its calls are ordered.
local digest = require "rt.digest"
local json = require "rt.json"

local M = {}

--- A number in [0, 1) and a whole number, both from the digest of `text`.
local function draw(text)
  local hex = digest.sha256(text)
  return tonumber(hex:sub(1, 13), 16) / 2 ^ 52, tonumber(hex:sub(14, 26), 16)
end

local function drawn_kind(settings, share, text)
  local at, which = draw(text)
  if at >= share then return nil end
  return settings.fault[which % #settings.fault + 1]
end

--- The fault this call meets, or nil: `fail_always` by the body alone, `fail_share` by
--- the body and how often it was asked.
---@param settings table
---@param body_digest string
---@param attempt integer
---@return string|nil
function M.pick(settings, body_digest, attempt)
  return drawn_kind(settings, settings.fail_always, "always\n" .. body_digest)
    or drawn_kind(settings, settings.fail_share, ("share\n%s\n%d"):format(body_digest, attempt))
end

--- The shape of every error body.
---@param status integer
---@param message string
---@param code string
---@return table answer
function M.error(status, message, code)
  local fault = { message = message, type = code, code = code }
  return { status = status, body = json.encode { error = fault }, headers = {} }
end

local function http_date(time)
  return os.date("!%a, %d %b %Y %H:%M:%S GMT", time)
end

local replace = {}

function replace.rate_limit(settings)
  local answer = M.error(429, "too many requests", "rate_limit_exceeded")
  answer.headers["Retry-After"] = ("%d"):format(settings.retry_after)
  return answer
end

--- The clock of this server is an hour ahead: only the difference of the two counts.
function replace.rate_limit_date(settings)
  local answer = M.error(429, "too many requests", "rate_limit_exceeded")
  local now = os.time() + 3600
  answer.headers["Date"] = http_date(now)
  answer.headers["Retry-After"] = http_date(now + settings.retry_after)
  return answer
end

replace["500"] = function() return M.error(500, "internal error", "server_error") end
replace["503"] = function() return M.error(503, "overloaded", "server_error") end

function replace.html()
  local page = "<html><head><title>502 Bad Gateway</title></head><body>proxy</body></html>"
  return { status = 200, body = page, headers = { ["Content-Type"] = "text/html" } }
end

function replace.empty_choices()
  return { status = 200, body = '{"object":"chat.completion","choices":[]}', headers = {} }
end

function replace.chunk()
  local body = table.concat({
    "HTTP/1.1 200 OK", "Content-Type: application/json", "Transfer-Encoding: chunked", "",
    "9", '{"choices', "not a size", "",
  }, "\r\n")
  return { status = 200, raw = true, body = body }
end

local change = {}

function change.cut(answer)
  answer.cut = #answer.body // 2
end

function change.invalid_json(answer)
  answer.body = answer.body:sub(1, #answer.body // 2)
end

function change.slow(answer, settings)
  answer.delay_ms = (answer.delay_ms or 0) + settings.slow_ms
end

--- A stream breaks after its first event; a plain reply is an error in a 200.
function change.error_in_stream(answer)
  local fault = 'data: {"error":{"code":502,"message":"upstream went away"}}\n\n'
  if not answer.stream then
    answer.body = '{"error":{"code":502,"message":"upstream went away"}}'
    return
  end
  local first = answer.body:find("\n\n", 1, true)
  answer.body = answer.body:sub(1, first + 1) .. fault
end

--- The answer under the fault `kind`; `normal()` makes the answer without it.
---@param kind string
---@param settings table
---@param normal fun(): table
---@return table answer
function M.answer(kind, settings, normal)
  if replace[kind] then return replace[kind](settings) end
  local answer = normal()
  change[kind](answer, settings)
  return answer
end

return M
