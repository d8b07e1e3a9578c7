local raw = require "rt.raw"
local test = require "skillopt.test"

local function keys(t)
  local out = {}
  for k in pairs(t) do out[#out + 1] = k end
  return out
end

test("pairs walks integers, floats, strings by byte, booleans", function(t)
  local got = keys { b = 1, a = 1, [3] = 1, [-1] = 1, [1.5] = 1, [true] = 1, [false] = 1,
    ["é"] = 1, B = 1 }
  t:equal(got, { -1, 3, 1.5, "B", "a", "b", "é", false, true })
end)

test("pairs walks a dense list in order", function(t)
  t:equal(keys { 7, 8, 9 }, { 1, 2, 3 })
end)

test("pairs has one order and is a snapshot for every size of table", function(t)
  for _, n in ipairs { 1, 2, 23, 24, 25, 26, 200 } do
    local list, expected, got = {}, {}, {}
    for i = n, 1, -1 do list[("k%03d"):format(i)] = i end
    for i = 1, n, 2 do expected[#expected + 1] = i end
    for k, i in pairs(list) do
      got[#got + 1] = i
      list[k], list[("k%03d"):format(i + 1)], list["new" .. i] = nil, nil, i
    end
    t:equal(got, expected)
  end
end)

test("pairs is a snapshot: removed keys are passed over, new ones not seen", function(t)
  local seen, list = {}, { a = 1, b = 2, c = 3 }
  for k in pairs(list) do
    seen[#seen + 1] = k
    list.b = nil
    list.d = 1
  end
  t:equal(seen, { "a", "c" })
end)

test("pairs raises for keys that have no order", function(t)
  t:raises(function() keys { [{}] = 1 } end, "have an order")
end)

test("pairs honours __pairs", function(t)
  local proxy = setmetatable({}, { __pairs = function() return next, { x = 1 }, nil end })
  t:equal(keys(proxy), { "x" })
end)

test("next has the order of pairs", function(t)
  local list, got = { z = 1, [2] = 1, a = 1, [10] = 1 }, {}
  local k = next(list)
  while k ~= nil do
    got[#got + 1] = k
    k = next(list, k)
  end
  t:equal(got, { 2, 10, "a", "z" })
  t:equal(next({}), nil)
end)

test("next goes on behind a key that was removed", function(t)
  local list, got = { a = 1, b = 2, c = 3 }, {}
  for k in next, list do
    list[k] = nil
    got[#got + 1] = k
  end
  t:equal(got, { "a", "b", "c" })
end)

test("an unfinished walk with next leaves nothing stale", function(t)
  local list = { a = 1, b = 1 }
  next(list, (next(list)))
  list.aa = 1
  t:equal(next(list, (next(list))), "aa")
end)

test("rt.raw.next and rt.raw.pairs are Lua's own", function(t)
  local n = 0
  for _ in raw.pairs { a = 1, [{}] = 2 } do n = n + 1 end
  for _ in raw.next, { 1, 2 } do n = n + 1 end
  t:equal(n, 4)
end)

test("rt.raw.set writes a frozen table", function(t)
  local frozen = require("skillopt.loader").freeze { a = 1 }
  raw.set(frozen, "a", 2)
  t:equal(frozen.a, 2)
end)

test("sort is stable", function(t)
  local list = {}
  for i = 1, 500 do list[i] = { key = i % 7, place = i } end
  table.sort(list, function(a, b) return a.key < b.key end)
  for i = 2, #list do
    local a, b = list[i - 1], list[i]
    t:ok(a.key < b.key or (a.key == b.key and a.place < b.place), "order at " .. i)
  end
end)

test("sort without a function sorts numbers and strings", function(t)
  local list = { 3, 1, 2.5, -1 }
  table.sort(list)
  t:equal(list, { -1, 1, 2.5, 3 })
end)

test("a comparator that contradicts itself raises", function(t)
  t:raises(function() table.sort({ 1, 1 }, function(a, b) return a <= b end) end, "contradicts")
end)

test("a metatable of the user's that looks frozen is no frozen one", function(t)
  local list = setmetatable({ a = 1, b = 2 }, { __frozen = 5 })
  t:equal({ next(list, "a") }, { "b", 2 })
  t:equal(keys(list), { "a", "b" })
end)

test("text of a table or function has no address", function(t)
  t:equal(tostring {}, "table")
  t:equal(tostring(print), "function")
  t:equal(string.format("%s %d", {}, 3), "table 3")
  t:equal(("%5.1f|%s"):format(2, nil), "  2.0|nil")
end)

test("an address format is refused", function(t)
  t:raises(function() return ("%p"):format {} end, "address")
  t:equal(("%%p"):format(), "%p")
end)

test("__tostring and __name are honoured", function(t)
  t:equal(tostring(setmetatable({}, { __tostring = function() return "mine" end })), "mine")
  t:equal(tostring(setmetatable({}, { __name = "thing" })), "thing")
end)
