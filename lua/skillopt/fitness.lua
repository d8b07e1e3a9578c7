--- Is a candidate a valid document at all? Asked before anything is paid for it.
---
--- A skill that starts with YAML front matter is a package's SKILL.md: the front matter
--- must stay there, be YAML, and keep a proper name and a description of bounded length.
local document = require "rt.document"
local text_of = require "rt.text"
local yaml = require "rt.yaml"

local M = {}

local DESCRIPTION_MAX <const> = 1024
local NAME_MAX <const> = 64

local function name_fault(name)
  if type(name) ~= "string" or name == "" then return "the front matter has no name" end
  local is_proper = name:find "^[a-z0-9-]+$" and not name:find "^%-" and not name:find "%-$"
    and not name:find("--", 1, true)
  if is_proper and #name <= NAME_MAX then return nil end
  return string.format("the name '%s' is not of lower-case words joined by hyphens", name)
end

local function matter_fault(text)
  local matter = document.front_matter(text)
  if not matter then return "the front matter is gone" end
  local value, err = yaml.decode(matter, { name = "front matter" })
  if value == nil then return err.message end
  if type(value) ~= "table" then return "the front matter is no map" end
  local description = value.description
  if type(description) ~= "string" or description == "" then
    return "the front matter has no description"
  end
  if text_of.length(description) > DESCRIPTION_MAX then
    return string.format("the description is longer than %d characters", DESCRIPTION_MAX)
  end
  return name_fault(value.name)
end

--- What makes `candidate` unfit, in words; nil when it is fit. What was wrong with
--- `current` already is not held against it.
---@param candidate skillopt.Skill
---@param current skillopt.Skill
---@return string?
function M.fault(candidate, current)
  local problems = document.check(candidate.text)
  if #problems > 0 and #document.check(current.text) == 0 then return problems[1] end
  if not document.front_matter(current.text) or matter_fault(current.text) then return nil end
  return matter_fault(candidate.text)
end

return M
