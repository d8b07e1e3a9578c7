--- Options tables: unknown names are refused with the nearest known one.
local names = require "skillopt.names"
local raw = require "rt.raw"

local M = {}

--- Is every name known? A frozen table keeps its content out of sight.
local function is_known(opt, known)
  if getmetatable(opt) then return false end
  for name in raw.next, opt do
    if known[name] == nil then return false end
  end
  return true
end

--- Check that every name in `opt` is a key of `known`; nil counts as empty.
---@param opt table?
---@param known table<string, any>
---@param who string for the message
---@return table opt
function M.check(opt, known, who)
  if opt == nil then return {} end
  if type(opt) ~= "table" then
    error(string.format("%s: options must be a table, got %s", who, type(opt)), 3)
  end
  if is_known(opt, known) then return opt end
  for name in pairs(opt) do
    if known[name] == nil then
      local list = {}
      for k in pairs(known) do list[#list + 1] = k end
      local near = names.nearest(tostring(name), list)
      error(string.format("%s: unknown option '%s'%s", who, tostring(name),
        near and string.format(" (did you mean '%s'?)", near) or ""), 3)
    end
  end
  return opt
end

return M
