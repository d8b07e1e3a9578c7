--- Lists whose entries are made when they are taken.
local lists = require "skillopt.lists"
local rng = require "rt.rng"
local test = require "skillopt.test"

--- n items `q1`..., and how often one was made.
local function items(n)
  local made = { 0 }
  return lists.lazy(n, function(i)
    made[1] = made[1] + 1
    return { id = "q" .. i, number = i }
  end), made
end

local function numbers(list)
  local out = {}
  for i, item in ipairs(list) do out[i] = item.number end
  return out
end

test("a lazy list reads like any other", function(t)
  local list = items(3)
  t.equal({ #list, list[2].id, list[0], list[4], list.x }, { 3, "q2" })
  t.equal(numbers(table.move(list, 1, 3, 1, {})), { 1, 2, 3 })
  local seen = {}
  for i, item in pairs(list) do seen[i] = item.number end
  t.equal(seen, { 1, 2, 3 })
end)

test("a lazy list cannot be written to, and its entries are new each time", function(t)
  local list = items(2)
  t.raises(function() list[1] = {} end, "cannot be changed")
  list[1].id = "other"
  t.equal(list[1].id, "q1")
end)

test("lists.canonical takes the bytes that an entry is kept as", function(t)
  local made = 0
  local kept = lists.lazy(1, function()
    made = made + 1
    return { b = 1, a = "x" }
  end, nil, function() return '{"a":"x","b":1}' end)
  t.equal({ lists.canonical(kept, 1), made }, { '{"a":"x","b":1}', 0 })
  lists.move(kept, function() return { c = 2 } end)
  t.equal(lists.canonical(kept, 1), '{"c":2}')
  t.equal(lists.canonical({ { b = 1, a = "x" } }, 1), '{"a":"x","b":1}')
end)

test("pick, slice and shuffled make no entry", function(t)
  local list, made = items(5)
  local picked = lists.pick(lists.slice(list, 2, 9), { 4, 1 })
  local shuffled = lists.shuffled(list, rng.new(1))
  t.equal(made[1], 0)
  t.equal(numbers(picked), { 5, 2 })
  t.equal(numbers(shuffled), rng.new(1):shuffle { 1, 2, 3, 4, 5 })
  t.ok(lists.slice(list, 1, 5) == list)
  t.equal(#lists.slice(list, 6, 9), 0)
end)

test("plain lists stay plain", function(t)
  t.equal(lists.pick({ "a", "b", "c" }, { 3, 1 }), { "c", "a" })
  t.equal(lists.slice({ "a", "b", "c" }, 2, 3), { "b", "c" })
  t.equal({ lists.is_lazy {}, lists.is_lazy(items(1)) }, { false, true })
end)

test("ids are found once; of two that are equal one is named", function(t)
  local list, made = items(3)
  t.equal({ #lists.ids(list), lists.ids(list)[3] }, { 3, "q3" })
  t.equal(made[1], 3)
  t.equal({ lists.ids(lists.pick(list, { 1, 1 })) }, { nil, "q1" })
  t.equal({ lists.ids { { id = "a" }, { id = "a" } } }, { nil, "a" })
end)

test("the entries of a list may come from elsewhere later", function(t)
  local list = items(2)
  local view = lists.pick(list, { 2 })
  lists.move(list, function(i) return { id = "q" .. i, number = 10 * i } end)
  t.equal(numbers(view), { 20 })
end)
