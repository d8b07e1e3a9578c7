--- The soft mark alone: partial credit.
local policy = require "skillopt.policy"

return policy.define {
  slot = "metric",
  max = 1,
  item = function(marks) return marks.soft end,
}
