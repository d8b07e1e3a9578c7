--- Source files as the rules see them: which there are, their bytes, and their code
--- with comments (and the insides of strings) blanked, so that positions stay the same.

local M = {}

local KINDS <const> = {
  c = "c", h = "c", lua = "lua", sh = "text", md = "text", yaml = "text", yml = "text",
}

local function kind_of(path)
  if path:match("^%.ci/") or path:match("Makefile$") then return "text" end
  return KINDS[path:match("%.(%w+)$") or ""]
end

--- Bytes of a file, or nil.
---@param path string
---@return string|nil
function M.read(path)
  local f <close> = io.open(path, "rb")
  return f and f:read("a")
end

--- Paths below `root` that git tracks or would track, in its order.
---@param root string
---@return string[]
function M.paths(root)
  local quoted = "'" .. root:gsub("'", "'\\''") .. "'"
  local command = "git -C %s ls-files -z --cached --others --exclude-standard"
  local list = assert(io.popen(command:format(quoted)))
  local paths = {}
  for path in list:read("a"):gmatch("[^\0]+") do paths[#paths + 1] = path end
  local ok = list:close()
  if not ok or #paths == 0 then error("git ls-files finds nothing in " .. root, 0) end
  return paths
end

local function end_of_quoted(text, start)
  local quote, at = text:sub(start, start), start + 1
  while at <= #text do
    local c = text:sub(at, at)
    if c == quote or c == "\n" then return at end
    at = at + (c == "\\" and 2 or 1)
  end
  return #text
end

--- Kind and end of the C token at `start`, nil when it is plain code.
local function c_token(text, start)
  local two = text:sub(start, start + 1)
  if two == "/*" then
    local _, stop = text:find("*/", start + 2, true)
    return "comment", stop or #text
  end
  if two == "//" then return "comment", (text:find("\n", start, true) or #text + 1) - 1 end
  if two:sub(1, 1) == "/" then return nil end
  return "string", end_of_quoted(text, start)
end

--- The same for Lua; `start` is at a quote, a dash or a bracket.
local function lua_token(text, start)
  local comment = text:match("^%-%-()", start)
  local level = text:match("^%[(=*)%[", comment or start)
  if level then
    local _, stop = text:find("]" .. level .. "]", start, true)
    return comment and "comment" or "string", stop or #text
  end
  if comment then return "comment", (text:find("\n", start, true) or #text + 1) - 1 end
  if text:match("^[\"']", start) then return "string", end_of_quoted(text, start) end
  return nil
end

local TOKENS <const> = {
  c = { first = "[/\"']", read = c_token },
  lua = { first = "[%-%[\"']", read = lua_token },
}

--- Comments and strings of a text, in order: { kind, first, last }.
---@param text string
---@param kind "c"|"lua"
---@return table[]
function M.tokens(text, kind)
  local token, found, at = TOKENS[kind], {}, 1
  while true do
    local first = text:find(token.first, at)
    if not first then return found end
    local what, last = token.read(text, first)
    if what then found[#found + 1] = { kind = what, first = first, last = last } end
    at = (last or first) + 1
  end
end

local function blanked(text, tokens, which)
  local out, at = {}, 1
  for _, token in ipairs(tokens) do
    if which[token.kind] then
      local inset = token.kind == "string" and 1 or 0
      out[#out + 1] = text:sub(at, token.first - 1 + inset)
      out[#out + 1] = text:sub(token.first + inset, token.last - inset):gsub("[^\n]", " ")
      at = token.last - inset + 1
    end
  end
  out[#out + 1] = text:sub(at)
  return table.concat(out)
end

--- A file with its text, `plain` (comments blanked) and `code` (strings as well).
---@param root string
---@param path string
---@return table|nil file nil for what is no source
function M.open(root, path)
  local kind = kind_of(path)
  local text = kind and M.read(root .. "/" .. path)
  if not text then return nil end
  local file = { path = path, kind = kind, text = text, plain = text, code = text, tokens = {} }
  if TOKENS[kind] then
    file.tokens = M.tokens(text, kind)
    file.plain = blanked(text, file.tokens, { comment = true })
    file.code = blanked(text, file.tokens, { comment = true, string = true })
  end
  return file
end

--- Number of the line at a byte position, counted from 1.
---@param text string
---@param at integer
---@return integer
function M.line_of(text, at)
  local _, count = text:sub(1, at - 1):gsub("\n", "")
  return count + 1
end

--- Lines with their numbers.
---@param text string
---@return fun(): integer?, string?
function M.lines(text)
  local number, at = 0, 1
  return function()
    if at > #text then return nil end
    local stop = text:find("\n", at, true) or #text + 1
    local line = text:sub(at, stop - 1)
    number, at = number + 1, stop + 1
    return number, line
  end
end

return M
