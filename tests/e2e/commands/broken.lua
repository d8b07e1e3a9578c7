--- An environment that fails on a part of its items.
local skillopt = require "skillopt"

return skillopt.env {
  name = "broken",
  rollout = function(item)
    if item.id > "h5" then error "this item cannot be rolled out" end
    return { hard = 1 }
  end,
}
