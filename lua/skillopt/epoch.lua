--- What happens between two epochs: the skill at the end of this one is compared with that
--- of the one before on a sample of training items; from the comparison a slow update
--- writes lasting guidance into the skill, and a meta skill what the optimizer remembers.
---
--- Both are policies and may be off. The target never sees the meta skill. Skills that say
--- the same are not compared: there is nothing to learn from that.
local pairs_of = require "skillopt.pairs"
local schedule = require "skillopt.schedule"

local M = {}

local TARGET <const> =
  "fix regressions and persistent failures seen across neighbouring epochs"
local UNCHANGED <const> = "the skill did not change in this epoch"
local UNUSED <const> = "no later epoch could use it"

---@class skillopt.EpochOptions
---@field num_epochs integer
---@field seed integer
---@field slow_samples integer items compared
---@field pair_policy "mixed"|"changed"|"unchanged" which of them count
---@field slow_gated boolean must guidance pass the gate?

--------------------------------------------------------------------------- sampling

--- Training items in the order in which they are compared.
local function order(ctx, epoch, opt)
  local seed = opt.seed + 2000 * epoch
  return schedule.sample(ctx.data.train, #ctx.data.train, seed), seed
end

local function roll(ctx, skills, items, seed, folder)
  local function side(who, label)
    return ctx:evaluate(skills[who], items,
      { label = folder .. label, seed = seed, feedback = true })
  end
  local previous = side("previous", "rollout_prev")
  return { previous = previous, current = side("current", "rollout_curr") }
end

--- Items behind the sample until enough pairs qualify. Never more than could still be
--- needed are rolled out at once.
local function top_up(ctx, skills, sides, all, opt)
  local next_item = opt.slow_samples + 1
  local list = pairs_of.build(sides.previous, sides.current, all.items)
  local kept = pairs_of.keep(list, opt.pair_policy)
  while #kept < opt.slow_samples and next_item <= #all.items do
    local last = math.min(next_item + opt.slow_samples - #kept - 1, #all.items)
    local more = roll(ctx, skills, table.move(all.items, next_item, last, 1, {}),
      all.seed + next_item, "topup/")
    for who, value in pairs(more) do sides[who] = sides[who]:with(value) end
    next_item = last + 1
    list = pairs_of.build(sides.previous, sides.current, all.items)
    kept = pairs_of.keep(list, opt.pair_policy)
  end
  return list, kept
end

--- Roll out both skills and keep the pairs that count; nil when there is none.
local function compare(ctx, skills, epoch, opt)
  local items, seed = order(ctx, epoch, opt)
  local sample = table.move(items, 1, math.min(opt.slow_samples, #items), 1, {})
  local sides = roll(ctx, skills, sample, seed, "")
  local list = pairs_of.build(sides.previous, sides.current, items)
  local kept = pairs_of.keep(list, opt.pair_policy)
  local first = { previous = sides.previous:mean "hard", current = sides.current:mean "hard" }
  if opt.pair_policy == "changed" then
    list, kept = top_up(ctx, skills, sides, { items = items, seed = seed }, opt)
  end
  if opt.pair_policy ~= "mixed" then ctx:record("comparison_pairs_all", list) end
  ctx:record("comparison_pairs", kept)
  if #kept == 0 then return nil end
  local ids = pairs_of.ids(kept)
  return { previous = sides.previous:only(ids), current = sides.current:only(ids),
    prev_hard = first.previous, curr_hard = first.current }
end

------------------------------------------------------------------------- slow update

local function gated(state, candidate, result, origin)
  local measured = state:measure(candidate, "selection_eval")
  local decision, reason
  decision, reason, measured = state:gate(measured)
  result.selection_hard, result.selection_soft = measured:mean "hard", measured:mean "soft"
  result.action = state:take(
    { candidate = candidate, measured = measured, decision = decision }, origin)
  result.gate_reason = reason
end

--- Guidance into the skill: through the gate, or into the current skill alone, whose score
--- is then that of another text until it is measured.
local function accept(state, guidance, result, epoch, opt)
  local candidate = state.skill:with_region("slow_update", guidance)
  local origin = ("slow_update_epoch_%02d"):format(epoch)
  result.candidate_hash = candidate.hash
  result.update_origin, result.update_target = "slow_update_momentum", TARGET
  local refusal = state.admission:fault(candidate, state.skill,
    { record = result, where = "guidance" })
  if candidate.key == state.skill.key then
    result.action = "no_change"
  elseif refusal then
    result.action, result.reason = "no_content", refusal
  elseif opt.slow_gated then
    gated(state, candidate, result, origin)
  else
    state:replace(candidate, origin)
    result.action = "force_accept"
  end
  return candidate
end

local function no_content(reason) return { action = "no_content", reason = reason } end

local function guide(ctx, state, skills, epoch, opt)
  if skills.previous.key == skills.current.key then return no_content(UNCHANGED) end
  local sides = compare(ctx, skills, epoch, opt)
  if not sides then return no_content "there are no such pairs" end
  local guidance, why = state:call("slow_update", sides.previous, sides.current)
  if not guidance then return no_content(why or "nothing was proposed"), sides end
  local result = { reasoning = why or "", slow_update_content = guidance,
    prev_hard = sides.prev_hard, curr_hard = sides.curr_hard }
  ctx:write("candidate_skill.md", accept(state, guidance, result, epoch, opt).text)
  return result, sides
end

--- The place for guidance; a skill that brings guidance along keeps it.
local function placeholder(state)
  local skill = state.skill
  if not skill.regions.slow_update then skill = skill:with_region("slow_update", "") end
  state:replace(skill, "slow_update_placeholder_epoch_01")
  return { action = "inject_placeholder", epoch = 1 }
end

--- The slow update of an epoch. The comparison it made, or nil.
local function slow_update(ctx, state, skills, epoch, opt)
  return ctx:scope(("slow_update/epoch_%02d"):format(epoch), function()
    state:enter()
    local result, sides
    if epoch == 1 then result = placeholder(state)
    else result, sides = guide(ctx, state, skills, epoch, opt) end
    ctx:record("slow_result", result)
    state.run.say("slow_update",
      { epoch = epoch, action = result.action, reason = result.reason })
    return sides
  end)
end

-------------------------------------------------------------------------- meta skill

--- What is on record of an epoch that writes no memory, or nil when one is written.
local function unwritten(skills, epoch, opt)
  if epoch == 1 then return { action = "skip_first_epoch", epoch = 1 } end
  if epoch == opt.num_epochs then return no_content(UNUSED) end
  if skills.previous.key == skills.current.key then return no_content(UNCHANGED) end
end

--- The memory, or why there is none.
local function memory_of(ctx, state, skills, sides, epoch, opt)
  sides = sides or compare(ctx, skills, epoch, opt)
  if not sides then return nil, "there are no such pairs" end
  return state:call("meta_skill", sides.previous, sides.current)
end

--- What the optimizer remembers from here on; after a failed call what it did before.
local function remember(ctx, state, skills, sides, epoch, opt)
  ctx:scope(("meta_skill/epoch_%02d"):format(epoch), function()
    state:enter()
    local result = unwritten(skills, epoch, opt)
    if not result then
      local memory, why = memory_of(ctx, state, skills, sides, epoch, opt)
      state.meta = memory or state.meta
      result = memory and { action = "write_meta_skill", reasoning = why or "",
        meta_skill_content = memory } or no_content(why or "nothing was proposed")
    end
    ctx:record("meta_skill_result", result)
    state.run.say("meta_skill",
      { epoch = epoch, action = result.action, reason = result.reason })
  end)
end

--- End an epoch: what is written here is the skill its last step leaves.
---@async
---@param ctx skillopt.Ctx
---@param state skillopt.TrainState
---@param epoch integer
---@param opt skillopt.EpochOptions
function M.close(ctx, state, epoch, opt)
  local policies = state.run.policies
  local skills = { previous = state.epoch_skill, current = state.skill }
  local sides
  if policies.slow_update then sides = slow_update(ctx, state, skills, epoch, opt) end
  if policies.meta_skill then remember(ctx, state, skills, sides, epoch, opt) end
  state.epoch_skill = state.skill
  if policies.slow_update then state:save_epoch() end
end

return M
