--- The hard mark alone: solved or not.
local policy = require "skillopt.policy"

return policy.define {
  slot = "metric",
  max = 1,
  item = function(marks) return marks.hard end,
}
