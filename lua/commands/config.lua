--- `skillopt config [FILE [KEY]]`: what a run would be configured with, and why.
local cli = require "skillopt.cli"
local config = require "skillopt.config"
local open = require "skillopt.config.open"
local show = require "skillopt.config.show"
local file = require "rt.file"
local stdout = require "rt.stdout"

local M = { summary = cli.commands.config.summary }

local function write_schema()
  local defaults, err = config.examine { read = file.read, configs = open.configs() }
  if not defaults then return nil, err end
  stdout.write(show.reference(defaults))
  return 0
end

---@async
---@param args string[]
---@return integer? code
---@return skillopt.Err? err
function M.run(args)
  local line, err = cli.parse("config", args)
  if not line then return nil, err end
  if line.help then
    stdout.write(line.help)
    return 0
  end
  if line.options.schema and line.file then
    return nil, { kind = "usage", message = "--schema is about all keys, not about " .. line.file,
      retry = false }
  end
  if line.options.schema then return write_schema() end
  local settled
  settled, err = config.examine(open.request(line))
  if not settled then return nil, err end
  local page
  page, err = show.page(settled, { key = line.arguments[1], json = line.options.json })
  if not page then return nil, err end
  stdout.write(page)
  for _, note in ipairs(settled.notes) do stdout.error("note: " .. note .. "\n") end
  err = config.refusal(settled)
  if err then return nil, err end
  return 0
end

return M
