--- A run whose items start processes, for the tests that make them fail. The stub plays
--- the model.
local skillopt = require "skillopt"

return skillopt.experiment {
  base = "_base_/default.yaml",
  sandbox = "none",
  model = { backend = "openai_compatible", target = "tgt", optimizer = "opt" },
  train = { num_epochs = 1, batch_size = 4, train_size = 0 },
  gradient = { minibatch_size = 2 },
  env = { name = "shell", split_mode = "ratio", limit = 6 },
}
