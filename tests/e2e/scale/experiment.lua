--- One evaluation of a large test set, as any run does it.
local skillopt = require "skillopt"

return skillopt.experiment {
  env = { name = "scale", split_mode = "split_dir", skill_init = "none" },
  evaluation = { predictions = "none", eval_test = false },
  model = { backend = "openai_compatible", target = "m", optimizer = "m" },
  policy = { loop = "rounds" },
}
