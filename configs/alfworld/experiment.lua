--- A shorter ALFWorld run: prompts with notes of what was seen, and a gate that asks for
--- two games more than the current skill wins.
local skillopt = require "skillopt"

return skillopt.experiment {
  base = "default.yaml",
  train = { num_epochs = 2, batch_size = 20 },
  env = { memory = "notes", max_steps = 40 },
  policy = {
    gate = function(candidate, current)
      return (candidate.score - current.score) * candidate.n > 1.5
    end,
  },
}
