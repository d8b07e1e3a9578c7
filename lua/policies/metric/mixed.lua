--- Weighted mean of the hard and the soft mark.
local policy = require "skillopt.policy"

return policy.define {
  slot = "metric",
  max = 1,
  options = {
    weight = {
      "number", key = "evaluation.gate_mixed_weight", min = 0, max = 1,
      doc = "share of the soft mark",
    },
  },
  item = function(marks, opt)
    return (1 - opt.weight) * marks.hard + opt.weight * marks.soft
  end,
}
