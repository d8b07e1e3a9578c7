--- NAME: an experiment is configuration in which functions are allowed.
---
---   skillopt run NAME/experiment.lua                       train; the same command goes on
---   skillopt run NAME/experiment.lua train.num_epochs=3    a fork: what is equal is taken over
---   skillopt show NAME                                     what came of it
local skillopt = require "skillopt"

return skillopt.experiment {
  -- A YAML file this one stands on: beside this file, then among the shipped ones. This one
  -- is the shipped example with the simulated model; name your own environment's instead.
  base = "houserules/default.yaml",

  train = { num_epochs = 2, batch_size = 10 },

  optimizer = { learning_rate = 3 },

  -- Each stage of the loop is a policy: a name, a name with options, or a function.
  policy = {
    metric = { "mixed" },
    gate = function(candidate, current) return candidate.score > current.score + 0.01 end,
  },
}
