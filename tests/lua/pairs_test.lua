--- Two epochs side by side.
local evaluation = require "skillopt.evaluation"
local pairs_of = require "skillopt.pairs"
local skill = require "skillopt.skill"
local test = require "skillopt.test"
local json = require "rt.json"
local vectors = test.support "tests/lua/vectors.lua"
local text_of = require "rt.text"

--- An evaluation of result rows, as it would stand after rollouts.
local function seen(rows, said)
  local out = {}
  for i, row in ipairs(rows) do
    local marks = { hard = row.hard, soft = row.soft or row.hard }
    out[i] = { id = row.id, reps = { { state = "ok", marks = marks, row = row } } }
  end
  return evaluation.new { rows = out, skill = skill.new "s", trajectory = function(id)
    return { { role = "assistant", content = said or "said of " .. id } }
  end }
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
  local text = pairs_of.comparison(pairs_of.build(previous, current), sides,
    { room = 10000, max_each = 1000 })
  t.ok(text:find("3 tasks: 1 regressed, 1 failed twice, 0 improved, 1 solved twice", 1, true))
  t.ok(text:find("## Regressed", 1, true) < text:find("## Failed before and now", 1, true))
  t.ok(text:find('now: FAIL, partial mark 0.00, answer "N/A", "wrong unit"', 1, true))
  t.ok(text:find("said of b1", 1, true) and text:find("said of c1", 1, true))
  t.ok(not text:find("said of a1", 1, true))
  t.ok(text:find("solved now\n\nNone.", 1, true))
end)

--- Both sides of so many regressed items, each with a trajectory of about so many tokens.
local function regressed(count, tokens)
  local rows = { {}, {} }
  for i = 1, count do
    rows[1][i] = { id = "r" .. i, hard = 1, question = "q" .. i }
    rows[2][i] = { id = "r" .. i, hard = 0, question = "q" .. i }
  end
  local said = ("word "):rep(tokens)
  local sides = { previous = seen(rows[1], said), current = seen(rows[2], said) }
  return pairs_of.build(sides.previous, sides.current), sides
end

local function compared(count, tokens, options)
  local list, sides = regressed(count, tokens)
  return pairs_of.comparison(list, sides, options)
end

test("a comparison that fits is whole, one that does not shares its room", function(t)
  local whole, none = compared(3, 100, { room = 3000, max_each = 3000 })
  t.equal(none, {})
  t.equal(whole, (compared(3, 100, { room = 90000, max_each = 90000 })))
  local shown, cut = compared(3, 400, { room = 1500, max_each = 3000 })
  t.ok(text_of.tokens(shown) <= 1500 and text_of.tokens(shown) > 1200, text_of.tokens(shown))
  t.equal({ #cut, cut[1].id, cut[6].id }, { 6, "r1", "r3" })
  t.ok(shown:find("[... middle of this trajectory cut to fit ...]", 1, true))
end)

test("one trajectory of a comparison has a limit of its own", function(t)
  local _, cut = compared(1, 400, { room = 9000, max_each = 100 })
  t.equal({ #cut, cut[1].id }, { 2, "r1" })
end)

test("pairs that alone are too many are cut in the middle, and that is said", function(t)
  local shown, cut = compared(60, 10, { room = 1000, max_each = 100 })
  t.ok(text_of.tokens(shown) <= 1000)
  t.ok(shown:find("[... middle of the comparison cut to fit ...]", 1, true))
  t.equal(cut[#cut].id, "comparison")
end)
