--- Two short steps on boxes; the data lies beside this file.
local skillopt = require "skillopt"

return skillopt.experiment {
  train = { num_epochs = 1, batch_size = 2, seed = 3 },
  model = { backend = "sim" },
  gradient = { failure_only = true },
  policy = { slow_update = "none", meta_skill = "none", appendix = "none" },
  env = { name = "driven", split_mode = "split_dir", split_dir = "data", skill_init = "skill.md" },
}
