--- NAME: accept a candidate that is better by more than `margin`.
---
--- A gate says whether a candidate becomes the current skill. It sees evaluations on the same
--- items and may not wait, so that a run can be computed again. The contract of every slot is
--- in docs/new-policy.md and in the slot's own README.
local decide = require "skillopt.decide"
local policy = require "skillopt.policy"

return policy.define {
  slot = "gate",
  options = {
    -- Set as `policy: { gate: { name: NAME, margin: 0.05 } }` or policy.gate.margin=0.05.
    margin = { "number", 0.02, "least gain", min = 0 },
  },
  -- `candidate`, `current` and `best` have .score, .n, :ids(), :marks(id). The second result
  -- is the reason: people read it in the log and in `skillopt show`.
  run = function(candidate, current, _, _, opt)
    local is_clear = candidate.score > current.score + opt.margin
    return is_clear, (decide.reason(candidate, current))
  end,
}
