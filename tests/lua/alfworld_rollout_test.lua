--- Episodes: what the model is asked, what its replies do, how they end.
local core = require "rt.task"
local digest = require "rt.digest"
local flow = require "rt.flow"
local json = require "rt.json"
local loader = require "skillopt.loader"
local test = require "skillopt.test"
local attic = test.support "tests/lua/alfworld_attic.lua"
local scene = test.support "tests/lua/scene.lua"
local support = test.support "tests/lua/support.lua"

local HOME <const> = loader.home .. "/lua/envs/alfworld"
local env = loader.user_file(HOME .. "/init.lua")
local solve = loader.user_require "envs.alfworld.solve"

local NO_ACTION <const> = "Your last reply had no complete <action> element, so nothing was done."

--- A data root with one game; the item of that game.
local function one_game(kind, seed)
  local root = support.folder()
  local bytes = attic.game(kind, seed or 1)
  support.write(root .. "/game.tw-pddl", bytes)
  return root, { id = "g", gamefile = "game.tw-pddl", game_digest = digest.sha256(bytes) }, bytes
end

local function options(root, more)
  local opt = { data_root = root, max_steps = 50, history_length = 2, memory = "none",
    reference = "none" }
  for k, v in pairs(more or {}) do opt[k] = v end
  return opt
end

local function acting(command) return "<think>so</think><action>" .. command .. "</action>" end

local function actions(commands)
  local out = {}
  for i, command in ipairs(commands) do out[i] = acting(command) end
  return out
end

--- A place at which the model gives these replies.
local function place_of(root, script, more, opt)
  local place = scene.place(script, { opt = options(root, opt), prompt_folders = { HOME },
    skill = "" })
  for k, v in pairs(more or {}) do place[k] = v end
  return place
end

local function roll(place, item)
  return scene.at(place, function(ctx) return env.rollout(item, ctx) end)
end

local function has(t, text, piece)
  t.ok(text:find(piece, 1, true), text)
end

--- The user message of the n-th call.
local function asked(place, n)
  local messages = place.sent[n].request.messages
  return messages[#messages].content[1].text
end

----------------------------------------------------------------------------- the end

test("a game that is won counts 1 and ends there", function(t)
  local root, item, bytes = one_game "window"
  local way = assert(solve.file(bytes))
  local place = place_of(root, actions(way))
  local mark = roll(place, item)
  t.equal({ mark.hard, mark.soft, mark.n_turns, mark.n_wasted, mark.fail_reason },
    { 1, 1.0, #way, 0, "" })
  t.equal({ mark.goal_held, mark.goal_total }, { 1, 1 })
  t.equal(#place.sent, #way)
  t.equal(mark.task_description, "put a jar at a window.")
end)

test("a game that is not won counts 0, whatever of its goal holds", function(t)
  local root, item = one_game "bright"
  local mark = roll(place_of(root, actions { "look", "fly", "rest" }, nil, { max_steps = 3 }), item)
  t.equal({ mark.hard, mark.soft, mark.n_turns, mark.n_wasted }, { 0, 0.0, 3, 1 })
  t.equal(mark.fail_reason, "not won in 3 turns")
  t.equal(env.feedback(item, mark),
    "The game was not won; 3 turns, 1 of them did nothing. At the end "
    .. ("%d of the goal's %d conditions held."):format(mark.goal_held, mark.goal_total))
end)

test("a game whose goal holds at the start ends with its first command", function(t)
  local root, item, bytes = one_game "window"
  bytes = bytes:gsub("%(lies jar_bar_a [%w_]+%)", "(lies jar_bar_a sill_bar_a)")
  support.write(root .. "/game.tw-pddl", bytes)
  item.game_digest = digest.sha256(bytes)
  local mark = roll(place_of(root, { "I wonder.", acting "look" }), item)
  t.equal({ mark.hard, mark.n_turns }, { 1, 2 })
end)

test("a call that fails fails the item: nothing is played in its place", function(t)
  local root, item = one_game "window"
  local place = place_of(root, { acting "look", { raise = { kind = "network",
    message = "gone" } } })
  local err = scene.error_at(place, function(ctx) return env.rollout(item, ctx) end)
  t.equal(err.kind, "network")
  t.equal(#place.item.trace, 1)
end)

----------------------------------------------------------------------------- replies

test("a reply without an action is a turn in which nothing is done, and the model is told",
  function(t)
  local root, item = one_game "window"
  local place = place_of(root, { "Let me think.", acting "look" }, nil, { max_steps = 2 })
  local mark = roll(place, item)
  t.equal({ mark.n_turns, mark.n_wasted }, { 2, 1 })
  t.ok(asked(place, 2):find("\n## What you see\nThis is step 2.\n\n" .. NO_ACTION
    .. "\n\nYou climb into", 1,
    true), asked(place, 2))
  t.equal({ place.item.trace[1].action, place.item.trace[1].env_feedback }, { "", NO_ACTION })
end)

test("five replies in a row without an action end the item without an answer", function(t)
  local root, item = one_game "window"
  local silent = { "a", "b", "c", "d", "e" }
  local err = scene.error_at(place_of(root, silent),
    function(ctx) return env.rollout(item, ctx) end)
  t.equal({ err.no_answer, err.reason }, { true, "no <action> element in 5 replies in a row" })
  local mark = roll(place_of(root, { "a", "b", "c", "d", acting "look", "a", "b", "c", "d",
    acting "look" },
    nil, { max_steps = 10 }), item)
  t.equal(mark.n_turns, 10)
end)

----------------------------------------------------------------------------- prompts

test("the first prompt shows the game's words and the possible commands", function(t)
  local root, item = one_game "window"
  local place = place_of(root, actions { "look" }, { skill = "- Look up." }, { max_steps = 1 })
  roll(place, item)
  t.ok(asked(place, 1):find("^## What you see\nYou climb into the attic%."))
  has(t, asked(place, 1), "task is to: put a jar at a window.\n\n"
    .. "## Commands that are possible now\n- look\n")
  local system = place.sent[1].request.messages[1].content[1].text
  has(t, system, "## Skill\nWhat earlier games have taught. Follow it where it applies.\n\n"
    .. "- Look up.\n")
end)

test("later prompts show the task, the latest steps and what is seen now", function(t)
  local root, item = one_game "window"
  local place = place_of(root, actions { "look", "fly", "rest", "look" }, nil, { max_steps = 4 })
  roll(place, item)
  local text = asked(place, 4)
  has(t, text, "Your task is to: put a jar at a window.\n\n## What was before\nYou have taken 3 ")
  t.equal(select(2, text:gsub("You did:", "")), 2)
  has(t, text, "[step 2] You did: fly\n[step 3] You saw: Nothing happens.\n"
    .. "[step 3] You did: rest\n")
  t.ok(text:find("## What you see\nThis is step 4.\n\nYou rest.\n\n## Commands", 1, true), text)
end)

test("without a history no earlier step is shown", function(t)
  local root, item = one_game "window"
  local place = place_of(root, actions { "look", "look" }, nil,
    { max_steps = 2, history_length = 0 })
  roll(place, item)
  t.ok(not asked(place, 2):find("before", 1, true), asked(place, 2))
end)

test("with notes a prompt also lists what was seen so far", function(t)
  local root, item = one_game "window"
  local place = place_of(root, actions { "look", "look" }, nil, { max_steps = 2, memory = "notes" })
  roll(place, item)
  t.ok(asked(place, 2):find("\n## Your notes\n- You carry: nothing\n\n## What was before\n", 1,
    true),
    asked(place, 2))
end)

-------------------------------------------------------------------------- trajectory

test("the trajectory is one entry a step, as the reference writes them", function(t)
  local root, item, bytes = one_game "window"
  local way = assert(solve.file(bytes))
  local place = place_of(root, actions(way))
  roll(place, item)
  local trace = place.item.trace
  t.equal(#trace, #way)
  t.equal(trace[#way].reward, 10)
  t.equal({ trace[1].reward, trace[1].done, trace[#way].done }, { 0, false, true })
  t.equal({ trace[1].step, trace[1].action, trace[1].reasoning, trace[1].model_response },
    { 1, way[1], "so", acting(way[1]) })
end)

test("ctx:trace is for rollouts", function(t)
  t.equal(tostring(scene.error_at(scene.policy {}, function(ctx) ctx:trace { step = 1 } end))
    :match "ctx:trace.*", "ctx:trace is for rollouts")
end)

test("only a training game has a reference, and it is the one asked for", function(t)
  local root, item, bytes = one_game "window"
  support.write(root .. "/traj_data.json", json.encode { task_type = "pick", plan = { high_pddl = {
    { discrete_action = { action = "GotoLocation", args = { "sill" } } } } } })
  local function known(is_training, wanted)
    local raw = env.items({ id = "g", gamefile = item.gamefile },
      options(root, { reference = wanted }))
    return roll(place_of(root, actions { "look" }, { is_training = is_training },
      { max_steps = 1, reference = wanted }), raw).reference_text
  end
  t.equal(known(false, "trajectory"), nil)
  t.equal(known(false, "solution"), nil)
  t.equal(known(true, "none"), nil)
  t.equal(known(true, "trajectory"), "Task type: pick\n\nPlan:\n1. GotoLocation(sill)")
  t.equal(known(true, "solution"), "A shortest solution:\n"
    .. solve.text(assert(solve.file(bytes))))
end)

-------------------------------------------------------------------------------- data

test("an item knows its files by digest", function(t)
  local root, item, bytes = one_game "window"
  support.write(root .. "/traj_data.json", "{}")
  local made = env.items({ id = 7, gamefile = "game.tw-pddl", extra = 1 },
    options(root, { reference = "trajectory" }))
  t.equal(made, { id = 7, gamefile = "game.tw-pddl", extra = 1, game_digest = digest.sha256(bytes),
    reference_digest = digest.sha256 "{}" })
  t.equal(item.game_digest, made.game_digest)
end)

test("another file in the place of a game fails the item", function(t)
  local root, item = one_game "window"
  support.write(root .. "/game.tw-pddl", attic.game("window", 2))
  local err = scene.error_at(place_of(root, {}), function(ctx) return env.rollout(item, ctx) end)
  t.equal({ err.kind, err.message }, { "data",
    "game.tw-pddl is not the file it was when the run was made" })
end)

test("bad games are refused before the first call, with words and a hint", function(t)
  local root = one_game "window"
  local opt = options(root)
  local function why(item) return { env.check(item, opt) } end
  t.equal(why { gamefile = "game.tw-pddl" }, { true })
  t.equal(why { gamefile = 3 }, { false, "gamefile is no text" })
  t.equal(why { gamefile = "../game.tw-pddl" }, { false, "../game.tw-pddl is no path to a game" })
  local missing = why { gamefile = "none/game.tw-pddl" }
  t.ok(missing[2]:find "cannot open .*none/game.tw%-pddl: No such file"
    and missing[3]:find("looked in " .. root, 1,
    true), missing[3])
  support.write(root .. "/bad.tw-pddl", "{}")
  t.equal(why { gamefile = "bad.tw-pddl" }, { false,
    'bad.tw-pddl: the file has no text "pddl_domain"' })
  support.write(root .. "/silent.tw-pddl", (attic.game("window", 1):gsub("Your task is to:",
    "Do:")))
  t.equal(why { gamefile = "silent.tw-pddl" }, { false,
    'silent.tw-pddl says nowhere "Your task is to: ..."' })
end)

local function experiment(folder, root, more)
  local e = { train = { num_epochs = 1, batch_size = 4 }, model = { backend = "sim" },
    env = { name = "alfworld", split_mode = "split_dir", split_dir = folder, data_root = root } }
  for k, v in pairs(more or {}) do e.env[k] = v end
  return e
end

test("a data root without games stops before the first call and says how to get them", function(t)
  local folder = support.folder()
  attic.write(folder .. "/games", folder .. "/split", { train = 2, val = 2, test = 2 })
  local err = t.raises(function()
    support.prepare { folder = folder, experiment = experiment(folder .. "/split", folder
      .. "/elsewhere") }
  end)
  t.equal(err.kind, "data")
  t.ok(err.message:find "^the data has 6 problems:", err.message)
  t.ok(err.hint:find("`skillopt data fetch alfworld` gets the games", 1, true), err.hint)
end)

test("the reference's word for calls at once is understood", function(t)
  local folder = support.folder()
  attic.write(folder .. "/games", folder .. "/split", { train = 2, val = 2, test = 2 })
  local run = support.prepare { folder = folder, experiment = experiment(folder .. "/split",
    folder .. "/games", { max_api_workers = 8, workers = 3 }) }
  t.equal({ run.config:get "model.calls_in_flight", run.workers }, { 8, 3 })
end)

-------------------------------------------------------------------- several at once

--- Evaluate the first `count` test games; the target is `answer(n)`, n being how many calls
--- wait at that moment.
local function evaluate(folder, count, more, answer)
  local run = support.prepare { folder = folder,
    experiment = experiment(folder .. "/split", folder .. "/games", more) }
  local rows
  run.policies.loop = { opt = {}, slot = "loop", run = function(ctx)
    local items = table.move(ctx.data.test, 1, count, 1, {})
    rows = ctx:evaluate("", items, { label = "many" }):rows()
    run.result = {}
  end }
  local waiting = 0
  support.train(run, { target = function()
    waiting = waiting + 1
    local text = answer(waiting)
    waiting = waiting - 1
    return { text = text }
  end })
  return rows
end

--- Wait until `done()`; long enough to say that it will not come.
local function wait_for(done)
  for _ = 1, 5000 do
    if done() then return true end
    flow.sleep(0.001)
  end
  error("this never came", 0)
end

test("as many games are played at once as there are workers", function(t)
  local folder = support.folder()
  attic.write(folder .. "/games", folder .. "/split", { train = 2, val = 2, test = 20 })
  local n_plans = 0
  for _, case in ipairs(test.vectors "envs_alfworld_chunk_plan.json".cases) do
    local total, workers = case["in"].total, case["in"].workers
    local largest = case.out[1] and case.out[1][2]
    if largest and total <= 20 then
      local most = 0
      evaluate(folder, total, { workers = workers, max_steps = 1 }, function(waiting)
        most = math.max(most, waiting)
        wait_for(function() return most == largest end)
        return acting "look"
      end)
      t.equal(most, largest, ("%d games, %d workers"):format(total, workers))
      n_plans = n_plans + 1
    end
  end
  t.equal(n_plans, 20)
end)

test("500 games are in flight at once", function(t)
  local folder = support.folder()
  attic.write(folder .. "/games", folder .. "/split", { train = 5, val = 2, test = 5 })
  local items = {}
  for i = 1, 500 do
    local kind = (i - 1) % 5 + 1
    items[i] = { id = "game " .. i,
      gamefile = ("test/%s_%d/game.tw-pddl"):format(attic.KINDS[kind], kind) }
  end
  support.write_splits(folder .. "/split", { test = items })
  local most = 0
  local rows = evaluate(folder, 500, { workers = 500, max_steps = 2 }, function(waiting)
    most = math.max(most, waiting)
    wait_for(function() return most == 500 end)
    return acting "look"
  end)
  t.equal({ most, #rows, rows[500].n_turns }, { 500, 500, 2 })
end)

test("games do not wait for each other: the first call of one may come back last", function(t)
  local folder = support.folder()
  attic.write(folder .. "/games", folder .. "/split", { train = 2, val = 2, test = 6 })
  local n_calls, is_late = 0, false
  local rows = evaluate(folder, 6, { workers = 6, max_steps = 3 }, function()
    n_calls = n_calls + 1
    if core.slot():find("0001", 1, true) and not is_late then
      wait_for(function() return n_calls == 1 + 5 * 3 end)
      is_late = true
    end
    return acting "look"
  end)
  t.equal({ is_late, n_calls, #rows }, { true, 18, 6 })
end)

test("the next game starts when one ends, not when all have", function(t)
  local folder = support.folder()
  attic.write(folder .. "/games", folder .. "/split", { train = 2, val = 2, test = 6 })
  local n_calls = 0
  evaluate(folder, 6, { workers = 2, max_steps = 1 }, function()
    n_calls = n_calls + 1
    if core.slot():find("0001", 1, true) then wait_for(function() return n_calls == 6 end) end
    return acting "look"
  end)
  t.equal(n_calls, 6)
end)
