--- Sending a body to a server that speaks a JSON protocol.
local http = require "rt.http"

local M = {}

--- Address of an endpoint below a base; a base that ends in it already is taken as it is.
---@param base string without a slash at the end
---@param path string as "/chat/completions"
---@return string
function M.address(base, path)
  return base:sub(-#path) == path and base or base .. path
end

--- Send; the key goes out as a bearer token when there is one.
---@async
---@param url string
---@param body string
---@param settings {api_key: string?, connect_timeout_s: number?}
---@param timeout_s number? for the whole answer
---@return {status: integer, headers: table<string, string>, body: string}?
---@return skillopt.Err?
function M.post(url, body, settings, timeout_s)
  local headers = { ["Content-Type"] = "application/json", ["User-Agent"] = "skillopt" }
  if settings.api_key then headers.Authorization = "Bearer " .. settings.api_key end
  return http.request { url = url, method = "POST", headers = headers, body = body,
    timeout_s = timeout_s }
end

return M
