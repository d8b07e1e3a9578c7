--- memory.lua - what stays of an item once it was evaluated: ids and marks.
local columns = require "rt.columns"
local evaluation = require "skillopt.evaluation"
local file = require "rt.file"
local skill = require "skillopt.skill"
local stdout = require "rt.stdout"

local ITEMS <const> = 200000

local PAGE <const> = 4096

--- Marks lie outside of Lua's heap, so the process is asked.
local function resident()
  collectgarbage()
  collectgarbage()
  return tonumber(assert(file.read "/proc/self/statm"):match "^%d+ (%d+)") * PAGE
end

--- The ids are the items' own, which stay in any case.
local ids = columns.texts()
for i = 1, ITEMS do ids:add("item_" .. i) end

local before = resident()
local kept = evaluation.start { ids = ids, each = 1, skill = skill.new "s" }
for i = 1, ITEMS do
  evaluation.put(kept, i, 1, { state = "ok", marks = { hard = i % 2, soft = i % 7 / 7 },
    row = { task_type = "bench" } })
end
evaluation.reach(kept, ITEMS)
stdout.write(("figure memory.item %.0f bytes/item\n"):format((resident() - before) / ITEMS))
return kept.n == ITEMS and 0 or 1
