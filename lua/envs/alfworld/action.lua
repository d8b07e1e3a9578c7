--- What a reply says: the thought, and the command to play.
---
--- The command is the first complete `<action>` element, in any case, that stands outside
--- of thinking. Nothing is made up: a reply without one plays nothing.
local text = require "rt.text"

local M = {}

local QUOTES <const> = { ["'"] = true, ['"'] = true, ["`"] = true }

--- The reply without the complete blocks between two tags.
local function without_blocks(reply, open, close)
  local lower, out, from = reply:lower(), {}, 1
  while true do
    local first, inside = lower:find(open, from, true)
    local _, last = lower:find(close, (inside or #lower) + 1, true)
    if not last then break end
    out[#out + 1] = reply:sub(from, first - 1)
    from = last + 1
  end
  out[#out + 1] = reply:sub(from)
  return table.concat(out)
end

--- The reply without thinking: complete blocks go, and what stands before the end of a
--- block whose start was not sent.
local function spoken(reply)
  for _, tag in ipairs { "think", "thinking" } do
    local close = "</" .. tag .. ">"
    reply = without_blocks(reply, "<" .. tag .. ">", close)
    local lower = reply:lower()
    local _, stray = lower:find("^.*" .. close)
    if stray and lower:find("<action>", stray, true) then reply = reply:sub(stray + 1) end
  end
  return reply
end

--- The thought in the first `<think>` element; nil without one.
---@param reply string
---@return string?
function M.think(reply)
  local inside = reply:match "<think>(.-)</think>"
  return inside and text.strip(inside)
end

--- The text of the reply's action; nil when there is none, "" when it is empty.
---@param reply string
---@return string?
function M.extract(reply)
  local words = spoken(reply)
  local lower = words:lower()
  local _, from = lower:find("<action>", 1, true)
  local to = from and lower:find("</action>", from + 1, true)
  if not to then return nil end
  local inner = lower:sub(1, to - 1):match "^.*<action>()"
  return text.strip(words:sub(inner, to - 1))
end

--- Without one pair of quotes around it.
local function unquoted(command)
  local first = command:sub(1, 1)
  if #command > 2 and QUOTES[first] and command:sub(-1) == first then
    return text.strip(command:sub(2, -2))
  end
  return command
end

--- The command that a reply plays: one of the possible ones whatever its blanks, quotes
--- and case are, else the reply's words in small letters, as the game will refuse them.
---@param reply string
---@param possible string[]
---@return string? command nil when the reply has no action
function M.command(reply, possible)
  local wanted = M.extract(reply)
  wanted = wanted and unquoted(text.collapse(wanted))
  if not wanted or wanted == "" then return nil end
  local lower = text.lower(wanted)
  local found
  for _, command in ipairs(possible) do
    if command == wanted then return command end
    if text.lower(command) == lower then found = command end
  end
  return found or lower
end

return M
