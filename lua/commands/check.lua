--- `skillopt check FILE`: is all there for a run, and what would be run?
local checking = require "skillopt.checking"
local cli = require "skillopt.cli"
local exits = require "skillopt.exits"
local show = require "skillopt.show.checked"
local stdout = require "rt.stdout"

local M = { summary = cli.commands.check.summary }

---@async
---@param args string[]
---@return integer? code
---@return skillopt.Err? err
function M.run(args)
  local line, err = cli.parse("check", args)
  if not line then return nil, err end
  if line.help then
    stdout.write(line.help)
    return 0
  end
  local o = line.options
  if o.report and o.json then
    return nil, { kind = "usage", message = "--report is a text, not JSON: leave out one of them",
      retry = false }
  end
  if not line.file and not o.report then
    return nil, { kind = "usage", message = "which file?", hint = "skillopt check experiment.lua",
      retry = false }
  end
  local checked = line.file and checking.run(line) or { problems = {}, notes = { "no file" } }
  if o.report then
    stdout.write(show.report(checked, line))
  elseif o.json then
    stdout.write(show.json(checked))
  elseif not o.quiet or #checked.problems > 0 then
    stdout.write(show.page(checked))
  end
  return checked.problems[1] and exits.of(checked.problems[1]) or 0
end

return M
