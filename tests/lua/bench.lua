--- A run with an environment written in the test, to evaluate skills on.
local core = require "rt.task"
local json = require "rt.json"
local journal = require "rt.journal"
local run_of = require "skillopt.run"
local task = require "skillopt.task"
local test = require "skillopt.test"
local support = test.support "tests/lua/support.lua"

local M = {}

--- Items `q1`... with these fields.
---@param count integer
---@return table[]
function M.items(count)
  local out = {}
  for i = 1, count do out[i] = { id = "q" .. i, number = i } end
  return out
end

--- A run. Options: env (fields of the environment, `rollout` at least), target (answers of
--- the target), journal, path (where files go), workers, predictions, model (keys of the
--- simulated models).
---@param options table
---@return table run
function M.run(options)
  local folder = support.folder()
  support.write_splits(folder .. "/data",
    { train = { { id = "t1" } }, val = { { id = "v1" }, { id = "v2" } },
    test = { { id = "x1" } } })
  local run = support.prepare { folder = folder, search = { "tests/programs/traced" },
    experiment = {
    model = options.model or { backend = "sim" },
    env = { name = "traced", split_mode = "split_dir", split_dir = folder .. "/data" },
  } }
  run_of.attach(run, { journal = options.journal or assert(journal.open()), path = options.path,
    quiet = true,
    is_replay = options.is_replay })
  run.env = { name = "inline" }
  for field, value in pairs(options.env) do run.env[field] = value end
  run.workers, run.predictions = options.workers or 24, options.predictions or "all"
  if options.target then
    run.endpoint = function() return support.endpoint("target", options.target) end
  end
  run.logged = {}
  local log = run.log
  run.log = function(event)
    run.logged[#run.logged + 1] = event
    log(event)
  end
  return run
end

--- Run `f(ctx)` as a policy of the run, in slot "".
---@async
---@param run table
---@param f fun(ctx: skillopt.Ctx): any
---@return any ...
function M.at(run, f)
  local out = {}
  core.spawn("", out, 0, function()
    task.set_place { kind = "policy", run = run, role = "optimizer", stage = "test", opt = {},
      prompt_folders = {} }
    return f(run.ctx)
  end)
  core.join(0)
  return table.unpack(out, 1, out.n or 0)
end

--- Evaluate the skill "s" on items with a label "eval".
---@async
---@param run table
---@param items table[]
---@param options table?
---@return skillopt.Evaluation
function M.evaluate(run, items, options)
  local o = { label = "eval" }
  for k, v in pairs(options or {}) do o[k] = v end
  return M.at(run, function(ctx) return ctx:evaluate("s", items, o) end)
end

--- Rows of a `results.jsonl`.
---@param path string
---@return table[]
function M.rows(path)
  local out = {}
  for line in test.read(path):gmatch "[^\n]+" do out[#out + 1] = json.decode(line) end
  return out
end

--- Weather as an endpoint raises it.
---@param kind string?
---@return table
function M.weather(kind)
  return { kind = kind or "network", message = "it is down", retry = true, weather = true }
end

return M
