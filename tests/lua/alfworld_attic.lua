--- Small games of our own for tests: variants of the attic, with other places for its
--- things and other tasks. The same seed gives the same games.
local file = require "rt.file"
local game = require "rt.game"
local json = require "rt.json"
local rng = require "rt.rng"

local M = {}

local BASE <const> = "tests/cases/game_attic.tw-pddl"
local OPEN_STORES <const> = { "shelf_bar_a", "shelf_bar_b", "sill_bar_a" }

--- Task sentences and goals. `closed` jars are in the locked chest, `shelved` things lie on
--- a shelf at the start.
local TASKS <const> = {
  shelf = { text = "bring a jar to a shelf.", on_sill = "jar",
    goal = "(exists (?j - jar) (or (lies ?j shelf_bar_a) (lies ?j shelf_bar_b)))" },
  window = { text = "put a jar at a window.", on_shelf = "jar",
    goal = "(exists (?j - jar ?s - store) (and (window ?s) (lies ?j ?s)))" },
  sweep = { text = "sweep the attic.", goal = "(forall (?r - room) (not (dusty ?r)))" },
  bright = { text = "leave a bright lamp on the sill.", on_shelf = "lamp",
    goal = "(and (bright lamp_bar_1) (lies lamp_bar_1 sill_bar_a))" },
  locked = { text = "free a jar from the chest and put it on the sill.", locked = true,
    goal = "(exists (?j - jar) (lies ?j sill_bar_a))" },
}

M.KINDS = { "shelf", "window", "sweep", "bright", "locked" }

local function one_of(random, list)
  return list[random:below(#list) + 1]
end

--- Where the things lie at the start.
local function places(random, task)
  local out = { broom_bar_1 = one_of(random, OPEN_STORES), key_bar_1 = one_of(random, OPEN_STORES),
    lamp_bar_1 = OPEN_STORES[random:below(2) + 1] }
  local jars = task.locked and "chest_bar_a" or task.on_sill == "jar" and "sill_bar_a"
    or OPEN_STORES[random:below(2) + 1]
  out.jar_bar_a, out.jar_bar_b = jars, jars
  return out
end

local function problem(random, task)
  local lies = {}
  for thing, store in pairs(places(random, task)) do
    lies[#lies + 1] = ("(lies %s %s)"):format(thing, store)
  end
  local start = one_of(random, { "loft", "gable", "nook" })
  return ([[
(define (problem variant)
  (:domain attic)
  (:objects
    keeper1 - keeper
    loft gable nook - room
    shelf_bar_a shelf_bar_b chest_bar_a sill_bar_a - store
    key_bar_1 - tool
    jar_bar_a jar_bar_b - jar
    lamp_bar_1 - thing)
  (:init
    (in keeper1 %s) (door loft gable) (door gable nook)
    (stands shelf_bar_a loft) (stands shelf_bar_b %s) (stands chest_bar_a nook)
    (stands sill_bar_a gable) (window sill_bar_a) %s
    %s (opens key_bar_1 chest_bar_a) (dusty %s) (dusty %s) (lantern lamp_bar_1))
  (:goal %s))
]]):format(start, one_of(random, { "loft", "nook" }), table.concat(lies, " "),
    task.locked and "(locked chest_bar_a)" or "", one_of(random, { "loft", "gable" }), "nook",
    task.goal)
end

--- A game file that can be won and is not won yet.
---@param kind string one of KINDS
---@param seed integer
---@return string bytes
function M.game(kind, seed)
  local task = TASKS[kind]
  local base = json.decode(assert(file.read(BASE)))
  local random = rng.from_text(("attic %s %d"):format(kind, seed))
  local grammar = base.grammar:gsub("Your task is to: [^\"]*", "Your task is to: " .. task.text)
  local bytes = json.encode { pddl_domain = base.pddl_domain, grammar = grammar,
    pddl_problem = problem(random, task), solvable = true }
  local g <close> = assert(game.open(bytes))
  assert(not g:won() and g:solve())
  return bytes
end

local function write_split(root, folder, split, count)
  local items = json.array {}
  for i = 1, count do
    local kind = M.KINDS[(i - 1) % #M.KINDS + 1]
    local name = ("%s/%s_%d/game.tw-pddl"):format(split, kind, i)
    assert(file.mkdir((root .. "/" .. name):match "^(.*)/"))
    assert(file.write(root .. "/" .. name, M.game(kind, #split * 1000 + i)))
    items[i] = { id = ("%s:%04d"):format(split, i), gamefile = name, task_type = kind }
  end
  assert(file.mkdir(folder .. "/" .. split))
  assert(file.write(folder .. "/" .. split .. "/items.json", json.encode(items)))
end

--- Write games below `root` and a split folder that names them.
---@param root string data root
---@param folder string of the split
---@param counts {train: integer, val: integer, test: integer}
function M.write(root, folder, counts)
  for _, split in ipairs { "train", "val", "test" } do
    write_split(root, folder, split, counts[split])
  end
end

return M
