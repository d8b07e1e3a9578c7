--- `skillopt run FILE`: train a skill.
local cli = require "skillopt.cli"
local opening = require "skillopt.config.open"
local report = require "skillopt.run.closing"
local forecast = require "skillopt.run.forecast"
local run_of = require "skillopt.run"
local stdout = require "rt.stdout"

local M = { summary = "train a skill: `skillopt run experiment.lua train.num_epochs=2`" }

--- Calls beyond which a run on a paid endpoint wants a word first.
local ASK_ABOVE <const> = 1000

local function is_paid(config)
  for _, role in pairs(config.roles) do
    local url = role.settings.base_url
    if url and not url:find "^https?://127%." and not url:find "^https?://localhost"
      and not url:find "^https?://%[::1%]" then
      return true
    end
  end
  return false
end

--- A large run on a paid server is begun when somebody said --yes; what is on file costs
--- nothing.
local function approve(config, line)
  return function(run, on_file)
    if line.options.yes or not is_paid(config) then return end
    local ahead = forecast.of(run)
    local calls = ahead.rollouts + ahead.optimizer_calls - on_file
    if calls <= ASK_ABOVE then return end
    error({ kind = "usage", retry = false, message = string.format(
      "this run asks for about %d rollouts and %d calls of the optimizer (%d answers are on file)",
      ahead.rollouts, ahead.optimizer_calls, on_file),
      hint = "repeat the command with --yes if that is what you want; spend.cost, spend.tokens "
        .. "and spend.calls cap what it may spend" }, 0)
  end
end

---@async
---@param args string[]
---@return integer? code
---@return skillopt.Err? err
function M.run(args)
  local line, err = cli.parse("run", args)
  if not line then return nil, err end
  if line.help then
    stdout.write(line.help)
    return 0
  end
  local config, config_err = opening.open(line)
  if not config then return nil, config_err end
  local request = opening.request(line)
  local run = run_of.prepare { config = config, file = line.file,
    folders = opening.folders(line.file), load = request.load }
  local o = line.options
  local result = run_of.go(run, { new = o.new, resume = o.resume, retry_failed = o.retry_failed,
    accept_loss = o.accept_loss, quiet = o.quiet, json = o.json, approve = approve(config, line) })
  if not o.quiet then report.show(run, result, { json = o.json }) end
  return 0
end

return M
