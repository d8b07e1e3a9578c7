--- The end of an epoch as the reference has it, for replaying its traces: a skill is
--- compared with itself, a comparison without pairs is sent all the same, and a meta skill
--- is written at the end of the last epoch too.
local pairs_of = require "skillopt.pairs"
local schedule = require "skillopt.schedule"

local M = {}

local function compare(ctx, skills, epoch, opt)
  local seed, sides = opt.seed + 2000 * epoch, {}
  local items = schedule.sample(ctx.data.train, #ctx.data.train, seed)
  local sample = table.move(items, 1, math.min(opt.slow_samples, #items), 1, {})
  for who, label in pairs { previous = "rollout_prev", current = "rollout_curr" } do
    sides[who] = ctx:evaluate(skills[who], sample,
      { label = label, seed = seed, feedback = true })
  end
  local list = pairs_of.build(sides.previous, sides.current, sample)
  local kept = pairs_of.keep(list, opt.pair_policy)
  if opt.pair_policy ~= "mixed" then ctx:record("comparison_pairs_all", list) end
  ctx:record("comparison_pairs", kept)
  local ids = pairs_of.ids(kept)
  return { previous = sides.previous:only(ids), current = sides.current:only(ids),
    prev_hard = sides.previous:mean "hard", curr_hard = sides.current:mean "hard" }
end

--- Guidance into the current skill, by force or through the gate.
local function take(state, candidate, origin, is_gated)
  if not is_gated then
    state:replace(candidate, origin)
    return { action = "force_accept" }
  end
  local measured = state:measure(candidate, "selection_eval")
  local decision = state:gate(measured)
  return { selection_hard = measured:mean "hard", selection_soft = measured:mean "soft",
    action = state:take({ candidate = candidate, measured = measured, decision = decision },
      origin) }
end

local function slow_update(ctx, state, skills, epoch, opt)
  if epoch == 1 then
    local origin = "slow_update_placeholder_epoch_01"
    state:replace(state.skill:with_region("slow_update", ""), origin)
    ctx:record("slow_result", { action = "inject_placeholder", epoch = 1 })
    return nil
  end
  local sides = compare(ctx, skills, epoch, opt)
  local guidance, reasoning = state:call("slow_update", sides.previous, sides.current)
  local result = { action = "no_content" }
  if guidance then
    local candidate = state.skill:with_region("slow_update", guidance)
    result = take(state, candidate, ("slow_update_epoch_%02d"):format(epoch), opt.slow_gated)
    result.reasoning, result.slow_update_content = reasoning, guidance
    result.prev_hard, result.curr_hard = sides.prev_hard, sides.curr_hard
    result.candidate_hash, result.update_origin = candidate.hash, "slow_update_momentum"
    ctx:write("candidate_skill.md", candidate.text)
  end
  ctx:record("slow_result", result)
  return sides
end

local function remember(ctx, state, skills, sides, epoch, opt)
  if epoch > 1 then
    sides = sides or compare(ctx, skills, epoch, opt)
    state.meta = state:call("meta_skill", sides.previous, sides.current) or ""
  end
  ctx:record("meta_skill_result", { meta_skill_content = state.meta })
end

--- As `close` of `skillopt.epoch`.
---@async
---@param ctx skillopt.Ctx
---@param state skillopt.TrainState
---@param epoch integer
---@param opt skillopt.EpochOptions
function M.close(ctx, state, epoch, opt)
  local policies, sides = state.run.policies, nil
  local skills = { previous = state.epoch_skill, current = state.skill }
  local function within(folder, f)
    return ctx:scope(("%s/epoch_%02d"):format(folder, epoch), function()
      state:enter()
      return f(ctx, state, skills, epoch, opt)
    end)
  end
  if policies.slow_update then sides = within("slow_update", slow_update) end
  if policies.meta_skill then
    within("meta_skill", function() remember(ctx, state, skills, sides, epoch, opt) end)
  end
  state.epoch_skill = state.skill
  if policies.slow_update then state:save_epoch() end
end

return M
