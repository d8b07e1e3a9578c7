--- Text from elsewhere on a screen: what would move the cursor, ring the bell or turn the
--- line around is shown as an escape.
local text_of = require "rt.text"

local M = {}

-- Controls of Unicode beyond ASCII: C1, marks of direction, line separators, as UTF-8.
local BEYOND <const> = { "\u{2028}", "\u{2029}", "\u{200e}", "\u{200f}", "\u{61c}" }
for code = 0x80, 0x9F do BEYOND[#BEYOND + 1] = utf8.char(code) end
for code = 0x202A, 0x202E do BEYOND[#BEYOND + 1] = utf8.char(code) end
for code = 0x2066, 0x2069 do BEYOND[#BEYOND + 1] = utf8.char(code) end

local function escape(byte) return string.format("\\x%02x", byte:byte()) end

--- The text with controls as `\x1b` or `\u{202e}`; line breaks and tabs stay. Invalid bytes
--- become U+FFFD.
---@param text string
---@return string
function M.text(text)
  text = text_of.fix(text):gsub("[%z\1-\8\11-\31\127]", escape)
  if not text:find "[\xC2\xD8\xE2]" then return text end
  for _, piece in ipairs(BEYOND) do
    if text:find(piece, 1, true) then
      text = text:gsub(piece, string.format("\\u{%x}", utf8.codepoint(piece)))
    end
  end
  return text
end

--- The same on one line, cut to `limit` characters.
---@param text string
---@param limit integer
---@return string
function M.line(text, limit)
  text = M.text(text):gsub("[\n\t]", " ")
  if text_of.length(text) <= limit then return text end
  return text_of.sub(text, 1, math.max(limit - 3, 0)) .. "..."
end

return M
