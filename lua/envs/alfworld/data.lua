--- What `skillopt data` knows of the games: the released archives, what of them is needed,
--- what counts as a game, how many there are.
local json = require "rt.json"
local game = require "rt.game"
local games = require "envs.alfworld.games"
local solve = require "envs.alfworld.solve"

local RELEASES <const> = "https://github.com/alfworld/alfworld/releases/download/"
local GAME <const>, TRAJECTORY <const> = "game.tw-pddl", "traj_data.json"

--- Folder and file of an archive's entry, when it is laid out as the games are.
local function parts_of(name)
  local part, task, trial, file =
    name:match "^json_2%.1%.1/([%w_]+)/([%w_%-]+)/([%w_%-]+)/([%w_%-%.]+)$"
  if file ~= GAME and file ~= TRAJECTORY then return nil end
  return ("json_2.1.1/%s/%s/%s/"):format(part, task, trial), file
end

--- Where an entry goes below the data root; nil when it is not needed. People's words are
--- kept for games only.
local function wanted(name, has)
  local folder, file = parts_of(name)
  if not folder then return nil end
  if file == TRAJECTORY and not has(folder .. GAME) then return nil end
  return folder .. file
end

--- Is it a game of the benchmark? Tasks with movable or sliced things are none, nor are
--- those that nobody could solve.
local function counts(path, bytes)
  if games.task_type(path) == "other" then return false end
  if path:find "movable" or path:find "Sliced" then return false end
  local value = json.decode(bytes)
  return type(value) == "table" and value.solvable == true
end

local function prove(path, bytes, options)
  local g, err = game.open(bytes, { name = path })
  if not g then return false, err.message end
  g:close()
  if not options.solve then return true end
  local commands
  commands, err = solve.file(bytes, { name = path })
  if commands then return true end
  return false, err.message:find(path, 1, true) and err.message or path .. ": " .. err.message
end

return {
  title = "the text games of ALFWorld",
  terms = "games: MIT (ALFWorld); trajectories: MIT (ALFRED)",
  root = function() return (games.root {}) end,
  variable = games.VARIABLE,
  archives = {
    { name = "json_2.1.3_tw-pddl.zip", url = RELEASES .. "0.4.2/json_2.1.3_tw-pddl.zip",
      sha256 = "5df77ea759f2211a4106082839ddbbb790f1ba4e7d097ed732cf453f72aa36cf" },
    { name = "json_2.1.1_json.zip", url = RELEASES .. "0.2.2/json_2.1.1_json.zip",
      sha256 = "25171f16e20ad7b048c47275c45b0babf3aa1cbab29cec97387922350a9844bc" },
  },
  wanted = wanted,
  parts = {
    { name = "train", folder = "json_2.1.1/train", count = 3553 },
    { name = "valid_seen", folder = "json_2.1.1/valid_seen", count = 140 },
    { name = "valid_unseen", folder = "json_2.1.1/valid_unseen", count = 134 },
  },
  file = GAME,
  counts = counts,
  prove = prove,
  splits = {
    train = { part = "train", count = 39 },
    val = { part = "valid_seen", count = 18 },
    test = { part = "valid_unseen", count = 134 },
  },
  item = function(path) return { gamefile = path, task_type = games.task_type(path) } end,
  path = function(item) return item.gamefile end,
}
