--- `skillopt diff RUN RUN`: two runs beside each other.
local cli = require "skillopt.cli"
local difference = require "skillopt.show.difference"
local json = require "rt.json"
local reading = require "skillopt.run.reading"
local runs = require "skillopt.runs"
local stdout = require "rt.stdout"

local M = { summary = cli.commands.diff.summary }

local DAMAGED <const> = 6

local function open(word)
  local path, err = runs.find(word)
  if not path then return nil, err end
  return reading.open(path)
end

local function complain(view)
  for _, one in ipairs(view.damaged) do
    stdout.error(string.format("skillopt: damaged: %s/%s\n", view.path, one))
  end
  return #view.damaged
end

---@async
---@param args string[]
---@return integer? code
---@return skillopt.Err? err
function M.run(args)
  local line, err = cli.parse("diff", args)
  if not line then return nil, err end
  if line.help then
    stdout.write(line.help)
    return 0
  end
  if #line.arguments < 2 then
    return nil, { kind = "usage", message = "which two runs?", retry = false,
      hint = "`skillopt list runs` lists them" }
  end
  local a, a_err = open(line.arguments[1])
  if not a then return nil, a_err end
  local b, b_err = open(line.arguments[2])
  if not b then return nil, b_err end
  local d = difference.of(a, b)
  stdout.write(line.options.json and json.encode(d, { indent = true }) .. "\n"
    or difference.page(d))
  return complain(a) + complain(b) > 0 and DAMAGED or 0
end

return M
