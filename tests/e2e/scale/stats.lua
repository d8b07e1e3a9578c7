--- stats.lua URL - most calls the provider had in flight at once.
local http = require "rt.http"
local json = require "rt.json"
local stdout = require "rt.stdout"

local answer = assert(http.request { url = (...) .. "/stats" })
stdout.write(("%d\n"):format(json.decode(answer.body).in_flight_max))
