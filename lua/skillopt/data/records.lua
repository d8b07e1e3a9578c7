--- The records of a large file: where each of them lies is found out once, and each is read
--- and decoded when it is used. For files of one JSON value a line, and for files that hold
--- one JSON array.
local columns = require "rt.columns"
local file = require "rt.file"
local json = require "rt.json"
local lists = require "skillopt.lists"
local text_of = require "rt.text"

local M = {}

--- Bytes read at once while records are looked for.
local PIECE <const> = 1 << 20

--- Bytes that may lie between a record and the next one.
local NEAR <const> = 4096

local BOM <const> = "\xEF\xBB\xBF"

--- Start and end of every record, in bytes from 0; the end is that of the byte behind.
local function new_extents()
  return { starts = columns.numbers(), ends = columns.numbers() }
end

local function note(extents, start, behind)
  extents.starts:add(start)
  extents.ends:add(behind)
end

------------------------------------------------------------------------- lines

--- Note the lines that end in a piece; what is said of the line that does not is kept.
local function note_lines(extents, line, piece, at)
  local from = 1
  while from <= #piece do
    local newline = piece:find("\n", from, true)
    local behind = newline or #piece + 1
    line.has_text = line.has_text or (piece:find("%S", from) or behind) < behind
    if not newline then return end
    if line.has_text then note(extents, line.start, at + newline - 1) end
    line.start, line.has_text, from = at + newline, false, newline + 1
  end
end

local function lines_of(path)
  local extents, at = new_extents(), 0
  local head, err = file.read_part(path, 0, #BOM)
  if not head then return nil, err end
  if head == BOM then at = #BOM end
  local line = { start = at, has_text = false }
  while true do
    local piece, read_err = file.read_part(path, at, PIECE)
    if not piece then return nil, read_err end
    if piece == "" then break end
    note_lines(extents, line, piece, at)
    at = at + #piece
  end
  if line.has_text then note(extents, line.start, at) end
  return extents
end

------------------------------------------------------------------------- array

-- A text that is read on as far as it is needed.
local Window = {}
Window.__index = Window

--- Drop what is before place `from` and read more; false at the end of the file.
function Window:more(from)
  local kept = self.text:sub(from)
  local piece = file.read_part(self.path, self.at + #self.text, math.max(PIECE, #kept))
  self.at = self.at + from - 1
  self.text = kept .. (piece or "")
  return piece ~= nil and piece ~= ""
end

--- Place of the next byte that is no blank, from place `from` on, and that byte.
function Window:next(from)
  while true do
    local place = self.text:find("[^ \n\r\t]", from)
    if place then return place, self.text:sub(place, place) end
    if not self:more(#self.text + 1) then return nil end
    from = 1
  end
end

--- Start and end of the value at a place; nil when there is no end.
function Window:value(place)
  while true do
    local behind = json.extent(self.text, place)
    if behind then return place, behind end
    if not self:more(place) then return nil end
    place = 1
  end
end

--- Extents of the array's entries; nil when the file holds something else than one array.
local function entries_of(path)
  local window = setmetatable({ path = path, at = 0, text = "" }, Window)
  local extents = new_extents()
  window:more(1)
  local place, byte = window:next(window.text:sub(1, #BOM) == BOM and #BOM + 1 or 1)
  if byte ~= "[" then return nil end
  place, byte = window:next(place + 1)
  while byte ~= "]" do
    local start, behind = nil, nil
    if place then start, behind = window:value(place) end
    if not start then return nil end
    note(extents, window.at + start - 1, window.at + behind - 1)
    place, byte = window:next(behind)
    if byte == "," then
      place, byte = window:next(place + 1)
      if byte == "]" then return nil end
    elseif byte ~= "]" then
      return nil
    end
  end
  if window:next(place + 1) then return nil end
  return extents
end

----------------------------------------------------------------------- reading

local function line_number(path, start)
  local n, at = 1, 0
  while at < start do
    local piece = file.read_part(path, at, math.min(PIECE, start - at))
    if not piece or piece == "" then break end
    n = n + select(2, piece:gsub("\n", ""))
    at = at + #piece
  end
  return n
end

local function refuse(path, start, err)
  local number = line_number(path, start)
  error({ kind = "data", retry = false,
    message = string.format("%s, line %d: %s", path, number, err.message),
    hint = number > 1 and "a record that was cut off? those before it are fine" or nil }, 0)
end

--- What reads records of a file. Those that are taken one behind the other come from pieces
--- of many; one from elsewhere is read alone.
---@param path string
---@return fun(start: integer, size: integer): string?, skillopt.Err?
local function reader_of(path)
  local piece, at, behind = "", 0, 0
  return function(start, size)
    local is_next = start >= behind and start - behind <= NEAR
    behind = start + size
    if start < at or behind > at + #piece then
      if not is_next or size >= PIECE then return file.read_part(path, start, size) end
      local read, err = file.read_part(path, start, PIECE)
      if not read then return nil, err end
      piece, at = read, start
    end
    return piece:sub(start - at + 1, behind - at)
  end
end

--- The records as a lazy list. One that is no JSON raises an error of kind `data` when it
--- is taken, with its line. nil when the file is neither form (or cannot be read: the
--- caller's own reading says why).
---@param path string a name ending in .jsonl has one value a line
---@return any[]?
function M.open(path)
  local extents = path:find "%.jsonl$" and lines_of(path) or entries_of(path)
  if not extents then return nil end
  local starts, ends, read = extents.starts, extents.ends, reader_of(path)
  return lists.lazy(#starts, function(i)
    local bytes, err = read(starts[i], ends[i] - starts[i])
    if not bytes then error(err, 0) end
    local value, why = json.decode(text_of.strip(bytes), { allow_nan = true })
    if value == nil then refuse(path, starts[i], why) end
    return value
  end)
end

return M
