--- Two epochs side by side.
local evaluation = require "skillopt.evaluation"
local pairs_of = require "skillopt.pairs"
local skill = require "skillopt.skill"
local test = require "skillopt.test"
local json = require "rt.json"
local vectors = test.support "tests/lua/vectors.lua"

--- An evaluation of result rows, as it would stand after rollouts.
local function seen(rows)
  local out = {}
  for i, row in ipairs(rows) do
    local marks = { hard = row.hard, soft = row.soft or row.hard }
    out[i] = { id = row.id, reps = { { state = "ok", marks = marks, row = row } } }
  end
  return evaluation.new { rows = out, skill = skill.new "s",
    trajectory = function(id) return { { role = "assistant", content = "said of " .. id } } end }
end

local function by_id(rows)
  local out = {}
  for _, row in ipairs(rows) do out[row.id] = row end
  return out
end

--- Rows that an evaluation can have: an id that no other row has, marks from 0 to 1.
local function measured(rows)
  local count, out = {}, {}
  for _, row in ipairs(rows) do
    if type(row.id) == "string" then count[row.id] = (count[row.id] or 0) + 1 end
  end
  for _, row in ipairs(rows) do
    local is_marked = math.type(row.hard) and math.type(row.soft) and row.hard >= 0
      and row.hard <= 1 and row.soft >= 0 and row.soft <= 1
    if is_marked and count[row.id] == 1 then out[#out + 1] = row end
  end
  return out
end

--- Results come in any order, evaluations in that of the items.
local function in_order(rows, items)
  local own, out = by_id(rows), {}
  for _, item in ipairs(items) do out[#out + 1] = own[item.id] end
  return out
end

local function bare(list)
  local out = json.array {}
  for i, pair in ipairs(list) do
    local one = {}
    for name, value in pairs(pair) do one[name] = value end
    one.prev_trajectory, one.curr_trajectory = nil, nil
    out[i] = one
  end
  return json.canonical(out)
end

--- The reference's pairs of items that have a mark on both sides.
local function with_marks(list, prev, curr)
  local before, now, out = by_id(prev), by_id(curr), json.array {}
  for _, pair in ipairs(list) do
    if before[pair.id] and now[pair.id] then out[#out + 1] = pair end
  end
  return out
end

--- Compares one case; why it differs, or nil. Pairs that have a mark on both sides are the
--- reference's in any case.
local function check_pairs(t, i, case)
  local input = case["in"]
  if type(input) ~= "table" or not input.prev then return "not a comparison" end
  if case.out.error then return "a result that is no mark ends no run: it is no pair" end
  local prev, curr, items = measured(input.prev), measured(input.curr), {}
  for _, item in ipairs(input.items) do
    if type(item.id) == "string" then items[#items + 1] = item end
  end
  local list = pairs_of.build(seen(in_order(prev, items)), seen(in_order(curr, items)), items)
  local want = with_marks(case.out.pairs, prev, curr)
  t.equal(bare(list), bare(want), i)
  if #want < #case.out.pairs then return "an item without a mark on both sides is no pair" end
  t.equal(pairs_of.counts(list), case.out.counts)
  for _, policy in ipairs { "mixed", "changed", "unchanged" } do
    t.equal(pairs_of.ids(pairs_of.keep(list, policy)), case.out[policy])
  end
end

test("pairs, counts and policies equal core_pairs", function(t)
  local book = vectors.book "core_pairs.json"
  for i, case in ipairs(book.cases) do book:note(i, check_pairs(t, i, case)) end
  book:check(t)
end)

test("an item without a mark on both sides is no pair", function(t)
  local previous = evaluation.new { rows = {
    { id = "a", reps = { { state = "failed", kind = "network" } } },
    { id = "b", reps = { { state = "ok", marks = { hard = 1 } } } } } }
  local list = pairs_of.build(previous, seen { { id = "a", hard = 1 }, { id = "b", hard = 0 } })
  t.equal({ #list, list[1].id, list[1].category }, { 1, "b", "regressed" })
end)

test("the comparison goes from bad to good and shows no trajectory of what was solved twice",
  function(t)
  local previous = seen { { id = "a1", hard = 1 }, { id = "b1", hard = 1 },
    { id = "c1", hard = 0 } }
  local current = seen { { id = "a1", hard = 1 },
    { id = "b1", hard = 0, fail_reason = "wrong unit" }, { id = "c1", hard = 0 } }
  local sides = { previous = previous, current = current }
  local text = pairs_of.comparison(pairs_of.build(previous, current), sides, 10000)
  t.ok(text:find("3 tasks: 1 regressed, 1 failed twice, 0 improved, 1 solved twice", 1, true))
  t.ok(text:find("## Regressed", 1, true) < text:find("## Failed before and now", 1, true))
  t.ok(text:find('now: FAIL, partial mark 0.00, answer "N/A", "wrong unit"', 1, true))
  t.ok(text:find("said of b1", 1, true) and text:find("said of c1", 1, true))
  t.ok(not text:find("said of a1", 1, true))
  t.ok(text:find("solved now\n\nNone.", 1, true))
end)
