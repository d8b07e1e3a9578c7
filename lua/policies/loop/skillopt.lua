--- The training loop, top to bottom: for each step roll out a batch with the current
--- skill, let analysts reflect on it, merge what they propose, select as many edits as the
--- rate allows, apply them, measure the candidate on the selection set, ask the gate.
local ending = require "skillopt.ending"
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

--- From raw patches to a candidate.
local function propose(ctx, state, step)
  local record = step.record
  local merged = state:call("aggregate", step.raws)
  ctx:record("merged_patch", merged)
  record.n_edits_merged = #merged.edits
  local rate = state:rate(merged)
  state.ctx.step.rate = rate
  local chosen = state:call("select", merged, rate)
  ctx:record("ranked_edits", chosen)
  record.n_edits_ranked, record.edit_budget = #chosen.edits, rate
  record.lr_control_mode = state.run.rate_mode
  local candidate, fates = state:call("update", state.skill, chosen)
  state:note_candidate(step, chosen, candidate, fates or {})
end

local function one_step(ctx, state, index)
  local step = state:begin_step(index)
  if not gather(ctx, state, step) then
    local lost = step.record.n_malformed_replies > 0
    return state:skip(step, "skip_no_patches", lost and "malformed" or "nothing was proposed")
  end
  propose(ctx, state, step)
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
    num_epochs = { "integer", key = "train.num_epochs", min = 1, doc = "passes over the training items" },
    batch_size = { "integer", key = "train.batch_size", min = 1, doc = "items a rollout batch" },
    accumulation = { "integer", key = "train.accumulation", min = 1, doc = "batches a step" },
    seed = { "integer", key = "train.seed", doc = "seed of batches and streams" },
    sel_env_num = { "integer", key = "evaluation.sel_env_num", min = 0,
      doc = "selection items used, 0 = all" },
    test_env_num = { "integer", key = "evaluation.test_env_num", min = 0, doc = "test items used, 0 = all" },
    eval_test = { "boolean", key = "evaluation.eval_test", doc = "measure on the test set at the end" },
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
    end
    return ending.run(ctx, state, opt)
  end,
}
