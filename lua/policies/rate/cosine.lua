--- Edits falling along half a cosine from `max` to `min` over the run, slowly at both
--- ends.
--- The first step is already one step down; the last is at `min`. Halves round to even.
local policy = require "skillopt.policy"
local json = require "rt.json"

return policy.define {
  slot = "rate",
  options = {
    max = {
      "integer", key = "optimizer.learning_rate", min = 0, doc = "edits at the start",
    },
    min = {
      "integer", key = "optimizer.min_learning_rate", min = 0, doc = "edits at the end",
    },
  },
  check = function(opt)
    return opt.min <= opt.max, "min_learning_rate must not be above learning_rate"
  end,
  run = function(step, total, opt)
    if total <= 1 then return opt.max end
    local t = math.min(step, total) / total
    local share = 0.5 * (opt.max - opt.min) * (1 + math.cos(math.pi * t))
    return math.max(opt.min, json.round(opt.min + share))
  end,
}
