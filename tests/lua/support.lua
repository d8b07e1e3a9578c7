--- Runs inside the test process: a configuration from a table, a journal in memory or in
--- a folder, scripted models.
local core = require "rt.task"
local config_of = require "skillopt.config"
local file = require "rt.file"
local journal = require "rt.journal"
local json = require "rt.json"
local loader = require "skillopt.loader"
local opening = require "skillopt.config.open"
local run_of = require "skillopt.run"

local M = {}

local scratch = 0

--- A new empty folder below build/tmp.
---@return string
function M.folder()
  scratch = scratch + 1
  local path = string.format("build/tmp/lua_%d", scratch)
  assert(file.remove(path, { root = "." }) or true)
  assert(file.mkdir(path))
  return path
end

--- Write train, val and test as a split folder; items by split.
---@param path string
---@param splits table<string, table[]>
function M.write_splits(path, splits)
  for split, items in pairs(splits) do
    assert(file.mkdir(path .. "/" .. split))
    assert(file.write(path .. "/" .. split .. "/items.json", json.encode(json.array(items))))
  end
end

--- Write a file, or fail the test.
---@param path string
---@param text string
function M.write(path, text)
  assert(file.write(path, text))
end

--- An endpoint that answers from a function `(request) -> {text = ...}` in program order.
---@param role string
---@param answer fun(request: table, stage: string): table
---@return table
function M.endpoint(role, answer)
  return {
    role = role, provider = "scripted", model = "scripted", max_tokens = 16384,
    params = function(_, wanted) return { max_tokens = wanted.max_tokens } end,
    ask = function(_, request, options)
      local reply = answer(request, options.stage)
      local value = { text = reply.text, finish = reply.finish or "stop",
        outcome = reply.outcome or "ok", tool_calls = reply.tool_calls or json.array {},
        usage = { prompt_tokens = 1, completion_tokens = 1 } }
      return { value = reply.error and { error = reply.error } or value, usage = value.usage }
    end,
  }
end

--- A prepared run from a configuration table (sections as in an experiment).
---@param options {folder: string, experiment: table}
---@return table run
function M.prepare(options)
  local path = options.folder .. "/experiment.lua"
  local folders = { options.folder }
  for _, extra in ipairs(options.search or {}) do folders[#folders + 1] = extra end
  loader.set_search(folders)
  local load = opening.loader(folders)
  local config, err = config_of.resolve {
    file = path, table = options.experiment, source = "", read = file.read, load = load,
    configs = opening.configs(), cwd = file.absolute ".", env = function() end, complete = true,
    args = options.args,
  }
  if not config then error(tostring(err.message), 0) end
  return run_of.prepare { config = config, file = path, folders = folders, load = load }
end

--- Attach a journal (in memory by default) and scripted endpoints, and train.
---@async
---@param run table prepared
---@param options {journal: table?, path: string?, target: function?, optimizer: function?, is_replay: boolean?, disorder: integer?}
---@return table result
function M.train(run, options)
  local j = options.journal or assert(journal.open())
  run_of.attach(run, { journal = j, path = options.path, quiet = true,
    is_replay = options.is_replay, disorder = options.disorder, compare = options.compare })
  local scripts = { target = options.target, optimizer = options.optimizer }
  local real = run.endpoint
  run.endpoint = function(role)
    return scripts[role] and M.endpoint(role, scripts[role]) or real(role)
  end
  local out = {}
  core.spawn("", out, 0, function() return run_of.train(run) end)
  core.join(0)
  return out[1]
end

return M
