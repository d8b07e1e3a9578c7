--- `require "cjson"` in environments and policies: the names of lua-cjson over rt.json, so
--- that scripts written for it run, with integers, arrays and key order kept.
local json = require "rt.json"

local M = { null = json.null, _NAME = "cjson", _VERSION = "rt.json" }

--- Encode in the canonical form: names sorted, no blanks.
---@param value any
---@return string
function M.encode(value)
  return json.canonical(value)
end

--- Decode; raises what is wrong, as lua-cjson does.
---@param text string
---@return any
function M.decode(text)
  local value, err = json.decode(text)
  if value == nil then error(err.message, 2) end
  return value
end

M.empty_array = json.array {}

--- Another instance; there are no settings that could differ.
---@return table
function M.new()
  return M
end

return M
