--- Getting, proving and splitting the games, on archives of our own.
local digest = require "rt.digest"
local fetch = require "skillopt.data.fetch"
local file = require "rt.file"
local json = require "rt.json"
local source_of = require "skillopt.data.source"
local split = require "skillopt.data.split"
local verify = require "skillopt.data.verify"
local test = require "skillopt.test"
local attic = test.support "tests/lua/alfworld_attic.lua"
local support = test.support "tests/lua/support.lua"
local zip = test.support "tests/lua/alfworld_zip.lua"

local GAMES <const>, WORDS <const> = "json_2.1.3_tw-pddl.zip", "json_2.1.1_json.zip"

local function entry(part, task, name, bytes)
  return { name = ("json_2.1.1/%s/%s/trial_1/%s"):format(part, task, name), bytes = bytes }
end

local function game_in(part, task, kind)
  return entry(part, task, "game.tw-pddl", attic.game(kind or "window", 1))
end

--- A folder with two archives; `more` are further entries of the first.
local function archives(more)
  local folder = support.folder()
  local games = {
    game_in("train", "pick_and_place_simple-A-None-B-1"),
    game_in("train", "pick_heat_then_place_in_recep-A-None-B-2", "sweep"),
    game_in("train", "pick_heat_then_place_in_recep-A-None-B-3", "bright"),
    game_in("valid_seen", "look_at_obj_in_light-A-None-B-1"),
    game_in("valid_unseen", "pick_two_obj_and_place-A-None-B-1"),
    entry("train", "pick_and_place_simple-A-None-B-1", "initial_state.pddl", "(define)"),
  }
  table.move(more or {}, 1, #(more or {}), #games + 1, games)
  support.write(folder .. "/" .. GAMES, zip.make(games))
  support.write(folder .. "/" .. WORDS, zip.make {
    entry("train", "pick_and_place_simple-A-None-B-1", "traj_data.json", "{}"),
    entry("train", "pick_and_place_simple-Nowhere-None-B-1", "traj_data.json", "{}"),
  })
  return folder
end

local source <const> = source_of.load "alfworld"

local function fetched(more)
  local folder, said = archives(more), {}
  local root = folder .. "/root"
  local ok, err = fetch.run(source, root, { from = folder, unchecked = true,
    say = function(line) said[#said + 1] = line end })
  return root, said, ok, err
end

local function quiet() end

local function all_files(root, below, out)
  for _, name in ipairs(file.list(root .. below) or {}) do
    local path = below .. "/" .. name
    if file.kind(root .. path) == "folder" then all_files(root, path,
      out) else out[#out + 1] = path end
  end
  return out
end

test("the games are unpacked, and people's words for those only", function(t)
  local root, said, ok, err = fetched()
  t.ok(ok, err and err.message)
  t.equal(said[2], ("%s: %d bytes, 5 files unpacked to %s"):format(GAMES,
    select(2, file.kind(root:gsub("/root$", "/" .. GAMES))), root))
  t.equal(all_files(root, "", {}), {
    "/json_2.1.1/train/pick_and_place_simple-A-None-B-1/trial_1/game.tw-pddl",
    "/json_2.1.1/train/pick_and_place_simple-A-None-B-1/trial_1/traj_data.json",
    "/json_2.1.1/train/pick_heat_then_place_in_recep-A-None-B-2/trial_1/game.tw-pddl",
    "/json_2.1.1/train/pick_heat_then_place_in_recep-A-None-B-3/trial_1/game.tw-pddl",
    "/json_2.1.1/valid_seen/look_at_obj_in_light-A-None-B-1/trial_1/game.tw-pddl",
    "/json_2.1.1/valid_unseen/pick_two_obj_and_place-A-None-B-1/trial_1/game.tw-pddl",
  })
end)

test("nothing is written outside of the data root", function(t)
  local root = fetched {
    { name = "json_2.1.1/train/../../../game.tw-pddl", bytes = "x" },
    { name = "/json_2.1.1/train/a/b/game.tw-pddl", bytes = "x" },
    { name = "json_2.1.1/train/a/../game.tw-pddl", bytes = "x" },
    { name = "json_2.1.1\\train\\a\\b\\game.tw-pddl", bytes = "x" },
  }
  t.equal(#all_files(root, "", {}), 6)
  t.equal(#all_files(root:gsub("/root$", ""), "", {}), 8)
end)

test("an archive that was not released is refused by its digest", function(t)
  local folder = archives()
  local ok, err = fetch.run(source, folder .. "/root", { from = folder, say = quiet })
  t.equal({ ok, err.kind }, { nil, "data" })
  t.ok(err.message:find(GAMES .. " is not the archive that was released: SHA-256 "
    .. digest.sha256(test.read(folder .. "/" .. GAMES)), 1, true), err.message)
  t.equal(file.kind(folder .. "/root"), "none")
end)

test("an archive that is missing or damaged is an error with its name", function(t)
  local folder = support.folder()
  local _, err = fetch.run(source, folder, { from = folder, say = quiet })
  t.equal(err.kind, "io")
  support.write(folder .. "/" .. GAMES, "<html>")
  _, err = fetch.run(source, folder, { from = folder, unchecked = true, say = quiet })
  t.equal({ err.kind, err.message }, { "data", "the archive cannot be read: Not a zip archive" })
end)

test("the games of every part are counted; those that are none of the benchmark's are not",
  function(t)
  local unsolved = attic.game("window", 1):gsub('"solvable": true', '"solvable": false')
  local root = fetched {
    entry("train", "pick_and_place_simple-A-None-B-9", "game.tw-pddl", unsolved),
    game_in("train", "pick_and_place_with_movable_recep-A-C-B-1"),
    game_in("train", "pick_and_place_simple-AppleSliced-None-B-1"),
    game_in("train", "open_the_door-A-None-B-1"),
  }
  local said = {}
  local complete, paths = verify.count(source, root, function(line) said[#said + 1] = line end)
  t.equal(said, { "train: 3 of 3553", "valid_seen: 1 of 140", "valid_unseen: 1 of 134" })
  t.equal({ complete, #paths }, { false, 5 })
end)

test("the games that a split misses are named, and those it has twice", function(t)
  local root = fetched()
  local folder = support.folder()
  local there = "json_2.1.1/train/pick_and_place_simple-A-None-B-1/trial_1/game.tw-pddl"
  support.write_splits(folder, {
    train = { { id = 1, gamefile = there }, { id = 2,
      gamefile = "json_2.1.1/train/x/game.tw-pddl" } },
    val = { { id = 3, gamefile = there }, { id = 4 } }, test = {},
  })
  local paths, problems = verify.manifest(source, root, folder)
  t.equal(paths, { there })
  t.equal(problems, { "train item 2: json_2.1.1/train/x/game.tw-pddl is missing",
    "val item 1: " .. there .. " is also train item 1", "val item 2 names no file" })
  t.equal(verify.refusal(problems).message, "3 problems:\n  " .. table.concat(problems, "\n  "))
end)

test("every game is opened, and solved when asked", function(t)
  local root = fetched()
  local _, paths = verify.count(source, root, quiet)
  t.equal(verify.prove(source, root, paths, { solve = true }), {})
  support.write(root .. "/" .. paths[1], "{}")
  local stuck = attic.game("window", 1):gsub("%(window sill_bar_a%)", "")
  support.write(root .. "/" .. paths[2], stuck)
  t.equal(verify.prove(source, root, paths, { solve = false }),
    { paths[1] .. ': the file has no text "pddl_domain"' })
  t.equal(verify.prove(source, root, paths, { solve = true }),
    { paths[1] .. ': the file has no text "pddl_domain"',
      paths[2] .. ": no sequence of commands leads to the goal" })
end)

test("a split takes the kinds of task in turn and is the same for the same seed", function(t)
  local root = fetched()
  local folder = support.folder()
  local counts = assert(split.run(source, root, folder, { seed = 1, counts = { train = 2 } }))
  t.equal(json.canonical(counts), '{"test":1,"train":2,"val":1}')
  local text = test.read(folder .. "/train/items.json")
  local items = assert(json.decode(text))
  t.equal({ items[1].id, items[1].task_type, items[2].id, items[2].task_type },
    { "train:0000", "pick_and_place", "train:0001", "pick_heat_then_place_in_recep" })
  assert(split.run(source, root, folder, { seed = 1, counts = { train = 2 } }))
  t.equal(test.read(folder .. "/train/items.json"), text)
  counts = assert(split.run(source, root, folder, { seed = 1, counts = { train = 0 } }))
  t.equal(counts.train, 3)
end)

test("an environment without data of its own says so", function(t)
  local err = t.raises(function() source_of.load "searchqa" end)
  t.equal(err.kind, "usage")
end)
