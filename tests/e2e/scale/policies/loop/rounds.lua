--- A loop that measures the skill on the test set so many times, and keeps what it measured.
local ending = require "skillopt.ending"
local policy = require "skillopt.policy"
local skill = require "skillopt.skill"
local train = require "skillopt.train"

return policy.define {
  slot = "loop",
  options = {
    rounds = { "integer", 1, "evaluations", min = 0 },
    seed = { "integer", key = "train.seed", doc = "seed" },
    sel_env_num = { "integer", key = "evaluation.sel_env_num", doc = "selection items" },
    test_env_num = { "integer", key = "evaluation.test_env_num", doc = "test items" },
    eval_test = { "boolean", key = "evaluation.eval_test", doc = "measure the test set" },
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
    return ending.run(ctx, train.start(ctx, opt), opt)
  end,
}
