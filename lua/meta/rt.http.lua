---@meta

--- HTTP for the library. An answer with any status is a result; an error is what kept the
--- answer away: `network` (name, connection, TLS, a cut body), `timeout`, `limit` (size, open
--- files), `config` (the address). Redirects are not followed; connections are kept and used
--- again; proxies come from the environment, but never for this machine's own addresses.
--- `SSL_CERT_FILE` names the certificates to trust.
---@class rt.http
local http = {}

---@class rt.http.request
---@field url string
---@field method? string             default POST with a body, GET without
---@field headers? table<string, string>  sent sorted by name
---@field body? string
---@field timeout_s? number          for the whole answer, default no limit
---@field connect_timeout_s? number  until name, connection and TLS are done, default 30
---@field idle_timeout_s? number     longest silence, the upload included, default no limit
---@field max_body? integer          bytes of the answer, decoded; default 64 MiB
---@field into? userdata             a stream parser (rt.model) that takes the body as it comes;
---                                  it may end the call before the server does

---@class rt.http.answer
---@field status integer
---@field headers table<string, string>  names in lower case, values of equal names joined by ", "
---@field body? string       nil with `into`
---@field elapsed_s number
---@field first_byte_s number  until the first byte of the answer
---@field connect_s number     until the connection was ready
---@field bytes_in integer     on the wire, with headers
---@field bytes_out integer
---@field is_reused boolean    no new connection was made

--- Send a request and wait for the whole answer. Cancelling the task ends it. A header that
--- holds a line break raises.
---@async
---@param request rt.http.request
---@return rt.http.answer?
---@return rt.err? err  message names the server, never user, path or query of the address;
---       `is_unsent`: no byte of the request went out
function http.request(request) end

--- Requests on the way.
---@return integer
function http.in_flight() end

return http
