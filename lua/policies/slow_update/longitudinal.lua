--- Guidance that lasts an epoch, written from what two neighbouring epochs made of the same
--- tasks. It takes the place of the guidance before it.
local admission = require "skillopt.admission"
local pairs_of = require "skillopt.pairs"
local policy = require "skillopt.policy"
local text = require "rt.text"

local MAX_TOKENS <const> = 16384

--- The skill with the guidance of a reply.
local function guided(skill)
  return function(reply)
    local content = type(reply) == "table" and reply.slow_update_content
    if type(content) ~= "string" then return nil, '"slow_update_content" is no text' end
    if text.strip(content) == "" then return nil, '"slow_update_content" is empty' end
    return skill:with_region("slow_update", text.strip(content))
  end
end

return policy.define {
  slot = "slow_update",
  options = {
    prompt_tokens = { "integer", key = "optimizer.prompt_tokens", min = 1,
      doc = "tokens of the prompt" },
    trajectory_tokens = { "integer", key = "optimizer.trajectory_tokens", min = 1,
      doc = "tokens of one trajectory" },
  },
  run = function(previous, current, ctx, opt)
    local list = pairs_of.build(previous, current, ctx.data.train)
    local sides = { previous = previous, current = current }
    local is_fit, refusal = admission.check(current.skill, ctx.step, guided(current.skill))
    local inputs = { previous = previous.skill, current = current.skill,
      guidance = current.skill.regions.slow_update or "" }
    pairs_of.show(list, sides, ctx, { prompt = "slow_update", inputs = inputs,
      tokens = opt.prompt_tokens, max_each = opt.trajectory_tokens })
    local reply, err = ctx:ask {
      prompt = "slow_update", inputs = inputs,
      stage = "slow_update", want = { "slow_update_content" }, max_tokens = MAX_TOKENS,
      check = is_fit,
    }
    if not reply then return nil, refusal() or err.kind end
    local reasoning = type(reply.reasoning) == "string" and text.strip(reply.reasoning) or ""
    return text.strip(reply.slow_update_content), reasoning
  end,
}
