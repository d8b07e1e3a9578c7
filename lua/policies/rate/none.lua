--- No rate: everything that was merged is applied, nothing is ranked.
local patch = require "skillopt.patch"
local policy = require "skillopt.policy"

return policy.define {
  slot = "rate",
  waits = true,
  control = "none",
  run = function(merged) return #patch.items(merged) end,
}
