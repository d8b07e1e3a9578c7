--- Two epochs side by side.
local evaluation = require "skillopt.evaluation"
local pairs_of = require "skillopt.pairs"
local skill = require "skillopt.skill"
local test = require "skillopt.test"
local json = require "rt.json"

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

local function has_marks(rows)
  local ids = {}
  for _, row in ipairs(rows) do
    local is_number = math.type(row.hard) and math.type(row.soft)
    if not is_number or type(row.id) ~= "string" or ids[row.id] then return false end
    if row.hard < 0 or row.hard > 1 or row.soft < 0 or row.soft > 1 then return false end
    ids[row.id] = true
  end
  return true
end

local function by_id(rows)
  local out = {}
  for _, row in ipairs(rows) do out[row.id] = row end
  return out
end

local function is_complete(case)
  local input = case["in"]
  if type(input) ~= "table" or not input.prev or case.out.error then return false end
  if not has_marks(input.prev) or not has_marks(input.curr) then return false end
  local prev, curr = by_id(input.prev), by_id(input.curr)
  for _, item in ipairs(input.items) do
    if not prev[item.id] or not curr[item.id] then return false end
  end
  return #input.prev == #input.items and #input.curr == #input.items
end

--- Results come in any order, evaluations in that of the items.
local function in_order(rows, items)
  local own, out = by_id(rows), {}
  for i, item in ipairs(items) do out[i] = own[item.id] end
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

--- Cases with a result that is no mark here (null, text, an id missing or twice, an item
--- without a result) differ on purpose: what has no mark on both sides is no pair.
test("pairs, counts and policies equal core_pairs", function(t)
  local compared, other = 0, 0
  for i, case in ipairs(test.vectors("core_pairs.json").cases) do
    if is_complete(case) then
      local input = case["in"]
      local list = pairs_of.build(seen(in_order(input.prev, input.items)),
        seen(in_order(input.curr, input.items)), input.items)
      t.equal(bare(list), bare(case.out.pairs), i)
      t.equal(pairs_of.counts(list), case.out.counts)
      for _, policy in ipairs { "mixed", "changed", "unchanged" } do
        t.equal(pairs_of.ids(pairs_of.keep(list, policy)), case.out[policy])
      end
      compared = compared + 1
    else
      other = other + 1
    end
  end
  t.equal({ compared, other }, { 33, 62 })
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
