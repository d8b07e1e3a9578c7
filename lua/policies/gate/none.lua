--- No gate: every candidate becomes the current skill; best moves only when its score is
--- above best's.
local decide = require "skillopt.decide"
local policy = require "skillopt.policy"

return policy.define {
  slot = "gate",
  run = function(candidate, current)
    return "force_accept", "no gate; " .. decide.reason(candidate, current)
  end,
}
