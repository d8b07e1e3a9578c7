--- What the optimizer remembers about editing this skill, written anew at the end of an
--- epoch from the comparison with the one before. The target never sees it.
local pairs_of = require "skillopt.pairs"
local policy = require "skillopt.policy"
local text = require "rt.text"

local MAX_TOKENS <const> = 16384

local function check(reply)
  local content = type(reply) == "table" and reply.meta_skill_content
  return type(content) == "string" and text.strip(content) ~= "",
    '"meta_skill_content" must be a text'
end

return policy.define {
  slot = "meta_skill",
  options = {
    prompt_tokens = { "integer", key = "optimizer.prompt_tokens", min = 1,
      doc = "tokens of the prompt" },
    trajectory_tokens = { "integer", key = "optimizer.trajectory_tokens", min = 1,
      doc = "tokens of one trajectory" },
  },
  run = function(previous, current, ctx, opt)
    local list = pairs_of.build(previous, current, ctx.data.train)
    local sides = { previous = previous, current = current }
    local inputs =
      { previous = previous.skill, current = current.skill, memory = ctx.step.meta }
    pairs_of.show(list, sides, ctx, { prompt = "meta_skill", inputs = inputs,
      tokens = opt.prompt_tokens, max_each = opt.trajectory_tokens })
    local reply, err = ctx:ask {
      prompt = "meta_skill", inputs = inputs,
      stage = "meta_skill", want = { "meta_skill_content" }, max_tokens = MAX_TOKENS,
      check = check,
    }
    if not reply then return nil, err.kind end
    local reasoning = type(reply.reasoning) == "string" and text.strip(reply.reasoning) or ""
    return text.strip(reply.meta_skill_content), reasoning
  end,
}
