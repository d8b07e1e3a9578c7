--- The reference of all keys, written from the schema.
local json = require "rt.json"
local schema = require "skillopt.schema"
local backends = require "skillopt.schema.backends"

local M = {}

local INTRODUCTION <const> = [[
# Configuration

This page is written by `skillopt config --schema`.

A value is said in one of these places, the strongest first: the command line, the
experiment (Lua), your YAML file, the process environment, the file `.env`, the shipped
YAML. `skillopt config FILE` shows every value and its place.

- On the command line `train.batch_size=8`, `--batch_size 8` and
  `--cfg-options train.batch_size=8` mean the same. In a file the key stands in its
  section (`train:`, then `batch_size: 8`) or, under its flag's name, at the top. One
  source says a thing once: two spellings of one key in it are an error.
- An empty value says nothing; off is the word `none`.
- Numbers and switches may be quoted; they are read by the key's type. Unquoted numbers in
  YAML follow YAML 1.1: `042` is octal there (34) and `2:1:7` is a number to base 60, so
  write ratios in quotes. On the command line and in quotes numbers are decimal.
- Class: `result` keys are part of a run's identity, `cost` keys say what it may spend,
  `run` keys change neither.
- Logins come from the environment, `.env` or a flag, never from a file that is shared. A
  login is sent only to the server it belongs to: one for a role to that role's server,
  one for both roles to the server both share, and where its own source names a server,
  to that one.
- `.env` in the working directory holds lines `NAME=value`; `export` may stand before them,
  quotes are taken off, `#` begins a comment, nothing is expanded. An address there counts
  only when the key that would be sent there stands in `.env` too.
- A setting of a back-end may be given for one role: `model.target_qwen_chat_base_url`,
  `TARGET_QWEN_CHAT_BASE_URL`, `--target_qwen_chat_base_url`.
- A path is relative to the working directory. What a shipped file names, and the file of the
  command line, is looked for there first and then in the installed tree; `skillopt config`
  shows what was found there behind `->`.
- Keys marked *later* belong to parts that this version does not have. They are read, so
  that files of the reference load; asking for such a part is refused.
]]

local function range(key)
  if key.type == "choice" then return table.concat(key.choices, ", ") end
  if key.type == "backend" then return table.concat(backends.usable(), ", ") end
  local words = key.type
  if key.min and key.max then
    words = string.format("%s, %s to %s", words, key.min, key.max)
  elseif key.min then
    words = string.format("%s from %s", words, key.min)
  elseif key.above then
    words = string.format("%s above %s", words, key.above)
  end
  return key.off and words .. ", or none" or words
end

local function code(text)
  return text and text ~= "" and "`" .. text .. "`" or ""
end

local function show(value)
  if value == nil then return "" end
  return code(type(value) == "string" and value or json.encode(value))
end

local function is_later(key)
  if key.feature then return key.later ~= false end
  local backend = key.backend and backends.by_name[key.backend]
  return backend and not backend.usable
end

local function flag_of(key)
  local flag = key.flag or key.flat
  return flag and code("--" .. flag) or ""
end

local function row_of(key, default)
  local doc = is_later(key) and "*later*: " .. key.doc or key.doc
  local variables = {}
  for i, name in ipairs(key.env or {}) do variables[i] = code(name) end
  return string.format("| %s | %s | %s | %s | %s | %s | %s |", code(key.name), range(key),
    show(default), key.class, flag_of(key), table.concat(variables, ", "), doc)
end

--- Markdown with one table a section.
---@param default fun(key: skillopt.Key): any the value that holds when nothing is said
---@return string
function M.write(default)
  local lines, section = { INTRODUCTION }, nil
  for _, key in ipairs(schema.core.list) do
    if not key.retired and not key.role and not key.declared then
      if schema.section(key) ~= section then
        section = schema.section(key)
        lines[#lines + 1] = "\n## " .. (section == "" and "At the top" or section)
          .. "\n\n| key | value | default | class | flag | environment | |\n"
          .. "|---|---|---|---|---|---|---|"
      end
      lines[#lines + 1] = row_of(key, default(key))
    end
  end
  lines[#lines + 1] = "\nRetired keys, named when they are met:\n"
  for _, key in ipairs(schema.core.list) do
    if key.retired then
      lines[#lines + 1] = string.format("- %s: %s", code(key.name), key.retired)
    end
  end
  return table.concat(lines, "\n") .. "\n"
end

return M
