--- ALFWorld: text games in a household. The model sends one command a turn until the goal
--- holds or the turns are used up; won or not, there is no partial credit.
local skillopt = require "skillopt"
local digest = require "rt.digest"
local game = require "rt.game"
local episode = require "envs.alfworld.episode"
local games = require "envs.alfworld.games"
local reference = require "envs.alfworld.reference"

local TRAJECTORY <const> = "traj_data.json"

------------------------------------------------------------------------------ the data

--- The digest of a file of the data root; nil when it cannot be read.
local function digest_of(gamefile, opt)
  local bytes = games.read(gamefile, opt)
  return bytes and digest.sha256(bytes)
end

--- An item knows its files by digest, so that they are part of what a run is.
local function items(raw, opt)
  local item = {}
  for k, v in pairs(raw) do item[k] = v end
  if type(item.gamefile) ~= "string" then return item end
  item.game_digest = digest_of(item.gamefile, opt)
  if opt.reference == "trajectory" then
    item.reference_digest = digest_of(games.beside(item.gamefile, TRAJECTORY), opt)
  end
  return item
end

local function check(item, opt)
  if type(item.gamefile) ~= "string" then return false, "gamefile is no text" end
  local bytes, why, hint = games.read(item.gamefile, opt)
  if not bytes then return false, why, hint end
  local g, err = game.open(bytes, { name = item.gamefile })
  if not g then return false, err.message end
  local start <close> = g
  if not episode.task(start:observation()) then
    return false, item.gamefile .. " says nowhere \"Your task is to: ...\""
  end
  return true
end

local function task_type(item)
  local named = games.task_type(item.gamefile)
  if named == "other" and type(item.task_type) == "string" then return item.task_type end
  return named
end

---------------------------------------------------------------------------- a rollout

--- The bytes of an item's file; another file of that name is a fault of the data.
local function read(path, wanted, opt)
  local bytes, why, hint = games.read(path, opt)
  if not bytes then error({ kind = "data", message = why, hint = hint, retry = false }, 0) end
  if digest.sha256(bytes) == wanted then return bytes end
  error({ kind = "data", message = path .. " is not the file it was when the run was made",
    hint = "put the file back, or start a new run", retry = false }, 0)
end

--- Text for the analysts; only training games have one.
local function reference_text(item, g, ctx)
  if not ctx.is_training then return nil end
  if ctx.opt.reference == "solution" then return reference.from_solution(g) end
  if not item.reference_digest then return nil end
  local path = games.beside(item.gamefile, TRAJECTORY)
  return reference.from_trajectory(read(path, item.reference_digest, ctx.opt), item)
end

local function rollout(item, ctx)
  local bytes = read(item.gamefile, item.game_digest, ctx.opt)
  local g, err = game.open(bytes, { name = item.gamefile })
  if not g then error(err, 0) end
  local played <close> = g
  local known = reference_text(item, played, ctx)
  local end_of = episode.play(played, ctx)
  local goal = played:progress() or {}
  return {
    hard = end_of.won and 1 or 0, soft = end_of.won and 1.0 or 0.0, agent_ok = true,
    n_turns = end_of.turns, n_wasted = end_of.wasted, goal_held = goal.satisfied,
    goal_total = goal.total, gamefile = item.gamefile, eval_dataset = games.dataset(item.gamefile),
    task_type = task_type(item), instruction_type = task_type(item),
    task_description = end_of.task, reference_text = known,
    fail_reason = end_of.won and "" or ("not won in %d turns"):format(end_of.turns),
  }
end

local function feedback(_, mark)
  local outcome = mark.hard == 1 and "The game was won" or "The game was not won"
  local text = ("%s; %d turns, %d of them did nothing."):format(outcome, mark.n_turns,
    mark.n_wasted)
  if mark.hard == 1 or not mark.goal_total then return text end
  return ("%s At the end %d of the goal's %d conditions held."):format(text, mark.goal_held,
    mark.goal_total)
end

return skillopt.env {
  name = "alfworld",
  required = { "gamefile" },
  options = {
    data_root = { "path", "", "folder that holds json_2.1.1; default: $ALFWORLD_DATA, "
      .. "else ~/.cache/alfworld" },
    max_steps = { "integer", 50, "turns of an episode", min = 1, max = 10000 },
    history_length = { "integer", 2, "latest steps that a prompt shows", min = 0 },
    max_api_workers = { "integer", key = "model.calls_in_flight",
      doc = "the reference's word for model.calls_in_flight" },
    memory = { "choice", "none", "none, or notes: prompts also list the places seen so far",
      choices = { "none", "notes" } },
    reference = { "choice", "trajectory", "what analysts learn of a training game: its "
      .. "traj_data.json, a shortest solution, or none",
      choices = { "trajectory", "solution", "none" } },
  },
  items = items,
  check = check,
  task_type = task_type,
  rollout = rollout,
  feedback = feedback,
}
