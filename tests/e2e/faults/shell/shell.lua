--- An environment whose items start processes: what the model answered goes through two of
--- them in one workspace, and their last output is the answer.
local skillopt = require "skillopt"
local score = require "rt.score"

return skillopt.env {
  name = "shell",
  required = { "question", "answers" },
  rollout = function(item, ctx)
    local reply = ctx:chat { system = "Answer in an <answer> tag.\n" .. ctx.skill,
      user = item.question }
    local said = score.tagged(reply.text, "answer") or ""
    local box = ctx:workspace()
    ctx:run({ "sh", "-c", "cat >said" }, { workspace = box, stdin = said })
    local ran = ctx:run({ "sh", "-c", "tr A-Z a-z <said" }, { workspace = box })
    return {
      answer = ran.stdout,
      hard = score.exact_match(ran.stdout, item.answers),
      soft = score.f1(ran.stdout, item.answers),
    }
  end,
}
