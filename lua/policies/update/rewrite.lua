--- Have the document written anew from the selected suggestions. Its protected regions are
--- not shown to the writer and stay.
local admission = require "skillopt.admission"
local item_of = require "skillopt.item"
local patch = require "skillopt.patch"
local policy = require "skillopt.policy"
local rewriting = require "skillopt.rewriting"
local json = require "rt.json"
local text = require "rt.text"

--- The skill that a reply writes.
local function written(skill)
  return function(reply)
    local new = type(reply) == "table" and reply.new_skill
    if type(new) ~= "string" then
      return nil, '"new_skill" must be the text of the whole document'
    end
    if text.strip(new) == "" then return nil, '"new_skill" is empty' end
    return rewriting.around(skill, new)
  end
end

local function shown(items)
  local list = json.array {}
  for i, item in ipairs(items) do list[i] = item end
  return json.encode(list, { indent = true,
    keys = item_of.kinds.revise_suggestions.fields })
end

return policy.define {
  slot = "update",
  takes = "revise_suggestions",
  options = {
    max_tokens = { "integer", key = "model.rewrite_max_completion_tokens", min = 1,
      doc = "most tokens of the new document" },
    effort = { "choice", key = "model.rewrite_reasoning_effort",
      choices = { "none", "minimal", "low", "medium", "high", "xhigh", "max" },
      doc = "reasoning effort of the writer" },
  },
  run = function(skill, chosen, ctx, opt)
    local items = patch.items(chosen)
    if #items == 0 then return skill, {} end
    local is_fit, refusal = admission.check(skill, ctx.step, written(skill))
    local reply, err = ctx:ask {
      prompt = "rewrite_skill",
      inputs = { skill = rewriting.shown(skill), suggestions = shown(items),
        memory = ctx.step.memory, size = ctx.step.size, max_size = ctx.step.max_size },
      stage = "rewrite", want = { "new_skill" }, check = is_fit,
      max_tokens = opt.max_tokens, reasoning_effort = opt.effort,
    }
    if not reply then return nil, refusal() or err.kind end
    local new, summary = reply.new_skill, item_of.texts(reply.change_summary)
    local why = type(reply.reasoning) == "string" and reply.reasoning or ""
    ctx:record("rewrite_result",
      { reasoning = why, change_summary = summary, new_skill = new })
    return rewriting.around(skill, new), {}, summary
  end,
}
