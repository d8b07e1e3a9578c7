--- The shipped example: train a skill on the house rules with the simulated model. Change
--- a number, run it again, and it goes on from what it has.
local skillopt = require "skillopt"

return skillopt.experiment {
  base = "default.yaml",
  train = { num_epochs = 2 },
}
