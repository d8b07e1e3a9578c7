--- What the optimizer is told about earlier steps.
local memory = require "skillopt.memory"
local test = require "skillopt.test"
local json = require "rt.json"
local text = require "rt.text"
local vectors = test.support "tests/lua/vectors.lua"

local function has(t, s, piece)
  t.ok(s:find(piece, 1, true), ("%q is not in %q"):format(piece, s))
end

local function has_not(t, s, piece)
  t.ok(not s:find(piece, 1, true), ("%q is in %q"):format(piece, s))
end

--- Cases of core_failure_patterns that differ on purpose: a reason that is null ends the
--- reference's run (8); rows without a hard mark or without an id cannot come out of an
--- evaluation (9, 10).
local NO_ROW <const> = "rows without a hard mark or an id do not come out of an evaluation"
local IRREGULAR <const> = { [8] = "a reason that is null is no reason", [9] = NO_ROW,
  [10] = NO_ROW }

--- The reference gives the i-th group the i-th description as its name, whatever it is
--- about; here groups keep their own names. Only names may differ.
local function compare(t, got, want, has_descriptions, i)
  t.equal(#got, #want, i)
  for g, group in ipairs(want) do
    t.equal({ got[g].count, got[g].task_ids }, { group.count, group.task_ids }, i)
    if not has_descriptions then t.equal(got[g].pattern, group.pattern, i) end
  end
end

test("failure patterns equal core_failure_patterns, but for borrowed names", function(t)
  local book = vectors.book "core_failure_patterns.json"
  for i, case in ipairs(book.cases) do
    local why = IRREGULAR[i]
    if not why then
      local has_descriptions = next(case["in"].files) ~= nil
      local got = memory.patterns(case["in"].results)
      compare(t, got, case.out, has_descriptions, i)
      why = json.canonical(got) ~= json.canonical(case.out)
        and "a group keeps the name of its own reason"
    end
    book:note(i, why)
  end
  book:check(t)
end)

test("a group keeps the name of its reason whatever the analysts say", function(t)
  local rows = { { id = "a", hard = 0, fail_reason = "k1: x" }, { id = "b", hard = 0 } }
  t.equal(memory.patterns(rows), {
    { pattern = "k1", count = 1, task_ids = { "a" } },
    { pattern = "unknown", count = 1, task_ids = { "b" } },
  })
end)

test("a row without a mark is no failure", function(t)
  t.equal(memory.patterns { { id = "a", state = "failed", fail_reason = "timeout" } }, {})
end)

test("descriptions are a list of their own", function(t)
  t.equal(memory.descriptions {
    { failure_summary = { { failure_type = "T1", description = " D1 " } } },
    { malformed = true },
    { failure_summary = { { failure_type = "T2", description = "" } } },
    { success_patterns = { "p" } },
  }, { "T1: D1", "T2" })
end)

local function edit(content)
  return { op = "append", content = content, support_count = 3 }
end

local function facts(changes)
  local out = {
    step = 1, action = "accept", rows = {}, raws = {}, edits = {}, fates = {},
    score_before = 0.5, score_after = 0.25,
  }
  for name, value in pairs(changes or {}) do out[name] = value end
  return out
end

test("a rejected step leaves scores, edits and what could not be applied", function(t)
  local entry = memory.new():add(facts {
    step = 3, action = "reject", edits = { edit "a" },
    rows = { { id = "x", hard = 0, fail_reason = "EM=0: y" }, { id = "y", hard = 1 } },
    raws = { { failure_summary = { { failure_type = "T", description = "D" } } } },
    fates = {
      { op = "append", target = "", content_preview = "a", fate = "applied" },
      { op = "replace", target = "t", content_preview = "c", fate = "anchor_missing",
        near = "n" },
    },
  })
  t.equal(entry, {
    step = 3, action = "reject", n_total = 2, n_fail = 1,
    failure_patterns = { { pattern = "EM=0", count = 1, task_ids = { "x" } } },
    failure_descriptions = { "T: D" },
    not_applied = { { op = "replace", target = "t", content = "c",
      fate = "anchor_missing", near = "n" } },
    score_before = 0.5, score_after = 0.25,
    rejected_edits = { { op = "append", content = "a", target = "" } },
  })
end)

test("an accepted step leaves no rejected edits, and at least one rollout", function(t)
  local entry = memory.new():add(facts())
  t.equal({ entry.rejected_edits, entry.score_before, entry.n_total }, { [3] = 1 })
end)

test("no steps, no text", function(t)
  t.equal(memory.new():text(), "")
end)

test("the text tells a step without naming its items", function(t)
  local own = memory.new()
  own:add(facts {
    step = 3, action = "reject", edits = { edit "- try harder" },
    rows =
      { { id = "item-1", hard = 0, fail_reason = "EM=0: y" }, { id = "item-2", hard = 0,
      fail_reason = "" } },
    raws = { { failure_summary = { { failure_type = "T", description = "D" } } } },
    fates = { { op = "delete", target = "gone", content_preview = "",
      fate = "anchor_missing" } },
  })
  local told = own:text()
  has(t, told, "### Step 3: REJECT, 2 of 2 failed")
  has(t, told, '- 1 x "EM=0"\n- 1 x no reason given\n- an analyst saw: T: D')
  has(t, told, 'Rejected (score 0.5000 -> 0.2500):\n  1. append, content "- try harder"')
  has(t, told, 'Could not be applied:\n  1. anchor_missing: delete, target "gone"')
  has_not(t, told, "item-1")
end)

test("a new epoch forgets the steps but not the edits that were rejected", function(t)
  local own = memory.new()
  own:add(facts { step = 1, action = "reject", edits = { edit "old" } })
  own:add(facts { step = 2, action = "reject", edits = { edit " old\n" } })
  has_not(t, own:text(), "earlier epochs")
  own:start_epoch()
  local told = own:text()
  has(t, told, 'rejected 2 times (score 0.5000 -> 0.2500): append, content " old\\n"')
  has_not(t, told, "### Step")
  own:add(facts { step = 3, action = "reject", edits = { edit "old" } })
  has_not(t, own:text(), "earlier epochs")
end)

test("old rejections are told from the latest step on", function(t)
  local own = memory.new()
  own:add(facts { step = 1, action = "reject", edits = { edit "a", edit "b", edit "c" } })
  own:add(facts { step = 2, action = "reject", edits = { edit "y", edit "x" } })
  own:start_epoch()
  local order = {}
  for content in own:text():gmatch 'content "(%a)"' do order[#order + 1] = content end
  t.equal(order, { "y", "x", "a", "b", "c" })
end)

test("an edit that is accepted later is rejected no more", function(t)
  local own = memory.new()
  own:add(facts { step = 1, action = "reject", edits = { edit "a", edit "b" } })
  own:add(facts { step = 2, action = "accept_new_best", edits = { edit "a" } })
  own:start_epoch()
  has(t, own:text(), '"b"')
  has_not(t, own:text(), '"a"')
end)

test("when room is short the newest steps are told", function(t)
  local own = memory.new()
  for step = 1, 50 do
    own:add(facts { step = step, action = "reject",
      edits = { edit(("word "):rep(60) .. step) } })
  end
  local told = own:text { max_tokens = 600 }
  t.ok(text.tokens(told) <= 650, text.tokens(told))
  has(t, told, "### Step 50:")
  has_not(t, told, "### Step 1:")
  t.ok(told:find "Step 49.*Step 50", "in the order of time")
end)

test("the newest step is told even when it alone is too long", function(t)
  local own = memory.new()
  own:add(facts { step = 1, action = "reject", edits = { edit "first" } })
  local many = {}
  for i = 1, 50 do many[i] = edit(("word "):rep(50) .. i) end
  own:add(facts { step = 2, action = "reject", edits = many })
  local told = own:text { max_tokens = 500 }
  t.ok(text.tokens(told) <= 550, text.tokens(told))
  has(t, told, "### Step 2: REJECT")
  has_not(t, told, "### Step 1:")
end)

test("a misspelt fact or option is refused", function(t)
  t.raises(function() memory.new():add { stepp = 1 } end, "did you mean 'step'?")
  t.raises(function() memory.new():text { tokens = 1 } end, "unknown option")
end)
