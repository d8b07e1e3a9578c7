--- Apply the edits of the patch to the skill, in order, each on the result of the one
--- before. Protected regions are out of reach. An edit that would make the skill too large
--- is left out; later ones may still fit.
local policy = require "skillopt.policy"

return policy.define {
  slot = "update",
  takes = "edits",
  options = {
    max_tokens = { "integer", key = "optimizer.max_skill_tokens", min = 0,
      doc = "tokens beyond which no edit makes the skill larger; 0 = no limit" },
  },
  run = function(skill, patch, _, opt)
    return skill:apply(patch, { max_tokens = opt.max_tokens })
  end,
}
