--- Notes of an episode, made from what was seen: the places and what was there, what was
--- done there, what is carried, where nobody was yet. They stand in for a memory when the
--- prompt shows few of the latest steps.
local text = require "rt.text"

local M = {}

---@class alfworld.Notes
---@field places string[] as seen at the start, in order
---@field seen table<string, string> the latest description of a place
---@field carried string?

--- Commands that tell about a place, and how to find it in them.
local LOOKS <const> = { "^go to (.+)$", "^open (.+)$", "^close (.+)$", "^examine (.+)$" }
local TAKES <const> = { "^take (.+) from (.+)$" }
local PUTS <const> = { "^move (.+) to (.+)$", "^put (.+) in/on (.+)$" }

local function captures(command, patterns)
  for _, pattern in ipairs(patterns) do
    local first, second = command:match(pattern)
    if first then return first, second end
  end
end

--- Empty notes; the commands possible at the start name the places.
---@param possible string[]
---@return alfworld.Notes
function M.new(possible)
  local notes = { places = {}, seen = {} }
  for _, command in ipairs(possible) do
    notes.places[#notes.places + 1] = command:match "^go to (.+)$"
  end
  return notes
end

local function is_place(notes, name)
  for _, place in ipairs(notes.places) do
    if place == name then return true end
  end
  return notes.seen[name] ~= nil
end

local function add_deed(notes, place, words)
  notes.seen[place] = ("%s Then: %s."):format(notes.seen[place] or "", words)
end

--- Note what a command that was possible has shown or changed.
---@param notes alfworld.Notes
---@param command string
---@param observation string
function M.add(notes, command, observation)
  local place = captures(command, LOOKS)
  if place and (is_place(notes, place) or not command:find "^examine ") then
    notes.seen[place] = text.collapse(observation)
    return
  end
  local thing, from = captures(command, TAKES)
  if thing then
    notes.carried = thing
    return add_deed(notes, from, "took " .. thing)
  end
  local given, to = captures(command, PUTS)
  if given then
    notes.carried = nil
    add_deed(notes, to, "put " .. given .. " there")
  end
end

--- The notes as lines.
---@param notes alfworld.Notes
---@return string
function M.text(notes)
  local lines, unseen = {}, {}
  for place, words in pairs(notes.seen) do
    lines[#lines + 1] = ("- %s: %s"):format(place, text.strip(words))
  end
  for _, place in ipairs(notes.places) do
    if not notes.seen[place] then unseen[#unseen + 1] = place end
  end
  lines[#lines + 1] = "- You carry: " .. (notes.carried or "nothing")
  if #unseen > 0 then lines[#lines + 1] = "- Not yet visited: " .. table.concat(unseen, ", ") end
  return table.concat(lines, "\n")
end

return M
