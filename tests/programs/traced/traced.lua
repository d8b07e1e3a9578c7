--- An environment without a model: the mark follows from the id and the skill's text.
local skillopt = require "skillopt"
local digest = require "rt.digest"

return skillopt.env {
  name = "traced",
  required = {},
  rollout = function(item, ctx)
    local hex = digest.sha256(item.id .. "\n" .. ctx.skill)
    local hard = tonumber(hex:sub(1, 2), 16) % 3 == 0 and 1 or 0
    return { hard = hard, soft = tonumber(hex:sub(3, 4), 16) / 256,
      fail_reason = hard == 1 and "" or "EM=0: miss" }
  end,
  feedback = function(_, mark) return "hard " .. mark.hard end,
}
