--- `skillopt play GAME`: a person plays a game in the terminal.
local game = require "rt.game"
local games = require "envs.alfworld.games"
local solve = require "envs.alfworld.solve"

local M = { summary = "play a text game yourself" }

local HELP <const> = [[
usage: skillopt play GAME

GAME is a game file, or its path below the data root ($ALFWORLD_DATA, else
~/.cache/alfworld). Type commands as the model would; besides:
  ?      the commands that are possible now
  !      the next command of a shortest way to the goal
  again  back to the start
  quit   leave (or the end of the input)]]

local SHORT <const> = "(? lists the commands, ! is a hint, again starts over, quit leaves)"

--- A file as it is named, else below the data root.
local function read(name)
  local file = io.open(name)
  if file then return file:read "a" end
  local bytes, why, hint = games.read(name, {})
  if bytes then return bytes end
  return nil, { kind = "data", message = why, hint = hint }
end

local function hint(g)
  local way, err = solve.way(g)
  if not way then return "No hint: " .. err.message end
  return way[1] or "Nothing is left to do."
end

--- What is said to a line: the special words, else the game's answer.
local function answer(g, line)
  if line == "?" then return table.concat(g:admissible(), "\n") end
  if line == "!" then return hint(g) end
  if line == "again" then return g:reset() end
  local result, err = g:step(line)
  if not result then error(err, 0) end
  return result.observation
end

local function play(g, console)
  console:say(g:observation() .. "\n\n" .. SHORT)
  local was_won = false
  while true do
    local line = console:ask "> "
    line = line and line:match "^%s*(.-)%s*$"
    if not line or line == "quit" then return 0 end
    if line ~= "" then console:say(answer(g, line)) end
    local is_won = g:steps() > 0 and g:won()
    if is_won and not was_won then console:say(("Won in %d steps."):format(g:steps())) end
    was_won = is_won
  end
end

--- Run the command.
---@param args string[]
---@param console skillopt.Console
---@return integer? code
---@return skillopt.Err? err
function M.run(args, console)
  if args[1] == "-h" or args[1] == "--help" then
    console:say(HELP)
    return 0
  end
  if #args ~= 1 then
    return nil, { kind = "usage", message = "which game? one file", hint = "skillopt play --help" }
  end
  local bytes, err = read(args[1])
  if not bytes then return nil, err end
  local g
  g, err = game.open(bytes, { name = args[1] })
  if not g then return nil, err end
  local opened <close> = g
  return play(opened, console)
end

return M
