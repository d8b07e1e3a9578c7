--- Command lines: what each command takes, its help, and the reading of both.
---
--- A command that takes a configuration takes every key of the schema: as `a.b=c`, as the
--- reference's `--flag value`, and through `--cfg-options a.b=c ...`. Values stay text
--- here; the schema types them.
local names = require "skillopt.names"
local schema = require "skillopt.schema"
local backends = require "skillopt.schema.backends"

local M = {}

local SPLITS <const> = { name = "split", value = "NAME",
  choices = { "train", "val", "test", "all" },
  words = { valid_seen = "val", selection = "val", valid_unseen = "test" },
  doc = "items: train, val (valid_seen, selection), test (valid_unseen), all (default)" }

local QUIET <const> = { name = "quiet", doc = "say only what went wrong" }
local JSON <const> = { name = "json", doc = "write the result as JSON" }
local EVENTS <const> = { name = "json", doc = "write what happens as JSON, an object a line; "
  .. "the last is the result, with --quiet the only one" }

local RUNS <const> = "RUN is a run folder, outputs/NAME/latest, the name of an experiment, or "
  .. "its file.\nFolders of the reference are read too."

--- The commands that are declared here, by name.
---@type table<string, skillopt.Command>
M.commands = {
  run = {
    name = "run", summary = "train a skill", arguments = "FILE [KEY=VALUE...]",
    max_arguments = 1, configuration = true,
    flags = {
      { name = "new", doc = "start anew, in the next folder" },
      { name = "resume", value = "DIR", doc = "go on with the run in DIR" },
      { name = "retry_failed", doc = "roll out again what failed; makes a fork" },
      { name = "accept_loss", doc = "go on though the journal lost its last rows" },
      { name = "yes", doc = "do not ask" },
      QUIET, EVENTS,
    },
  },
  eval = {
    name = "eval", summary = "evaluate skills, and compare them item by item",
    arguments = "FILE|RUN --skill SKILL... [KEY=VALUE...]", max_arguments = 1, configuration = true,
    flags = {
      { name = "skill", value = "SKILL", many = true,
        doc = "a file, a run's folder (its best), initial, none; as often as you like" },
      SPLITS,
      { name = "new", doc = "start anew, in the next folder" },
      { name = "resume", value = "DIR", doc = "go on with the evaluation in DIR" },
      { name = "retry_failed", doc = "roll out again what failed; makes a fork" },
      { name = "accept_loss", doc = "go on though the journal lost its last rows" },
      { name = "yes", doc = "do not ask" },
      QUIET, EVENTS,
    },
  },
  chat = {
    name = "chat", summary = "send one message, through the code that a run uses",
    arguments = "[--role R] [--backend B] [--system T] TEXT [KEY=VALUE...]", max_arguments = 1,
    configuration = true, has_text = true,
    flags = {
      { name = "role", value = "ROLE", choices = { "target", "optimizer" },
        doc = "whose back-end and model: target (default) or optimizer" },
      { name = "system", value = "TEXT", doc = "the system message", may_be_empty = true },
      JSON,
    },
  },
  check = {
    name = "check", summary = "check a configuration before anything is paid",
    arguments = "FILE [KEY=VALUE...]", max_arguments = 1, configuration = true,
    text = "Reads the configuration, the items, the prompts and the policies, looks for the "
      .. "logins,\nand says what would be run. Nobody is asked anything.",
    flags = {
      { name = "report", doc = "write a text to attach to a report: versions, configuration, "
        .. "last events" },
      QUIET, JSON,
    },
  },
  show = {
    name = "show", summary = "look at a run: its steps, one step, its skills",
    arguments = "RUN [STEP]", max_arguments = 2, text = RUNS,
    flags = {
      { name = "skill", value = "N", doc = "the skill after step N, or initial, best, last" },
      { name = "diff", value = "M", doc = "what changed from skill M to skill N" },
      JSON,
    },
  },
  diff = {
    name = "diff", summary = "compare two runs: configuration, items won and lost, skills",
    arguments = "RUN RUN", max_arguments = 2, text = RUNS, flags = { JSON },
  },
  list = {
    name = "list", summary = "list environments, policies, back-ends, commands or runs",
    arguments = "envs|policies|backends|commands|runs", max_arguments = 1,
    flags = {
      { name = "root", value = "DIR", doc = "where the runs are (outputs)" },
      JSON,
    },
  },
  new = {
    name = "new", summary = "write a small working environment, experiment or policy",
    arguments = "env|experiment|policy NAME", max_arguments = 2,
    text = "Writes the folder NAME with files to change, among them smoke.yaml, which "
      .. "`skillopt test NAME`\ntrains with the simulated model. Nothing is overwritten.",
    flags = {
      { name = "slot", value = "SLOT", doc = "policy: which slot (gate)" },
      { name = "from", value = "CHOICE", doc = "policy: copy this shipped one" },
    },
  },
  help = {
    name = "help", summary = "list the commands, or explain one",
    arguments = "[COMMAND|exit-codes]", max_arguments = 1, flags = {},
  },
  test = {
    name = "test", summary = "run test files (*_test.lua) and small trainings (smoke.yaml)",
    arguments = "PATH...", max_arguments = math.huge,
    text = "Runs every file *_test.lua and trains every smoke.yaml below the paths, or the "
      .. "files named.\nOne line a test: `ok - name`, `FAIL - name: why` or "
      .. "`skip - name: why`.\n\nA test that leaves a task, an open file, a global or another "
      .. "working directory behind has\nfailed. Exit code: 0 all passed, 1 one failed, 2 there "
      .. "was none to run.",
    flags = {
      { name = "only", value = "TEXT", doc = "only tests whose name has TEXT in it" },
    },
  },
  config = {
    name = "config", summary = "show every value and where it was said",
    arguments = "[FILE [KEY]] [KEY=VALUE...]", max_arguments = 2, configuration = true,
    flags = {
      { name = "schema", doc = "write the reference of all keys, as Markdown" },
      JSON,
    },
  },
  replay = {
    name = "replay", summary = "compute a run again from its journal, offline",
    arguments = "RUN", max_arguments = 1, text = RUNS:match "^[^\n]*",
    flags = {
      { name = "verify", doc = "say equal, or name the first difference" },
      { name = "shuffle", value = "SEED", integer = true,
        doc = "deliver the stored replies in another order" },
      { name = "accept_loss", doc = "go on though the journal lost its last rows" },
      QUIET, JSON,
    },
  },
}

local OWN <const> = {
  { name = "config", value = "FILE", doc = "the file of the configuration" },
  { name = "cfg_options", value = "KEY=VALUE...", doc = "values of keys" },
}

local function usage(form, ...)
  return { kind = "usage", message = string.format(form, ...), retry = false }
end

--------------------------------------------------------------------- what there is

-- Flags of keys: the reference's flat names, its exceptions, and still older names.
local key_flags

local function flags_of_keys()
  if key_flags then return key_flags end
  key_flags = {}
  for word, key in pairs(schema.core.by_word) do
    if not word:find(".", 1, true) then key_flags[word] = key end
  end
  for _, key in ipairs(schema.core.list) do
    if key.flag then
      key_flags[key.flat] = nil
      key_flags[key.flag] = key
    end
  end
  return key_flags
end

local function own_flag(command, name)
  for _, flag in ipairs(command.flags) do
    if flag.name == name then return flag end
  end
  for _, flag in ipairs(command.configuration and OWN or {}) do
    if flag.name == name then return flag end
  end
end

local function unknown_flag(command, written, name)
  local all = { "help" }
  for _, flag in ipairs(command.flags) do all[#all + 1] = flag.name end
  for word in pairs(command.configuration and flags_of_keys() or {}) do
    all[#all + 1] = word
  end
  local near = names.nearest(name, all)
  return nil, usage("%s: there is no flag %s%s", command.name, written,
    near and string.format(" (did you mean --%s?)", near) or "")
end

-------------------------------------------------------------------------- reading

--- Split `KEY=VALUE`.
---@param argument string
---@return skillopt.Assignment?
function M.assignment(argument)
  local name, value = argument:match "^([%a_][%w_.%-]*)=(.*)$"
  if name then return { name = name, value = value, from = name } end
end

local function choose(flag, value)
  local word = flag.words and flag.words[value] or value
  local known = table.move(flag.choices, 1, #flag.choices, 1, {})
  for _, choice in ipairs(flag.choices) do
    if choice == word then return word end
  end
  for other in pairs(flag.words or {}) do known[#known + 1] = other end
  local near = names.nearest(value, known)
  return nil, usage("--%s: expected one of %s, got %q%s", flag.name,
    table.concat(flag.choices, ", "), value,
    near and string.format(" (did you mean %s?)", near) or "")
end

local function typed(flag, value)
  if flag.choices then return choose(flag, value) end
  if not flag.integer then return value end
  local whole = value:find "^-?%d+$" and math.tointeger(value)
  if whole then return whole end
  return nil, usage("--%s: expected a whole number, got %q", flag.name, value)
end

--- The values behind `--cfg-options`: up to the next flag.
local function take_options(out, args, i, first)
  local count = 0
  local word = first
  while word or args[i] and not args[i]:find "^%-%-" do
    local a = M.assignment(word or args[i])
    if not a then
      return nil, usage("--cfg-options: expected KEY=VALUE, got %q", word or args[i])
    end
    out.assignments[#out.assignments + 1] = a
    if not word then i = i + 1 end
    word, count = nil, count + 1
  end
  if count == 0 then return nil, usage("--cfg-options: expected KEY=VALUE") end
  return i
end

--- The value of a flag: behind its `=`, or the next argument.
local function value_for(args, i, written, given)
  if given then return given, i end
  local value = args[i]
  if value == nil or value:find "^%-%-%a" then
    return nil, usage("%s needs a value", written)
  end
  return value, i + 1
end

local function take_own(command, out, flag, args, i, written, given)
  if flag.name == "cfg_options" and command.configuration then
    return take_options(out, args, i, given)
  end
  if not flag.value then
    if given then return nil, usage("%s takes no value", written) end
    out.options[flag.name] = true
    return i
  end
  local value, after = value_for(args, i, written, given)
  if not value then return nil, after end
  if value == "" and not flag.may_be_empty then
    return nil, usage("%s needs a value, and this one is empty", written)
  end
  local is_file = flag.name == "config" and command.configuration
  local before = is_file and out.file or not flag.many and out.options[flag.name] or nil
  if before ~= nil then
    return nil, usage("%s is given twice, first as %s: give it once", written, before)
  end
  if is_file then
    out.file = value
    return after
  end
  local one, err = typed(flag, value)
  if err then return nil, err end
  local list = flag.many and (out.options[flag.name] or {})
  if list then list[#list + 1] = one end
  out.options[flag.name] = list or one
  return after
end

--- One flag; the index behind it.
local function take_flag(command, out, args, i)
  local written, given = args[i]:match "^(%-%-[^=]+)=(.*)$"
  written = written or args[i]
  local name = written:sub(3):gsub("-", "_")
  local own = own_flag(command, name)
  if own then return take_own(command, out, own, args, i + 1, written, given) end
  local key = command.configuration and flags_of_keys()[name]
  if not key then return unknown_flag(command, written, name) end
  local value, after = value_for(args, i + 1, written, given)
  if not value then return nil, after end
  out.assignments[#out.assignments + 1] =
    { name = key.flag == name and key.name or name, value = value, from = written }
  return after
end

--- A text may hold an equals sign.
local function is_for_key(command, a)
  return a and (not command.has_text or schema.find(schema.core, a.name) ~= nil)
end

local function take_argument(command, out, argument)
  local a = command.configuration and M.assignment(argument)
  if is_for_key(command, a) then
    out.assignments[#out.assignments + 1] = a
    return true
  end
  if #out.arguments >= (command.max_arguments or 0) then
    return nil, usage("%s: unexpected argument %q", command.name, argument)
  end
  if argument == "" then
    return nil, usage("%s: argument %d is empty (a variable that is not set?)", command.name,
      #out.arguments + 1)
  end
  out.arguments[#out.arguments + 1] = argument
  return true
end

--- The first argument is the file, unless --config named one.
local function place_file(command, out)
  if not command.configuration or command.has_text then return out end
  if not out.file then
    out.file = table.remove(out.arguments, 1)
  elseif #out.arguments >= command.max_arguments then
    return nil, usage("%s: unexpected argument %q: the file is %s (--config)",
      command.name, out.arguments[1], out.file)
  end
  return out
end

--- Read the arguments of a command.
---@param command string|skillopt.Command a name of `commands`, or a declaration
---@param args string[]
---@return skillopt.CommandLine? line
---@return skillopt.Err? err kind "usage"
function M.parse(command, args)
  if type(command) == "string" then command = M.commands[command] end
  if not command then error("cli.parse: no such command is declared", 2) end
  local out = { arguments = {}, assignments = {}, options = {} }
  local i, ends = 1, false
  while args[i] do
    local err
    if args[i] == "--" and not ends then
      i, ends = i + 1, true
    elseif not ends and (args[i] == "-h" or args[i] == "--help") then
      out.help = M.help(command)
      return out
    elseif not ends and args[i]:find "^%-%-?%a" then
      i, err = take_flag(command, out, args, i)
    else
      local ok
      ok, err = take_argument(command, out, args[i])
      i = ok and i + 1
    end
    if not i then return nil, err end
  end
  return place_file(command, out)
end

---------------------------------------------------------------------------- help

local function help_line(left, doc)
  if #left > 30 then return "  " .. left .. "\n" .. string.rep(" ", 34) .. doc end
  return string.format("  %-30s  %s", left, doc)
end

local function range(key)
  if key.type == "choice" then return table.concat(key.choices, "|") end
  if key.type == "backend" then return table.concat(backends.usable(), "|") end
  if key.type == "boolean" then return "true|false" end
  return key.type:upper()
end

local function help_keys(lines)
  local section
  for _, key in ipairs(schema.core.list) do
    local flag = key.flag or key.flat
    local is_special = key.retired or key.feature or key.role or key.declared
    if flag and not is_special then
      if schema.section(key) ~= section then
        section = schema.section(key)
        if section ~= "" then lines[#lines + 1] = "\n" .. section .. ":" end
      end
      lines[#lines + 1] = help_line("--" .. flag .. " " .. range(key),
        key.doc .. " (" .. key.name .. ")")
    end
  end
end

--- The help of a command.
---@param command string|skillopt.Command
---@return string
function M.help(command)
  if type(command) == "string" then command = M.commands[command] end
  local lines = { string.format("usage: skillopt %s %s", command.name,
    command.arguments or ""), "", command.summary, "" }
  if command.text then table.move({ command.text, "" }, 1, 2, #lines + 1, lines) end
  local flags = table.move(command.flags, 1, #command.flags, 1, {})
  if command.configuration then table.move(OWN, 1, #OWN, #flags + 1, flags) end
  for _, flag in ipairs(flags) do
    local written = "--" .. flag.name:gsub("_", "-")
    if flag.value then written = written .. " " .. flag.value end
    lines[#lines + 1] = help_line(written, flag.doc)
  end
  if command.configuration then
    lines[#lines + 1] = "\nKeys of the configuration, as KEY=VALUE or as a flag; those "
      .. "of a back-end also\nfor one role, as --target_... and --optimizer_...:"
    help_keys(lines)
  end
  return table.concat(lines, "\n") .. "\n"
end

return M
