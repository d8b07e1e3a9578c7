--- How long functions and rooms are. Long functions are told, not forbidden.
local source = require "source"

local M = {}

local LONGEST <const> = { c = 40, lua = 30 }

--- Functions of a formatted C file: the brace that opens one stands alone in column 0.
local function c_functions(file)
  local found, name, open = {}, nil, nil
  for number, line in source.lines(file.code) do
    if line == "{" then open = number end
    if line:match("^}") and open then
      found[#found + 1] = { name = name or "?", line = open, size = number - open - 1 }
      open = nil
    end
    name = not open and line:match("^[%a_].-([%w_]+)%(") or name
  end
  return found
end

local OPENS <const> = { ["function"] = true, ["do"] = true, ["if"] = true, ["repeat"] = true }
local CLOSES <const> = { ["end"] = true, ["until"] = true }

local function close_block(stack, found, code, at)
  local block = table.remove(stack)
  if not block or block.word ~= "function" then return end
  local first, last = source.line_of(code, block.at), source.line_of(code, at)
  local name = code:sub(block.at):match("^function%s+([%w_.:]+)") or "function"
  found[#found + 1] = { name = name, line = first, size = math.max(last - first - 1, 1) }
end

local function lua_functions(file)
  local found, stack = {}, {}
  for at, word in file.code:gmatch("()%f[%w_](%a+)%f[^%w_]") do
    if OPENS[word] then
      stack[#stack + 1] = { word = word, at = at }
    elseif CLOSES[word] then
      close_block(stack, found, file.code, at)
    end
  end
  return found
end

--- Functions of a file: { name, line, size } with the lines between first and last.
---@param file table as source.open gives it
---@return table[]
function M.functions(file)
  if file.kind == "c" then return c_functions(file) end
  return file.kind == "lua" and lua_functions(file) or {}
end

local function folder_of(path)
  return path:match("^(%w+/%w+)/") or path:match("^(%w+)/") or "."
end

--- Tell long functions and return the lines of the summary.
---@param files table[]
---@param note fun(file: table, line: integer, rule: string, words: string)
---@return string[]
function M.report(files, note)
  local lines, functions, over = {}, { c = 0, lua = 0 }, { c = 0, lua = 0 }
  for _, file in ipairs(files) do
    local folder = folder_of(file.path)
    lines[folder] = (lines[folder] or 0) + select(2, file.text:gsub("\n", ""))
    for _, f in ipairs(M.functions(file)) do
      functions[file.kind] = functions[file.kind] + 1
      if f.size > LONGEST[file.kind] and not file.path:match("^tests/lua/") then
        over[file.kind] = over[file.kind] + 1
        local words = ("%s has %d lines; %d are enough"):format(f.name, f.size, LONGEST[file.kind])
        note(file, f.line, "size", words)
      end
    end
  end
  local out = {}
  for folder, count in pairs(lines) do out[#out + 1] = ("%-24s %6d lines"):format(folder, count) end
  table.sort(out)
  out[#out + 1] = ("functions: %d in C, %d over %d lines; %d in Lua, %d over %d lines"):format(
    functions.c, over.c, LONGEST.c, functions.lua, over.lua, LONGEST.lua)
  return out
end

return M
