--- Experiments: configuration written in Lua.
---
--- An experiment file returns what `define` was given. Where each value stands in the
--- file is found by reading its source, so that messages can say the line.
local M = {}

--- The configuration of an experiment: sections as in YAML, `base` for the file it stands
--- on, and functions where a policy's name may stand.
---@param experiment table
---@return table experiment the same table
function M.define(experiment)
  if type(experiment) ~= "table" then
    error("skillopt.experiment: expected a table, got " .. type(experiment), 2)
  end
  for name in pairs(experiment) do
    if type(name) ~= "string" then
      error("skillopt.experiment: values need names, as `train = {...}`", 2)
    end
  end
  return experiment
end

------------------------------------------------------------------- where values stand

local KINDS <const> = { blank = "^%s+()", name = "^[%a_][%w_]*()",
  number = "^%.?%d[%w.]*()" }

--- What begins at `i`: its kind and its end.
local function token_at(source, i)
  local level = source:match("^%-%-%[(=*)%[", i) or source:match("^%[(=*)%[", i)
  if level then
    local _, last = source:find("]" .. level .. "]", i, true)
    return source:sub(i, i) == "[" and "text" or "blank", last or #source
  end
  if source:find("^%-%-", i) then
    return "blank", (source:find("\n", i, true) or #source)
  end
  for kind, pattern in pairs(KINDS) do
    local after = source:match(pattern, i)
    if after then return kind, after - 1 end
  end
  local quote = source:match("^[\"']", i)
  if quote then
    local last = i + 1
    while last < #source and source:sub(last, last) ~= quote do
      last = last + (source:sub(last, last) == "\\" and 2 or 1)
    end
    return "text", last
  end
  return "sign", source:find("^[=~<>]=", i) and i + 1 or i
end

--- Tokens without blanks and comments: `{kind, text, line}`.
local function tokens_of(source)
  local tokens, i, line = {}, 1, 1
  while i <= #source do
    local kind, last = token_at(source, i)
    local piece = source:sub(i, last)
    if kind ~= "blank" then
      tokens[#tokens + 1] = { kind = kind, text = piece, line = line }
    end
    line = line + select(2, piece:gsub("\n", "\n"))
    i = last + 1
  end
  tokens[#tokens + 1] = { kind = "end", text = "", line = line }
  return tokens
end

local OPENS <const> = { ["("] = true, ["["] = true, ["{"] = true, ["function"] = true,
  ["do"] = true, ["if"] = true, ["repeat"] = true }
local CLOSES <const> = { [")"] = true, ["]"] = true, ["}"] = true, ["end"] = true,
  ["until"] = true }

--- Behind the expression that starts at token `i`: at its comma or closing brace.
local function skip(tokens, i)
  local depth = 0
  while tokens[i].kind ~= "end" do
    local word = tokens[i].kind ~= "text" and tokens[i].text
    if depth == 0 and (word == "," or word == ";" or word == "}") then return i end
    if OPENS[word] then depth = depth + 1 elseif CLOSES[word] then depth = depth - 1 end
    i = i + 1
  end
  return i
end

--- The name that entry `i` of a table gives its value, and where the value starts.
local function entry(tokens, i)
  if tokens[i].kind == "name" and tokens[i + 1].text == "=" then
    return tokens[i].text, i + 2
  end
  local sign = tokens[i + 3]
  local is_text = tokens[i].text == "[" and tokens[i + 1].kind == "text"
  if is_text and sign and sign.text == "=" then
    return tokens[i + 1].text:sub(2, -2), i + 4
  end
  return nil, i
end

--- Note the lines of the table whose first entry is at `i`; behind its brace.
local function scan(tokens, i, prefix, lines)
  while tokens[i].kind ~= "end" and tokens[i].text ~= "}" do
    local name, value = entry(tokens, i)
    local path = name and prefix .. name
    if path then lines[path] = lines[path] or tokens[i].line end
    if path and tokens[value].text == "{" then
      value = scan(tokens, value + 1, path .. ".", lines)
    end
    i = skip(tokens, value)
    if tokens[i].text == "," or tokens[i].text == ";" then i = i + 1 end
  end
  return tokens[i].kind == "end" and i or i + 1
end

--- Lines of the values in the table that `experiment` is called with in this source:
--- `{["train.num_epochs"] = 7}`. What is not written there as plain `name = value` is
--- not listed.
---@param source string
---@return table<string, integer>
function M.lines(source)
  local tokens, lines = tokens_of(source), {}
  for i = 1, #tokens - 1 do
    local after = tokens[i + 1].text == "(" and i + 2 or i + 1
    if tokens[i].text == "experiment" and tokens[after] and tokens[after].text == "{" then
      scan(tokens, after + 1, "", lines)
      break
    end
  end
  return lines
end

return M
