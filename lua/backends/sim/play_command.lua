--- Commands of text games as words: what they do, to which things, and what several of
--- them have in common.
---
--- A thing is a word with a number behind it. A step is a command in which things are
--- replaced by their kind, as in `clean {it} with {sinkbasin}`; `{it}` stands for things
--- of a kind that the task names.
local M = {}

-- What everybody knows of such games: how one walks, takes and puts.
local MOVES <const> = { go = true, walk = true, enter = true, climb = true }
local TAKES <const> = { take = true, get = true, pick = true, grab = true }
local PUTS <const> = { put = true, move = true, place = true, drop = true }

---@class sim.Thing
---@field name string as in "mug 2"
---@field kind string as in "mug"

--- The things of a text, in order.
---@param s string
---@return sim.Thing[]
function M.things(s)
  local things = {}
  for kind, number in s:gmatch "%f[%w](%a[%w_]*) (%d+)%f[%D]" do
    things[#things + 1] = { name = kind .. " " .. number, kind = kind }
  end
  return things
end

--- The first word.
---@param command string
---@return string
function M.verb(command)
  return command:match "^%S*"
end

--- Where a command leads; nil for one that is no way.
---@param command string
---@return string?
function M.destination(command)
  if not MOVES[M.verb(command)] then return nil end
  local rest = command:match "^%S+%s+(.+)$"
  return rest and (rest:gsub("^up ", ""):gsub("^to ", ""))
end

---@param command string
---@return boolean
function M.is_take(command) return TAKES[M.verb(command)] == true end

---@param command string
---@return boolean
function M.is_put(command) return PUTS[M.verb(command)] == true end

--- Does the task name this kind of thing?
---@param task string
---@param kind string
---@return boolean
function M.is_named(task, kind)
  return task:lower():find("%f[%w]" .. kind .. "s?%f[%W]") ~= nil
end

------------------------------------------------------------------------------- steps

--- The command as a step. Where a thing is taken from, and where one that the task does
--- not name is laid aside, differs from game to game, so that is left out.
---@param command string
---@param task string
---@return string
function M.step(command, task)
  local step = command:gsub("%f[%w](%a[%w_]*) %d+%f[%D]", function(kind)
    return M.is_named(task, kind) and "{it}" or "{" .. kind .. "}"
  end)
  local first = step:match "^[^}]*}"
  local is_aside = M.is_put(command) and first and not first:find "{it}$"
  if M.is_take(command) or is_aside then return first end
  return step
end

--- Kinds in a step, in order.
---@param step string
---@return string[]
function M.kinds(step)
  local kinds = {}
  for kind in step:gmatch "{([^}]+)}" do kinds[#kinds + 1] = kind end
  return kinds
end

local function same_verb(step, command)
  if M.is_put(step) then return M.is_put(command) end
  return M.verb(step) == M.verb(command)
end

--- Does the command do this step?
---@param step string
---@param command string
---@param task string
---@return boolean
function M.does(step, command, task)
  if not same_verb(step, command) or M.destination(command) then return false end
  local kinds, things = M.kinds(step), M.things(command)
  local is_open = M.is_take(step) or M.is_put(step)
  if #things < #kinds or #things > #kinds and not is_open then return false end
  for i, kind in ipairs(kinds) do
    local fits = kind == "it" and M.is_named(task, things[i].kind) or kind == things[i].kind
    if not fits then return false end
  end
  return true
end

return M
