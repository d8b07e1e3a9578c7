--- `skillopt help [COMMAND]`: what there is, one command, or the exit codes.
local cli = require "skillopt.cli"
local commands = require "skillopt.commands"
local exits = require "skillopt.exits"
local stdout = require "rt.stdout"

local M = { summary = cli.commands.help.summary }

--- The list of commands.
---@return string
function M.overview()
  local lines = { "skillopt - train a skill for a frozen language-model agent", "", "commands:" }
  for _, name in ipairs(commands.names()) do
    lines[#lines + 1] = string.format("  %-10s %s", name, commands.summary(name))
  end
  lines[#lines + 1] = ""
  lines[#lines + 1] = "`skillopt help COMMAND` says more, `skillopt help exit-codes` how they end."
  return table.concat(lines, "\n") .. "\n"
end

---@async
local function about(name)
  if name == "exit-codes" then
    stdout.write(exits.page())
    return 0
  end
  if cli.commands[name] then
    stdout.write(cli.help(name))
    return 0
  end
  local command, is_own = commands.load(name)
  if not command then return nil, commands.unknown(name) end
  if is_own then return command.run { "--help" } end
  return command.run({ "--help" }, require("skillopt.console").new())
end

---@async
---@param args string[]
---@return integer? code
---@return skillopt.Err? err
function M.run(args)
  local line, err = cli.parse("help", args)
  if not line then return nil, err end
  if line.help then
    stdout.write(line.help)
    return 0
  end
  if line.arguments[1] then return about(line.arguments[1]) end
  stdout.write(M.overview())
  return 0
end

return M
