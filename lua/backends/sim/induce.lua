--- From examples to a template: the cheapest way to write every output as fixed text and
--- parts of its value, the same way for all of them.
---
--- A search over how far each output is written. From every reached point it goes on with
--- a part that fits all outputs there, or with one fixed character they share. Fixed
--- letters and digits are dear, since most of what an answer holds comes from the value;
--- so is a number of the value that is not used.
local pool_of = require "backends.sim.pool"

local M = {}

local LETTER <const>, DIGIT <const>, SIGN <const> = 3, 5, 0.5
--- A letter or digit behind another fixed one.
local NEXT_LETTER <const>, NEXT_DIGIT <const> = 0.5, 3
local UNUSED <const> = { number = 3, month = 2, list = 3 }
local UNUSED_WORD <const>, USED_AGAIN <const> = 1, 3
local MOST_POINTS <const> = 4000

local function fixed_cost(sign, before)
  if sign:find "%d" then return before == "fixed" and NEXT_DIGIT or DIGIT end
  if sign:find "[%a\128-\255]" then return before == "fixed" and NEXT_LETTER or LETTER end
  return SIGN
end

--- The character all outputs go on with, or nil.
local function shared_sign(outputs, at)
  local sign = outputs[1]:sub(at[1] + 1, at[1] + 1)
  if sign == "" or sign:find "[{}`\"\n]" then return nil end
  for k = 2, #outputs do
    if outputs[k]:sub(at[k] + 1, at[k] + 1) ~= sign then return nil end
  end
  return sign
end

local function fits(made, outputs, at)
  for k, piece in ipairs(made) do
    if outputs[k]:sub(at[k] + 1, at[k] + #piece) ~= piece then return false end
  end
  return true
end

local function moved(at, made)
  local out = {}
  for k, position in ipairs(at) do out[k] = position + (made and #made[k] or 1) end
  return out
end

--- Note a point of the search when it is new or cheaper than before.
local function reach(search, point)
  local key = ("%s:%d:%s"):format(table.concat(point.at, ","), point.used, point.kind)
  local known = search.best[key]
  if known and known.cost <= point.cost or search.count > MOST_POINTS then return end
  if not known then search.count = search.count + 1 end
  search.best[key] = point
  local column = search.columns[point.at[1]] or {}
  column[key] = point
  search.columns[point.at[1]] = column
end

local function go_on(search, point)
  local sign = shared_sign(search.outputs, point.at)
  if sign then
    local is_plain = sign:find "[%w\128-\255]"
    reach(search, { at = moved(point.at), used = point.used, kind = is_plain and "fixed" or "sign",
      cost = point.cost + fixed_cost(sign, point.kind), before = point, text = sign })
  end
  for _, candidate in ipairs(search.pool) do
    if fits(candidate.made, search.outputs, point.at) then
      local bit = 1 << candidate.slot
      local again = point.used & bit ~= 0 and USED_AGAIN or 0
      reach(search, { at = moved(point.at, candidate.made), used = point.used | bit, kind = "part",
        cost = point.cost + candidate.cost + again, before = point, candidate = candidate })
    end
  end
end

local function is_end(at, outputs)
  for k, output in ipairs(outputs) do
    if at[k] ~= #output then return false end
  end
  return true
end

local function rest_cost(point, slots)
  local cost = point.cost
  for slot, part in ipairs(slots) do
    if point.used & (1 << slot) == 0 then cost = cost + (UNUSED[part.class] or UNUSED_WORD) end
  end
  return cost
end

local function cheapest_end(search, slots)
  local best, best_cost
  for _, point in pairs(search.columns[#search.outputs[1]] or {}) do
    if is_end(point.at, search.outputs) then
      local cost = rest_cost(point, slots)
      if not best or cost < best_cost then best, best_cost = point, cost end
    end
  end
  return best, best_cost
end

local function pieces_of(point)
  local reversed, pieces = {}, {}
  while point.before do
    reversed[#reversed + 1] = point
    point = point.before
  end
  for i = #reversed, 1, -1 do
    local step, last = reversed[i], pieces[#pieces]
    if step.candidate then
      pieces[#pieces + 1] = { slot = step.candidate.slot, chain = step.candidate.chain }
    elseif last and last.text then
      last.text = last.text .. step.text
    else
      pieces[#pieces + 1] = { text = step.text }
    end
  end
  return pieces
end

--- The cheapest template for examples of one pattern; nil when there is none.
---@param examples {shape: sim.Shape, output: string}[]
---@return sim.Piece[]? pieces
---@return number? cost
function M.induce(examples)
  local outputs, at = {}, {}
  for k, example in ipairs(examples) do
    if example.output == "" or not pool_of.is_short(example.output) then return nil end
    outputs[k], at[k] = example.output, 0
  end
  local slots = examples[1].shape.slots
  if #slots > 20 then return nil end
  local search = { outputs = outputs, pool = pool_of.of(examples), best = {}, columns = {},
    count = 0 }
  reach(search, { at = at, used = 0, kind = "start", cost = 0 })
  for column = 0, #outputs[1] - 1 do
    for _, point in pairs(search.columns[column] or {}) do go_on(search, point) end
  end
  local last, cost = cheapest_end(search, slots)
  if last then return pieces_of(last), cost end
end

--- Is every piece fixed text?
---@param pieces sim.Piece[]
---@return boolean
function M.is_fixed(pieces)
  for _, piece in ipairs(pieces) do
    if piece.slot then return false end
  end
  return true
end

return M
