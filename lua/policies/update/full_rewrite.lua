--- Put the first candidate document in the place of the current one; protected regions
--- stay.
local admission = require "skillopt.admission"
local patch = require "skillopt.patch"
local policy = require "skillopt.policy"
local rewriting = require "skillopt.rewriting"

return policy.define {
  slot = "update",
  takes = "skill_candidates",
  run = function(skill, merged, ctx)
    local chosen = patch.items(merged)[1]
    if not chosen then return nil, "no candidate" end
    ctx:record("full_rewrite_result", { selected_candidate = chosen, merged_patch = merged })
    local candidate = rewriting.around(skill, chosen.new_skill)
    local refusal = admission.refusal(candidate, skill, ctx.step)
    if refusal then return nil, refusal end
    return candidate, {}, chosen.change_summary
  end,
}
