--- What the gate NAME decides.
local evaluation = require "skillopt.evaluation"
local loader = require "skillopt.loader"
local policy = require "skillopt.policy"
local test = require "skillopt.test"

local definition = loader.user_file((...):match "^(.*)/" .. "/NAME.lua")
local gate = policy.instance(definition, { margin = 0.1 }, { slot = "gate", name = "NAME" })

local function scored(hard)
  return evaluation.new { rows = {
    { id = "q1", reps = { { state = "ok", marks = { hard = hard } } } },
  } }
end

local function decided(candidate, current)
  return (gate.run(scored(candidate), scored(current), scored(current), {}, gate.opt))
end

test("NAME rejects a small gain", function(t) t.equal(decided(0.55, 0.5), "reject") end)

test("NAME accepts a clear one", function(t) t.equal(decided(0.75, 0.5), "accept") end)
