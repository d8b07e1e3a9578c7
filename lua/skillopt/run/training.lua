--- Training as the program of a run: the loop, in the place it works at.
local announce = require "skillopt.run.announce"
local forecast = require "skillopt.run.forecast"
local parts = require "skillopt.run.parts"
local raise = require "skillopt.raise"
local task = require "skillopt.task"
local watch = require "rt.watch"

local M = {}

--- Is a candidate that cannot win any more measured to its end?
local function check_early_stop(run)
  run.early_stop = run.config:get "evaluation.early_stop"
  local gate, metric = run.policies.gate, run.policies.metric
  if not run.early_stop or (gate.hopeless and metric.max and not metric.adjust) then return end
  local words = "evaluation.early_stop does not go with the gate %s and the metric %s"
  raise("config", words:format(gate.name, metric.name),
    "the gate must have `hopeless`, the metric a `max` and no `adjust`")
end

local function check_train_size(run)
  local size = run.config:get "train.train_size" or 0
  if size > 0 and size ~= #run.data.train then
    raise("config", string.format("train.train_size is %d but the train split has %d items", size,
      #run.data.train), "0 takes what the split has")
  end
end

local function load_training(run, stored)
  if run.config.roles.target.model:find(",", 1, true) then
    raise("config", "model.target names several models: " .. run.config.roles.target.model,
      "training asks one; `skillopt eval` takes several")
  end
  run.rate_mode = run.policies.rate.control or "fixed"
  check_early_stop(run)
  if stored then
    run.data, run.item_keys = stored.data, stored.keys
  else
    run.data, run.item_keys = parts.load_data(run)
  end
  run.initial_skill = stored and stored.skill or parts.initial_skill(run)
  if not stored then check_train_size(run) end
end

local function training_folder(run)
  local path = run.config:get "env.out_root"
  return path ~= "" and path or nil
end

local function announce_training(run)
  local steps, ahead = forecast.steps(run), forecast.of(run)
  local done = announce.count_rows(run.journal, "decision", "step_record")
  return {
    open = { steps = steps, step = done + 1 },
    event = "plan",
    data = { train = #run.data.train, val = #run.data.val, test = #run.data.test,
      epochs = run.config:get "train.num_epochs", steps = steps, rollouts = ahead.rollouts,
      optimizer_calls = ahead.optimizer_calls },
  }
end

--- The loop, in the place it works at.
---@async
local function perform_training(run)
  local loop = run.policies.loop
  task.set_place { kind = "policy", run = run, role = "optimizer", stage = "optimizer",
    opt = loop.opt, skill = run.initial_skill, prompt_folders = parts.policy_prompts(run, loop) }
  watch.on()
  loop.run(run.ctx, loop.opt)
  watch.off()
  if not run.result then
    error({ kind = "config", retry = false, hint = "`return ending.run(ctx, state, opt)` does it",
      message = string.format("policy.loop %q came to its end without a result", loop.name) }, 0)
  end
end

--- The program of training.
---@type skillopt.Program
M.program = {
  slots = parts.SLOTS,
  load = load_training,
  identity = function(run)
    return { config = run.config:identity(), skill = run.initial_skill }
  end,
  skills = function(run) return { run.initial_skill } end,
  root = function(run)
    return "outputs/" .. parts.experiment_name(run.file, run.config:get "name")
  end,
  out_root = training_folder,
  announce = announce_training,
  perform = perform_training,
  forecast = forecast.of,
}

return M
