--- What a value looks like: its tokens and the pattern they make.
---
--- A pattern is the value with its changing parts replaced by their class, as in
--- `{number} {month} {number}` or `{Word} {Word}`. A word that stands behind a number is
--- part of the pattern as it is: it is a unit. Several words joined by signs or "and" are
--- one `{list}`. Two values with one pattern have their parts at the same places.
local text = require "rt.text"

local M = {}

--- The calendar, as everybody knows it.
M.MONTHS = { "january", "february", "march", "april", "may", "june", "july", "august",
  "september", "october", "november", "december" }

local month_number = {}
for i, name in ipairs(M.MONTHS) do
  month_number[name] = i
  month_number[name:sub(1, 3)] = i
end

--- Number of a month's name, whole or its first three letters.
---@param word string
---@return integer?
function M.month(word)
  return month_number[word:lower()]
end

local WORD <const> = "^[%a\128-\255]+"
local OTHER <const> = "^[^%w\128-\255]+"

--- The number at `i`: digits, more digits in groups of three, a fraction.
local function number_at(value, i)
  local stop = select(2, value:find("^%d+", i))
  if not stop then return nil end
  while stop - i < 15 and value:find("^,%d%d%d%f[%D]", stop + 1) do stop = stop + 4 end
  local fraction = value:match("^%.%d+", stop + 1)
  if fraction and not value:find("^%.%d", stop + 1 + #fraction) then stop = stop + #fraction end
  return value:sub(i, stop)
end

local function case_of(word)
  if month_number[word:lower()] then return "month" end
  local lower, upper = text.lower(word), text.upper(word)
  if word == lower then return "word" end
  if word == upper and text.length(word) > 1 then return "WORD" end
  if text.sub(word, 2) == text.sub(lower, 2) then return "Word" end
  return "wOrd"
end

local function token_at(value, i, before)
  local number = number_at(value, i)
  if number then return { text = number, class = "number" } end
  local word = value:match(WORD, i)
  if not word then return { text = value:match(OTHER, i) } end
  local class = case_of(word)
  local is_unit = before and before.class == "number" and class ~= "month"
  return { text = word, class = not is_unit and class or nil }
end

local JOINS <const> = { " and ", " or ", ", ", "; ", " / ", " + ", " & ", " | ", ",", ";", "/", "+", "|" }

--- Parts of a list of words, or nil.
---@param value string
---@return string[]?
function M.parts(value)
  local marked = value
  for _, join in ipairs(JOINS) do marked = text.replace(marked, join, "\n") or marked end
  if not marked:find "\n" or value:find "[%d\n]" then return nil end
  local parts = {}
  for part in (marked .. "\n"):gmatch "([^\n]*)\n" do
    if not part:find "^[%a\128-\255][%a\128-\255 ]*$" then return nil end
    parts[#parts + 1] = part
  end
  return parts
end

---@class sim.Shape
---@field value string
---@field pattern string
---@field slots {text: string, class: string}[] the parts that change, in order
---@field has_words_only boolean nothing but words: many things look like this

--- The shape of a value.
---@param value string
---@return sim.Shape
function M.of(value)
  if M.parts(value) then
    return { value = value, pattern = "{list}", slots = { { text = value, class = "list" } } }
  end
  local slots, out, i, last, gap = {}, {}, 1, nil, ""
  local has_words_only = true
  while i <= #value do
    local token = token_at(value, i, gap:find "^ ?$" and last)
    if token.class then slots[#slots + 1] = token end
    out[#out + 1] = token.class and ("{%s}"):format(token.class) or token.text
    if token.class == "number" or token.class == "month" then has_words_only = false end
    if not token.class and token.text ~= " " then has_words_only = false end
    if token.text:find "^[%w\128-\255]" then last, gap = token, "" else gap = gap .. token.text end
    i = i + #token.text
  end
  return { value = value, pattern = table.concat(out), slots = slots, has_words_only = has_words_only }
end

return M
