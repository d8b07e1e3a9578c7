--- Tests of NAME; `skillopt test NAME` runs them and trains smoke.yaml.
local loader = require "skillopt.loader"
local test = require "skillopt.test"

local folder = (...):match "^(.*)/"

test("NAME is a policy for SLOT", function(t)
  t.equal(loader.user_file(folder .. "/policies/SLOT/NAME.lua").slot, "SLOT")
end)
