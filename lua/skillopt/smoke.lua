--- A training small enough to be a test: a file `smoke.yaml`, run in a folder of its own
--- that is removed behind it.
local config_of = require "skillopt.config"
local core = require "rt.task"
local file = require "rt.file"
local opening = require "skillopt.config.open"
local raise = require "skillopt.raise"
local run_of = require "skillopt.run"

local M = {}

--- Name of the file.
M.NAME = "smoke.yaml"

--- Back-ends that cost nothing: no test goes to a paid one.
local FREE <const> = { sim = true }

local function scratch()
  local base = os.getenv "TMPDIR"
  base = base and base ~= "" and base or "/tmp"
  for n = 1, 10000 do
    local path = string.format("%s/skillopt_smoke_%d", base, n)
    if not file.exists(path) and file.mkdir(path) then return path, base end
  end
  raise("config", "there is no room for a folder in " .. base)
end

local function train(path, folder)
  local request = opening.request { file = path, assignments = {
    { name = "env.out_root", value = folder, from = "env.out_root" } } }
  request.complete, request.env, request.dotenv = true, nil, nil
  local config, err = config_of.resolve(request)
  if not config then error(err, 0) end
  for _, role in pairs(config.roles) do
    if not FREE[role.backend] then
      raise("config", "a smoke test asks the simulated model: model.backend must be sim, not "
        .. role.backend)
    end
  end
  local run = run_of.prepare { config = config, file = path, folders = opening.folders(path),
    load = request.load }
  return run_of.go(run, { quiet = true }).summary
end

--- The run in a task of its own, below the caller's slot.
---@async
local function train_apart(path, folder)
  local out = {}
  core.spawn("", out, 0, train, path, folder)
  core.join(0)
  return out[1]
end

--- Train the file. The outcome as tests have it, its name, what was reached or why not.
---@async
---@param path string
---@param name string
---@return "ok"|"FAIL" outcome
---@return string name
---@return string? why
function M.run(path, name)
  local folder, base = scratch()
  local ok, result = pcall(train_apart, path, folder)
  file.remove(folder:sub(#base + 2), { root = base })
  if ok then
    return "ok", string.format("%s: selection %.4f, then %.4f", name,
      result.baseline_selection_hard, result.best_selection_hard)
  end
  if type(result) ~= "table" then return "FAIL", name, tostring(result) end
  return "FAIL", name, string.format("%s: %s%s", result.kind, tostring(result.message),
    result.hint and " (" .. tostring(result.hint) .. ")" or "")
end

return M
