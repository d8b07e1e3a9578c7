--- `skillopt run FILE`: train a skill.
local approval = require "skillopt.run.approval"
local cli = require "skillopt.cli"
local opening = require "skillopt.config.open"
local report = require "skillopt.run.closing"
local run_of = require "skillopt.run"
local stdout = require "rt.stdout"

local M = { summary = "train a skill: `skillopt run experiment.lua train.num_epochs=2`" }

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
    accept_loss = o.accept_loss, quiet = o.quiet, json = o.json, approve = approval.of(config, o) })
  if o.json or not o.quiet then report.show(run, result, { json = o.json }) end
  return 0
end

return M
