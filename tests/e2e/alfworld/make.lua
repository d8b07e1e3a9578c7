--- make.lua WHAT FOLDER - what alfworld.sh plays with, below FOLDER.
---   games     games of our own and a split of them
---   many      a split with 500 items of those games
---   archives  two archives as they are released, with few games; a split that misses one
local file = require "rt.file"
local json = require "rt.json"
local test = require "skillopt.test"
local attic = test.support "tests/lua/alfworld_attic.lua"
local support = test.support "tests/lua/support.lua"
local zip = test.support "tests/lua/alfworld_zip.lua"

local what, folder = ...
local make = {}

function make.games()
  attic.write(folder .. "/games", folder .. "/split", { train = 10, val = 5, test = 5 })
end

function make.many()
  local train = {}
  local games = assert(json.decode(assert(file.read(folder .. "/split/train/items.json"))))
  for i = 1, 500 do
    train[i] = { id = "game " .. i, gamefile = games[i % #games + 1].gamefile }
  end
  local few = { { id = "v1", gamefile = games[1].gamefile },
    { id = "v2", gamefile = games[2].gamefile } }
  support.write_splits(folder .. "/many", { train = train, val = few, test = {} })
end

local function game_entry(part, task, kind)
  return { name = ("json_2.1.1/%s/%s/trial_1/game.tw-pddl"):format(part, task),
    bytes = attic.game(kind, 1) }
end

function make.archives()
  assert(file.mkdir(folder .. "/archives"))
  local games = { game_entry("train", "pick_and_place_simple-A-None-B-1", "window"),
    game_entry("valid_seen", "look_at_obj_in_light-A-None-B-1", "sweep"),
    game_entry("valid_unseen", "pick_two_obj_and_place-A-None-B-1", "bright") }
  support.write(folder .. "/archives/json_2.1.3_tw-pddl.zip", zip.make(games))
  support.write(folder .. "/archives/json_2.1.1_json.zip", zip.make {})
  local splits = { train = { { id = 1, gamefile = games[1].name } },
    val = { { id = 2, gamefile = "json_2.1.1/valid_seen/gone/trial_1/game.tw-pddl" } },
    test = { { id = 3, gamefile = games[3].name } } }
  support.write_splits(folder .. "/manifest", splits)
end

make[what]()
return 0
