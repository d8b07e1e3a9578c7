--- `skillopt replay RUN`: compute a run again from its journal, offline.
local cli = require "skillopt.cli"
local json = require "rt.json"
local replay = require "skillopt.run.replay"
local runs = require "skillopt.runs"
local stdout = require "rt.stdout"

local M = { summary = "compute a run again from its journal, offline" }

---@async
---@param args string[]
---@return integer? code
---@return skillopt.Err? err
function M.run(args)
  local line, err = cli.parse("replay", args)
  if not line then return nil, err end
  if line.help then
    stdout.write(line.help)
    return 0
  end
  local word = line.arguments[1]
  if not word then
    return nil, { kind = "usage", message = "which run? give its folder",
      hint = "for example outputs/houserules/latest" }
  end
  local path, path_err = runs.find(word)
  if not path then return nil, path_err end
  local o = line.options
  local outcome = replay.run(path, { verify = o.verify, shuffle = o.shuffle,
    accept_loss = o.accept_loss })
  if o.json then
    stdout.write(json.encode(outcome, { keys = replay.FIELDS }) .. "\n")
  elseif not o.quiet then
    stdout.write(outcome.text .. "\n")
  end
  return outcome.ok and 0 or 6
end

return M
