--- As strict, and no item that is marked on both sides may lose more than `tolerance`.
local decide = require "skillopt.decide"
local policy = require "skillopt.policy"

--- Differences of this size are rounding, not loss.
local SLACK <const> = 1e-9

return policy.define {
  slot = "gate",
  options = {
    tolerance = { "number", 0, "largest loss of one item by the metric", min = 0 },
  },
  run = function(candidate, current, _, _, opt)
    local reason, comparison = decide.reason(candidate, current)
    if not decide.is_better(candidate, current) then return "reject", reason end
    local lost = {}
    for _, item in ipairs(comparison.worse) do
      if item.difference < -(opt.tolerance + SLACK) then lost[#lost + 1] = item end
    end
    if #lost == 0 then return "accept", reason end
    return "reject", ("regression: %s; %s"):format(decide.list(lost), reason)
  end,
}
