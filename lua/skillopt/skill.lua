--- A skill is a value: text, and what follows from it. See lua/meta/ctx.lua.
local options_of = require "skillopt.options"
local document = require "rt.document"
local text_of = require "rt.text"

local M = {}

local APPLY <const> = { max_tokens = true }

local Skill = {}
local meta = { __name = "skill" }

-- Fields by skill: the value itself is empty, so that every write is seen.
local inside = setmetatable({}, { __mode = "k" })

local lazy = {
  body = function(skill)
    local body, regions = document.body(skill.text)
    inside[skill].regions = regions
    return body
  end,
  regions = function(skill)
    local body, regions = document.body(skill.text)
    inside[skill].body = body
    return regions
  end,
  hash = function(skill) return document.hash(skill.text) end,
  key = function(skill) return document.key(skill.text) end,
  tokens = function(skill) return text_of.tokens(skill.text) end,
}

--- A method or a field; what follows from the text is computed when first asked for, then kept.
function meta.__index(skill, name)
  local method = Skill[name]
  if method then return method end
  local fields = inside[skill]
  local make = lazy[name]
  if fields[name] ~= nil or not make then return fields[name] end
  fields[name] = make(skill)
  return fields[name]
end

--- Raise an error: nothing may be written to a skill.
function meta.__newindex(_, name)
  error(string.format("a skill is a value (writing '%s'): make a new one", tostring(name)), 2)
end

--- The text of a skill.
function meta.__tostring(skill) return skill.text end

--- Two skills are equal when their texts are.
function meta.__eq(a, b) return a.text == b.text end

--- A skill from its text, or the skill itself.
---@param text string|skillopt.Skill
---@return skillopt.Skill
function M.new(text)
  if getmetatable(text) == meta then return text end
  if type(text) ~= "string" then
    error(string.format("a skill is made of text, got %s", type(text)), 2)
  end
  local skill = setmetatable({}, meta)
  inside[skill] = { text = text }
  return skill
end

---@param value any
---@return boolean
function M.is_skill(value)
  return getmetatable(value) == meta
end

--- The text of a skill or a text.
---@param skill string|skillopt.Skill
---@return string
function M.text(skill)
  return getmetatable(skill) == meta and skill.text or skill
end

--- A new skill with the edits of a patch applied, and a row an edit that says what became of it.
function Skill:apply(patch, options)
  options = options_of.check(options, APPLY, "skill:apply")
  local limit = options.max_tokens
  local text, rows = document.apply(self.text, patch.edits or {},
    { max_tokens = limit and limit > 0 and limit or nil })
  return M.new(text), rows
end

--- A new skill with the same regions around another body.
function Skill:with_body(body)
  return M.new(document.with_body(self.text, body))
end

--- A new skill with the region `name` written anew at the end of its text.
function Skill:with_region(name, content)
  return M.new(document.with_region(self.text, name, content))
end

return M
