--- A short SearchQA run that judges candidates by exact match and token F1 together and
--- asks for a gain that one lucky item cannot give.
local skillopt = require "skillopt"

return skillopt.experiment {
  base = "default.yaml",
  train = { num_epochs = 2, batch_size = 16 },
  policy = {
    metric = { "mixed", weight = 0.3 },
    gate = function(candidate, current) return candidate.score > current.score + 0.01 end,
  },
}
