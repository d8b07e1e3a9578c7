--- skillopt lua ckpt/card.lua RUN FOLDER - keep the best skill of a finished run in FOLDER,
--- with a card: what it was trained on, how, by whom, to which score, and a digest of what
--- the run was given and what it decided. Equal runs give equal files.
local file = require "rt.file"
local json = require "rt.json"
local digest = require "rt.digest"
local stdout = require "rt.stdout"

local function read(path)
  local text, err = file.read(path)
  if not text then error(err, 0) end
  return text
end

--- SHA-256 of the data, the first skill, each step's outcome, the best skill and its test.
local function run_digest(run)
  local steps = json.array {}
  for i, r in ipairs(run.history) do
    steps[i] = { r.action, r.candidate_hash or "", r.candidate_gate_score or json.null }
  end
  return digest.sha256(json.canonical { data = run.identity.data, skill = run.identity.skill,
    steps = steps, best = run.best, test = { run.summary.test_hard, run.summary.test_soft } })
end

local function card_of(run)
  local flat, summary = run.summary.config, run.summary
  return { benchmark = flat.env, models = { optimizer = flat.optimizer_model,
      target = flat.target_model }, epochs = flat.num_epochs, steps = summary.total_steps,
    best_step = summary.best_step, tokens = summary.best_skill_tokens,
    selection = { before = summary.baseline_selection_hard, after = summary.best_selection_hard },
    test = { before = summary.baseline_test_hard, after = summary.test_hard, n = summary.test_n },
    run_digest = run_digest(run) }
end

local KEYS <const> = { "benchmark", "models", "epochs", "steps", "best_step", "tokens", "selection",
  "test", "run_digest" }

local path, folder = ...
if not folder then
  stdout.write "usage: skillopt lua ckpt/card.lua RUN FOLDER\n"
  return 2
end
local run = { best = read(path .. "/best_skill.md"),
  summary = assert(json.decode(read(path .. "/summary.json"))),
  history = assert(json.decode(read(path .. "/history.json"))),
  identity = assert(json.decode(read(path .. "/run.json"))).identity }
assert(file.mkdir(folder))
assert(file.write(folder .. "/best_skill.md", run.best))
local card = json.encode(card_of(run), { indent = true, keys = KEYS })
assert(file.write(folder .. "/card.json", card .. "\n"))
stdout.write(card .. "\n")
