--- Templates: an answer made of fixed text and of parts of a value, as in
--- `{3}-{2: month number, 2 digits}-{1: 2 digits}`.
local ops = require "backends.sim.ops"

local M = {}

---@class sim.Piece
---@field text string? fixed text ...
---@field slot integer? ... or the number of a part
---@field chain string[]? what is done to it, in order

--- The template in words.
---@param pieces sim.Piece[]
---@return string
function M.write(pieces)
  local out = {}
  for i, piece in ipairs(pieces) do
    if piece.text then
      out[i] = piece.text
    elseif #piece.chain == 0 then
      out[i] = ("{%d}"):format(piece.slot)
    else
      out[i] = ("{%d: %s}"):format(piece.slot, table.concat(piece.chain, ", "))
    end
  end
  return table.concat(out)
end

--- Cut at the commas that stand outside of quotes; nil when a piece is no operation.
local function chain_of(words)
  local chain, from, is_quoted = {}, 1, false
  words = words .. ","
  for i = 1, #words do
    local sign = words:sub(i, i)
    if sign == '"' then is_quoted = not is_quoted end
    if sign == "," and not is_quoted then
      local one = words:sub(from, i - 1):match "^%s*(.-)%s*$"
      if not ops.is_known(one) then return nil end
      chain[#chain + 1], from = one, i + 1
    end
  end
  return chain
end

--- The template of these words, or nil.
---@param words string
---@return sim.Piece[]?
function M.read(words)
  local pieces, i = {}, 1
  while i <= #words do
    local inside, after = words:match("^{([^{}]*)}()", i)
    if inside then
      local slot, rest = inside:match "^(%d+)(.*)$"
      local chain = rest == "" and {} or rest and rest:find "^: " and chain_of(rest:sub(3))
      if not slot or not chain then return nil end
      pieces[#pieces + 1] = { slot = math.tointeger(tonumber(slot)), chain = chain }
    else
      local fixed = words:match("^[^{}]+", i)
      if not fixed then return nil end
      pieces[#pieces + 1], after = { text = fixed }, i + #fixed
    end
    i = after
  end
  return #pieces > 0 and pieces or nil
end

--- A part after its operations; nil when one does not apply.
---@param s string
---@param chain string[]
---@return string?
function M.run(s, chain)
  for _, words in ipairs(chain) do
    s = s and ops.apply(words, s)
  end
  return s
end

--- The answer for the parts of a value; nil when the template does not fit them.
---@param pieces sim.Piece[]
---@param slots {text: string}[]
---@return string?
function M.fill(pieces, slots)
  local out = {}
  for i, piece in ipairs(pieces) do
    local slot = piece.slot and slots[piece.slot]
    out[i] = piece.text or slot and M.run(slot.text, piece.chain)
    if not out[i] then return nil end
  end
  return table.concat(out)
end

return M
