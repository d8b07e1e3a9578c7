--- The same number of edits in every step.
local policy = require "skillopt.policy"

return policy.define {
  slot = "rate",
  options = {
    max = { "integer", key = "optimizer.learning_rate", min = 0, doc = "edits a step" },
  },
  run = function(_, _, opt) return opt.max end,
}
