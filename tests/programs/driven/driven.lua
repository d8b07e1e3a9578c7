--- An environment for tests of runs: one question, one call, one mark.
local skillopt = require "skillopt"

return skillopt.env {
  name = "driven",
  rollout = function(item, ctx)
    local prompt = ctx:prompt("rollout", { skill = ctx.skill, question = item.question })
    local answer = ctx:chat({ system = prompt.system, user = prompt.user }).text
    local hard = answer == item.answer and 1 or 0
    return { hard = hard, answer = answer, fail_reason = hard == 1 and "" or "wrong" }
  end,
  feedback = function(item) return "expected " .. item.answer end,
}
