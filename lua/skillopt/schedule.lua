--- Batches of an epoch, drawn the same way for the same seed (the reference's draws,
--- bit for bit): a shuffle of the training items per epoch, cut into batches.
local lists = require "skillopt.lists"
local rng = require "rt.rng"

local M = {}

--- Optimizer steps of one epoch: ceil(items / (batch_size * accumulation)).
---@param train_size integer
---@param batch_size integer 1 or more
---@param accumulation integer batches a step, 1 or more
---@return integer
function M.steps_per_epoch(train_size, batch_size, accumulation)
  local per_step = batch_size * accumulation
  return (train_size + per_step - 1) // per_step
end

--- The batches of one epoch. When a batch would be empty (accumulation beyond the data)
--- it is the front of the epoch's items, shuffled anew.
---@param items any[]
---@param epoch integer 1-based
---@param opt {seed: integer, batch_size: integer, count: integer}
---@return {seed: integer, items: any[]}[]
function M.epoch(items, epoch, opt)
  local base = opt.seed + 1000 * epoch
  local order = lists.shuffled(items, rng.new(base))
  local batches = {}
  for b = 1, opt.count do
    local batch = { seed = base + b,
      items = lists.slice(order, (b - 1) * opt.batch_size + 1, b * opt.batch_size) }
    if #batch.items == 0 then
      batch.items = lists.slice(lists.shuffled(order, rng.new(batch.seed)), 1, opt.batch_size)
    end
    batches[b] = batch
  end
  return batches
end

--- `size` training items drawn with one seed.
---@param items any[]
---@param size integer
---@param seed integer
---@return any[]
function M.sample(items, size, seed)
  return lists.slice(lists.shuffled(items, rng.new(seed)), 1, size)
end

--- The first `limit` items (0 = all), in file order.
---@param items any[]
---@param limit integer 0 or more
---@return any[]
function M.front(items, limit)
  return lists.slice(items, 1, limit > 0 and limit or #items)
end

return M
