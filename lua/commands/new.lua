--- `skillopt new env|experiment|policy NAME`: a small working folder to begin with.
local cli = require "skillopt.cli"
local scaffold = require "skillopt.scaffold"
local stdout = require "rt.stdout"

local M = { summary = cli.commands.new.summary }

-- What to do next, by kind.
local NEXT <const> = {
  env = "skillopt run %s/experiment.yaml", experiment = "skillopt run %s/experiment.lua",
}

---@async
---@param args string[]
---@return integer? code
---@return skillopt.Err? err
function M.run(args)
  local line, err = cli.parse("new", args)
  if not line then return nil, err end
  if line.help then
    stdout.write(line.help)
    return 0
  end
  local kind, name = line.arguments[1], line.arguments[2]
  local paths, write_err = scaffold.write(kind, name, line.options)
  if not paths then return nil, write_err end
  for _, path in ipairs(paths) do stdout.write("wrote " .. path .. "\n") end
  stdout.write(string.format("try it: skillopt test %s\n", name))
  if NEXT[kind] then stdout.write("then: " .. NEXT[kind]:format(name) .. "\n") end
  return 0
end

return M
