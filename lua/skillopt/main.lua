--- The program: find the command, run it, turn what it raises into an exit code.
local file = require "rt.file"
local loader = require "skillopt.loader"
local stdout = require "rt.stdout"

-- Exit codes are one table: what a script may rely on.
local EXIT = {
  usage = 2, config = 2, data = 3, auth = 4, budget = 5, limit = 70, bug = 70, cancelled = 130,
  io = 6, network = 4, timeout = 4, rate_limit = 4, server = 4, bad_request = 4, refused = 4,
  filtered = 4, too_long = 4, parse = 4, truncated = 4, process = 4, sandbox = 4,
}

-- Other names of the program, links that are installed beside it, and what they do.
local LINKS <const> = { ["skillopt-train"] = "run", ["skillopt-eval"] = "eval" }

--- The arguments with the command that the program's name stands for.
local function with_command(args)
  local command = LINKS[(args[0] or ""):match "[^/]*$"]
  if not command or args[1] == "--version" then return args end
  return table.move(args, 1, #args, 2, { command })
end

local function commands()
  local names = {}
  for _, name in ipairs(assert(file.list(loader.home .. "/lua/commands"))) do
    names[#names + 1] = name:match "^([a-z_]+)%.lua$"
  end
  return names
end

--- Commands that environments bring, by name: files `commands/NAME.lua` in their folders,
--- of the users' world. They get a console to say and ask something.
local function env_commands()
  local paths, names, root = {}, {}, loader.home .. "/lua/envs/"
  for _, env in ipairs(file.list(root) or {}) do
    for _, entry in ipairs(file.list(root .. env .. "/commands") or {}) do
      local name = entry:match "^([a-z_]+)%.lua$"
      if name and not paths[name] then
        names[#names + 1], paths[name] = name, root .. env .. "/commands/" .. entry
      end
    end
  end
  return names, paths
end

--- The function that runs a command; nil when there is none of that name.
local function find(name)
  if not name:find "^[a-z_]+$" then return nil end
  if file.kind(loader.home .. "/lua/commands/" .. name .. ".lua") == "file" then
    return require("commands." .. name).run
  end
  local _, paths = env_commands()
  if not paths[name] then return nil end
  local command = loader.user_file(paths[name])
  return function(args) return command.run(args, require("skillopt.console").new()) end
end

local function overview()
  local lines = { "skillopt - train a skill for a frozen language-model agent", "", "commands:" }
  for _, name in ipairs(commands()) do
    local command = require("commands." .. name)
    lines[#lines + 1] = string.format("  %-10s %s", name, command.summary)
  end
  local names, paths = env_commands()
  for _, name in ipairs(names) do
    lines[#lines + 1] = string.format("  %-10s %s", name, loader.user_file(paths[name]).summary)
  end
  lines[#lines + 1] = ""
  lines[#lines + 1] = "`skillopt COMMAND --help` says more."
  return table.concat(lines, "\n") .. "\n"
end

--- What is left of a command that was interrupted.
local AFTER_INTERRUPT <const> = {
  run = "what was answered is on file: the same command goes on from there",
}

--- An error that ends a whole command as cancelled is an interrupt.
local function interrupted(err, name)
  if type(err) ~= "table" or err.kind ~= "cancelled" then return err end
  return { kind = "cancelled", message = "stopped by an interrupt", hint = AFTER_INTERRUPT[name] }
end

local function complain(err)
  if type(err) == "string" then err = { kind = "bug", message = err } end
  local hint = err.hint and ("\n  " .. err.hint) or ""
  stdout.error(string.format("skillopt: %s: %s%s\n", err.kind or "bug",
    err.message or tostring(err), hint))
  if err.traceback and err.kind == "bug" then stdout.error(err.traceback .. "\n") end
  return EXIT[err.kind] or 70
end

local function unknown(name)
  local known = commands()
  for _, own in ipairs((env_commands())) do known[#known + 1] = own end
  local nearest = require("skillopt.names").nearest(name, known)
  return { kind = "usage", message = string.format("there is no command '%s'", name),
    hint = nearest and string.format("did you mean `skillopt %s`?", nearest)
      or "`skillopt help` lists the commands" }
end

local function main(args)
  args = with_command(args)
  local name = args[1]
  if name == nil or name == "help" or name == "-h" or name == "--help" then
    stdout.write(overview())
    return name and 0 or 2
  end
  if name == "--version" then
    stdout.write(require("skillopt.version").page())
    return 0
  end
  local run = find(name)
  if not run then return complain(unknown(name)) end
  local rest = table.move(args, 2, #args, 1, {})
  local ok, code, err = xpcall(run, function(e)
    if type(e) == "string" then
      return { kind = "bug", message = e, traceback = debug.traceback("", 2) }
    end
    return e
  end, rest)
  if not ok then return complain(interrupted(code, name)) end
  if code == nil and err then return complain(interrupted(err, name)) end
  return code or 0
end

return main
