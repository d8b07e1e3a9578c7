--- Text games through rt.game.
local test = require "skillopt.test"
local game = require "rt.game"
local file = require "rt.file"

local ATTIC = "tests/cases/game_attic.tw-pddl"

local SOLUTION = {
  "take key 1 from shelf 1",
  "walk to gable",
  "walk to nook",
  "unlock chest 1 with key 1",
  "put key 1 on chest 1",
  "take jar 1 from chest 1",
  "walk to gable",
  "put jar 1 on sill 1",
  "walk to loft",
  "take broom 1 from shelf 2",
  "sweep",
  "walk to gable",
  "sweep",
}

local function attic(options)
  return assert(game.open(test.read(ATTIC), options))
end

local function play(g, first, last)
  local result
  for i = first, last do result = assert(g:step(SOLUTION[i])) end
  return result
end

test("game.open gives a game that stands at its start", function(t)
  local g <close> = attic()
  t.equal(g:observation(), "You climb into the attic.\n\nYou are in the loft. There is shelf 2 "
    .. "with a broom 1. shelf 1 with a lamp 1, and a key 1. \n\nYour task is to: sweep the "
    .. "attic and put a jar at a window.")
  t.equal(g:steps(), 0)
  t.equal(g:won(), false)
end)

test("game.open says what is wrong with a file, and where", function(t)
  local bytes = test.read(ATTIC):gsub("stands shelf_bar_a loft", "leans shelf_bar_a loft")
  local g, err = game.open(bytes, { name = "attic.json" })
  t.equal(g, nil)
  t.equal(err.kind, "data")
  t.equal(err.message, "attic.json, pddl_problem, line 16: the predicate leans is not declared")
  local _, plain = game.open("{}")
  t.equal(plain.message, 'game: the file has no text "pddl_domain"')
end)

test("game.open refuses unknown options and wrong types", function(t)
  t.raises(function() game.open(test.read(ATTIC), { max_step = 3 }) end, "max_steps")
  t.raises(function() game.open(test.read(ATTIC), { max_steps = 0 }) end, "max_steps")
  t.raises(function() game.open {} end, "string expected")
end)

test("game:step tells what happened", function(t)
  local g <close> = attic()
  t.equal(g:step " take key 1 from shelf 1\n", {
    observation = "You take key 1.",
    won = false,
    done = false,
    admissible = true,
    steps = 1,
  })
  t.equal(g:step "dance", {
    observation = "Nothing happens.",
    won = false,
    done = false,
    admissible = false,
    steps = 2,
  })
  t.raises(function() g:step() end, "string expected")
end)

test("game:admissible lists the commands in order", function(t)
  local g <close> = attic()
  t.equal(g:admissible(), {
    "look",
    "rest",
    "take broom 1 from shelf 2",
    "take key 1 from shelf 1",
    "take lamp 1 from shelf 1",
    "turn lamp 1",
    "walk to gable",
    "walk up to sill 1",
  })
end)

test("game:won and game:progress follow the goal", function(t)
  local g <close> = attic()
  t.equal(g:progress(), { satisfied = 0, total = 2 })
  play(g, 1, 8)
  t.equal(g:progress(), { satisfied = 1, total = 2 })
  local result = play(g, 9, #SOLUTION)
  t.equal({ result.won, result.done, g:won() }, { true, true, true })
  t.equal(g:progress(), { satisfied = 2, total = 2 })
  t.equal(g:step("bow").observation, "You bow.")
end)

test("an episode stands still after the winning step", function(t)
  local g <close> = attic { max_steps = 50 }
  local last = play(g, 1, #SOLUTION)
  t.equal(last.done, true)
  t.equal(g:step "bow", last)
  t.equal(g:steps(), #SOLUTION)
end)

test("an episode ends with its last step whatever the goal", function(t)
  local g <close> = attic { max_steps = 2 }
  t.equal(g:step("look").done, false)
  local last = g:step "fly"
  t.equal({ last.done, last.won, last.steps }, { true, false, 2 })
  t.equal(g:step "look", last)
  t.ok(g:reset())
  t.equal(g:step("look").done, false)
end)

test("game:reset leads back to the start", function(t)
  local g <close> = attic()
  local before, commands = g:observation(), g:admissible()
  play(g, 1, 5)
  t.equal(g:reset(), before)
  t.equal(g:admissible(), commands)
  t.equal(g:steps(), 0)
end)

test("game:clone goes its own way", function(t)
  local g = attic()
  play(g, 1, 3)
  local copy <close> = g:clone()
  play(copy, 4, 6)
  t.equal(g:steps(), 3)
  g:close()
  t.equal(play(copy, 7, #SOLUTION).won, true)
end)

test("game:solve finds a shortest way and does not move", function(t)
  local g <close> = attic()
  local plan = assert(g:solve())
  t.equal(#plan, #SOLUTION)
  t.ok(math.type(plan.nodes) == "integer" and plan.nodes > 0)
  t.equal(g:steps(), 0)
  for _, command in ipairs(plan) do t.ok(g:step(command).admissible, command) end
  t.equal(g:won(), true)
  t.equal(#g:solve { max_nodes = 1 }, 0)
end)

test("game:solve says when its states do not suffice", function(t)
  local g <close> = attic()
  local plan, err = g:solve { max_nodes = 5 }
  t.equal(plan, nil)
  t.equal(err.kind, "limit")
  t.raises(function() g:solve { max_nodes = 0 } end, "max_nodes")
  t.raises(function() g:solve { nodes = 1 } end, "unknown option")
end)

test("a closed game raises, and game:close may run twice", function(t)
  local g = attic()
  g:close()
  g:close()
  t.raises(function() g:step "look" end, "closed")
  t.raises(function() g:admissible() end, "closed")
end)

test("a game and its clones outlive what they came from", function(t)
  local games = {}
  for i = 1, 50 do games[i] = attic():clone() end
  collectgarbage()
  for i = 1, 50 do t.equal(games[i]:step("look").steps, 1) end
end)

--- The recorded commands after one more step.
local function apply(list, step)
  if step.admissible then return step.admissible end
  local gone, out = {}, {}
  for _, command in ipairs(step.del) do gone[command] = true end
  for _, command in ipairs(list) do
    if not gone[command] then out[#out + 1] = command end
  end
  for _, command in ipairs(step.add) do out[#out + 1] = command end
  table.sort(out)
  return out
end

local function check_recording(t, recording, bytes)
  local g <close> = assert(game.open(bytes, { name = recording.game }))
  local list
  for i, step in ipairs(recording.steps) do
    list = apply(list, step)
    local said = i == 1 and g:observation() or g:step(step.cmd).observation
    t.equal(said, step.obs, recording.game)
    t.equal(g:admissible(), list, recording.game)
    t.equal(g:won(), step.won, recording.game)
  end
end

test("recorded games are played as recorded", function(t)
  if not test.shared "data/alfworld/games" then
    t.skip "no shared data: the game files are not there"
  end
  local cases = test.vectors("envs_alfworld_play_4.json").cases
  t.equal(#cases, 6)
  for _, recording in ipairs(cases) do
    local path = "data/alfworld/games/" .. recording.game .. "/game.tw-pddl"
    check_recording(t, recording, assert(file.read(test.shared(path))))
  end
end)
