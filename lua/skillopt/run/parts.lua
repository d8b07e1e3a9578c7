--- What a run is made of: its environment, policies, prompts, items and first skill. All
--- raise when something is missing or does not fit.
local dataset = require "skillopt.dataset"
local density = require "skillopt.density"
local digest = require "rt.digest"
local env_of = require "skillopt.env"
local file = require "rt.file"
local leak = require "skillopt.leak"
local loader = require "skillopt.loader"
local place = require "skillopt.config.place"
local policy_of = require "skillopt.policy"
local prompt = require "skillopt.prompt"
local raise = require "skillopt.raise"
local text_of = require "rt.text"

local M = {}

--- Slots of a training run, and those of them that may be off.
M.SLOTS = { "loop", "reflect", "aggregate", "select", "update", "rate", "metric", "gate",
  "slow_update", "meta_skill", "appendix" }
local OPTIONAL <const> = { slow_update = true, meta_skill = true, appendix = true }

--- The environment that env.name chooses.
---@param run table
function M.open_env(run)
  local name = run.config:get "env.name"
  if not name or name == "" then
    raise("config", "env.name is not set", "which benchmark? installed are: "
      .. table.concat(env_of.installed(), ", "))
  end
  local spec, folder = env_of.load(name, run.folders)
  run.env, run.env_folder = env_of.ready(spec), folder
  run.env_opt = loader.freeze(run.config:options "env")
  run.env_prompts = { run.folders[1], run.env_folder }
  run.judge = leak.judge_texts(run.env, run.env_folder)
end

local function open_policy(run, slot, chosen, options)
  local name = type(chosen) == "string" and chosen or "inline"
  local definition, err = chosen, nil
  if type(chosen) == "string" then definition, err = run.load(slot, chosen) end
  if not definition then error(err, 0) end
  local policy, why = policy_of.instance(definition, options, { slot = slot, name = name })
  if not policy then error(why, 0) end
  return policy
end

--- The policies of the slots that the program wants.
---@param run table
function M.open_policies(run)
  run.policies = {}
  for _, slot in ipairs(run.program.slots) do
    local chosen, options = run.config:policy(slot)
    if chosen == nil and not OPTIONAL[slot] then
      raise("config", string.format("policy.%s is off, and a run needs it", slot))
    end
    run.policies[slot] = chosen ~= nil and open_policy(run, slot, chosen, options) or nil
  end
  if run.config:get "evaluation.use_semantic_density" then
    run.policies.metric = density.added(run.policies.metric, {
      weight = run.config:get "evaluation.semantic_density_weight",
      words = run.config:get "evaluation.leading_words" })
  end
  run.metric = run.policies.metric
end

--- Folders in which a policy's prompts are looked for, in order.
---@param run table
---@param policy table
---@return string[]
function M.policy_prompts(run, policy)
  local folders = { run.folders[1], run.env_folder }
  for _, folder in ipairs(run.folders) do
    folders[#folders + 1] = string.format("%s/policies/%s", folder, policy.slot)
  end
  folders[#folders + 1] = string.format("%s/lua/policies/%s", loader.home, policy.slot)
  return folders
end

--- Every prompt that may be asked for must be there and fit.
---@param run table
function M.check_prompts(run)
  prompt.check(run.env_prompts)
  for _, slot in ipairs(M.SLOTS) do
    local policy = run.policies[slot]
    if policy then prompt.check(M.policy_prompts(run, policy)) end
  end
end

--- Read the items; those of the splits that the program needs must be there.
---@param run table
---@param needs table<string, boolean>? default: what training needs
---@return table<string, table[]> data
---@return table<string, rt.Texts> keys digests of the items, by split
function M.load_data(run, needs)
  local get = function(name) return run.config:get("env." .. name) end
  local raw, err = dataset.load {
    split_mode = get "split_mode", split_dir = place.of(run.config, "env.split_dir"),
    data_path = place.of(run.config, "env.data_path"),
    split_ratio = get "split_ratio", split_seed = get "split_seed", limit = get "limit",
    seed = run.seed,
  }
  if not raw then error(err, 0) end
  local env = run.env
  local data, check_err, keys = dataset.check(raw, {
    required = env.required or { "question" }, items = env.items, check = env.check,
    hidden = env.hidden, options = run.env_opt, fix_ids = get "fix_ids",
    least = needs and 1 or run.config:get "evaluation.min_items",
    needs_test = run.config:get "evaluation.eval_test" or needs ~= nil, needs = needs,
  })
  if not data then error(check_err, 0) end
  return data, keys
end

--- The skill that training starts from.
---@param run table
---@return string
function M.initial_skill(run)
  local path = place.of(run.config, "env.skill_init")
  if path == "none" then return "" end
  local given = path and path ~= ""
  if not given then path = run.env_folder .. "/skill.md" end
  local text, err = file.read(path)
  if text and not text_of.is_valid(text) then
    raise("data", path .. " is not valid UTF-8", "save the skill as UTF-8")
  end
  if text then return text end
  if given then
    raise("config", "env.skill_init: " .. err.message,
      "it names a skill's file; leave it out to start from the environment's")
  end
  if file.kind(path) ~= "none" then
    raise("config", "the environment's skill: " .. err.message,
      "mend it, or start from nothing with env.skill_init=none")
  end
  return ""
end

--- What the identity says of the data: how many items, the digest of all their digests.
---@param keys table<string, rt.Texts>
---@return table<string, {n: integer, digest: string}>
function M.data_digests(keys)
  local out = {}
  for _, split in ipairs(dataset.SPLITS) do
    local stream, list = digest.stream(), keys[split]
    for i = 1, #list do stream:add(i == 1 and list[i] or "\n" .. list[i]) end
    out[split] = { n = #list, digest = stream:hex() }
  end
  return out
end

--- Name of the experiment: its folder for `experiment.lua` and `default.yaml`, else the
--- file's stem.
---@param path string
---@param given string?
---@return string
function M.experiment_name(path, given)
  if given and given ~= "" then return given end
  local folder, stem = path:match "^(.-)([^/]*)%.[^./]*$"
  if stem == "experiment" or stem == "default" then
    local absolute = file.absolute(folder == "" and "." or folder)
    return absolute:match "([^/]*)/?$"
  end
  return stem or path
end

return M
