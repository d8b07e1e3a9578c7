--- The simulated model as a server: it gets the bytes of a request and nothing else.
package.path = "lua/?.lua;" .. package.path
package.preload["rt.flow"] = function() return { sleep = function() end } end
package.preload["skillopt.protocol.openai_chat"] = function() return {} end
local sim = require "backends.sim"

return {
  reply = function(request, info)
    if not request then return { status = 404, body = "{}" } end
    local answer = sim.handle(info.body, { noise = 0 })
    return { status = answer.status, body = answer.body }
  end,
}
