--- A person at a game, and the search for solutions.
local game = require "rt.game"
local loader = require "skillopt.loader"
local test = require "skillopt.test"

local play = loader.user_file(loader.home .. "/lua/envs/alfworld/commands/play.lua")
local solve = loader.user_require "envs.alfworld.solve"

local ATTIC <const> = "tests/cases/game_attic.tw-pddl"

--- A console on which these lines are typed; what is said is in `said`.
local function console(lines)
  local c = { said = {}, columns = 80 }
  function c:say(text) self.said[#self.said + 1] = text end
  function c.ask() return table.remove(lines, 1) end
  return c
end

local function run(lines, args)
  local c = console(lines)
  local code, err = play.run(args or { ATTIC }, c)
  return c.said, code, err
end

test("the game answers what is typed, until the person quits", function(t)
  local said, code = run { " take key 1 from shelf 1 ", "", "fly", "quit", "look" }
  t.ok(said[1]:find "^You climb into the attic%.")
  t.equal({ said[2], said[3], #said, code }, { "You take key 1.", "Nothing happens.", 3, 0 })
end)

test("the end of the input ends the game", function(t)
  local said, code = run {}
  t.equal({ #said, code }, { 1, 0 })
end)

test("a person may ask for the commands, for a hint, and to start over", function(t)
  local said = run { "?", "!", "take key 1 from shelf 1", "!", "again", "!" }
  t.ok(said[2]:find "^look\nrest\ntake broom 1 from shelf 2\n")
  t.equal({ said[3], said[5], said[7] }, { "take key 1 from shelf 1", "walk to gable",
    "take key 1 from shelf 1" })
  t.ok(said[6]:find "^You climb into the attic%.")
end)

test("a won game is said once", function(t)
  local way = assert(solve.file(test.read(ATTIC)))
  local lines = table.move(way, 1, #way, 1, {})
  lines[#lines + 1] = "look"
  local said = run(lines)
  t.equal({ said[#said - 1], #said }, { ("Won in %d steps."):format(#way), #way + 3 })
  t.ok(said[#said]:find "^You are in")
end)

test("a game that is not there and a wrong command line are refused with words", function(t)
  local _, code, err = run({}, { "no/such.tw-pddl" })
  t.equal({ code, err.kind }, { nil, "data" })
  t.ok(err.hint:find("skillopt data fetch", 1, true), err.hint)
  _, code, err = run({}, {})
  t.equal({ code, err.kind }, { nil, "usage" })
  _, code, err = run({}, { "tests/cases/index.json" })
  t.equal({ code, err.kind, err.message:match "^[^:]*" }, { nil, "data", "tests/cases/index.json" })
  local said
  said, code = run({}, { "--help" })
  t.equal({ said[1]:match "^usage: skillopt play GAME", code }, { "usage: skillopt play GAME", 0 })
end)

test("a shortest solution is found and played to be sure", function(t)
  local way = assert(solve.file(test.read(ATTIC), { name = "attic" }))
  t.equal({ #way, way[1], way[13] }, { 13, "take key 1 from shelf 1", "sweep" })
  t.equal(solve.text { "look", "rest" }, "1. look\n2. rest")
  local _, err = solve.file("{}", { name = "attic" })
  t.equal(err.message, 'attic: the file has no text "pddl_domain"')
  _, err = solve.file(test.read(ATTIC), { max_nodes = 3 })
  t.equal(err.kind, "limit")
end)

test("the way from the middle of a game is the rest of it", function(t)
  local g <close> = assert(game.open(test.read(ATTIC)))
  local way = assert(solve.way(g))
  for i = 1, 5 do assert(g:step(way[i])) end
  t.equal(#assert(solve.way(g)), #way - 5)
  t.equal(g:steps(), 5)
end)

test("every sample game that can be won is won by its solution", function(t)
  local root = test.shared "data/alfworld/games"
  if not root then t.skip "no shared data: the sample games are not there" end
  local n = 0
  for _, name in ipairs(require "rt.file".list(root)) do
    local way, err = solve.file(test.read(root .. "/" .. name .. "/game.tw-pddl"), { name = name })
    -- Its things have no number, so that no command with a blank at its end can be typed.
    if name == "textworld_test" then
      t.equal(err.kind, "data")
    else
      t.ok(way and #way <= 9, name)
      n = n + 1
    end
  end
  t.equal(n, 16)
end)
