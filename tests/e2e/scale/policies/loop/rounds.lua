--- A loop that measures the skill on the test set so many times, and keeps what it measured.
local policy = require "skillopt.policy"
local skill = require "skillopt.skill"

return policy.define {
  slot = "loop",
  options = {
    rounds = { "integer", 1, "evaluations", min = 0 },
  },
  run = function(ctx, opt)
    local kept = {}
    for r = 1, opt.rounds do
      kept[r] = ctx:evaluate(skill.new(ctx.skill .. "\n" .. r), ctx.data.test,
        { label = "round_" .. r })
    end
    local out = { hard = {}, n = {} }
    for r, value in ipairs(kept) do out.hard[r], out.n[r] = value:mean "hard", value.n end
    ctx:record("rounds", out)
  end,
}
