--- `skillopt replay RUN`: compute a run again from its journal, offline.
local cli = require "skillopt.cli"
local replay = require "skillopt.run.replay"
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
  local path = line.arguments[1]
  if not path then
    return nil, { kind = "usage", message = "which run? give its folder",
      hint = "for example outputs/houserules/latest" }
  end
  local o = line.options
  local outcome = replay.run(path, { verify = o.verify, shuffle = o.shuffle,
    accept_loss = o.accept_loss })
  if not o.quiet then stdout.write(outcome.text .. "\n") end
  return outcome.ok and 0 or 6
end

return M
