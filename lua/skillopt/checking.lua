--- What stands in the way of a run, and what would be run: configuration, items, prompts,
--- policies, logins. Nobody is asked anything and nothing is written.
local config_of = require "skillopt.config"
local dataset = require "skillopt.dataset"
local digest = require "rt.digest"
local endpoints = require "skillopt.run.endpoints"
local forecast = require "skillopt.run.forecast"
local json = require "rt.json"
local opening = require "skillopt.config.open"
local parts = require "skillopt.run.parts"
local run_of = require "skillopt.run"
local text_of = require "rt.text"

local M = {}

---@class skillopt.Checked
---@field problems skillopt.Err[] what stops a run
---@field notes string[] what the user should know
---@field config skillopt.Config? when the files could be read
---@field plan table? what would be run, when nothing is in the way

local function note(checked, form, ...)
  checked.notes[#checked.notes + 1] = string.format(form, ...)
end

local function problem(checked, err)
  if type(err) == "string" then err = { kind = "bug", message = err } end
  checked.problems[#checked.problems + 1] = err
end

----------------------------------------------------------------------------- items

--- An item's content without its id: two items with one content are one item.
local function content_of(item)
  local copy = json.object {}
  for k, v in pairs(item) do
    if k ~= "id" then copy[k] = v end
  end
  return digest.sha256(json.canonical(copy))
end

--- Items of one split that stand in another one under another id.
local function check_copies(checked, data)
  local seen, counts, order = {}, {}, {}
  for _, split in ipairs(dataset.SPLITS) do
    for _, item in ipairs(data[split]) do
      local content = content_of(item)
      local before = seen[content]
      if before and before.split ~= split then
        local pair = before.split .. " and " .. split
        if not counts[pair] then
          counts[pair] = { n = 0, a = before.id, b = item.id }
          order[#order + 1] = pair
        end
        counts[pair].n = counts[pair].n + 1
      end
      seen[content] = before or { split = split, id = item.id }
    end
  end
  for _, pair in ipairs(order) do
    local c = counts[pair]
    note(checked, "a leak: %d item%s of %s are the same but for the id (%s, %s)", c.n,
      c.n == 1 and "" or "s", pair, c.a, c.b)
  end
end

---------------------------------------------------------------------------- logins

--- A login that is missing: at a server that surely wants one it stops the run.
local function check_login(checked, config, role)
  local spec = config.roles[role]
  local url, variable = spec.settings.base_url, endpoints.key_variable(spec)
  if spec.key or not variable or not url then return end
  local missing = endpoints.missing_login(config, role)
  if missing then return problem(checked, missing) end
  note(checked, "the %s is asked at %s without a key (%s)", role, url, variable)
end

------------------------------------------------------------------------------ plan

local function login_of(config, spec)
  if spec.key then return "key from " .. tostring(spec.key_from or config:origin(spec.key)) end
  return spec.settings.base_url and "no key" or "needs no login"
end

local function role_of(config, role)
  local spec = config.roles[role]
  return { role = role, backend = spec.backend, model = spec.model,
    base_url = spec.settings.base_url, login = login_of(config, spec) }
end

local function policies_of(run)
  local out = json.object {}
  for slot, policy in pairs(run.policies) do out[slot] = policy.name end
  return out
end

local function plan_of(run, line)
  local config, data = run.config, run.data
  local get = function(name) return config:get(name) end
  local out_root, ahead = get "env.out_root", run.program.forecast(run)
  return {
    env = run.env.name, env_folder = run.env_folder,
    items = { train = #data.train, val = #data.val, test = #data.test },
    roles = json.array { role_of(config, "target"), role_of(config, "optimizer") },
    policies = policies_of(run), epochs = get "train.num_epochs", steps = forecast.steps(run),
    rollouts = ahead.rollouts, optimizer_calls = ahead.optimizer_calls,
    skill_tokens = text_of.tokens(run.initial_skill),
    folder = out_root and out_root ~= "" and out_root
      or "outputs/" .. parts.experiment_name(line.file or "experiment", get "name"),
  }
end

local function prepare(checked, config, request, line)
  local ok, run = pcall(run_of.prepare, { config = config, file = line.file or "experiment",
    folders = opening.folders(line.file), load = request.load })
  if not ok then return problem(checked, run) end
  check_copies(checked, run.data)
  for _, role in ipairs { "target", "optimizer" } do check_login(checked, config, role) end
  checked.plan = plan_of(run, line)
end

--- Check what a command line means.
---@param line skillopt.CommandLine
---@return skillopt.Checked
function M.run(line)
  local checked = { problems = {}, notes = {} }
  local ok, request = pcall(opening.request, line)
  if not ok then
    problem(checked, request)
    return checked
  end
  request.complete = true
  local config, err = config_of.examine(request)
  if not config then
    problem(checked, err)
    return checked
  end
  checked.config = config
  for _, words in ipairs(config.notes) do note(checked, "%s", words) end
  for _, words in ipairs(config.problems) do
    problem(checked, { kind = "config", message = words, retry = false })
  end
  if #checked.problems == 0 then prepare(checked, config, request, line) end
  return checked
end

return M
