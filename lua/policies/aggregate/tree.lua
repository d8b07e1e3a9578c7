--- Merge patches pairwise or in larger batches until one is left: failures first, then
--- successes, then both. All merges of a level run at once.
---
--- A merge reply that stays unusable never loses edits: its inputs are put one behind the
--- other instead, and the patch says so in `notes`.
local item_of = require "skillopt.item"
local json = require "rt.json"
local patch = require "skillopt.patch"
local policy = require "skillopt.policy"
local task = require "skillopt.task"

local FAILED <const> = "A merge failed (%s): its %s were put one behind the other."

--- What the prompt shows of the inputs.
local function shown(inputs, kind)
  local list = json.array {}
  for i, one in ipairs(inputs) do
    list[i] = { reasoning = one.reasoning, [kind.key] = one[kind.key] }
  end
  return json.encode(list,
    { indent = true, keys = { "reasoning", [kind.key] = kind.fields } })
end

--- The merged patch; its inputs one behind the other when the reply cannot be used.
local function ask(ctx, prompt, inputs, extra, level)
  local kind = item_of.kinds[patch.kind(inputs[1])]
  extra.skill, extra.meta, extra.patches = ctx.skill, ctx.step.meta, shown(inputs, kind)
  extra.size, extra.max_size = ctx.step.size, ctx.step.max_size
  local reply, err = ctx:ask {
    prompt = prompt .. kind.prompt, inputs = extra, stage = "merge", want = { kind.key },
    max_tokens = kind.max_tokens,
    check = function(value) return patch.is_whole(value, kind.key) end,
  }
  if reply then return patch.merged(reply, inputs, level) end
  return patch.concat(inputs, FAILED:format(err.kind, kind.word), level)
end

local function merge(ctx, prompt, batch, level)
  if #batch == 1 then return batch[1] end
  return ask(ctx, prompt, batch, { count = #batch, level = level }, level)
end

local function tree(patches, ctx, opt, prompt, kind)
  local level = 0
  while #patches > 1 do
    level = level + 1
    local batches = {}
    for first = 1, #patches, opt.merge_batch_size do
      local last = math.min(first + opt.merge_batch_size - 1, #patches)
      batches[#batches + 1] = table.move(patches, first, last, 1, {})
    end
    local depth = level
    patches = task.map(batches, function(batch)
      return merge(ctx, prompt, batch, depth)
    end, { label = "merge", limit = opt.workers })
  end
  return patches[1] or patch.empty("", kind)
end

local function final(failure, success, ctx, kind)
  local inputs = { failure, success }
  local failures, successes = #patch.items(failure), #patch.items(success)
  if failures == 0 and successes == 0 then
    local word = item_of.kinds[kind or "edits"].word
    return patch.concat(inputs, ("There are no %s."):format(word))
  end
  if successes == 0 then return failure end
  if failures == 0 then return success end
  return ask(ctx, "merge_final", inputs, { failures = failures, successes = successes })
end

return policy.define {
  slot = "aggregate",
  options = {
    merge_batch_size = {
      "integer", key = "gradient.merge_batch_size", min = 2,
      doc = "patches a merge call sees",
    },
    workers = {
      "integer", key = "gradient.analyst_workers", min = 1,
      doc = "merges at work at once",
    },
  },
  run = function(raws, ctx, opt)
    local kind = ctx.step.items
    local groups = patch.normalise(raws, kind)
    local failure = tree(groups.failure, ctx, opt, "merge_failure", kind)
    local success = tree(groups.success, ctx, opt, "merge_success", kind)
    return final(failure, success, ctx, kind)
  end,
}
