--- Slots of the loop, and the reference's switches for them.
---
--- A slot takes the name of a policy, a table `{ name, option = value }` or a function. A
--- `switch` is an older key that says the same in another way: `to` gives the policy's
--- name for its value (false = says nothing), `from` the way back for `config.json`.
local function slot(name, doc, more)
  local row = { "policy." .. name, "policy", doc, slot = name }
  for field, value in pairs(more or {}) do row[field] = value end
  return row
end

local function switch(name, flat, slot_name, doc, on, off)
  return { name, "boolean", doc, flat = flat, switch = slot_name,
    to = { [true] = on, [false] = off },
    from = function(policy) return policy ~= off end }
end

local SCHEDULES <const> = { "constant", "linear", "cosine", "autonomous" }

--- The schedule or the control mode that a rate policy corresponds to.
local function schedule(policy) return policy ~= "none" and policy or nil end
local function control(policy)
  return (policy == "autonomous" or policy == "none") and policy or "fixed"
end

local MODES <const> = { patch = "patch", rewrite = "rewrite_from_suggestions",
  full_rewrite = "full_rewrite_minibatch" }

return {
  slot("loop", "the training loop itself"),
  slot("reflect", "turns trajectories into patches"),
  slot("aggregate", "merges patches"),
  slot("select", "chooses the edits of a step"),
  slot("update", "applies them to the skill"),
  slot("rate", "edits a step may apply"),
  slot("metric", "the score of an item that the gate compares"),
  slot("gate", "accepts or rejects a candidate"),
  slot("slow_update", "compares epochs and writes lasting guidance; `none` = off",
    { optional = true }),
  slot("meta_skill", "keeps a memory for the optimizer between epochs; `none` = off",
    { optional = true }),
  slot("appendix", "collects notes at the end of the skill; `none` = off",
    { optional = true }),

  { "optimizer.lr_scheduler", "choice", "the reference's word for policy.rate",
    flat = "lr_scheduler", switch = "rate", choices = SCHEDULES, from = schedule },
  { "optimizer.lr_control_mode", "choice",
    "`fixed` leaves policy.rate as it is, the others name it",
    flat = "lr_control_mode", switch = "rate", over = true,
    choices = { "fixed", "autonomous", "none" },
    words = { manual = "fixed", scheduler = "fixed", scheduled = "fixed",
      auto = "autonomous", optimizer = "autonomous", off = "none", no_lr = "none" },
    to = { fixed = false, autonomous = "autonomous", none = "none" }, from = control },
  { "optimizer.skill_update_mode", "choice", "the reference's word for policy.update",
    flat = "skill_update_mode", switch = "update",
    choices = { "patch", "rewrite_from_suggestions", "full_rewrite_minibatch" },
    words = { edits = "patch", rewrite = "rewrite_from_suggestions",
      suggestions = "rewrite_from_suggestions",
      rewrite_suggestions = "rewrite_from_suggestions",
      full_rewrite = "full_rewrite_minibatch",
      minibatch_full_rewrite = "full_rewrite_minibatch",
      skill_rewrite_minibatch = "full_rewrite_minibatch" },
    to = { patch = "patch", rewrite_from_suggestions = "rewrite",
      full_rewrite_minibatch = "full_rewrite" },
    from = function(policy) return MODES[policy] or policy end },
  switch("optimizer.use_slow_update", "use_slow_update", "slow_update",
    "the reference's switch for policy.slow_update", "longitudinal", "none"),
  switch("optimizer.use_meta_skill", "use_meta_skill", "meta_skill",
    "the reference's switch for policy.meta_skill", "epoch", "none"),
  switch("optimizer.use_skill_aware_reflection", "use_skill_aware_reflection", "appendix",
    "the reference's switch for policy.appendix", "skill_aware", "none"),
  { "evaluation.gate_metric", "choice", "the reference's word for policy.metric",
    flat = "gate_metric", switch = "metric", choices = { "hard", "soft", "mixed" },
    from = function(policy) return policy end },
  switch("evaluation.use_gate", "use_gate", "gate",
    "the reference's switch for policy.gate", "strict", "none"),
}
