--- Merge patches pairwise or in larger batches until one is left: failures first, then
--- successes, then both. All merges of a level run at once.
---
--- A merge reply that stays unusable never loses edits: its inputs are put one behind the
--- other instead, and the patch says so in `notes`.
local json = require "rt.json"
local patch = require "skillopt.patch"
local policy = require "skillopt.policy"
local task = require "skillopt.task"

local MAX_TOKENS <const> = 16384
local FAILED <const> = "A merge failed (%s): its edits were put one behind the other."
local KEYS <const> = { "reasoning", edits = { "op", "target", "content" } }

--- What the prompt shows of the inputs.
local function shown(inputs)
  local list = json.array {}
  for i, one in ipairs(inputs) do
    list[i] = { reasoning = one.reasoning, edits = one.edits }
  end
  return json.encode(list, { indent = true, keys = KEYS })
end

local function ask(ctx, prompt, inputs, extra)
  extra.skill, extra.meta, extra.patches = ctx.skill, ctx.step.meta, shown(inputs)
  return ctx:ask {
    prompt = prompt, inputs = extra, stage = "merge", want = { "edits" },
    max_tokens = MAX_TOKENS, check = patch.is_whole,
  }
end

local function merge(ctx, prompt, batch, level)
  if #batch == 1 then return batch[1] end
  local reply, err = ask(ctx, prompt, batch, { count = #batch, level = level })
  if not reply then return patch.concat(batch, FAILED:format(err.kind), level) end
  return patch.merged(reply, batch, level)
end

local function tree(patches, ctx, opt, prompt)
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
  return patches[1] or patch.empty ""
end

local function final(failure, success, ctx)
  local inputs = { failure, success }
  if #failure.edits == 0 and #success.edits == 0 then
    return patch.concat(inputs, "There are no edits.")
  end
  if #success.edits == 0 then return failure end
  if #failure.edits == 0 then return success end
  local reply, err = ask(ctx, "merge_final", inputs,
    { failures = #failure.edits, successes = #success.edits })
  if not reply then return patch.concat(inputs, FAILED:format(err.kind)) end
  return patch.merged(reply, inputs)
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
    local groups = patch.normalise(raws)
    local failure = tree(groups.failure, ctx, opt, "merge_failure")
    local success = tree(groups.success, ctx, opt, "merge_success")
    return final(failure, success, ctx)
  end,
}
