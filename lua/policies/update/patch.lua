--- Apply the edits of the patch to the skill, in order, each on the result of the one
--- before. Protected regions are out of reach.
local policy = require "skillopt.policy"

return policy.define {
  slot = "update",
  takes = "edits",
  run = function(skill, patch) return skill:apply(patch) end,
}
