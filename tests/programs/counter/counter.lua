--- An environment with a fault on purpose: it counts its answers in a variable of the
--- module, so its marks depend on which answer came first.
local skillopt = require "skillopt"

local answered = 0

return skillopt.env {
  name = "counter",
  rollout = function(item, ctx)
    local prompt = ctx:prompt("rollout", { skill = ctx.skill, question = item.question })
    local answer = ctx:chat({ system = prompt.system, user = prompt.user }).text
    answered = answered + 1
    return { hard = answered % 2, answer = answer, fail_reason = "" }
  end,
  feedback = function(item) return "expected " .. item.answer end,
}
