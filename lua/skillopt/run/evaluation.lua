--- The program of an evaluation: each model with each skill on each split, item by item.
--- No optimizer is asked and nothing is changed.
---
--- It is a run over a journal like training. The slot of an item is
--- `<model>/<skill>/<split>/<id>`, with the skill's hash (`no_skill` for none) in place of
--- its file's name, so that the same skill from another file is the same work.
local columns = require "rt.columns"
local compare = require "skillopt.compare"
local digest = require "rt.digest"
local evaluation = require "skillopt.evaluation"
local file = require "rt.file"
local folder_of = require "skillopt.run.folder"
local json = require "rt.json"
local parts = require "skillopt.run.parts"
local schedule = require "skillopt.schedule"
local skill_of = require "skillopt.skill"
local task = require "skillopt.task"

local M = {}

--- Roles that an evaluation asks.
M.ROLES = { "target" }

--- The splits of `--split all`, in the order they are run.
M.ALL = { "train", "val", "test" }

---@class skillopt.Asked
---@field splits string[]
---@field items integer most items of each split, from the front; 0 = all
---@field skills {name: string, text: string?}[] without a text: the initial skill
---@field name string? of the experiment; default: as for training
---@field out_root string? a folder that was named
---@field data table<string, table[]>? instead of the configured data
---@field keys table<string, rt.Texts>? digests of its items
---@field notes string[]? what the user should hear

--------------------------------------------------------------------- what it is

-- Keys that change what an evaluation finds out, by section; others belong to training.
local USED <const> = { env = true, model = true, sandbox = true }
local NAMED <const> = { ["train.seed"] = true, ["policy.metric"] = true,
  ["evaluation.min_items"] = true, ["evaluation.gate_mixed_weight"] = true,
  ["evaluation.use_semantic_density"] = true, ["evaluation.semantic_density_weight"] = true,
  ["evaluation.leading_words"] = true, ["evaluation.test_env_num"] = true }

--- Does the key matter to an evaluation?
---@param name string
---@return boolean
function M.uses(name)
  if NAMED[name] or name:find "^policy%.metric%." then return true end
  if name == "env.skill_init" or name:find "^model%.optimizer" or name:find "^model%.rewrite" then
    return false
  end
  return USED[name:match "^[^.]+"] or false
end

local function config_identity(run)
  local out = json.object {}
  for name, value in pairs(run.config:identity()) do
    if M.uses(name) then out[name] = value end
  end
  return out
end

--- Models that are asked: those of `model.target`, divided by commas.
local function models_of(config)
  local models, seen = {}, {}
  for name in (config.roles.target.model .. ","):gmatch "([^,]*)," do
    if seen[name] then
      error({ kind = "usage", retry = false,
        message = string.format("model.target names the model %q twice", name) }, 0)
    end
    models[#models + 1], seen[name] = name, true
  end
  return models
end

local function label_of(skill)
  return skill.text == "" and "no_skill" or skill.hash
end

local function set_of(list)
  local set = {}
  for _, name in ipairs(list) do set[name] = true end
  return set
end

--- The first n texts.
local function front(texts, n)
  if texts and #texts == n then return texts end
  local out = columns.texts()
  for i = 1, n do out:add(texts[i]) end
  return out
end

--- Only the items that are used: others are no part of what an evaluation is.
local function used_data(run, asked, data, keys)
  local wanted, out, used = set_of(asked.splits), {}, {}
  for _, split in ipairs(M.ALL) do
    out[split] = wanted[split] and schedule.front(data[split] or {}, asked.items) or {}
    used[split] = front(keys[split], #out[split])
    if wanted[split] and #out[split] == 0 then
      error({ kind = "data", message = "there are no items of " .. split, retry = false,
        hint = "an evaluation as source has only the splits it was asked for" }, 0)
    end
  end
  run.data, run.item_keys = out, used
end

local function read_skills(run, asked)
  run.skills = {}
  for i, one in ipairs(asked.skills) do
    local skill = skill_of.new(one.text or parts.initial_skill(run))
    run.skills[i] = { name = one.name, skill = skill, label = label_of(skill) }
  end
end

---------------------------------------------------------------------- measuring

--- The run as the rollouts of one model see it.
local function with_model(run, model)
  return setmetatable({ endpoint = function(role) return run.endpoint(role, model) end },
    { __index = run })
end

local function total_of(values, splits)
  local total
  for _, split in ipairs(splits) do
    total = total and total:with(values[split]) or values[split]
  end
  return total
end

--- One arm: a model with a skill, on all splits.
---@async
local function measure(run, asked, model, entry)
  local arm = { model = model, skill = entry, values = {},
    folder = string.format("%s/%s", model ~= "" and model or "default", entry.label) }
  for _, split in ipairs(asked.splits) do
    arm.values[split] = run.ctx:evaluate(entry.skill, run.data[split],
      { label = arm.folder .. "/" .. split, seed = run.seed })
  end
  arm.total = total_of(arm.values, asked.splits)
  return arm
end

--- All arms, models outside. Skills with one text are measured once.
---@async
local function measure_all(run, asked)
  local arms = {}
  for _, model in ipairs(models_of(run.config)) do
    task.set_place { kind = "policy", run = with_model(run, model), role = "target",
      stage = "rollout", opt = {}, skill = "", prompt_folders = {} }
    local known = {}
    for _, entry in ipairs(run.skills) do
      local arm = known[entry.label] or measure(run, asked, model, entry)
      known[entry.label] = arm
      arms[#arms + 1] = { model = model, skill = entry, values = arm.values, total = arm.total,
        folder = arm.folder }
    end
  end
  return arms
end

------------------------------------------------------------------------ figures

local function types_of(value)
  local out = json.array {}
  for _, bucket in ipairs(evaluation.by_type(evaluation.each_row(value), {})) do
    if bucket.name ~= "overall" and bucket.total > 0 then
      out[#out + 1] = { task_type = bucket.name, n = bucket.total,
        hard = bucket.hard / bucket.total, soft = bucket.soft / bucket.total }
    end
  end
  return out
end

local function figures(run, value)
  local out = compare.arm(value)
  out.n_items, out.task_types = #value:ids(), types_of(value)
  if run.metric.name ~= "hard" then out.score = value.score end
  return out
end

local function arm_summary(run, asked, arm)
  local out = { model = arm.model, skill = arm.skill.name, skill_hash = arm.skill.skill.hash,
    skill_tokens = arm.skill.skill.tokens, folder = arm.folder, splits = json.object {},
    total = figures(run, arm.total) }
  for _, split in ipairs(asked.splits) do
    out.splits[split] = figures(run, arm.values[split])
  end
  return out
end

local function side(arm) return { model = arm.model, skill = arm.skill.name } end

--- What a skill is set against: none before the initial one before all others.
local function rank(arm)
  if arm.skill.label == "no_skill" then return 0 end
  return arm.skill.name == "initial" and 1 or 2
end

--- Two arms are compared when they differ in one thing: the skill or the model. The one of
--- the higher rank is set over the other; of two with one rank, the earlier.
local function compare_arms(asked, a, b, out)
  if a.model ~= b.model and a.skill ~= b.skill then return end
  if rank(a) < rank(b) then a, b = b, a end
  local function add(split, new, old)
    local pairing = compare.pair(old, new)
    pairing.arm, pairing.over, pairing.split = side(a), side(b), split
    out[#out + 1] = pairing
  end
  for _, split in ipairs(asked.splits) do add(split, a.values[split], b.values[split]) end
  if #asked.splits > 1 then add("total", a.total, b.total) end
end

local function comparisons(asked, arms)
  local out = json.array {}
  for i, a in ipairs(arms) do
    for k = i + 1, #arms do compare_arms(asked, a, arms[k], out) end
  end
  return out
end

local SUMMARY_KEYS <const> = { "skill", "split", "n_items", "n", "hard", "soft", "metric",
  "arms", "comparisons",
  arms = { "model", "skill", "skill_hash", "skill_tokens", "folder", "total", "splits" },
  total = { "n_items", "n", "hard", "soft", "no_answer", "failed" },
  comparisons = { "arm", "over", "split", "n", "wins", "ties", "losses", "lift", "lift_soft",
    "interval", "verdict" } }

--- The figures of a single arm also stand at the top, as the reference writes them.
local function summary(run, asked, arms)
  local out = { version = run.version, metric = run.metric.name, arms = json.array {},
    split = #asked.splits == #M.ALL and "all" or table.concat(asked.splits, ","),
    comparisons = comparisons(asked, arms), interval = compare.METHOD,
    total_wall_time_s = json.round(run.seconds(), 1), token_summary = run.token_summary() }
  for i, arm in ipairs(arms) do out.arms[i] = arm_summary(run, asked, arm) end
  if #arms > 1 then return out end
  local total = out.arms[1].total
  out.skill, out.n_items, out.n = arms[1].skill.name, total.n_items, total.n
  out.hard, out.soft = total.hard, total.soft
  return out
end

local ROW_KEYS <const> = { "id", "state", "hard", "soft", "task_type", "model", "skill", "split" }

--- All rows in one file, with whose they are.
local function write_rows(run, asked, arms)
  local draft <close> = run.draft "results.jsonl"
  local written = {}
  for _, arm in ipairs(arms) do
    for _, split in ipairs(written[arm.folder] and {} or asked.splits) do
      for row in evaluation.each_row(arm.values[split]) do
        row.model, row.skill, row.split = arm.model, arm.skill.label, split
        draft:add(json.encode(row, { keys = ROW_KEYS }) .. "\n")
      end
    end
    written[arm.folder] = true
  end
  draft:finish()
end

------------------------------------------------------------------------ program

--- Folders above `path` hold no run: an evaluation never goes into one.
local function check_outside(path)
  local above = file.absolute(path:match "^(.+)/[^/]+/*$" or ".")
  while above and above ~= "" and above ~= "/" do
    if folder_of.has_journal(above) then
      error({ kind = "usage", retry = false, message = string.format(
        "%s lies in the folder of a run, %s", path, above),
        hint = "an evaluation has a folder of its own: choose another --out_root" }, 0)
    end
    above = above:match "^(.*)/[^/]*$"
  end
end

--- What was found out, without the names of the skills' files: the same skill from
--- another file is the same evaluation.
local function decided(out)
  local arms = json.array {}
  for i, arm in ipairs(out.arms) do
    arms[i] = { folder = arm.folder, total = arm.total, splits = arm.splits }
  end
  return { arms = arms }
end

---@async
local function perform(run, asked)
  local arms = measure_all(run, asked)
  local out = summary(run, asked, arms)
  write_rows(run, asked, arms)
  run.decide("eval_summary", decided(out))
  run.write("eval_summary.json", json.encode(out, { indent = true, keys = SUMMARY_KEYS }),
    { sync = true })
  run.result = out
  run.flush_events()
end

local function kept_skills(run)
  local out = json.array {}
  for i, entry in ipairs(run.skills) do
    out[i] = { name = entry.name, digest = digest.sha256(entry.skill.text) }
  end
  return out
end

local function identity(run, asked)
  local hashes = json.array {}
  for i, entry in ipairs(run.skills) do hashes[i] = entry.label end
  return { kind = "evaluation", config = config_identity(run),
    asked = { skills = hashes, splits = json.array(asked.splits) } }
end

local function rollouts(run, asked)
  local n = 0
  for _, split in ipairs(asked.splits) do n = n + #run.data[split] end
  return n * #run.skills * #models_of(run.config)
end

local function announce(run, asked)
  local counts = {}
  for i, split in ipairs(asked.splits) do
    counts[i] = string.format("%d of %s", #run.data[split], split)
  end
  return { event = "eval_plan", notes = asked.notes,
    data = { skills = #run.skills, models = #models_of(run.config),
      items = table.concat(counts, ", "), rollouts = rollouts(run, asked) } }
end

--- The program for what was asked.
---@param asked skillopt.Asked
---@return skillopt.Program
function M.program(asked)
  local program = { slots = { "metric" } }
  function program.load(run, stored)
    local given = stored or asked
    local data, keys = given.data, given.keys
    if not data then data, keys = parts.load_data(run, set_of(asked.splits)) end
    used_data(run, asked, data, keys)
    read_skills(run, asked)
    program.asked = { splits = json.array(asked.splits), skills = kept_skills(run) }
  end
  function program.identity(run) return identity(run, asked) end
  function program.skills(run)
    local texts = {}
    for i, entry in ipairs(run.skills) do texts[i] = entry.skill.text end
    return texts
  end
  function program.root(run)
    return string.format("outputs/%s-eval", asked.name
      or parts.experiment_name(run.file, run.config:get "name"))
  end
  function program.out_root()
    if asked.out_root then check_outside(asked.out_root) end
    return asked.out_root
  end
  function program.announce(run) return announce(run, asked) end
  function program.forecast(run)
    return { rollouts = rollouts(run, asked), optimizer_calls = 0 }
  end
  function program.perform(run) perform(run, asked) end
  return program
end

--- The program of an evaluation that is computed again from its journal.
---@param stored skillopt.Stored
---@return skillopt.Program
function M.again(stored)
  local known = stored.invocation.asked
  local asked = { splits = known.splits, items = 0, skills = {} }
  for i, one in ipairs(known.skills) do
    asked.skills[i] = { name = one.name, text = stored:skill(one.digest, "skill " .. one.name) }
  end
  return M.program(asked)
end

return M
