--- Accept a candidate whose score is above that of the current skill; a tie is a reject.
local decide = require "skillopt.decide"
local policy = require "skillopt.policy"

return policy.define {
  slot = "gate",
  run = function(candidate, current)
    return decide.is_better(candidate, current), (decide.reason(candidate, current))
  end,
}
