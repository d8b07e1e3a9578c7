--- Minibatches of a rollout batch: who is shown to which analyst.
---
--- Failures and successes are apart, each shuffled with its seed and cut into minibatches.
--- A minibatch whose trajectories do not fit an analyst's prompt is split into parts that
--- do, in order; a trajectory is cut in its middle when it is longer than one may be or
--- does not fit alone. The same marks and trajectories always give the same parts.
local budget = require "skillopt.budget"
local evaluation = require "skillopt.evaluation"
local rng = require "rt.rng"
local text = require "rt.text"

local M = {}

local function mean(marks)
  local sum = 0
  for _, mark in ipairs(marks) do sum = sum + mark end
  return #marks > 0 and sum / #marks or nil
end

--- Ids of failures and of successes, shuffled. Items without a mark are in neither.
---@param batch skillopt.Evaluation
---@param seed integer successes are shuffled with the next one
---@param options {failure_only: boolean}
---@return string[] failures
---@return string[] successes
function M.groups(batch, seed, options)
  local failures, successes = {}, {}
  for _, id in ipairs(batch:ids()) do
    local hard = mean(batch:marks(id, "hard"))
    if hard and evaluation.is_failure(hard) then
      failures[#failures + 1] = id
    elseif hard and not options.failure_only then
      successes[#successes + 1] = id
    end
  end
  return rng.new(seed):shuffle(failures), rng.new(seed + 1):shuffle(successes)
end

--- Pieces of at most `size`, in order.
---@param ids string[]
---@param size integer
---@return string[][]
function M.cut(ids, size)
  local out = {}
  for first = 1, #ids, size do
    out[#out + 1] = table.move(ids, first, math.min(first + size - 1, #ids), 1, {})
  end
  return out
end

---@class skillopt.Minibatch
---@field ids string[]
---@field key string name in the records
---@field seen string the trajectories as text
---@field cut {id: string, characters: integer}[] what was cut out of which
---@field split {of: string, part: integer, parts: integer}? when it is a part

local function rendered(batch, ids, options)
  local seen, facts = batch:render { ids = ids, max_tokens = options.room,
    max_each = options.max_each }
  return { ids = ids, seen = seen, cut = facts.cut }
end

local function named(parts, key)
  for i, one in ipairs(parts) do
    one.key = #parts > 1 and ("%s_%d"):format(key, i) or key
    one.split = #parts > 1 and { of = key, part = i, parts = #parts } or nil
  end
  return parts
end

--- A minibatch as one, or as parts `<key>_1`, `<key>_2`, ... that fit the room.
---@param batch skillopt.Evaluation
---@param ids string[]
---@param options {key: string, room: integer, max_each: integer}
---@return skillopt.Minibatch[]
function M.fit(batch, ids, options)
  local seen, facts = batch:render { ids = ids, max_each = options.max_each }
  if text.tokens(seen) <= options.room then
    return named({ { ids = ids, seen = seen, cut = facts.cut } }, options.key)
  end
  local by_id, sizes = {}, {}
  for i, block in ipairs(facts.blocks) do by_id[facts.ids[i]] = block.tokens end
  for i, id in ipairs(ids) do sizes[i] = by_id[id] or 0 end -- without a trajectory
  local parts = budget.runs(ids, sizes, options.room - facts.shared)
  for i, part in ipairs(parts) do parts[i] = rendered(batch, part, options) end
  return named(parts, options.key)
end

--- A minibatch in two, for a model that says it was too long.
---@param batch skillopt.Evaluation
---@param one skillopt.Minibatch of more than one item
---@param options {max_each: integer}
---@return skillopt.Minibatch[]
function M.halves(batch, one, options)
  local parts = M.cut(one.ids, (#one.ids + 1) // 2)
  for i, ids in ipairs(parts) do parts[i] = rendered(batch, ids, options) end
  return named(parts, one.key)
end

return M
