--- Experiments: the table, and the lines its values stand on.
local test = require "skillopt.test"
local experiment = require "skillopt.experiment"

test("define gives the table back", function(t)
  local given = { train = { seed = 1 } }
  t.ok(experiment.define(given) == given)
end)

test("define refuses what is no table of named values", function(t)
  t.raises(function() experiment.define "x" end, "expected a table, got string")
  t.raises(function() experiment.define { 1 } end, "values need names")
end)

local SOURCE <const> = [==[
local skillopt = require "skillopt" -- experiment { wrong = 1 }
--[[ experiment { wrong = 2 }
]]
return skillopt.experiment {
  base = "default.yaml",
  train = { num_epochs = 2,
    batch_size = 16; ["seed"] = 3 },
  policy = {
    metric = { "mixed", weight = 0.3 },
    gate = function(a, b)
      local t = { x = 1 }
      if a == b then return a.score > b.score + 0.01 else for i = 1, 2 do end end
    end,
    rate = "a}b",
  },
  name = [[x
y]],
  last = 1,
}
]==]

test("lines finds where each value of an experiment stands", function(t)
  t.equal(experiment.lines(SOURCE), {
    base = 5, train = 6, ["train.num_epochs"] = 6, ["train.batch_size"] = 7,
    ["train.seed"] = 7, policy = 8, ["policy.metric"] = 9, ["policy.metric.weight"] = 9,
    ["policy.gate"] = 10, ["policy.rate"] = 14, name = 16, last = 18,
  })
end)

test("lines takes the call with parentheses, and any text without one", function(t)
  t.equal(experiment.lines "return experiment({ a = 1 })", { a = 1 })
  t.equal(experiment.lines "return { a = 1 }", {})
end)

test("lines ends on source that is cut off anywhere", function(t)
  for n = 0, #SOURCE do
    t.equal(type(experiment.lines(SOURCE:sub(1, n))), "table")
  end
end)
