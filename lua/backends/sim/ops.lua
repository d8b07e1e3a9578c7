--- What can be done to a part of a value. An operation is written in words ("2 digits",
--- "times 100", "joined by \" / \"") and takes and gives text; nil when it does not apply.
local text = require "rt.text"
local shape = require "backends.sim.shape"

local M = {}

local function number_of(s)
  return s:find "^[%d,]*%.?%d+$" and tonumber((s:gsub(",", ""))) or nil
end

--- A number with no more digits than it needs.
local function plain(value)
  local s = ("%.6f"):format(value):gsub("0+$", ""):gsub("%.$", "")
  return s
end

local function with_number(change)
  return function(s, argument)
    local value = number_of(s)
    return value and change(value, argument)
  end
end

local function grouped(s, separator)
  local whole, rest = s:match "^(%d+)(.*)$"
  if not whole or #whole < 4 then return s end
  local first = (#whole - 1) % 3 + 1
  local out = { whole:sub(1, first) }
  for i = first + 1, #whole, 3 do out[#out + 1] = whole:sub(i, i + 2) end
  return table.concat(out, separator) .. rest
end

local function reordered(s, change)
  local parts = shape.parts(s)
  if not parts then return nil end
  change(parts)
  return table.concat(parts, ", ")
end

local function reverse(parts)
  for i = 1, #parts // 2 do parts[i], parts[#parts + 1 - i] = parts[#parts + 1 - i], parts[i] end
end

--- Forms of the operations in words and what they do. `%I` is a whole number from 1 to 9
--- (or 0 decimals), `%N` any number, `%T` a text.
local OPERATIONS <const> = {
  { "capitals", text.upper },
  { "small letters", text.lower },
  { "capital first", function(s)
    return text.upper(text.sub(s, 1, 1)) .. text.lower(text.sub(s, 2))
  end },
  { "first %I", function(s, n) return text.sub(s, 1, n) end },
  { "last %I", function(s, n) return #s >= n and s:sub(-n) or nil end },
  { "month number", function(s)
    local n = shape.month(s)
    return n and tostring(n)
  end },
  { "%I digits", function(s, n)
    return s:find "^%d+$" and ("0"):rep(n - #s) .. s or nil
  end },
  { "%I decimals", with_number(function(x, n) return ("%%.%df"):format(n):format(x) end) },
  { "times %N", with_number(function(x, n) return plain(x * n) end) },
  { "divided by %N", with_number(function(x, n) return plain(x / n) end) },
  { "plus %N", with_number(function(x, n) return plain(x + n) end) },
  { "minus %N", with_number(function(x, n) return x >= n and plain(x - n) or nil end) },
  { "ungrouped", function(s) return number_of(s) and s:gsub(",", "") end },
  { "no needless zeros", with_number(plain) },
  { "grouped by %T", function(s, separator) return number_of(s) and grouped(s, separator) end },
  { "point as %T", function(s, point)
    local before, after = s:match "^(.*)%.(%d+)$"
    return before and before .. point .. after or s
  end },
  { "sorted", function(s) return reordered(s, table.sort) end },
  { "reversed", function(s) return reordered(s, reverse) end },
  { "joined by %T", function(s, join)
    local parts = shape.parts(s)
    return parts and table.concat(parts, join)
  end },
}

local function matcher(form)
  local pattern = form:gsub("%%I", "(%%d)"):gsub("%%N", "(%%d+%%.?%%d*)"):gsub("%%T", '"(.*)"')
  return "^" .. pattern .. "$"
end

local known = {}
for i, operation in ipairs(OPERATIONS) do
  known[i] = { pattern = matcher(operation[1]), run = operation[2],
    convert = operation[1]:find "%%[IN]" and tonumber }
end

--- Do what the words say; nil when they say nothing or it cannot be done.
---@param words string
---@param s string
---@return string?
function M.apply(words, s)
  for _, operation in ipairs(known) do
    local argument = words:match(operation.pattern)
    if argument then
      if operation.convert then argument = operation.convert(argument) end
      return operation.run(s, argument) or nil
    end
  end
end

--- Are these the words of an operation?
---@param words string
---@return boolean
function M.is_known(words)
  for _, operation in ipairs(known) do
    if words:find(operation.pattern) then return true end
  end
  return false
end

M.number_of = number_of
M.plain = plain

return M
