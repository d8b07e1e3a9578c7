--- NAME: say here what the task is.
---
--- The environment of one benchmark: what an item must have, how a rollout is done and
--- marked, what the optimizer is told about it. `lua/meta/ctx.lua` is the contract of `ctx`,
--- docs/new-env.md explains every field.
local skillopt = require "skillopt"
local score = require "rt.score"
local text = require "rt.text"

return skillopt.env {
  name = "NAME",

  -- Every item must have these; a run says which one has not, before the first call.
  required = { "question", "context", "answers" },

  -- One item, one rollout: ask, look at the reply, mark it. `ctx.skill` is the document that
  -- is being trained; prompts/rollout.md says where it goes.
  rollout = function(item, ctx)
    local prompt = ctx:prompt("rollout",
      { skill = ctx.skill, context = item.context, question = item.question })
    local reply = ctx:conversation({ system = prompt.system }):ask(prompt.user)
    local answer = text.collapse(score.tagged(reply.text, "answer") or "")
    local is_right = answer == item.answers[1]
    return {
      -- hard: right or not. soft: how near; it helps to see progress below right.
      hard = is_right and 1 or 0,
      soft = is_right and 1.0 or score.f1(answer, item.answers),
      answer = answer,
      fail_reason = is_right and "" or "another answer was expected",
    }
  end,

  -- What the optimizer reads behind a trajectory, in training only: it may know what was
  -- expected, the target never does.
  feedback = function(item, mark)
    return ("Predicted answer: %s\nExpected answer: %s"):format(mark.answer, item.answers[1])
  end,
}
