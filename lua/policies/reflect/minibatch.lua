--- One analyst call a minibatch of failures, one a minibatch of successes, all at once.
---
--- Items that failed for reasons of weather are in neither group. Both groups are
--- shuffled with the seed of the batch (successes with the next one), so the minibatches
--- are the same for the same marks; one that does not fit the prompt is split. Raw patches
--- come in the order failures, successes.
local budget = require "skillopt.budget"
local item_of = require "skillopt.item"
local minibatch = require "skillopt.minibatch"
local patch = require "skillopt.patch"
local policy = require "skillopt.policy"
local task = require "skillopt.task"
local json = require "rt.json"

local GROUPS <const> = {
  { key = "fail", source_type = "failure", prompt = "analyst_error", lapses = "lapses_error" },
  { key = "succ", source_type = "success", prompt = "analyst_success", lapses = "lapses_success" },
}

local function key_of(job) return job.key end

--- The prompt that also asks for notes, or nil. Whole documents are written without.
local function notes_prompt(group, step)
  if not step.lapses or step.items == "skill_candidates" then return nil end
  local is_asked = group.source_type == "failure" or step.lapses ~= "failure_only"
  return is_asked and group.lapses or nil
end

--- What an analyst is asked about so many items.
local function question(group, count, ctx, opt)
  local kind, step = item_of.kinds[ctx.step.items or "edits"], ctx.step
  return {
    prompt = group.prompt .. kind.prompt, open = "trajectories",
    inputs = { skill = ctx.skill, count = count, budget = opt.budget, memory = step.memory,
      meta = step.meta, size = step.size, max_size = step.max_size },
    also = notes_prompt(group, step), kind = kind.key, max_tokens = kind.max_tokens,
  }
end

--- Minibatches of both groups, those split that do not fit.
local function plan(batch, ctx, opt)
  local jobs = {}
  for g, ids in ipairs { minibatch.groups(batch, ctx.step.seed, opt) } do
    for n, part in ipairs(minibatch.cut(ids, opt.minibatch_size)) do
      local room = budget.room(ctx, opt.prompt_tokens, question(GROUPS[g], #part, ctx, opt))
      local fitting = minibatch.fit(batch, part, { room = room, max_each = opt.trajectory_tokens,
        key = ("minibatch_%s_%03d"):format(GROUPS[g].key, n - 1) })
      for _, job in ipairs(fitting) do
        job.group, jobs[#jobs + 1] = GROUPS[g], job
      end
    end
  end
  return jobs
end

local analyse

--- The halves of a minibatch that was too long for the model.
local function analyse_halves(job, batch, ctx, opt)
  local halves = minibatch.halves(batch, job, { max_each = opt.trajectory_tokens })
  for _, half in ipairs(halves) do half.group = job.group end
  local lists = task.map(halves, function(half) return analyse(half, batch, ctx, opt) end,
    { label = "halves", key = key_of })
  return table.move(lists[2], 1, #lists[2], #lists[1] + 1, lists[1])
end

--- What analysts make of a minibatch: its key and raw patch, or those of its parts.
function analyse(job, batch, ctx, opt)
  local asked = question(job.group, #job.ids, ctx, opt)
  local facts = { batch_size = #job.ids, source_type = job.group.source_type, kind = asked.kind,
    has_notes = asked.also ~= nil, leak = ctx.step.leak, cut = job.cut, split = job.split,
    budget = asked.kind == "skill_candidates" and 1 or opt.budget }
  if job.seen == "" then
    local nothing = patch.empty("There is no trajectory to read.", asked.kind)
    return { { job.key, patch.raw(nothing, facts) } }
  end
  asked.inputs.trajectories = job.seen
  local reply, err = ctx:ask {
    prompt = asked.prompt, inputs = asked.inputs, also = asked.also, stage = "analyst",
    want = { "patch", asked.kind }, array = true, max_tokens = asked.max_tokens,
    check = function(value) return patch.is_usable(value, asked.kind) end,
  }
  if reply then return { { job.key, patch.raw(reply, facts) } } end
  if err.kind == "too_long" and #job.ids > 1 then return analyse_halves(job, batch, ctx, opt) end
  return { { job.key, patch.malformed(err, facts) } }
end

return policy.define {
  slot = "reflect",
  options = {
    minibatch_size = { "integer", key = "gradient.minibatch_size", min = 1,
      doc = "items an analyst sees" },
    failure_only = { "boolean", key = "gradient.failure_only", doc = "leave successes out" },
    budget = { "integer", key = "optimizer.learning_rate", min = 0,
      doc = "edits an analyst may propose" },
    workers = { "integer", key = "gradient.analyst_workers", min = 1,
      doc = "analysts at work at once" },
    prompt_tokens = { "integer", key = "optimizer.prompt_tokens", min = 1,
      doc = "tokens of an analyst's prompt" },
    trajectory_tokens = { "integer", key = "optimizer.trajectory_tokens", min = 1,
      doc = "tokens of one trajectory" },
  },
  run = function(batch, ctx, opt)
    local lists = task.map(plan(batch, ctx, opt),
      function(job) return analyse(job, batch, ctx, opt) end,
      { label = "patches", limit = opt.workers, key = key_of })
    local raws = json.array {}
    for _, list in ipairs(lists) do
      for _, one in ipairs(list) do
        ctx:record("patches/" .. one[1], one[2])
        raws[#raws + 1] = one[2]
      end
    end
    return raws
  end,
}
