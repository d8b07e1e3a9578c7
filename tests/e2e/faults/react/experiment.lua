--- A run whose items use tools over several turns, for the tests that kill it. The stub
--- plays the model (tests/e2e/faults/react_stub.lua).
local skillopt = require "skillopt"

return skillopt.experiment {
  base = "_base_/default.yaml",
  model = { backend = "openai_compatible", target = "tgt", optimizer = "opt" },
  train = { num_epochs = 1, batch_size = 4, train_size = 0 },
  gradient = { minibatch_size = 2 },
  env = { name = "react", split_mode = "ratio" },
}
