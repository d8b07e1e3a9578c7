--- memory.lua - what stays of an item once it was evaluated: ids and marks.
local evaluation = require "skillopt.evaluation"
local skill = require "skillopt.skill"
local stdout = require "rt.stdout"

local ITEMS <const> = 200000

local function resident()
  collectgarbage()
  collectgarbage()
  return collectgarbage "count" * 1024
end

--- The ids are the items' own, which stay in any case.
local ids = {}
for i = 1, ITEMS do ids[i] = "item_" .. i end

local function rows()
  local list = {}
  for i = 1, ITEMS do
    list[i] = { id = ids[i], reps = { { state = "ok",
      marks = { hard = i % 2, soft = i % 7 / 7 }, row = { task_type = "bench" } } } }
  end
  return list
end

local before = resident()
local kept = evaluation.new { skill = skill.new "s", rows = rows() }
local bytes = (resident() - before) / ITEMS
stdout.write(("figure memory.item %.0f bytes/item\n"):format(bytes))
return kept.n == ITEMS and 0 or 1
