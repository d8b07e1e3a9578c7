--- Documents that a model writes anew: the protected regions are cut out before and put
--- back after, so they survive whatever comes back.
local document = require "rt.document"
local text = require "rt.text"

local M = {}

--- The text without its protected regions.
---@param source string
---@return string
function M.without_regions(source)
  return document.without_region(document.without_region(source, "slow_update"), "appendix")
end

--- What a writer is shown of a skill: all but its protected regions.
---@param skill skillopt.Skill
---@return string
function M.shown(skill)
  return M.without_regions(skill.text)
end

--- The skill with `written` as its body: blanks at the end become one line end, regions in
--- it do not count, those of the skill stay.
---@param skill skillopt.Skill
---@param written string
---@return skillopt.Skill
function M.around(skill, written)
  return skill:with_body(text.rstrip(M.without_regions(written)) .. "\n")
end

return M
