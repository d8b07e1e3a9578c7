--- The page of the Lua API, made from the annotations in lua/meta. Runs in plain Lua 5.4
--- and in the program.

local M = {}

local HEAD <const> = [[
# Lua API

This page is written by `make docs` from the annotations in `lua/meta`, which editors with the
Lua language server read as well.

Environments, policies and experiments use what stands under *ctx* and the `rt` modules marked
*pure*; the rest is for the library, for commands and for tests. A `?` behind a type means that
nil is allowed. A function that *waits* lets other tasks run meanwhile.
]]

--- The order on the page: what users stand on comes first.
local FIRST <const> = { "ctx.lua", "skillopt.config.lua" }

------------------------------------------------------------------------- reading

--- The type at the start of a text, and what stands behind it. Blanks in brackets and
--- behind the colon of a function's result belong to it.
local function take_type(text)
  local depth = 0
  for at = 1, #text do
    local c = text:sub(at, at)
    if c:match("[%(<{%[]") then depth = depth + 1 end
    if c:match("[%)>}%]]") then depth = depth - 1 end
    local is_end = c == " " and depth == 0 and text:sub(at - 1, at - 1) ~= ":"
    if is_end then return text:sub(1, at - 1), text:sub(at):match("^%s*(.-)%s*$") end
  end
  return text, ""
end

local READ <const> = {}

function READ.field(block, text)
  local name, rest = text:match("^(%S+)%s+(.*)$")
  local type_name, words = take_type(rest)
  block.fields[#block.fields + 1] = { name = name, type = type_name, words = words }
end

function READ.param(block, text)
  local name, rest = text:match("^(%S+)%s+(.*)$")
  local type_name, words = take_type(rest)
  block.params[#block.params + 1] = { name = name, type = type_name, words = words }
end

READ["return"] = function(block, text)
  local type_name, rest = take_type(text)
  local name, words = rest:match("^([%a_][%w_]*)%s*(.*)$")
  block.returns[#block.returns + 1] = { name = name, type = type_name, words = words or rest }
end

function READ.class(block, text) block.class = text end
function READ.alias(block, text) block.alias = text end
function READ.async(block) block.waits = true end

--- What a block of `---` lines says.
local function read_block(lines)
  local block = { prose = {}, fields = {}, params = {}, returns = {} }
  local tags = {}
  for _, line in ipairs(lines) do
    local tag, text = line:match("^@(%a+)%s*(.*)$")
    if tag then
      tags[#tags + 1] = { name = tag, text = text }
    elseif #tags > 0 then
      local last = tags[#tags]
      last.text = last.text .. " " .. line:match("^%s*(.-)%s*$")
    else
      block.prose[#block.prose + 1] = line:gsub("^ ", "", 1)
    end
  end
  for _, tag in ipairs(tags) do
    if READ[tag.name] then READ[tag.name](block, tag.text) end
  end
  return block
end

--- The parts of a meta file, in order: { kind = "section"|"block"|"function", ... }.
local function read_file(text)
  local parts, lines = {}, {}
  local function flush(kind, signature)
    if #lines > 0 or signature then
      local block = read_block(lines)
      block.kind, block.signature = kind, signature
      parts[#parts + 1] = block
    end
    lines = {}
  end
  for line in text:gmatch("([^\n]*)\n") do
    local section = line:match("^%-%-%-%-+ (.+)$")
    local signature = line:match("^function (.+) end$")
    if section then
      flush("block")
      parts[#parts + 1] = { kind = "section", title = section }
    elseif line:match("^%-%-%-") and line ~= "---@meta" then
      lines[#lines + 1] = line:sub(4)
    else
      flush(signature and "function" or "block", signature)
    end
  end
  flush("block")
  return parts
end

------------------------------------------------------------------------- writing

--- Outside of `code` a `<` would begin a tag.
local function safe(text)
  local out, is_code = {}, false
  for piece, tick in (text .. "\0"):gmatch("([^`\0]*)([`\0])") do
    out[#out + 1] = is_code and piece or piece:gsub("<", "&lt;")
    if tick == "`" then
      out[#out + 1], is_code = tick, not is_code
    end
  end
  return table.concat(out)
end

--- Lines that are aligned by blanks stand in a code block, the others as they are.
local function add_prose(out, lines)
  local is_list, is_fenced = false, false
  local function fence(wanted)
    if wanted ~= is_fenced then
      out[#out + 1] = wanted and "\n```" or "```\n"
      is_fenced = wanted
    end
  end
  for _, line in ipairs(lines) do
    local is_item = line:match("^%s*[*-] ") ~= nil
    is_list = is_item or is_list and line:match("^%s+%S") ~= nil
    fence(not is_list and line:match("^%s%s+%S") ~= nil)
    out[#out + 1] = is_fenced and line or safe(line)
  end
  fence(false)
end

local function add_row(out, name, row)
  local words = row.words ~= "" and ": " .. safe(row.words) or ""
  out[#out + 1] = ("- %s`%s`%s"):format(name, row.type, words)
end

local function add_type(out, block)
  local name, rest = (block.class or block.alias):match("^(%S+)%s*(.*)$")
  out[#out + 1] = ("\n### %s\n"):format(name)
  add_prose(out, block.prose)
  if block.alias and rest ~= "" then
    out[#out + 1] = ("\nOne of `%s`."):format(rest:gsub("^| ", ""):gsub("%s*|%s*", "`, `"))
  end
  if block.class and rest ~= "" then out[#out + 1] = "\nBased on" .. rest:gsub("^:", "") .. "." end
  if #block.fields > 0 then out[#out + 1] = "" end
  for _, field in ipairs(block.fields) do add_row(out, ("`%s` "):format(field.name), field) end
end

local function add_function(out, block)
  out[#out + 1] = ("\n#### `%s`\n"):format(block.signature)
  add_prose(out, block.prose)
  if block.waits then out[#out + 1] = "\nIt waits." end
  if #block.params + #block.returns > 0 then out[#out + 1] = "" end
  for _, row in ipairs(block.params) do add_row(out, ("`%s` "):format(row.name), row) end
  for _, row in ipairs(block.returns) do
    add_row(out, row.name and ("gives `%s` "):format(row.name) or "gives ", row)
  end
end

local function add_part(out, part)
  if part.kind == "section" then
    out[#out + 1] = ("\n### *%s*"):format(part.title)
  elseif part.kind == "function" then
    add_function(out, part)
  elseif part.class or part.alias then
    add_type(out, part)
  else
    out[#out + 1] = ""
    add_prose(out, part.prose)
  end
end

--- A module's own class says what the module is: its words stand under the heading.
local function add_file(out, name, parts, pure)
  local title = name:gsub("%.lua$", "")
  out[#out + 1] = ("\n## %s%s"):format(title, pure[title] and " (pure)" or "")
  for _, part in ipairs(parts) do
    if part.class and part.class:match("^%S+") == title then
      out[#out + 1] = ""
      add_prose(out, part.prose)
      for _, field in ipairs(part.fields) do add_row(out, ("`%s` "):format(field.name), field) end
    else
      add_part(out, part)
    end
  end
end

--- File names in the order of the page.
local function ordered(names)
  local rank = {}
  for i, name in ipairs(FIRST) do rank[name] = i end
  table.sort(names, function(a, b)
    local ra, rb = rank[a] or #FIRST + 1, rank[b] or #FIRST + 1
    if ra ~= rb then return ra < rb end
    return a < b
  end)
  return names
end

--- The page.
---@param texts table<string, string> the files of lua/meta by name
---@param loader string text of lua/skillopt/loader.lua, which lists the pure modules
---@return string
function M.page(texts, loader)
  local names, pure, out = {}, {}, { HEAD }
  for name in pairs(texts) do names[#names + 1] = name end
  for name in loader:match("local PURE = (%b{})"):gmatch("([%w_]+) = true") do
    pure["rt." .. name] = true
  end
  for _, name in ipairs(ordered(names)) do add_file(out, name, read_file(texts[name]), pure) end
  local page = table.concat(out, "\n") .. "\n"
  return (page:gsub("\n\n\n+", "\n\n"):gsub("[ \t]+\n", "\n"))
end

return M
