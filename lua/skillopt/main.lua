--- The program: find the command, run it, turn what it raises into an exit code.
local commands = require "skillopt.commands"
local exits = require "skillopt.exits"
local stdout = require "rt.stdout"
local visible = require "skillopt.visible"

--- Growth before the collector looks at all again, in percent: Lua's own. While the program
--- itself was loaded it was larger.
local PAUSE <const> = 200

-- Other names of the program, links that are installed beside it, and what they do.
local LINKS <const> = { ["skillopt-train"] = "run", ["skillopt-eval"] = "eval" }

--- The arguments with the command that the program's name stands for.
local function with_command(args)
  local command = LINKS[(args[0] or ""):match "[^/]*$"]
  if not command or args[1] == "--version" then return args end
  return table.move(args, 1, #args, 2, { command })
end

--- The function that runs a command; nil when there is none of that name. Commands of
--- environments get a console to say and ask something.
local function find(name)
  local command, is_own = commands.load(name)
  if not command or is_own then return command and command.run end
  return function(args) return command.run(args, require("skillopt.console").new()) end
end

--- What is left of a command that was interrupted.
local GOES_ON <const> = "what was answered is on file: the same command goes on from there"
local AFTER_INTERRUPT <const> = { run = GOES_ON, eval = GOES_ON }

--- An error that ends a whole command as cancelled is an interrupt.
local function interrupted(err, name)
  if type(err) ~= "table" or err.kind ~= "cancelled" then return err end
  return { kind = "cancelled", message = "stopped by an interrupt", hint = AFTER_INTERRUPT[name] }
end

local function complain(err)
  if type(err) ~= "table" then err = { kind = "bug", message = tostring(err) } end
  local hint = err.hint and ("\n  " .. err.hint) or ""
  stdout.error(visible.text(string.format("skillopt: %s: %s%s\n", err.kind or "bug",
    err.message or tostring(err), hint)))
  if err.traceback and (err.kind == "bug" or err.is_users) then
    stdout.error(err.traceback .. "\n")
  end
  return exits.of(err)
end

--- A success that was not written down is none.
local function written(code)
  local fault = code == 0 and stdout.fault()
  if not fault then return code end
  return complain { kind = "io", message = "the standard output cannot be written: " .. fault,
    hint = "what was said there is cut; give the same command again with room for it" }
end

--- What the program says about itself; `--help COMMAND` is `help COMMAND`. nil when the
--- first word is something else.
local function about(args)
  local first, second = args[1], args[2]
  if first == nil or (first == "-h" or first == "--help") and not second then
    stdout.write(require("commands.help").overview())
    return first and 0 or 2
  end
  if first ~= "--version" then return nil end
  if second then
    return complain { kind = "usage", retry = false, hint = "--version stands alone",
      message = ("--version: unexpected argument %q"):format(second) }
  end
  stdout.write(require("skillopt.version").page())
  return 0
end

local function main(args)
  args = with_command(args)
  local said = about(args)
  if said then return written(said) end
  local name = args[1]
  if name == "-h" or name == "--help" then name = "help" end
  local run = find(name)
  if not run then return complain(commands.unknown(name)) end
  collectgarbage("incremental", PAUSE, 0, 0)
  local rest = table.move(args, 2, #args, 1, {})
  local ok, code, err = xpcall(run, function(e)
    if type(e) ~= "table" then
      return { kind = "bug", message = tostring(e), traceback = debug.traceback("", 2) }
    end
    return e
  end, rest)
  if not ok then return complain(interrupted(code, name)) end
  if code == nil and err then return complain(interrupted(err, name)) end
  return written(code or 0)
end

return main
