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

--- The token at `i`. `number` is true when a number stands directly before it, a blank
--- between them or not: then a word is a unit.
local function token_at(value, i, number)
  local digits = number_at(value, i)
  if digits then return { text = digits, class = "number" } end
  local word = value:match(WORD, i)
  if not word then return { text = value:match(OTHER, i), is_sign = true } end
  local class = case_of(word)
  return { text = word, class = (class == "month" or not number) and class or nil }
end

local function tokens_of(value)
  local tokens, i, number = {}, 1, false
  while i <= #value do
    local token = token_at(value, i, number)
    number = token.class == "number" or number and token.text == " "
    tokens[#tokens + 1] = token
    i = i + #token.text
  end
  return tokens
end

local JOINS <const> = { " and ", " or ", ", ", "; ", " / ", " + ", " & ", " | ", ",", ";", "/",
  "+", "|" }

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
  local slots, out, has_words_only = {}, {}, true
  for i, token in ipairs(tokens_of(value)) do
    if token.class then slots[#slots + 1] = token end
    out[i] = token.class and ("{%s}"):format(token.class) or token.text
    local is_word = token.class and token.class ~= "number" and token.class ~= "month"
    has_words_only = has_words_only and (is_word or token.text == " ") or false
  end
  return { value = value, pattern = table.concat(out), slots = slots,
    has_words_only = has_words_only }
end

return M
