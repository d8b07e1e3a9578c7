---@meta

--- HTTP for the library. An answer with any status is a result; an error is what kept the
--- answer away. Redirects are not followed, proxies never used for this machine.
---@class rt.http
local http = {}

---@class rt.http.Request
---@field url string
---@field method string? default POST with a body, GET without
---@field headers table<string, string>?
---@field body string?
---@field timeout_s number? for the whole call, default none
---@field connect_timeout_s number? default 30
---@field idle_timeout_s number? longest silence, default none
---@field max_body integer? bytes of the answer, default 64 MiB

--- Send a request and wait for the whole answer. Cancelling the task ends it.
---@async
---@param request rt.http.Request
---@return {status: integer, headers: table<string, string>, body: string, elapsed_s: number, is_reused: boolean}? answer header names in lower case
---@return skillopt.Err? err kind network, timeout, limit or config
function http.request(request) end

--- Requests on the way.
---@return integer
function http.in_flight() end

return http
