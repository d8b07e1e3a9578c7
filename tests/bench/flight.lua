--- flight.lua - memory of calls in flight: 10,000 requests of 3 KB wait at once for a
--- provider that answers after some seconds. What the process grew by, a call.
local core = require "rt.task"
local file = require "rt.file"
local flow = require "rt.flow"
local http = require "rt.http"
local stdout = require "rt.stdout"

local CALLS <const> = 10000
local PAGE <const> = 4096
local LOOK_S <const> = 0.05
local _, _, url = ...

local function resident()
  collectgarbage()
  return tonumber(assert(file.read "/proc/self/statm"):match "^%d+ (%d+)") * PAGE
end

local body = '{"model":"m","messages":[{"role":"user","content":"'
  .. ("x"):rep(3000) .. '"}]}'

local failed, ended = 0, 0

local function call(i)
  local answer = http.request { url = url .. "/v1/chat/completions", method = "POST",
    headers = { ["Content-Type"] = "application/json" }, body = body:sub(1, -3) .. i .. '"}]}' }
  if not answer or answer.status ~= 200 then failed = failed + 1 end
  ended = ended + 1
end

http.request { url = "http://127.0.0.1:1/" } -- loads libcurl; nothing listens there
local before = resident()
for i = 1, CALLS do core.spawn("c" .. i, nil, i, call, i) end
while http.in_flight() < CALLS and ended == 0 do flow.sleep(LOOK_S) end
local most = http.in_flight()
local grown = resident() - before
core.join(0)
if failed > 0 then error(("%d of %d calls failed"):format(failed, CALLS), 0) end
if most < CALLS then error(("only %d were in flight when the first ended"):format(most), 0) end
stdout.write(("figure flight.10000.kb %.1f KB/call\n"):format(grown / CALLS / 1024))
return 0
