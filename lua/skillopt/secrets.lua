--- Secrets never reach a file or the screen: their text is replaced wherever it would.
local text_of = require "rt.text"

local M = {}

--- A function that replaces these secrets in a text. Short ones (local servers get keys
--- like EMPTY) are left alone, so that words are not lost.
---@param secrets string[]
---@return fun(text: string): string
function M.scrubber(secrets)
  if #secrets == 0 then return function(text) return text end end
  return function(text) return text_of.scrub(text, secrets) end
end

return M
