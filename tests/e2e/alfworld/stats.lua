--- stats.lua URL - how many calls the stub had at once.
local http = require "rt.http"
local json = require "rt.json"
local stdout = require "rt.stdout"

local url = ...
local answer = assert(http.request { url = url .. "/stats" })
local stats = assert(json.decode(answer.body))
stdout.write(("%d\n"):format(stats.in_flight_max))
return 0
