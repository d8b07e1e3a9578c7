--- What calls cost, and who waits under a cap (rt.ledger).
local core = require "rt.task"
local flow = require "rt.flow"
local ledger = require "rt.ledger"
local task = require "skillopt.task"
local test = require "skillopt.test"

local CALL <const> = { role = "target", stage = "rollout", model = "m" }
local TEN <const> = { prompt_tokens = 6, completion_tokens = 4 }

test("without caps everything is granted and counted", function(t)
  local l = ledger.new {}
  local intent = assert(l:reserve(CALL, TEN))
  t.equal({ l:spent() }, { { cost = 0.0, tokens = 0, calls = 0 },
    { cost = 0.0, tokens = 10, calls = 1 } })
  intent:settle { prompt_tokens = 5, completion_tokens = 1 }
  intent:settle { prompt_tokens = 5, completion_tokens = 1 }
  t.equal({ l:spent() }, { { cost = 0.0, tokens = 6, calls = 1 },
    { cost = 0.0, tokens = 0, calls = 0 } })
end)

test("a price makes cost, a model without one has none", function(t)
  local l = ledger.new {}
  assert(l:price("m", { input = 3, output = 15, cached_input = 0.3 }))
  local usage = { prompt_tokens = 1000, completion_tokens = 100, cached_tokens = 500 }
  t.equal(l:cost("m", usage), 0.00315)
  t.equal(l:cost("other", usage), nil)
end)

test("with a cap in money a model without a price is refused, with what to do", function(t)
  local l = ledger.new { cost = 5 }
  local ok, err = l:check "provider:new-model"
  t.equal({ ok, err.kind }, { nil, "budget" })
  t.ok(err.message:find("no price for provider:new-model", 1, true), err.message)
  t.ok(err.hint:find("spend.tokens", 1, true), err.hint)
  assert(l:price("provider:new-model", { input = 1, output = 1 }))
  t.equal(l:check "provider:new-model", true)
end)

test("a call that does not fit is refused when there is none to wait for", function(t)
  local l = ledger.new { tokens = 15 }
  assert(l:reserve(CALL, TEN)):settle(TEN)
  local intent, err = l:reserve(CALL, TEN)
  t.equal({ intent, err.kind }, { nil, "budget" })
  t.ok(err.hint:find("raise spend.tokens", 1, true), err.hint)
end)

test("a call that does not fit waits until others are settled below their worst", function(t)
  local l = ledger.new { tokens = 15 }
  local order = {}
  task.map({ 1, 2, 3 }, function(i)
    local intent = l:reserve(CALL, TEN)
    if not intent then
      order[#order + 1] = "refused"
      return
    end
    flow.sleep(0.002)
    order[#order + 1] = i
    intent:settle { prompt_tokens = 2, completion_tokens = 1 }
  end, { limit = 3 })
  t.equal(order, { 1, 2, "refused" }) -- 6 are spent, and 16 would be too many
end)

test("those that wait are refused in turn when the last call took all", function(t)
  local l = ledger.new { calls = 1 }
  local refused = 0
  task.map({ 1, 2, 3 }, function()
    local intent = l:reserve(CALL, TEN)
    if not intent then
      refused = refused + 1
      return
    end
    flow.sleep(0.002)
    intent:settle(TEN)
  end, { limit = 3 })
  t.equal(refused, 2)
end)

test("a released call leaves its room to the others", function(t)
  local l = ledger.new { calls = 1 }
  assert(l:reserve(CALL, TEN)):release()
  t.ok(l:reserve(CALL, TEN), "refused")
end)

test("a cancelled task leaves the line, and its intent counts at its worst", function(t)
  local l = ledger.new { tokens = 10 }
  local ok = pcall(task.map, { 1, 2 }, function(i)
    local intent <close> = assert(l:reserve(CALL, TEN))
    flow.sleep(0.002)
    if i == 1 then error { kind = "data", message = "m" } end
    intent:release()
  end, { limit = 2 })
  t.equal(ok, false)
  t.equal(l:spent(), { cost = 0.0, tokens = 10, calls = 1 })
  t.equal(l:rows()[1].lost, 1)
end)

test("calls of an earlier life are counted and never refused", function(t)
  local l = ledger.new { calls = 1 }
  l:add(CALL, TEN)
  l:add(CALL, TEN, { lost = true })
  local row = l:rows()[1]
  t.equal({ row.role, row.stage, row.calls, row.lost, row.prompt_tokens, row.completion_tokens },
    { "target", "rollout", 2, 1, 12, 8 })
  t.equal({ (l:reserve(CALL, TEN)) }, {})
  t.equal(core.slot(), "")
end)
