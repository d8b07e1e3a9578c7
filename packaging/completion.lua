--- Completion for bash and zsh, from the commands and the schema. Both offer commands, a
--- command's flags, the values of a flag that has few, keys of the configuration, files.
local schema = require "skillopt.schema"
local backends = require "skillopt.schema.backends"
local commands = ...

local M = {}

--- Values a flag of a key can have, when they are few.
local function values_of(key)
  if key.type == "boolean" then return { "true", "false" } end
  if key.type == "backend" then return backends.usable() end
  return key.choices
end

local function is_offered(key)
  return not (key.retired or key.feature or key.declared)
end

--- Flags and keys of the configuration: names, and values by flag.
local function configuration()
  local flags, keys, values = { "--config", "--cfg-options" }, {}, {}
  for _, key in ipairs(schema.core.list) do
    if is_offered(key) then
      local flag = key.flag or key.flat
      keys[#keys + 1] = key.name .. "="
      if flag then
        flags[#flags + 1] = "--" .. flag
        values["--" .. flag] = values_of(key)
      end
    end
  end
  return flags, keys, values
end

local function flags_of(command)
  local flags, values = { "--help" }, {}
  for _, flag in ipairs(command.flags) do
    local written = "--" .. flag.name:gsub("_", "-")
    flags[#flags + 1] = written
    values[written] = flag.choices
  end
  return flags, values
end

local function names()
  local out = { "help" }
  for _, command in ipairs(commands) do out[#out + 1] = command.name end
  return out
end

--- Lines of a shell's `case` over words, each giving a list of words.
local function cases(form, map)
  local lines = {}
  for word, list in pairs(map) do
    lines[#lines + 1] = form:format(word, table.concat(list, " "))
  end
  return table.concat(lines, "\n")
end

--- What both shells are filled with.
local function parts()
  local config_flags, keys, values = configuration()
  local flags, takes = {}, {}
  for _, command in ipairs(commands) do
    local own, own_values = flags_of(command)
    flags[command.name] = own
    for flag, list in pairs(own_values) do values[flag] = values[flag] or list end
    if command.configuration then takes[#takes + 1] = command.name end
  end
  return { names = table.concat(names(), " "), flags = flags, values = values,
    config_flags = table.concat(config_flags, " "), keys = table.concat(keys, " "),
    takes = table.concat(takes, "|") }
end

local BASH <const> = [[
# bash completion for skillopt, skillopt-train and skillopt-eval. Generated.
_skillopt() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}
  local command=${COMP_WORDS[1]} words=
  case ${COMP_WORDS[0]##*/} in
  skillopt-train) command=run ;;
  skillopt-eval) command=eval ;;
  *) if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '@NAMES@ --version --help' -- "$word"))
    return
  fi ;;
  esac
  case $before in
@VALUES@
  esac
  if [ -n "$words" ]; then
    COMPREPLY=($(compgen -W "$words" -- "$word"))
    return
  fi
  case $command in
@FLAGS@
  help) words='@NAMES@' ;;
  esac
  case $command in
  @TAKES@) case $word in
    -*) words="$words @CONFIG_FLAGS@" ;;
    ?*) words="$words @KEYS@" ;;
    esac ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
  [ "${#COMPREPLY[@]}" -eq 1 ] && [ "${COMPREPLY[0]%=}" != "${COMPREPLY[0]}" ] && compopt -o nospace
  return 0
}
complete -o default -F _skillopt skillopt skillopt-train skillopt-eval
]]

local ZSH <const> = [[
#compdef skillopt skillopt-train skillopt-eval
# zsh completion for skillopt. Generated.
_skillopt() {
  local command=$words[2] list
  case ${words[1]:t} in
  skillopt-train) command=run ;;
  skillopt-eval) command=eval ;;
  *) if (( CURRENT == 2 )); then
    compadd -- @NAMES@ --version --help
    return
  fi ;;
  esac
  case $words[CURRENT-1] in
@VALUES@
  esac
  if (( $#list )); then
    compadd -- $list
    return
  fi
  case $command in
@FLAGS@
  help) list=(@NAMES@) ;;
  esac
  case $command in
  (@TAKES@) case $words[CURRENT] in
    -*) list+=(@CONFIG_FLAGS@) ;;
    ?*) compadd -S '' -- @KEYS@ ;;
    esac ;;
  esac
  compadd -- $list
  _files
}
_skillopt "$@"
]]

local function fill(template, form)
  local p = parts()
  local text = { NAMES = p.names, VALUES = cases(form, p.values), FLAGS = cases(form, p.flags),
    CONFIG_FLAGS = p.config_flags, KEYS = p.keys, TAKES = p.takes }
  return (template:gsub("@([A-Z_]+)@", text))
end

--- The completion for bash.
---@return string
function M.bash() return fill(BASH, "  %s) words='%s' ;;") end

--- The completion for zsh.
---@return string
function M.zsh() return fill(ZSH, "  (%s) list=(%s) ;;") end

return M
