--- What training loops share: the state of a run between steps, calls of the policies,
--- measuring and gating a candidate, and the files that tell the story.
---
--- A loop is a policy; this module is the bench it works on. Nothing here is stored for
--- resuming: a run that is continued goes through the same motions again.
local admission = require "skillopt.admission"
local appendix = require "skillopt.appendix"
local decide = require "skillopt.decide"
local evaluation = require "skillopt.evaluation"
local fitness = require "skillopt.fitness"
local json = require "rt.json"
local memory = require "skillopt.memory"
local patch = require "skillopt.patch"
local record = require "skillopt.record"
local schedule = require "skillopt.schedule"
local size = require "skillopt.size"
local skill_of = require "skillopt.skill"
local task = require "skillopt.task"
local text_of = require "rt.text"

local M = {}

local State = {}
State.__index = State

--- Rounds of more measuring before an undecided gate counts as a rejection.
local MAX_ROUNDS <const> = 3

---@class skillopt.TrainState
---@field skill skillopt.Skill current
---@field current skillopt.Evaluation of the current skill on the selection set
---@field best_skill skillopt.Skill
---@field best skillopt.Evaluation
---@field number integer steps begun

--- The place of the calling task, a copy that it may change.
local function own_place()
  local place = {}
  for k, v in pairs(task.place()) do place[k] = v end
  task.set_place(place)
  return place
end

--------------------------------------------------------------------- selection

--- Measure on the selection set; skills with one key are measured once.
---@async
---@param skill skillopt.Skill
---@param label string
---@return skillopt.Evaluation
function State:measure(skill, label)
  local known = self.measured[skill.key]
  if known then return known end
  local value = self.ctx:evaluate(skill, self.selection, { label = label, seed = self.opt.seed })
  self.measured[skill.key] = value
  return value
end

local function gate_run(state)
  return { step = state.number, steps = state.total, decisions = state.decisions,
    max = state.run.policies.metric.max, rng = state.ctx.rng:stream "gate" }
end

--- Asks the gate whether a candidate of which a prefix is measured can still be accepted.
local function hopeless(state)
  local gate = state.run.policies.gate
  local pair = evaluation.paired { state.current, state.best }
  return function(prefix)
    return gate.hopeless(prefix, pair[1], pair[2], gate.opt, gate_run(state)) == true
  end
end

--- As `measure`, but a candidate that the gate calls hopeless is not measured to its end.
--- What there is of it is kept apart: it answers only while it is still hopeless.
---@async
local function measure_candidate(state, skill, label)
  if state.measured[skill.key] or not state.run.early_stop then
    return state:measure(skill, label)
  end
  local is_hopeless, known = hopeless(state), state.partial[skill.key]
  if known and task.still(is_hopeless, known) then return known end
  local value = state.ctx:evaluate(skill, state.selection,
    { label = label, seed = state.opt.seed, stop = is_hopeless })
  local kept = value.not_run > 0 and state.partial or state.measured
  kept[skill.key] = value
  return value
end

--- More repeats of the evaluations a gate asks for.
---@async
local function measure_again(state, candidate, need)
  local of = need.of or { "candidate", "current" }
  for _, who in ipairs(of) do
    local held = who == "candidate" and candidate or state[who]
    if not held then
      error("a gate may need 'candidate', 'current' or 'best', not " .. tostring(who))
    end
    local more = state.ctx:evaluate(held.skill, state.selection,
      { label = "selection_eval", repeats = need.repeats or 1, seed = state.opt.seed })
    local joined = held:with(more)
    state.measured[held.skill.key] = joined
    if who == "candidate" then candidate = joined else state[who] = joined end
  end
  return candidate
end

--- Ask the gate until it decides. The decision is one of accept, reject, force_accept.
---@async
---@param candidate skillopt.Evaluation
---@return string decision
---@return string reason
---@return skillopt.Evaluation candidate with what was measured on the way
function State:gate(candidate)
  local gate = self.run.policies.gate
  for round = 1, MAX_ROUNDS + 1 do
    local pair = evaluation.paired { candidate, self.current, self.best }
    local decision, reason, need = gate.run(pair[1], pair[2], pair[3], gate_run(self), gate.opt)
    if decision ~= "undecided" then return decision, reason or "", candidate end
    if round > MAX_ROUNDS then break end
    candidate = measure_again(self, candidate, need or {})
  end
  return "reject", "undecided", candidate
end

----------------------------------------------------------------------- policies

--- Slots whose policies are shown trajectories.
local SEEING <const> = { reflect = true, slow_update = true, meta_skill = true }

local STAGES = { reflect = "analyst", aggregate = "merge", select = "ranking", update = "rewrite",
  rate = "lr_autonomous" }

--- Call a function of the policy chosen for a slot.
---@async
---@param slot string
---@param field string
---@return any ...
function State:invoke(slot, field, ...)
  local policy = self.run.policies[slot]
  local outer, place = task.place(), own_place()
  place.kind, place.role, place.stage = "policy", "optimizer", STAGES[slot] or slot
  place.opt, place.prompt_folders = policy.opt, self.run.policy_prompts(policy)
  place.skill, place.current, place.best = self.skill, self.current, self.best
  local args = table.pack(...)
  for i = 1, SEEING[slot] and args.n or 0 do self.admission:see(args[i]) end
  args[args.n + 1], args[args.n + 2] = self.ctx, policy.opt
  local out = table.pack(policy[field](table.unpack(args, 1, args.n + 2)))
  task.set_place(outer)
  return table.unpack(out, 1, out.n)
end

--- Call the policy chosen for a slot.
---@async
---@param slot string
---@return any ...
function State:call(slot, ...)
  return self:invoke(slot, "run", ...)
end

--- One line a decision of a model about the rate.
local function note_rate(state, step, decision)
  step.record.lr_decision = decision
  local line = { step = state.number, epoch = state.epoch }
  for field, value in pairs(decision) do line[field] = value end
  state.rates[#state.rates + 1] = json.encode(line, { keys = { "step", "epoch" } }) .. "\n"
  state.run.write("lr_history.jsonl", table.concat(state.rates))
end

--- Edits allowed in this step.
---@async
---@param step table
---@param merged table the merged patch
---@return integer
function State:rate(step, merged)
  local policy, r = self.run.policies.rate, step.record
  local rate, decision
  if policy.waits then
    rate, decision = self:call("rate", merged)
  else
    rate = policy.run(self.number, self.total, policy.opt)
  end
  r.edit_budget = policy.control == "none" and json.null or rate
  r.lr_control_mode = policy.control or "fixed"
  if decision then note_rate(self, step, decision) end
  task.place().step.rate = rate
  return rate
end

--- The patch with these rows among what is dropped.
local function with_dropped(chosen, rows)
  if not rows or chosen.dropped == rows then return chosen end
  chosen.dropped = chosen.dropped or json.array {}
  table.move(rows, 1, #rows, #chosen.dropped + 1, chosen.dropped)
  return chosen
end

--- What of the merged patch is used; what gives something away is not, when that is
--- refused. Where whole documents are proposed there is one, and
--- no rate.
---@async
---@param step table
---@param merged table
---@return table patch
function State:choose(step, merged)
  local r = step.record
  r.n_edits_merged = #patch.items(merged)
  r.n_merges_split = merged.n_merges_split
  if r.n_merges_split then
    self.run.log { event = "split", slot = task.slot(), merges = r.n_merges_split }
  end
  local admitted = self.admission:items(merged, self.skill, r)
  local chosen = admitted
  if patch.kind(merged) == "skill_candidates" then
    r.edit_budget, r.lr_control_mode = json.null, "none"
  else
    chosen = self:call("select", admitted, self:rate(step, admitted))
  end
  r.n_edits_ranked = #patch.items(chosen)
  return with_dropped(chosen, admitted ~= merged and admitted.dropped or nil)
end

-------------------------------------------------------------------------- steps

--- Begin an epoch: its batches are drawn.
---@param epoch integer
function State:start_epoch(epoch)
  local opt = self.opt
  if epoch > 1 then self.memory:start_epoch() end
  self.epoch = epoch
  self.batches = schedule.epoch(self.ctx.data.train, epoch, {
    seed = opt.seed, batch_size = opt.batch_size, count = self.steps_per_epoch * opt.accumulation })
  self.run.say("epoch", { epoch = epoch, epochs = opt.num_epochs })
end

--- Whose analysts are asked for notes.
local function lapses_of(run)
  local policy = run.policies.appendix
  return policy and (policy.opt.source or "both")
end

--- Where the calling task is, for the policies it calls.
---@param index integer? of the step within its epoch
function State:enter(index)
  own_place().step = { number = self.number, total = self.total, epoch = self.epoch,
    index = index or self.steps_per_epoch, memory = self.memory:text(), meta = self.meta,
    seed = 0, items = self.run.policies.update.takes or "edits", lapses = lapses_of(self.run),
    size = self.skill.tokens, max_size = self.admission.limit > 0 and self.admission.limit or "",
    leak = function(text) return self.admission:leak(text, self.skill) end }
end

--- Begin a step, inside its scope; the record it fills and its batches.
---@param index integer 1-based within the epoch
---@return table step
function State:begin_step(index)
  local opt = self.opt
  self.number = self.number + 1
  local step = {
    started = self.run.seconds(), tokens = self.run.token_mark(), batches = {},
    record = { step = self.number, epoch = self.epoch, step_in_epoch = index - 1 },
    stats = json.array {}, rows = {}, raws = {}, fates = {},
  }
  for a = 1, opt.accumulation do
    step.batches[a] = self.batches[(index - 1) * opt.accumulation + a]
  end
  self:enter(index)
  self.run.say("step", step.record)
  return step
end

--- Tell the policies which batch they work on.
---@param batch table
function State:set_batch(batch)
  task.place().step.seed = batch.seed
end

local function rounded(x)
  return x and json.round(x, 6)
end

--- What of a batch was not shown as a whole: counts for the records, words for the log.
local function count_cuts(run, raws)
  local cut, split = 0, 0
  for _, raw in ipairs(raws) do
    for _, one in ipairs(raw.cut or {}) do
      cut = cut + 1
      run.log { event = "cut", slot = task.slot(), id = one.id, characters = one.characters }
    end
    if raw.split and raw.split.part == 1 then
      split = split + 1
      run.log { event = "split", slot = task.slot(), minibatch = raw.split.of,
        parts = raw.split.parts }
    end
  end
  return cut > 0 and cut or nil, split > 0 and split or nil
end

local function plus(a, b) return a and b and a + b or a or b end

--- Note a batch that was rolled out and reflected upon.
---@param step table
---@param batch table
---@param seen skillopt.Evaluation
---@param raws table[]
function State:note_batch(step, batch, seen, raws)
  local found = patch.normalise(raws, self.run.policies.update.takes)
  local cut, split = count_cuts(self.run, raws)
  local r = step.record
  r.n_trajectories_cut = plus(r.n_trajectories_cut, cut)
  r.n_minibatches_split = plus(r.n_minibatches_split, split)
  step.stats[#step.stats + 1] = {
    n_trajectories_cut = cut, n_minibatches_split = split,
    batch_idx = #step.stats, batch_seed = batch.seed, n_envs = seen.n,
    n_failed = #seen.failed, hard = seen:mean "hard", soft = seen:mean "soft",
    n_failure_patches = #found.failure, n_success_patches = #found.success,
    n_malformed = found.malformed,
  }
  for _, raw in ipairs(raws) do
    self.admission:note_dropped(step.record, raw.dropped, "analyst")
  end
  table.move(seen:rows(), 1, #seen:rows(), #step.rows + 1, step.rows)
  table.move(raws, 1, #raws, #step.raws + 1, step.raws)
end

local function weighted(stats, name)
  local sum, n = 0.0, 0
  for _, row in ipairs(stats) do
    if row[name] then
      sum = sum + row[name] * row.n_envs
      n = n + row.n_envs
    end
  end
  return n > 0 and rounded(sum / n) or json.null
end

local function number(value) return math.type(value) and value or 0.0 end

local function total(stats, name)
  local n = 0
  for _, row in ipairs(stats) do n = n + row[name] end
  return n
end

--- The record's part about rollouts and reflection, once all batches are in. Is there
--- anything to work on?
---@param step table
---@return boolean
function State:close_batches(step)
  local r, stats = step.record, step.stats
  r.rollout_hard, r.rollout_soft = weighted(stats, "hard"), weighted(stats, "soft")
  r.rollout_n, r.rollout_failed = total(stats, "n_envs"), total(stats, "n_failed")
  r.accumulation_batches = stats
  r.n_failure_patches = total(stats, "n_failure_patches")
  r.n_success_patches = total(stats, "n_success_patches")
  r.n_patches = r.n_failure_patches + r.n_success_patches
  r.n_malformed_replies = total(stats, "n_malformed")
  task.place().step.seen = { n = r.rollout_n, hard = number(r.rollout_hard),
    soft = number(r.rollout_soft) }
  return r.n_patches > 0
end

------------------------------------------------------------------------ outcome

local function fates_of(rows)
  local out = { total = #rows, applied = 0, skipped = 0, errors = 0 }
  for _, row in ipairs(rows) do
    if row.fate == "applied" then out.applied = out.applied + 1
    elseif row.status == "error" or row.fate == "malformed" then out.errors = out.errors + 1
    else out.skipped = out.skipped + 1 end
  end
  return out
end

--- Note the candidate and what became of each edit.
---@param step table
---@param chosen table the selected patch
---@param candidate skillopt.Skill
---@param fates skillopt.Fate[] of edits
---@param summary string[]? what changed, in the words of who wrote the document anew
function State:note_candidate(step, chosen, candidate, fates, summary)
  local r, ctx = step.record, self.ctx
  local items = patch.items(chosen)
  step.edits, step.fates, step.candidate = items, fates, candidate
  r.support_counts = json.array {}
  for i, item in ipairs(items) do r.support_counts[i] = item.support_count or 0 end
  r.candidate_hash = candidate.hash
  r.candidate_skill_len = text_of.length(candidate.text)
  r.candidate_tokens = candidate.tokens
  step.refusal = self.admission:fault(candidate, self.skill, { record = r, where = "document" })
  r.rewrite_change_summary = summary
  if patch.kind(chosen) == "edits" then r.edit_apply_summary = fates_of(fates) end
  ctx:write("candidate_skill.md", candidate.text)
  if #fates > 0 then ctx:record("edit_apply_report", fates) end
end

--- Why the candidate may not take the place of the skill, or is no valid document; nil
--- when it may.
---@param step table
---@return string?
function State:unfit(step)
  if step.refusal then return step.refusal end
  local fault = fitness.fault(step.candidate, self.skill)
  return fault and "invalid candidate: " .. fault
end

--- The candidate is not worth measuring: a rejection with current's numbers.
---@param step table
---@param reason string
function State:set_aside(step, reason)
  step.decision, step.reason = "reject", reason
  step.measured = self.current
end

--- Measure a current skill whose score is that of another text.
---@async
function State:refresh()
  if not self.is_unmeasured then return end
  local origin = self.current_origin
  self:offer(self:measure(self.skill, "selection_eval_current"))
  self.current_origin = origin
  if self.best == self.current then self.best_origin = origin end
end

--- Measure the candidate and ask the gate.
---@async
---@param step table
function State:judge(step)
  if self.opt.remeasure then self:refresh() end
  local measured = measure_candidate(self, step.candidate, "selection_eval")
  if measured.not_run > 0 then
    step.decision, step.measured = "reject", measured
    step.reason = decide.early_reason(measured, self.current, self.run.policies.metric.max)
    return
  end
  step.decision, step.reason, step.measured = self:gate(measured)
end

--- Take a decision: current and best move, origins follow.
---@param change {decision: string, candidate: skillopt.Skill, measured: skillopt.Evaluation}
---@param origin string
---@return skillopt.Action
function State:take(change, origin)
  local measured = change.measured
  local pair = evaluation.paired { measured, self.current, self.best }
  local action, moves_best = decide.action(change.decision, pair[1], pair[3])
  if action ~= "reject" then
    self.skill, self.current, self.is_unmeasured = change.candidate, measured, nil
    self.current_origin = origin
  end
  if moves_best and action ~= "reject" then
    self.best_skill, self.best, self.best_step = change.candidate, measured, self.number
    self.best_origin = origin
  end
  return action
end

--- Another text becomes current without being measured: the score stays that of the text
--- before, and the records say so when the two do not say the same.
---@param skill skillopt.Skill
---@param origin string
function State:replace(skill, origin)
  self.is_unmeasured = self.is_unmeasured or skill.key ~= self.skill.key or nil
  self.skill, self.current_origin = skill, origin
end

--- End a step that measured a candidate (or had nothing new to measure).
---@param step table
function State:finish_step(step)
  local r, measured = step.record, step.measured
  r.selection_hard, r.selection_soft = measured:mean "hard", measured:mean "soft"
  r.selection_n, r.gate_metric = measured.n, self.run.policies.metric.name
  r.candidate_gate_score = measured.score
  if measured.not_run > 0 then r.selection_not_run = measured.not_run end
  local before = self.current.score
  r.action = self:take(step, string.format("step_%04d", self.number))
  r.gate_reason = step.reason
  self.decisions[#self.decisions + 1] = { step = self.number, action = r.action,
    score = measured.score }
  appendix.flush(self, step)
  local entry = self.memory:add { step = self.number, action = r.action, rows = step.rows,
    raws = step.raws, edits = step.edits, fates = step.fates,
    score_before = before, score_after = measured.not_run == 0 and measured.score or nil }
  self.ctx:record("trajectory_digest", entry)
  self:save(step)
end

--- End a step without a candidate.
---@param step table
---@param action string `skip_no_patches` or `skip_no_rewrite`
---@param reason string
function State:skip(step, action, reason)
  local r = step.record
  r.action, r.gate_reason = action, reason
  self.admission:note_dropped(r, { { fate = reason:match "^%l+", reason = reason } }, "document")
  appendix.flush(self, step)
  self:save(step)
end

--- Take a measured skill as current and, when it is above best, as best; for loops that
--- keep more than one skill alive.
---@param value skillopt.Evaluation on the selection set
---@return boolean is_best
function State:offer(value)
  self.measured[value.skill.key] = value
  self.skill, self.current, self.is_unmeasured = value.skill, value, nil
  if value.score <= self.best.score then return false end
  self.best_skill, self.best, self.best_step = value.skill, value, self.number
  self.best_origin, self.current_origin = "loop", "loop"
  return true
end

--------------------------------------------------------------------------- files

local function origins(state, r)
  r.current_score, r.best_score, r.best_step = state.current.score, state.best.score,
    state.best_step
  r.current_origin, r.best_origin = state.current_origin, state.best_origin
  r.current_is_unmeasured = state.is_unmeasured
  r.skill_len = text_of.length(state.skill.text)
  r.skill_tokens, r.skill_body_tokens, r.skill_region_tokens = size.of(state.skill)
end

--- Write what a step leaves behind.
---@param step table
function State:save(step)
  local r, run = step.record, self.run
  r.timing = json.object { step_s = run.seconds() - step.started }
  r.tokens = run.tokens_since(step.tokens)
  origins(self, r)
  r.wall_time_s = json.round(run.seconds() - step.started, 1)
  self.history[#self.history + 1] = r
  run.write(string.format("skills/skill_v%04d.md", self.number), self.skill.text)
  self:write_best()
  record.history(run, self.history)
  record.state(run, self)
  self.ctx:record("step_record", r)
  run.say("step_done", r)
  run.flush_events()
end

--- Write what the end of an epoch leaves: the skill of its last step anew.
function State:save_epoch()
  local run = self.run
  run.write(string.format("skills/skill_v%04d.md", self.number), self.skill.text)
  self:write_best()
  record.state(run, self)
  run.flush_events()
end

--- Write the best skill so far to the run's best_skill.md, synced to the disk.
function State:write_best()
  self.run.write("best_skill.md", self.best_skill.text, { sync = true })
end

local function acceptance(run, opt)
  if not run.policies.slow_update then return "off" end
  return opt.slow_gated and "gated" or "force"
end

--- Start training: the initial skill is measured, the plan stands.
---@async
---@param ctx skillopt.Ctx
---@param opt table the loop's options
---@return skillopt.TrainState
function M.start(ctx, opt)
  local run = task.place().run
  local skill = skill_of.new(run.initial_skill)
  local state = setmetatable({
    ctx = ctx, opt = opt, run = run, skill = skill, best_skill = skill, number = 0,
    selection = schedule.front(ctx.data.val, opt.sel_env_num), measured = {}, partial = {},
    decisions = {}, history = json.array {}, rates = {}, meta = "", epoch_skill = skill,
    memory = memory.new(), admission = admission.new(run), best_step = 0,
    current_origin = "initial_skill", best_origin = "initial_skill",
  }, State)
  if opt.batch_size then -- a loop of steps and epochs
    state.steps_per_epoch = schedule.steps_per_epoch(#ctx.data.train, opt.batch_size,
      opt.accumulation)
    state.total = opt.num_epochs * state.steps_per_epoch
    run.set_plan { steps = state.total, epochs = opt.num_epochs }
    run.say("slow", { acceptance = acceptance(run, opt) })
  end
  run.write("skills/skill_v0000.md", skill.text)
  state.current = state:measure(skill, "selection_eval_baseline")
  state.best, state.baseline = state.current, state.current
  if run.policies.appendix then state.skill = appendix.prepared(skill) end
  record.state(run, state)
  run.flush_events()
  return state
end

return M
