--- The training loop, top to bottom: for each step roll out a batch with the current
--- skill, let analysts reflect on it, merge what they propose, select as many edits as the
--- rate allows, apply them, measure the candidate on the selection set, ask the gate.
local ending = require "skillopt.ending"
local epoch_of = require "skillopt.epoch"
local policy = require "skillopt.policy"
local train = require "skillopt.train"

--- Roll out and reflect on every batch of the step. Is there a patch to work on?
local function gather(ctx, state, step)
  for a, batch in ipairs(step.batches) do
    local function work()
      state:set_batch(batch)
      local seen = ctx:evaluate(state.skill, batch.items,
        { label = "rollout", seed = batch.seed, feedback = true })
      state:note_batch(step, batch, seen, state:call("reflect", seen))
    end
    if #step.batches == 1 then work() else ctx:scope("batch_" .. a - 1, work) end
  end
  return state:close_batches(step)
end

--- From raw patches to a candidate. Why there is none, or nil.
local function propose(ctx, state, step)
  local merged = state:call("aggregate", step.raws)
  ctx:record("merged_patch", merged)
  local chosen = state:choose(step, merged)
  ctx:record("ranked_edits", chosen)
  local candidate, fates, summary = state:call("update", state.skill, chosen)
  if not candidate then
    state:note_candidate(step, chosen, state.skill, {})
    return fates or "no reason given"
  end
  state:note_candidate(step, chosen, candidate, fates or {}, summary)
end

local function one_step(ctx, state, index)
  local step = state:begin_step(index)
  if not gather(ctx, state, step) then
    local lost = step.record.n_malformed_replies > 0
    return state:skip(step, "skip_no_patches", lost and "malformed" or "nothing was proposed")
  end
  local lost = propose(ctx, state, step)
  if lost then return state:skip(step, "skip_no_rewrite", lost) end
  if step.candidate.key == state.skill.key then
    state:set_aside(step, "no_change")
  elseif state:unfit(step) then
    state:set_aside(step, state:unfit(step))
  else
    state:judge(step)
  end
  state:finish_step(step)
end

return policy.define {
  slot = "loop",
  options = {
    num_epochs = { "integer", key = "train.num_epochs", min = 1,
      doc = "passes over the training items" },
    batch_size = { "integer", key = "train.batch_size", min = 1, doc = "items a rollout batch" },
    accumulation = { "integer", key = "train.accumulation", min = 1, doc = "batches a step" },
    seed = { "integer", key = "train.seed", doc = "seed of batches and streams" },
    sel_env_num = { "integer", key = "evaluation.sel_env_num", min = 0,
      doc = "selection items used, 0 = all" },
    test_env_num = { "integer", key = "evaluation.test_env_num", min = 0,
      doc = "test items used, 0 = all" },
    remeasure = { "boolean", key = "evaluation.remeasure",
      doc = "measure a skill that was changed unmeasured before the next gate" },
    slow_samples = { "integer", key = "optimizer.slow_update_samples", min = 1,
      doc = "items compared between epochs" },
    pair_policy = { "choice", key = "optimizer.longitudinal_pair_policy",
      choices = { "mixed", "changed", "unchanged" }, doc = "which pairs count" },
    slow_gated = { "boolean", key = "optimizer.slow_update_gate_with_selection",
      doc = "must guidance pass the gate?" },
    eval_test = { "boolean", key = "evaluation.eval_test",
      doc = "measure on the test set at the end" },
  },
  run = function(ctx, opt)
    local state = train.start(ctx, opt)
    for epoch = 1, opt.num_epochs do
      state:start_epoch(epoch)
      for index = 1, state.steps_per_epoch do
        ctx:scope(("steps/step_%04d"):format(state.number + 1), function()
          one_step(ctx, state, index)
        end)
      end
      epoch_of.close(ctx, state, epoch, opt)
    end
    return ending.run(ctx, state, opt)
  end,
}
