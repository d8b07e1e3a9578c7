--- Merge patches pairwise or in larger batches until one is left: failures first, then
--- successes, then both. All merges of a level run at once; a batch that does not fit the
--- prompt is split.
---
--- No edit is ever lost: where a merge reply stays unusable, or patches are too large to be
--- merged at all, they are put one behind the other instead, and the patch says so in
--- `notes`.
local budget = require "skillopt.budget"
local item_of = require "skillopt.item"
local json = require "rt.json"
local patch = require "skillopt.patch"
local policy = require "skillopt.policy"
local task = require "skillopt.task"
local text = require "rt.text"

local FAILED <const> = "A merge failed (%s): its %s were put one behind the other."
local TOO_LARGE <const> = "A merge was over %d tokens: its %s were put one behind the other."

--- What the prompt shows of the inputs.
local function shown(inputs, kind)
  local list = json.array {}
  for i, one in ipairs(inputs) do
    list[i] = { reasoning = one.reasoning, [kind.key] = one[kind.key] }
  end
  return json.encode(list,
    { indent = true, keys = { "reasoning", [kind.key] = kind.fields } })
end

--- A merge as `ctx:ask` is asked for it, but for the patches.
local function question(ctx, prompt, kind, extra)
  extra.skill, extra.meta = ctx.skill, ctx.step.meta
  extra.size, extra.max_size = ctx.step.size, ctx.step.max_size
  return { prompt = prompt .. kind.prompt, inputs = extra, open = "patches", stage = "merge",
    want = { kind.key }, max_tokens = kind.max_tokens,
    check = function(value) return patch.is_whole(value, kind.key) end }
end

--- The merged patch; its inputs one behind the other when the reply cannot be used.
local function ask(ctx, asked, inputs, level)
  local kind = item_of.kinds[patch.kind(inputs[1])]
  asked.inputs.patches, asked.open = shown(inputs, kind), nil
  local reply, err = ctx:ask(asked)
  if reply then return patch.merged(reply, inputs, level) end
  return patch.concat(inputs, FAILED:format(err.kind, kind.word), level)
end

--- Batches of a level: at most so many patches, and no more than fit a prompt.
local function batches_of(patches, opt, asked, work)
  local kind, batches, sizes = item_of.kinds[patch.kind(patches[1])], {}, {}
  local room = budget.room(work.ctx, opt.prompt_tokens, asked)
  for i, one in ipairs(patches) do sizes[i] = text.tokens(shown({ one }, kind)) end
  for first = 1, #patches, opt.merge_batch_size do
    local last = math.min(first + opt.merge_batch_size - 1, #patches)
    local runs = budget.runs(table.move(patches, first, last, 1, {}),
      table.move(sizes, first, last, 1, {}), room)
    if #runs > 1 then work.splits = work.splits + 1 end
    table.move(runs, 1, #runs, #batches + 1, batches)
  end
  return batches
end

local function tree(patches, opt, prompt, work)
  local ctx, level = work.ctx, 0
  local kind = patches[1] and item_of.kinds[patch.kind(patches[1])]
  while #patches > 1 do
    level = level + 1
    local depth, size = level, math.min(#patches, opt.merge_batch_size)
    local function asked(count)
      return question(ctx, prompt, kind, { count = count, level = depth })
    end
    local batches = batches_of(patches, opt, asked(size), work)
    if #batches == #patches then -- no two fit together
      return patch.concat(patches, TOO_LARGE:format(opt.prompt_tokens, kind.word), level)
    end
    patches = task.map(batches, function(batch)
      return #batch == 1 and batch[1] or ask(ctx, asked(#batch), batch, depth)
    end, { label = "merge", limit = opt.workers })
  end
  return patches[1] or patch.empty("", ctx.step.items)
end

local function final(failure, success, opt, work)
  local inputs, kind = { failure, success }, item_of.kinds[work.ctx.step.items or "edits"]
  local failures, successes = #patch.items(failure), #patch.items(success)
  if failures == 0 and successes == 0 then
    return patch.concat(inputs, ("There are no %s."):format(kind.word))
  end
  if successes == 0 then return failure end
  if failures == 0 then return success end
  local asked = question(work.ctx, "merge_final", kind,
    { failures = failures, successes = successes })
  local room = budget.room(work.ctx, opt.prompt_tokens, asked)
  if text.tokens(shown(inputs, kind)) > room then
    work.splits = work.splits + 1
    return patch.concat(inputs, TOO_LARGE:format(opt.prompt_tokens, kind.word))
  end
  return ask(work.ctx, asked, inputs)
end

return policy.define {
  slot = "aggregate",
  options = {
    merge_batch_size = { "integer", key = "gradient.merge_batch_size", min = 2,
      doc = "patches a merge call sees" },
    workers = { "integer", key = "gradient.analyst_workers", min = 1,
      doc = "merges at work at once" },
    prompt_tokens = { "integer", key = "optimizer.prompt_tokens", min = 1,
      doc = "tokens of a merge's prompt" },
  },
  run = function(raws, ctx, opt)
    local groups = patch.normalise(raws, ctx.step.items)
    local work = { ctx = ctx, splits = 0 }
    local failure = tree(groups.failure, opt, "merge_failure", work)
    local success = tree(groups.success, opt, "merge_success", work)
    return patch.with_splits(final(failure, success, opt, work), work.splits)
  end,
}
