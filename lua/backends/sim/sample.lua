--- Made-up examples for a rule. A rule must not carry what belongs to one task, so the
--- example in it only looks like the value it was learnt from: other words of the same
--- sort, other digits in long numbers. Short numbers and months are nobody's, and stay, so
--- that what was equal by chance still is.
local shape = require "backends.sim.shape"
local template = require "backends.sim.template"
local text = require "rt.text"

local M = {}

local WORDS <const> = { "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta" }

local DRESS <const> = {
  word = function(s) return s end,
  WORD = text.upper,
  Word = function(s) return text.upper(s:sub(1, 1)) .. s:sub(2) end,
  wOrd = function(s) return s:sub(1, 1) .. text.upper(s:sub(2, 2)) .. s:sub(3) end,
}

--- In long numbers the digits behind the first change, zeros excepted.
local function number(s)
  if #(s:gsub("%D", "")) <= 3 then return s end
  return s:sub(1, 1) .. s:sub(2):gsub("()([1-9])", function(at, digit)
    return tostring((tonumber(digit) + at) % 9 + 1)
  end)
end

--- Other words in the place of the parts, in the same order of the alphabet.
local function list(s)
  local parts, rank = shape.parts(s), {}
  local sorted = table.move(parts, 1, #parts, 1, {})
  table.sort(sorted)
  for i, part in ipairs(sorted) do rank[part] = WORDS[(i - 1) % #WORDS + 1] end
  local from = 1
  for _, part in ipairs(parts) do
    local first, last = s:find(part, from, true)
    s = s:sub(1, first - 1) .. rank[part] .. s:sub(last + 1)
    from = first + #rank[part]
  end
  return s
end

local function is_scaled(pieces, slot)
  for _, piece in ipairs(pieces) do
    if piece.slot == slot and table.concat(piece.chain, ","):find "divided" then return true end
  end
  return false
end

local function stand_in(seen, slot, pieces)
  local part = seen.slots[slot]
  if part.class == "number" and not is_scaled(pieces, slot) then return number(part.text) end
  if part.class == "list" then return list(part.text) end
  if part.class == "month" or part.class == "number" then return part.text end
  return DRESS[part.class](WORDS[(slot - 1) % #WORDS + 1])
end

--- A value that looks like this one, and its answer; nil when the answer cannot be made.
---@param seen sim.Shape
---@param pieces sim.Piece[]
---@return {[1]: string, [2]: string}?
function M.of(seen, pieces)
  local slot = 0
  local value = seen.pattern:gsub("{%a+}", function()
    slot = slot + 1
    return stand_in(seen, slot, pieces)
  end)
  local other = shape.of(value)
  local answer = other.pattern == seen.pattern and template.fill(pieces, other.slots)
  return answer and { value, answer } or nil
end

return M
