--- How large a skill is, and how large it may become.
---
--- Tokens are estimates (rt.text). The body is the text without its protected regions; the
--- regions are the rest, markers included, so that both add up to the whole. With a limit
--- (`optimizer.max_skill_tokens`) no change makes a skill larger that is, or would be,
--- above it; a skill above it may always shrink.
local rewriting = require "skillopt.rewriting"
local text_of = require "rt.text"

local M = {}

--- The word for what is refused for its size, wherever that happens.
M.FATE = "over_size"

--- Sizes in which skills have been found to work; a best skill outside is remarked on.
local LEAST <const>, MOST <const> = 300, 2000

--- Tokens of a skill: all of it, its body, its protected regions.
---@param skill skillopt.Skill
---@return integer tokens
---@return integer body
---@return integer regions
function M.of(skill)
  local body = math.min(text_of.tokens(rewriting.shown(skill)), skill.tokens)
  return skill.tokens, body, skill.tokens - body
end

--- Why `candidate` cannot take the place of `current` under a limit, or nil. The words
--- start with the fate.
---@param candidate skillopt.Skill
---@param current skillopt.Skill
---@param limit integer? tokens; 0 or nil: none
---@return string?
function M.fault(candidate, current, limit)
  if not limit or limit == 0 then return nil end
  if candidate.tokens <= limit or candidate.tokens <= current.tokens then return nil end
  return ("%s: %d tokens, at most %d are allowed"):format(M.FATE, candidate.tokens, limit)
end

--- A sentence about a best skill of unusual size, or nil.
---@param skill skillopt.Skill
---@return string?
function M.remark(skill)
  local tokens = skill.tokens
  if tokens >= LEAST and tokens <= MOST then return nil end
  return ("the best skill has %d tokens, %s than the %d to %d that usually work best")
    :format(tokens, tokens < LEAST and "fewer" or "more", LEAST, MOST)
end

return M
