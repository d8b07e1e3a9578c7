--- Accept a candidate whose score is above that of the current skill; a tie is a reject.
--- It is hopeless once it could not be above even with the best mark on all other items.
local decide = require "skillopt.decide"
local policy = require "skillopt.policy"

return policy.define {
  slot = "gate",
  run = function(candidate, current)
    return decide.is_better(candidate, current), (decide.reason(candidate, current))
  end,
  hopeless = function(prefix, current, _, _, run)
    return decide.is_hopeless(prefix, current, run.max)
  end,
}
