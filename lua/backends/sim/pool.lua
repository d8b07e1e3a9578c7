--- Everything that could be made of the parts of some values: chains of operations with
--- what they give for each value and how far-fetched they are.
local text = require "rt.text"
local ops = require "backends.sim.ops"
local shape = require "backends.sim.shape"
local template = require "backends.sim.template"

local M = {}

-- What an operation costs, by how it begins; a second figure is for each unit of its
-- number. The cheaper of two that fit is believed.
local COSTS <const> = {
  { "month number", 0.2 }, { "ungrouped", 0.3 }, { "no needless", 0.4 },
  { "%d+ digits", 0.4 }, { "%d+ decimals", 2.5 }, { "first", 0.8 }, { "last", 0.8 },
  { "sorted", 0.4 }, { "reversed", 0.8 }, { "joined", 0.4 }, { "plus", 1.6, 0.1 },
  { "minus", 1.6, 0.1 }, { "times 10*$", 1 }, { "divided by 10*$", 1 }, { "times", 3 },
  { "divided", 3 }, { "", 0.6 },
}
--- Arithmetic that fits two different numbers is no longer far-fetched.
local PROVEN <const> = 1
--- A sum is, where the value holds one number only: that is a measure, and scaled.
local ONE_NUMBER <const> = 2

local function cost_of(words, is_proven, is_measure)
  for _, row in ipairs(COSTS) do
    if words:find("^" .. row[1]) then
      local cost = row[2]
      if row[3] then
        cost = cost + row[3] * tonumber(words:match "%d+") + (is_measure and ONE_NUMBER or 0)
      end
      return is_proven and math.min(cost, PROVEN) or cost
    end
  end
end

local CASES <const> = { "capitals", "small letters", "capital first" }

local function add(list, ...)
  list[#list + 1] = { ... }
end

local function word_chains(class)
  local list = { {} }
  for first = 1, 4 do
    if first < 4 then add(list, "first " .. first) end
    for _, case in ipairs(CASES) do
      if first == 4 then add(list, case) else add(list, "first " .. first, case) end
    end
  end
  if class == "month" then
    add(list, "month number")
    add(list, "month number", "2 digits")
  end
  return list
end

-- Signs that words are joined by: found in the outputs, between the parts.
local function joins_of(values, outputs)
  local parts, found, list = shape.parts(values[1]), {}, {}
  for _, a in ipairs(parts) do
    for _, b in ipairs(parts) do
      local lower = outputs[1]:lower()
      local from = select(2, lower:find(a:lower(), 1, true))
      local to = from and lower:find(b:lower(), from + 1, true)
      local join = to and outputs[1]:sub(from + 1, to - 1)
      if join and join ~= "" and not join:find "[%w\"{}`]" and not found[join] then
        found[join], list[#list + 1] = true, join
      end
    end
  end
  return list
end

local function list_chains(values, outputs)
  local list = { {} }
  for _, join in ipairs(joins_of(values, outputs)) do
    for _, order in ipairs { "", "sorted", "reversed" } do
      for _, case in ipairs { "", "capitals", "small letters" } do
        local chain = { ('joined by "%s"'):format(join) }
        if case ~= "" then chain[2] = case end
        if order ~= "" then table.insert(chain, 1, order) end
        list[#list + 1] = chain
      end
    end
  end
  return list
end

--------------------------------------------------------------------------- numbers

--- Numbers a text may be said to hold: its runs of digits, and those joined by signs; with
--- `true` behind them the ends of long runs, which may be numbers without a gap.
local function numbers_in(output)
  local list = {}
  for run in output:gmatch "%d[%d.,' ]*" do
    run = run:gsub("%D+$", "")
    add(list, tonumber((run:gsub("%D", ""))))
    add(list, tonumber((run:gsub("[,' ]", ""))))
    add(list, tonumber((run:gsub("[.' ]", ""):gsub(",", "."))))
    for digits in run:gmatch "%d+" do
      add(list, tonumber(digits))
      for n = 1, #digits > 2 and 2 or 0 do
        add(list, tonumber(digits:sub(1, n)), true)
        add(list, tonumber(digits:sub(-n)), true)
      end
    end
  end
  return list
end

--- What leads from one number to another: words of an operation.
local function steps(from, to, is_end)
  local list = {}
  if from == 0 or to == 0 or from == to then return list end
  local up, down = to / from, from / to
  for name, factor in pairs(is_end and {} or { times = up, ["divided by"] = down }) do
    local short = ops.plain(factor)
    if factor > 1 and #short <= 7 and math.abs(tonumber(short) - factor) < 1e-9 then
      list[#list + 1] = name .. " " .. short
    end
  end
  local gap = to - from
  if gap == math.floor(gap) and math.abs(gap) < 100 then
    list[#list + 1] = (gap > 0 and "plus %d" or "minus %d"):format(math.abs(math.floor(gap)))
  end
  return list
end

local function arithmetic(values, outputs)
  local found, list = {}, {}
  local from = ops.number_of(values[1])
  for _, to in ipairs(from and numbers_in(outputs[1]) or {}) do
    for _, words in ipairs(to[1] and steps(from, to[1], to[2]) or {}) do
      if not found[words] then
        found[words], list[#list + 1] = true, words
      end
    end
  end
  return list
end

local FORMS <const> = { "", "2 digits", "3 digits", "4 digits", "0 decimals", "1 decimals",
  "2 decimals", "3 decimals", "last 2", "last 4" }
local GROUPS <const> = { "", ",", ".", "'", " " }

local function number_chains(values, outputs)
  local bases, list = { {}, { "no needless zeros" } }, {}
  if table.concat(values):find(",", 1, true) then add(bases, "ungrouped") end
  for _, words in ipairs(arithmetic(values, outputs)) do add(bases, words) end
  for _, base in ipairs(bases) do
    for _, form in ipairs(FORMS) do
      for _, point in ipairs { "", 'point as ","' } do
        for _, group in ipairs(GROUPS) do
          local chain = table.move(base, 1, #base, 1, {})
          if form ~= "" then chain[#chain + 1] = form end
          if point ~= "" then chain[#chain + 1] = point end
          if group ~= "" then chain[#chain + 1] = ('grouped by "%s"'):format(group) end
          list[#list + 1] = chain
        end
      end
    end
  end
  return list
end

------------------------------------------------------------------------------ pool

local function chains_of(class, values, outputs)
  if class == "number" then return number_chains(values, outputs) end
  if class == "list" then return list_chains(values, outputs) end
  return word_chains(class)
end

--- What the chain gives for each value, as long as it can be seen in each output.
local function results(chain, values, outputs)
  local out = {}
  for k, value in ipairs(values) do
    local made = template.run(value, chain)
    if not made or made == "" or not outputs[k]:find(made, 1, true) then return nil end
    out[k] = made
  end
  return out
end

local function is_varied(values)
  for _, value in ipairs(values) do
    if value ~= values[1] then return true end
  end
  return false
end

local function candidates(slot, class, values, outputs, is_measure)
  local best, is_proven = {}, is_varied(values)
  for _, chain in ipairs(chains_of(class, values, outputs)) do
    local made = results(chain, values, outputs)
    if made then
      local cost = 1
      for _, words in ipairs(chain) do cost = cost + cost_of(words, is_proven, is_measure) end
      local key = table.concat(made, "\n")
      if not best[key] or cost < best[key].cost then
        best[key] = { slot = slot, chain = chain, cost = cost, made = made }
      end
    end
  end
  return best
end

--- All candidates for examples of one pattern.
---@param examples {shape: sim.Shape, output: string}[]
---@return {slot: integer, chain: string[], cost: number, made: string[]}[]
function M.of(examples)
  local pool, outputs = {}, {}
  for k, example in ipairs(examples) do outputs[k] = example.output end
  local slots = examples[1].shape.slots
  for slot, first in ipairs(slots) do
    local values = {}
    for k, example in ipairs(examples) do values[k] = example.shape.slots[slot].text end
    for _, candidate in pairs(candidates(slot, first.class, values, outputs, #slots == 1)) do
      pool[#pool + 1] = candidate
    end
  end
  return pool
end

--- Can text of this length be looked at? Longer values are no values.
---@param s string
---@return boolean
function M.is_short(s)
  return text.length(s) <= 80
end

return M
