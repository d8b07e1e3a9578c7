--- The parts of the ALFWorld environment, against the reference's cases.
local json = require "rt.json"
local loader = require "skillopt.loader"
local test = require "skillopt.test"

local action = loader.user_require "envs.alfworld.action"
local games = loader.user_require "envs.alfworld.games"
local history = loader.user_require "envs.alfworld.history"
local notes = loader.user_require "envs.alfworld.notes"
local reference = loader.user_require "envs.alfworld.reference"

local function cases(name) return test.vectors("envs_alfworld_" .. name .. ".json").cases end

local function given(value)
  if value == json.null then return nil end
  return value
end

----------------------------------------------------------------------------- replies

local CASE <const> = "tags count in any case, as they do on the reference's other side"
local THOUGHT <const> = "a tag in the thinking is no action"
local INNER <const> = "of nested tags the inner pair counts"
local EMPTY <const> = "an empty action plays nothing"
local QUOTES <const> = "a pair of quotes around a command is not part of it"
local BLANKS <const> = "blanks are collapsed"
local ORDER <const> = "an end tag before the start tag does not count"

-- Cases of extract_action that differ: our value, why.
local EXTRACTED <const> = {
  [7] = { "Look", CASE }, [8] = { "Open Fridge 1", CASE }, [11] = { "look", THOUGHT },
  [90] = { "</think>text", CASE }, [98] = { "", CASE }, [100] = { "text", CASE },
  [114] = { "", CASE }, [127] = { "text < action >\u{601D}", CASE }, [139] = { "", CASE },
  [140] = { "", CASE }, [141] = { "< action >\u{601D}", CASE },
  [149] = { "go to desk 1\ntext <think>", CASE }, [156] = { "", CASE }, [165] = { "", CASE },
  [177] = { "", CASE },
}

-- Cases of projection that have a complete pair of tags and differ; false = nothing is
-- played.
local PLAYED <const> = {
  [11] = { "look", THOUGHT }, [12] = { "look", ORDER }, [21] = { false, EMPTY },
  [22] = { false, EMPTY }, [33] = { "go to desk 1", QUOTES }, [98] = { false, EMPTY },
  [100] = { "text", ORDER }, [114] = { false, INNER }, [135] = { false, THOUGHT },
  [139] = { false, EMPTY }, [140] = { false, INNER },
  [149] = { "go to desk 1 text <think>", BLANKS },
  [150] = { "< action >", ORDER }, [153] = { false, EMPTY }, [156] = { false, EMPTY },
  [165] = { false, EMPTY }, [177] = { false, THOUGHT }, [180] = { false, EMPTY },
}

for index, case in ipairs(cases "extract_action") do
  test(("the action of reply %d is found"):format(index), function(t)
    local other = EXTRACTED[index]
    if other then
      t.ok(given(case.out) ~= other[1], "no difference any more")
      t.equal(action.extract(case["in"]), other[1], other[2])
    else
      t.equal(action.extract(case["in"]), given(case.out))
    end
  end)
end

test("the thought of a reply is found", function(t)
  for index, case in ipairs(cases "extract_think") do
    t.equal(action.think(case["in"]), given(case.out), index)
  end
end)

-- Without a complete pair of tags the reference plays the last 30 characters of the reply,
-- which never are a command; here nothing is played. Its flag `valid` changes nothing there
-- and does not exist here.
test("the command of a reply is what the reference plays", function(t)
  local n_nothing = 0
  for index, case in ipairs(cases "projection") do
    local played = action.command(case["in"], {}) or false
    local other = PLAYED[index]
    if other then
      t.ok(case.out.action ~= other[1], "no difference any more")
      t.equal(played, other[1], other[2])
    elseif not case["in"]:lower():find "<action>.-</action>" then
      n_nothing = n_nothing + 1
      t.equal(played, false, index)
    else
      t.equal(played, case.out.action, index)
    end
  end
  t.equal(n_nothing, 119)
end)

test("a command is one of the possible ones whatever its blanks, quotes and case are", function(t)
  local possible = { "look", "take Key 1 from shelf 1", "walk to gable" }
  local function play(words) return action.command("<action>" .. words .. "</action>", possible) end
  t.equal(play "  walk  to\ngable ", "walk to gable")
  t.equal(play "`Walk to gable`", "walk to gable")
  t.equal(play "take key 1 FROM shelf 1", "take Key 1 from shelf 1")
  t.equal(play "Walk to attic.", "walk to attic.")
end)

test("thinking of any length is passed over", function(t)
  local tags = ("<think><action>look</action></think>"):rep(20000)
  t.equal(action.extract(tags .. "<action>open door</action>"), "open door")
  t.equal(action.extract(("<think>"):rep(20000) .. "<action>look</action>"), "look")
  t.equal(action.extract "<thinking>no <action>a</action></thinking><action>b</action>", "b")
end)

------------------------------------------------------------------------------- paths

test("a path names the task type", function(t)
  for _, case in ipairs(cases "get_task_type") do t.equal(games.task_type(case["in"]), case.out) end
end)

test("a path names the part of the benchmark", function(t)
  for _, case in ipairs(cases "infer_dataset_from_gamefile") do
    t.equal(games.dataset(case["in"]), case.out[1], case["in"])
  end
end)

-- The reference names a whole batch after its first game; here every game is named after
-- itself. That is the same for the first one; the later ones of these cases are of train.
test("every game of a batch is named after itself", function(t)
  local n_later = 0
  for _, case in ipairs(cases "metadata_for_items") do
    local items, batch = case["in"].items, case.out.ok
    for i, item in ipairs(batch and items or {}) do
      local dataset = games.dataset(item.gamefile)
      t.equal(dataset, i == 1 and batch.eval_dataset or "train")
      if i > 1 then n_later = n_later + 1 end
    end
  end
  t.equal(n_later, 4)
end)

local UNSET <const> = "without the variable the usual folder is the root"
local INSIDE <const> = "no path leads out of the data root"
local PLAIN <const> = "a manifest's path is taken as it is, without variables"
local NOTHING <const> = "an empty path names no game"

-- Cases of resolve_gamefile that differ, by their path: our value with the variable unset
-- and set (`ROOT` stands for the root), why.
local RESOLVED <const> = {
  ["/abs/game.tw-pddl"] = { false, false, INSIDE },
  ["../up/game.tw-pddl"] = { false, false, INSIDE },
  [""] = { false, false, NOTHING },
  ["json_2.1.1/train/a/game.tw-pddl"] = { "ROOT/json_2.1.1/train/a/game.tw-pddl", nil, UNSET },
  ["a//b/./game.tw-pddl"] = { "ROOT/a/b/game.tw-pddl", nil, UNSET },
  ["$MYVAR/game.tw-pddl"] = { "ROOT/$MYVAR/game.tw-pddl", "ROOT/$MYVAR/game.tw-pddl", PLAIN },
}

test("games are found below the data root", function(t)
  for index, case in ipairs(cases "resolve_gamefile") do
    local env, path = case["in"].env, case["in"].path
    env.HOME = "/home/me"
    local root = games.root({}, function(name) return env[name] end)
    local is_set = env.ALFWORLD_DATA and env.ALFWORLD_DATA:find "%S"
    t.equal(root == "/home/me/.cache/alfworld", not is_set)
    local other = RESOLVED[path]
    local want = other[is_set and 2 or 1]
    if want == nil then want = case.out end
    t.equal(games.path(path, root) or false, want and (want:gsub("^ROOT", root)), index)
  end
end)

test("the root is env.data_root, else the variable, else the usual folder", function(t)
  local function getenv(name)
    return ({ HOME = "/home/me", ALFWORLD_DATA = "~/games/", DISK = "/mnt" })[name]
  end
  t.equal({ games.root({ data_root = "${DISK}/x//" }, getenv) }, { "/mnt/x", "env.data_root" })
  t.equal({ games.root({ data_root = "" }, getenv) }, { "/home/me/games", "ALFWORLD_DATA" })
  t.equal({ games.root({}, function(name) return name == "HOME" and "/h" or nil end) },
    { "/h/.cache/alfworld", "ALFWORLD_DATA is not set" })
end)

test("an absolute path may name a game that lies in the root", function(t)
  t.equal(games.path("/data/a/game.tw-pddl", "/data"), "/data/a/game.tw-pddl")
  t.equal(games.path("/database/game.tw-pddl", "/data"), nil)
  t.equal(games.path("/data/../etc/passwd", "/data"), nil)
  t.equal(games.path("a\0b", "/data"), nil)
  t.equal(games.beside("a/b/game.tw-pddl", "traj_data.json"), "a/b/traj_data.json")
end)

--------------------------------------------------------------------------- references

test("texts are listed once and up to a limit", function(t)
  for _, case in ipairs(cases "unique_lines") do
    local values = {}
    for _, value in ipairs(case["in"][1]) do values[#values + 1] = value end
    t.equal(reference.unique(values, case["in"][2]), case.out)
  end
end)

test("plans are listed as numbered calls", function(t)
  for _, case in ipairs(cases "format_high_pddl") do
    t.equal(reference.plan(case["in"]), case.out)
  end
end)

test("a trajectory file becomes a bundle", function(t)
  for index, case in ipairs(cases "reference_bundle") do
    local bundle, fields = reference.bundle(given(case["in"].traj_data), case["in"].item)
    t.equal(json.canonical(bundle), json.canonical(case.out.bundle), index)
    t.equal(json.canonical(fields), json.canonical(case.out.metadata_fields), index)
  end
end)

test("a bundle is told under headings", function(t)
  local case = cases "reference_bundle"[1]["in"]
  local text = reference.from_trajectory(json.encode(case.traj_data), case.item)
  local head = "Task type: pick_and_place_simple\n\nThe task in people's words:\n- Put a mug on"
  t.equal(text:sub(1, #head), head)
  t.ok(text:find("\n\nPlan:\n1. GotoLocation(desk)\n2. PickupObject(cd)\n3. NoOp\n\nScene:\n", 1,
    true), text)
  t.equal(reference.from_trajectory("no JSON", {}), "")
  t.equal(reference.from_trajectory("{}", {}), "")
end)

----------------------------------------------------------------------------- prompts

test("the history shows the latest steps", function(t)
  for _, case in ipairs(cases "history_window") do
    local steps, out = {}, case.out
    for i = 0, case["in"].stored - 1 do
      steps[#steps + 1] = { observation = "obs" .. i, action = "act" .. i }
    end
    local first = history.window(steps, case["in"].window)
    t.equal(first, out.first_step_number)
    t.equal(#steps - first + 1, out.valid_len)
    local lines = {}
    for i = 1, out.valid_len do
      local number = out.first_step_number + i - 1
      lines[#lines + 1] = ("[step %d] You saw: %s"):format(number, out.observations[i])
      lines[#lines + 1] = ("[step %d] You did: %s"):format(number, out.actions[i])
    end
    t.equal(history.text(steps, case["in"].window), table.concat(lines, "\n"))
  end
end)

test("a history of no length is empty, and a step without an action says so", function(t)
  local steps = { { observation = "a\n\nb" }, { observation = "c", action = "look" } }
  t.equal(history.text(steps, 0), "")
  t.equal(history.text(steps, 9), "[step 1] You saw: a b\n[step 1] You did: (nothing)\n"
    .. "[step 2] You saw: c\n[step 2] You did: look")
end)

test("notes say what was seen where, what is carried and what is left to see", function(t)
  local n = notes.new { "go to desk 1", "go to drawer 1", "go to shelf 1", "look" }
  t.equal(notes.text(n), "- You carry: nothing\n- Not yet visited: desk 1, drawer 1, shelf 1")
  notes.add(n, "go to drawer 1", "The drawer 1 is closed.")
  notes.add(n, "open drawer 1", "The drawer 1 is open. In it, you see a pen 1.")
  notes.add(n, "take pen 1 from drawer 1", "You pick up the pen 1.")
  notes.add(n, "examine pen 1", "A normal pen.")
  t.equal(notes.text(n),
    "- drawer 1: The drawer 1 is open. In it, you see a pen 1. Then: took pen 1.\n"
    .. "- You carry: pen 1\n- Not yet visited: desk 1, shelf 1")
  notes.add(n, "go to desk 1", "On the desk 1, you see nothing.")
  notes.add(n, "put pen 1 in/on desk 1", "You put the pen 1.")
  notes.add(n, "go to shelf 1", "On the shelf 1, you see nothing.")
  t.equal(notes.text(n), "- desk 1: On the desk 1, you see nothing. Then: put pen 1 there.\n"
    .. "- drawer 1: The drawer 1 is open. In it, you see a pen 1. Then: took pen 1.\n"
    .. "- shelf 1: On the shelf 1, you see nothing.\n- You carry: nothing")
end)
