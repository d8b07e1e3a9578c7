--- Tests of NAME; `skillopt test NAME` runs them and trains smoke.yaml.
local loader = require "skillopt.loader"
local test = require "skillopt.test"

local folder = (...):match "^(.*)/"
local env = loader.user_file(folder .. "/NAME.lua")

test("NAME: the optimizer is told what was expected", function(t)
  local words = env.feedback({ answers = { "EUR 12" } }, { answer = "12 EUR" })
  t.equal(words, "Predicted answer: 12 EUR\nExpected answer: EUR 12")
end)
