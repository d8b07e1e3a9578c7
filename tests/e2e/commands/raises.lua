--- A metric with a fault.
local policy = require "skillopt.policy"

return policy.define {
  slot = "metric",
  item = function(marks) return marks.nothing.here end,
}
