--- One analyst call a minibatch of failures, one a minibatch of successes, all at once.
---
--- Items that failed for reasons of weather are in neither group. Both groups are
--- shuffled with the seed of the batch (successes with the next one), so the minibatches
--- are the same for the same marks. Raw patches come in the order failures, successes.
local evaluation = require "skillopt.evaluation"
local item_of = require "skillopt.item"
local patch = require "skillopt.patch"
local policy = require "skillopt.policy"
local task = require "skillopt.task"
local rng = require "rt.rng"

local GROUPS <const> = {
  { key = "fail", source_type = "failure", prompt = "analyst_error" },
  { key = "succ", source_type = "success", prompt = "analyst_success" },
}

local function mean(marks)
  local sum = 0
  for _, mark in ipairs(marks) do sum = sum + mark end
  return #marks > 0 and sum / #marks or nil
end

local function key_of(job) return job.key end

--- Ids of failures and successes, shuffled.
local function groups(batch, seed, opt)
  local failures, successes = {}, {}
  for _, id in ipairs(batch:ids()) do
    local hard = mean(batch:marks(id, "hard"))
    if hard and evaluation.is_failure(hard) then
      failures[#failures + 1] = id
    elseif hard and not opt.failure_only then
      successes[#successes + 1] = id
    end
  end
  return { rng.new(seed):shuffle(failures), rng.new(seed + 1):shuffle(successes) }
end

--- One job a minibatch.
local function plan(batch, seed, opt)
  local jobs = {}
  for g, ids in ipairs(groups(batch, seed, opt)) do
    local size = opt.minibatch_size
    for first = 1, #ids, size do
      jobs[#jobs + 1] = {
        group = GROUPS[g],
        key = ("minibatch_%s_%03d"):format(GROUPS[g].key, (first - 1) // size),
        ids = table.move(ids, first, math.min(first + size - 1, #ids), 1, {}),
      }
    end
  end
  return jobs
end

--- The prompt that also asks for notes, or nil. Whole documents are written without.
local function notes_prompt(job, step)
  local is_failure = job.group.source_type == "failure"
  if not step.lapses or step.items == "skill_candidates" then return nil end
  if not is_failure and step.lapses == "failure_only" then return nil end
  return is_failure and "lapses_error" or "lapses_success"
end

local function analyse(job, batch, ctx, opt)
  local kind = item_of.kinds[ctx.step.items or "edits"]
  local also = notes_prompt(job, ctx.step)
  local facts = { batch_size = #job.ids, source_type = job.group.source_type, kind = kind.key,
    has_notes = also ~= nil,
    budget = kind.key == "skill_candidates" and 1 or opt.budget,
    leak = ctx.step.leak }
  local seen = batch:render { ids = job.ids, max_tokens = opt.trajectory_tokens }
  if seen == "" then
    return patch.raw(patch.empty("There is no trajectory to read.", kind.key), facts)
  end
  local reply, err = ctx:ask {
    prompt = job.group.prompt .. kind.prompt,
    inputs = {
      skill = ctx.skill, trajectories = seen, count = #job.ids, budget = opt.budget,
      memory = ctx.step.memory, meta = ctx.step.meta, size = ctx.step.size,
      max_size = ctx.step.max_size,
    },
    also = also, stage = "analyst", want = { "patch", kind.key }, array = true,
    max_tokens = kind.max_tokens,
    check = function(reply) return patch.is_usable(reply, kind.key) end,
  }
  return reply and patch.raw(reply, facts) or patch.malformed(err, facts)
end

return policy.define {
  slot = "reflect",
  options = {
    minibatch_size = {
      "integer", key = "gradient.minibatch_size", min = 1, doc = "items an analyst sees",
    },
    failure_only = {
      "boolean", key = "gradient.failure_only", doc = "leave successes out",
    },
    budget = {
      "integer", key = "optimizer.learning_rate", min = 0,
      doc = "edits an analyst may propose",
    },
    workers = {
      "integer", key = "gradient.analyst_workers", min = 1,
      doc = "analysts at work at once",
    },
    trajectory_tokens = {
      "integer", 60000, "tokens of trajectories an analyst sees", min = 1000,
    },
  },
  run = function(batch, ctx, opt)
    local jobs = plan(batch, ctx.step.seed, opt)
    local raws = task.map(jobs, function(job) return analyse(job, batch, ctx, opt) end,
      { label = "patches", limit = opt.workers, key = key_of })
    for i, job in ipairs(jobs) do ctx:record("patches/" .. job.key, raws[i]) end
    raws.n = nil
    return raws
  end,
}
