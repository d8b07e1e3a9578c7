--- Shortest solutions, found by the game engine's search and played to be sure.
local game = require "rt.game"

local M = {}

--- States the search looks at unless said otherwise: some seconds at most. A game of the
--- benchmark needs a few hundred.
M.MAX_NODES = 20000

--- The commands of a game in its present state to the goal.
---@param g rt.Game it does not move
---@param options {max_nodes: integer?}?
---@return string[]? commands none when the goal holds already
---@return skillopt.Err? err kind "limit" when the search gave up, "data" when no way leads there
function M.way(g, options)
  local plan, err = g:solve { max_nodes = options and options.max_nodes or M.MAX_NODES }
  if not plan then return nil, err end
  plan.nodes = nil
  return plan
end

--- Play commands on a game; the first that is not possible, or a goal that does not hold
--- at the end, is a fault.
local function replay(g, commands)
  for _, command in ipairs(commands) do
    local result, err = g:step(command)
    if not result then return nil, err end
    if not result.admissible then
      return nil, { kind = "data", message = ("%s is not possible"):format(command) }
    end
  end
  if g:won() then return true end
  return nil, { kind = "data", message = "the commands do not lead to the goal" }
end

--- The shortest solution of a game file, checked by playing it.
---@param bytes string
---@param options {name: string?, max_nodes: integer?}?
---@return string[]? commands
---@return skillopt.Err? err
function M.file(bytes, options)
  options = options or {}
  local g, err = game.open(bytes, { name = options.name })
  if not g then return nil, err end
  local start <close> = g
  local commands
  commands, err = M.way(start, options)
  if not commands then return nil, err end
  local played
  played, err = replay(start, commands)
  if not played then return nil, err end
  return commands
end

--- Commands as numbered lines.
---@param commands string[]
---@return string
function M.text(commands)
  local lines = {}
  for i, command in ipairs(commands) do lines[i] = ("%d. %s"):format(i, command) end
  return table.concat(lines, "\n")
end

return M
