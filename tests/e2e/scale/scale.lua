--- An environment whose rollout is one call and two marks.
local skillopt = require "skillopt"
local score = require "rt.score"

return skillopt.env {
  name = "scale",
  rollout = function(item, ctx)
    local reply = ctx:chat { system = ctx.skill, user = item.question }
    return { hard = score.exact_match(reply.text, item.answers),
      soft = score.f1(reply.text, item.answers) }
  end,
}
