--- Guidance that lasts an epoch, written from what two neighbouring epochs made of the same
--- tasks. It takes the place of the guidance before it.
local pairs_of = require "skillopt.pairs"
local patch = require "skillopt.patch"
local policy = require "skillopt.policy"
local text = require "rt.text"

local MAX_TOKENS <const> = 16384

--- Guidance is text that quotes nothing hidden.
local function check(hidden)
  return function(reply)
    local content = type(reply) == "table" and reply.slow_update_content
    if type(content) ~= "string" then return false, '"slow_update_content" is no text' end
    if text.strip(content) == "" then return false, '"slow_update_content" is empty' end
    return not patch.quotes(content, hidden),
      '"slow_update_content" quotes an id or an answer of a task'
  end
end

return policy.define {
  slot = "slow_update",
  options = {
    trajectory_tokens = {
      "integer", 60000, "tokens of trajectories the comparison may hold", min = 1000,
    },
  },
  run = function(previous, current, ctx, opt)
    local list = pairs_of.build(previous, current, ctx.data.train)
    local sides = { previous = previous, current = current }
    local reply, err = ctx:ask {
      prompt = "slow_update",
      inputs = {
        previous = previous.skill, current = current.skill,
        guidance = current.skill.regions.slow_update or "",
        comparison = pairs_of.comparison(list, sides, opt.trajectory_tokens),
      },
      stage = "slow_update", want = { "slow_update_content" }, max_tokens = MAX_TOKENS,
      check = check(patch.hidden(current)),
    }
    if not reply then return nil, err.kind end
    local reasoning = type(reply.reasoning) == "string" and text.strip(reply.reasoning) or ""
    return text.strip(reply.slow_update_content), reasoning
  end,
}
