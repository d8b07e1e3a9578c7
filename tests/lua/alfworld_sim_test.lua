--- The simulated model as a player of text games and as one who learns from lost ones.
local game = require "rt.game"
local json = require "rt.json"
local loader = require "skillopt.loader"
local play = require "backends.sim.play"
local play_command = require "backends.sim.play_command"
local play_learn = require "backends.sim.play_learn"
local play_rule = require "backends.sim.play_rule"
local prompt = require "skillopt.prompt"
local test = require "skillopt.test"
local attic = test.support "tests/lua/alfworld_attic.lua"
local support = test.support "tests/lua/support.lua"

local HOME <const> = loader.home .. "/lua/envs/alfworld"
local action = loader.user_require "envs.alfworld.action"
local history = loader.user_require "envs.alfworld.history"

local SWEEP <const> = '- When the task says "sweep", the steps are: `take {broom}`, `sweep`, '
  .. "`sweep`."

------------------------------------------------------------------------------ words

test("a command becomes a step in which things are kinds", function(t)
  local task = "put a clean plate in countertop."
  t.equal(play_command.step("take plate 1 from diningtable 1", task), "take {it}")
  t.equal(play_command.step("clean plate 1 with sinkbasin 2", task), "clean {it} with {sinkbasin}")
  t.equal(play_command.step("move plate 1 to countertop 2", task), "move {it} to {it}")
  t.equal(play_command.step("put key 1 on shelf 3", task), "put {key}")
  t.equal(play_command.step("sweep", task), "sweep")
end)

test("a step is done by every command that fits it", function(t)
  local task = "put two cds in drawer."
  t.ok(play_command.does("put {it} in {it}", "move cd 2 to drawer 1", task))
  t.ok(play_command.does("take {it}", "take cd 2 from desk 1", task))
  t.ok(play_command.does("put {key}", "put key 1 on shelf 1", task))
  t.ok(not play_command.does("take {it}", "take pen 1 from desk 1", task))
  t.ok(not play_command.does("put {it} in {it}", "move cd 2 to desk 1", task))
  t.ok(not play_command.does("use {lamp}", "examine lamp 1", task))
end)

test("a rule is written as it is read", function(t)
  local way = { cues = { "hot", "heat" }, steps = { "take {it}", "heat {it} with {microwave}" } }
  local rules = play_rule.all(table.concat({ "# Skill", play_rule.write_way(way),
    play_rule.write_first "open", play_rule.write_look("egg", { "fridge", "table" }) }, "\n"))
  t.equal({ rules.ways[1].cues, rules.ways[1].steps }, { way.cues, way.steps })
  t.equal({ rules.firsts, rules.looks.egg.places }, { { "open" }, { "fridge", "table" } })
  t.equal(play_rule.way(rules, "Heat some egg."), way.steps)
  t.equal(play_rule.way(rules, "cheat death."), play_rule.PLAIN)
end)

------------------------------------------------------------------------------ playing

--- Let it play a game; the number of turns, nil when it was not won in 50.
local function play_game(bytes, skill, options)
  local g <close> = assert(game.open(bytes))
  local steps = {}
  local observation = g:observation()
  local task = observation:match "Your task is to: (.*)$"
  for turn = 1, 50 do
    local list = "- " .. table.concat(g:admissible(), "\n- ")
    local asked = turn == 1 and prompt.render("rollout_no_history",
      { skill = skill, current_observation = observation, admissible_actions = list }, { HOME })
      or prompt.render("rollout_with_history", { skill = skill, current_observation = observation,
        admissible_actions = list, task_description = task, step_count = turn - 1,
          current_step = turn,
        history_length = options.history, action_history = history.text(steps, options.history) },
          { HOME })
    local reply = play.answer(asked.system, asked.user,
      { noise = options.noise or 0, seed = options.seed or 1 })
    local command = action.command(reply, g:admissible())
    steps[turn] = { observation = observation, action = command }
    observation = assert(g:step(command)).observation
    if g:won() then return turn, steps end
  end
  return nil, steps
end

test("without a rule it takes what the task names and puts it where the task says", function(t)
  t.ok((play_game(attic.game("shelf", 1), "", { history = 50 })))
end)

test("what a task needs beyond that it does only when the document says so", function(t)
  for seed = 1, 5 do
    local bytes = attic.game("sweep", seed)
    t.equal((play_game(bytes, "Sweep every room with the broom.", { history = 50 })), nil)
    t.ok((play_game(bytes, SWEEP, { history = 50 })), seed)
  end
end)

test("it comes along with a short memory", function(t)
  t.ok((play_game(attic.game("shelf", 1), "", { history = 2 })))
  t.ok((play_game(attic.game("sweep", 1), SWEEP, { history = 2 })))
end)

test("slips differ from turn to turn and are the same for the same seed", function(t)
  local bytes = attic.game("sweep", 1)
  local _, first = play_game(bytes, "", { history = 50, noise = 1, seed = 3 })
  local _, again = play_game(bytes, "", { history = 50, noise = 1, seed = 3 })
  local _, other = play_game(bytes, "", { history = 50, noise = 1, seed = 4 })
  local kinds, n = {}, 0
  for i, step in ipairs(first) do
    t.equal(step.action, again[i].action)
    if not kinds[step.action] then kinds[step.action], n = true, n + 1 end
  end
  t.ok(n > 5, n)
  t.ok(not test.same(first, other))
end)

test("a request that asks for no command of a game is none of its business", function(t)
  t.equal(play.answer("Answer in <answer></answer>.", "Your task is to: go\n- look",
    { noise = 0, seed = 1 }), nil)
  t.equal(play.answer("Reply with <action>x</action>", "What is the capital?",
    { noise = 0, seed = 1 }), nil)
end)

----------------------------------------------------------------------------- learning

local function block(n, task, plan)
  local lines = {}
  for i, command in ipairs(plan) do lines[i] = ("%d. %s"):format(i, command) end
  return ("\n### Trajectory %d (id: x)\nTask: %s\nType: t\nSteps: 2\n\n"
    .. "#### Reference (hidden from the target)\nA shortest solution:\n%s\n\n"
    .. "#### Conversation\n[step 1 action] look\n[step 1 obs]    Nothing.\n")
    :format(n, task, table.concat(lines, "\n"))
end

local function edits_for(skill, blocks, budget)
  local user = ("## Current skill\n%s\n\n## Budget\nAt most %d edits.\n%s"):format(skill, budget
    or 9,
    table.concat(blocks))
  local reply = assert(json.decode(play_learn.failures(user)))
  local out = {}
  for i, edit in ipairs(reply.patch.edits) do
    out[i] = (edit.target and edit.target .. " -> " or "") .. edit.content
  end
  return out
end

local CLEAN <const> = { "go to desk 1", "open desk 1", "take cup 1 from desk 1",
  "go to sinkbasin 1",
  "clean cup 1 with sinkbasin 1", "go to shelf 1", "move cup 1 to shelf 1" }
local PLACE <const> = { "go to desk 1", "open desk 1", "take pen 1 from desk 1", "go to shelf 1",
  "move pen 1 to shelf 1" }

test("it learns the steps of a kind of task, what to do before leaving, and where things are",
  function(t)
  t.equal(edits_for("", { block(1, "put a clean cup in shelf.", CLEAN),
    block(2, "put a pen in shelf.", PLACE) }), {
    "- Before you leave a place, `open` it if that is possible.",
    '- When the task says "clean", the steps are: `take {it}`, `clean {it} with {sinkbasin}`, '
      .. "`move {it} to {it}`.",
    "- Look for a `cup` first at: `desk`.", "- Look for a `pen` first at: `desk`.",
  })
end)

test("what the document says already is not proposed again", function(t)
  local said = edits_for("", { block(1, "put a clean cup in shelf.", CLEAN) })
  t.equal(edits_for(table.concat(said, "\n"), { block(1, "put a clean cup in shelf.", CLEAN) }), {})
end)

test("another word for a known kind of task joins its rule", function(t)
  local said = edits_for("", { block(1, "put a clean cup in shelf.", CLEAN) }, 1)
  t.equal(#said, 1)
  local more = edits_for(said[1], { block(1, "wash a cup and put it in shelf.", CLEAN) }, 1)
  t.equal(more[1], said[1]
    .. ' -> - When the task says "clean" or "wash", the steps are: `take {it}`, '
    .. "`clean {it} with {sinkbasin}`, `move {it} to {it}`.")
end)

test("a word that stands in tasks of another kind tells nothing", function(t)
  local said = edits_for("", { block(1, "quickly clean a cup for shelf.", CLEAN),
    block(2, "quickly put a pen in shelf.", PLACE) }, 2)
  t.ok(said[2]:find('"clean", the steps', 1, true), said[2])
end)

test("more proposals than the budget are cut, rules of one thing first", function(t)
  t.equal(#edits_for("", { block(1, "put a clean cup in shelf.", CLEAN) }, 2), 2)
  t.ok(not edits_for("", { block(1, "put a clean cup in shelf.", CLEAN) }, 2)[2]:find "Look for")
end)

test("it knows its own requests by the steps in them", function(t)
  t.ok(play_learn.is_about(block(1, "x", CLEAN)))
  t.ok(not play_learn.is_about "\n### Trajectory 1\n[user] What?\n[assistant] That.")
end)

----------------------------------------------------------------------------- training

local function experiment(folder, root, more)
  local e = { base = loader.home .. "/configs/alfworld/sim.yaml",
    train = { num_epochs = 2, batch_size = 10 }, env = { split_dir = folder, data_root = root } }
  for section, values in pairs(more or {}) do
    e[section] = e[section] or {}
    for k, v in pairs(values) do e[section][k] = v end
  end
  return e
end

local function improves(t, folder, root, more, least)
  local run = support.prepare { folder = folder, experiment = experiment(folder .. "/split", root,
    more) }
  local summary = support.train(run, { path = folder .. "/out" }).summary
  t.ok(summary.test_delta_hard >= least, ("%s -> %s"):format(summary.baseline_test_hard,
    summary.test_hard))
  t.ok(test.read(folder .. "/out/best_skill.md"):find("the steps are:", 1, true))
end

test("training on games of our own improves the test score", function(t)
  local folder = support.folder()
  attic.write(folder .. "/games", folder .. "/split", { train = 10, val = 10, test = 15 })
  improves(t, folder, folder .. "/games", nil, 0.3)
end)

-- One game of every kind to learn from; the test has other rooms and the older wording.
local SAMPLES <const> = {
  train = { "kitchen_clean", "kitchen_heat", "kitchen_cool", "bedroom_light", "living_light",
    "kitchen_place",
    "bathroom_two" },
  val = { "bathroom_clean", "odd_start_at_receptacle", "bedroom_safe", "kitchen_two" },
  test = { "oldlogic_kitchen_clean", "real_kitchen_heat_potato", "odd_lamp_in_drawer",
    "bedroom_two",
    "living_place" },
}

test("training on the sample games improves the test score", function(t)
  local root = test.shared "data/alfworld/games"
  if not root then t.skip "no shared data: the sample games are not there" end
  local folder, splits = support.folder(), {}
  for name, list in pairs(SAMPLES) do
    splits[name] = {}
    for i, sample in ipairs(list) do
      splits[name][i] = { id = sample, gamefile = sample .. "/game.tw-pddl", task_type = sample }
    end
  end
  support.write_splits(folder .. "/split", splits)
  improves(t, folder, root, { train = { batch_size = 7 } }, 0.3)
end)
