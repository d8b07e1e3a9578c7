--- Rules for every source file: its last line, its width, its bytes, its words, its links.
local source = require "source"

local M = {}

local WIDTH <const> = { c = 90, lua = 100 }

--- Words that say something is unfinished, spelt so that this file has none of them.
local LEFT_OVERS <const> = { "TO" .. "DO", "FIX" .. "ME", "X" .. "XX", "HA" .. "CK" }

--- Folders that only exist on one machine.
local MACHINE_PATHS <const> = { "/wo" .. "rk/", "/fa" .. "rm/" }

local function endings(file, report)
  if file.text == "" then return end
  local last = source.line_of(file.text, #file.text)
  if not file.text:match("\n$") then
    report(file, last, "newline", "end the file with a newline")
  elseif file.text:match("\n\n$") then
    report(file, last, "newline", "drop the empty lines at the end")
  end
  if file.text:find("\r", 1, true) then report(file, 1, "newline", "lines end with \\n alone") end
end

local function check_line(file, number, line, report)
  local width = WIDTH[file.kind]
  local length = utf8.len(line) or #line
  local is_annotation = file.kind == "lua" and line:match("^%s*%-%-%-@") ~= nil
  if width and length > width and not is_annotation then
    report(file, number, "width", ("%d columns; at most %d"):format(length, width))
  end
  if line:match("[ \t]$") and file.path:match("%.md$") == nil then
    report(file, number, "blank", "no blanks at the end of a line")
  end
  if line:find("\t", 1, true) and width then report(file, number, "tab", "indent with blanks") end
  for _, word in ipairs(LEFT_OVERS) do
    if line:find("%f[%w_]" .. word .. "%f[^%w_]") then
      report(file, number, "left-over", ("%s: do it or say it in the tracker"):format(word))
    end
  end
  for _, path in ipairs(MACHINE_PATHS) do
    if line:find("%f[%w/]" .. path) then
      report(file, number, "path", ("%s is a folder of one machine"):format(path))
    end
  end
end

--- Texts in other scripts are data of tests; they stand in strings.
local function ascii(file, report)
  if file.kind == "text" then return end
  local is_test, at = file.path:match("^tests/") ~= nil, 1
  local function check(first, last)
    local byte = file.text:sub(first, last):find("[\128-\255]")
    if byte then
      local line = source.line_of(file.text, first + byte - 1)
      report(file, line, "ascii", "ASCII here; other bytes in strings of tests alone")
    end
  end
  for _, token in ipairs(file.tokens) do
    if is_test and token.kind == "string" then
      check(at, token.first - 1)
      at = token.last + 1
    end
  end
  check(at, #file.text)
end

local function normal(path)
  local parts = {}
  for part in path:gmatch("[^/]+") do
    if part == ".." then
      parts[#parts] = nil
    elseif part ~= "." then
      parts[#parts + 1] = part
    end
  end
  return table.concat(parts, "/")
end

local function links(file, known, report)
  if not file.path:match("%.md$") then return end
  local folder = file.path:match("^(.*/)") or ""
  for at, target in file.text:gmatch("()%]%(([^)%s#]+)[^)]*%)") do
    local path = normal(target:sub(1, 1) == "/" and target or folder .. target)
    if not target:match("^%a+:") and not known[path] then
      report(file, source.line_of(file.text, at), "link", ("%s is not there"):format(target))
    end
  end
end

--- All paths and the folders above them.
---@param paths string[]
---@return table<string, boolean>
function M.known(paths)
  local known = { [""] = true }
  for _, path in ipairs(paths) do
    known[path] = true
    for folder in path:gmatch("()/") do known[path:sub(1, folder - 1)] = true end
  end
  return known
end

--- Check one file of any kind.
---@param file table as source.open gives it
---@param known table<string, boolean> as M.known gives it
---@param report fun(file: table, line: integer, rule: string, words: string)
function M.check(file, known, report)
  endings(file, report)
  for number, line in source.lines(file.text) do check_line(file, number, line, report) end
  ascii(file, report)
  links(file, known, report)
end

return M
