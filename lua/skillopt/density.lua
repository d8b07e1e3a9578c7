--- A bonus for a skill that speaks in imperative words: their share of its words, times a
--- weight, is added to the mean. Off unless asked for.
local text = require "rt.text"
local rewriting = require "skillopt.rewriting"

local M = {}

--- Share of the document's words (runs of ASCII letters and digits, protected regions left
--- out) that are in the list, whatever their case.
---@param document string
---@param words string[]
---@return number
function M.of(document, words)
  local known, n, found = {}, 0, 0
  for _, word in ipairs(words) do known[text.lower(word)] = true end
  for word in text.lower(rewriting.without_regions(document)):gmatch "[a-z0-9]+" do
    n = n + 1
    if known[word] then found = found + 1 end
  end
  return n > 0 and found / n or 0.0
end

--- The metric with the bonus, whatever its own `adjust` does before. It declares no largest
--- value any more: what a skill's words add is not known from its marks.
---@param metric skillopt.Policy
---@param bonus {weight: number, words: string[]}
---@return skillopt.Policy
function M.added(metric, bonus)
  local out = {}
  for field, value in pairs(metric) do out[field] = value end
  out.max = nil
  function out.adjust(mean, skill, opt)
    if metric.adjust then mean = metric.adjust(mean, skill, opt) end
    return skill and mean + bonus.weight * M.of(skill.text, bonus.words) or mean
  end
  return out
end

return M
