--- The manual page, in roff, from the commands.
local loader = require "skillopt.loader"
local commands = ...

local HEAD <const> = [[
.\" Written by `make generated`; change packaging/man.lua or the declarations.
.TH SKILLOPT 1 "" "skillopt %s" "User Commands"
.SH NAME
skillopt \- train a skill for a frozen language-model agent
.SH SYNOPSIS
.B skillopt
.I COMMAND
.RI [ ARGUMENT ...]
.br
.B skillopt-train
.I FILE
.RI [ KEY = VALUE ...]
.br
.B skillopt-eval
.I FILE
.RI [ KEY = VALUE ...]
.SH DESCRIPTION
A skill is one Markdown document.
.B skillopt
trains it the way a network is trained: epochs, minibatches, a learning rate counted in
edits, and a gate that validates each candidate.
The model's weights never change.
.PP
A run is a folder.
The same command continues it where it was stopped; what was answered is not paid for
again.
.B skillopt-train
and
.B skillopt-eval
are
.B skillopt run
and
.B skillopt eval
by another name.
.SH COMMANDS
]]

local TAIL <const> = [[
.SH CONFIGURATION
.I FILE
is an experiment (Lua) or a YAML file.
It is looked for in the working directory and then among the shipped files, as
.IR configs/houserules/experiment.lua .
A
.I KEY
is one of the schema, as
.BR train.num_epochs ;
every key is also a flag of the commands that take a configuration, as
.BR --num_epochs .
.B skillopt config
.I FILE
shows each value and where it was said,
.B skillopt config --schema
explains all keys.
.SH EXIT STATUS
.TP
.B 0
done
.TP
.B 2
usage, configuration, or a file of the user's that failed
.TP
.B 3
data
.TP
.B 4
login or provider
.TP
.B 5
budget
.TP
.B 6
run folder busy, damaged or different
.TP
.B 7
too little was measured to decide
.TP
.B 70
fault in the program
.TP
.B 130
interrupted
.SH ENVIRONMENT
.TP
.B SKILLOPT_HOME
folder with the program's lua/ and configs/; default: beside the program
.TP
.B SKILLOPT_PATH
folders in which environments and policies are looked for, separated by colons
.TP
.BR OPTIMIZER_BACKEND ", " TARGET_BACKEND
who answers when neither the command line nor the experiment says
.TP
.BR OPENAI_COMPATIBLE_BASE_URL ", " OPENAI_COMPATIBLE_API_KEY
server and login, with
.B OPTIMIZER_
or
.B TARGET_
before them for one role;
.B skillopt config --schema
has those of all providers
.SH FILES
.TP
.I outputs/<experiment>/<number>
folder of a run
.TP
.I .env
in the working directory: variables as in the environment
.TP
.I ~/.config/skillopt/lua
environments and policies of your own
.SH SEE ALSO
.I README.md
and
.I docs/
of the source
]]

local function roff(text)
  local escaped = ("\n" .. text):gsub("\\", "\\e"):gsub("%-", "\\-"):gsub("\n([.'])", "\n\\&%1")
  return escaped:sub(2)
end

local function flag_lines(command, lines)
  for _, flag in ipairs(command.flags) do
    local value = flag.value and " \\fI" .. roff(flag.value) .. "\\fR" or ""
    lines[#lines + 1] = ".TP\n\\fB\\-\\-" .. roff((flag.name:gsub("_", "-"))) .. "\\fR" .. value
    lines[#lines + 1] = roff(flag.doc)
  end
end

local lines = { (HEAD:format(loader.version)):sub(1, -2) }
for _, command in ipairs(commands) do
  lines[#lines + 1] = (".SS skillopt %s %s"):format(command.name, roff(command.arguments))
  lines[#lines + 1] = roff(command.summary)
  flag_lines(command, lines)
end
return table.concat(lines, "\n") .. "\n" .. TAIL
