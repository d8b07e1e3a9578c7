--- The shape of policy definitions and their option values.
local policy = require "skillopt.policy"
local test = require "skillopt.test"

local function nothing() end

--- What `define` says about a faulty spec.
local function fault(t, spec)
  local err = t.raises(function() policy.define(spec) end)
  t.equal(err.kind, "config")
  return err.message
end

local function with_option(option)
  return { slot = "metric", item = nothing, options = { weight = option } }
end

local function has(t, text, piece)
  t.ok(text:find(piece, 1, true), ("%q is not in %q"):format(piece, text))
end

test("a definition with a fault says file, field and what is expected", function(t)
  local message = fault(t, { slot = "metric", item = nothing, max = "1" })
  has(t, message, "tests/lua/policy_test.lua")
  has(t, message, "field 'max' must be a number, got \"1\"")
end)

test("a missing function is named with its form", function(t)
  has(t, fault(t, { slot = "gate", hopeless = nothing }),
    "field 'run' is missing: expected a function(candidate, current, best, run, opt)")
  has(t, fault(t, { slot = "metric" }), "field 'item' is missing")
end)

test("a field that is no function where one is expected is named", function(t)
  has(t, fault(t, { slot = "gate", run = true }),
    "field 'run' must be a function(candidate")
end)

test("an unknown field is named with the nearest one", function(t)
  has(t, fault(t, { slot = "metric", item = nothing, maxx = 1 }),
    "field 'maxx' is not known to slot \"metric\" (did you mean \"max\"?)")
end)

test("an unknown slot is named with the nearest one", function(t)
  has(t, fault(t, { slot = "metrik", item = nothing }), "did you mean \"metric\"?")
  has(t, fault(t, { run = nothing }), "field 'slot' is nil, expected one of")
end)

test("a definition that is no table is misuse", function(t)
  t.raises(function() policy.define(nothing) end, "expected a table")
end)

test("a fault in an option's own shape is named", function(t)
  has(t, fault(t, with_option { "numbr", 1, "doc" }),
    "field 'options.weight' has the type \"numbr\"")
  has(t, fault(t, with_option { "number", "x", "doc" }),
    "has the default \"x\", expected a number")
  has(t, fault(t, with_option { "number", 2, "doc", max = 1 }),
    "expected a number of at most 1")
  has(t, fault(t, with_option { "number", 1 }), "needs a line of doc")
  has(t, fault(t, with_option { "choice", "a", "doc" }), "needs choices")
  has(t, fault(t, with_option { "number", 1, "doc", maxx = 3 }), "unknown field \"maxx\"")
  has(t, fault(t, with_option { "number", key = 3, doc = "doc" }), "needs a text as key")
  has(t, fault(t, with_option { "number", 1, "doc", key = "a.b" }), "has a default")
  has(t, fault(t, with_option(3)), "must be a table")
end)

local ALL <const> = policy.define {
  slot = "metric",
  item = nothing,
  options = {
    size = { "integer", 3, "a size", min = 1, max = 9 },
    weight = { "number", 0.5, "a weight" },
    loud = { "boolean", false, "a switch" },
    word = { "string", "", "a word" },
    list = { "list", {}, "a list" },
    kind = { "choice", "a", "a kind", choices = { "a", "b" } },
    rate = { "integer", key = "optimizer.learning_rate", doc = "a value from elsewhere" },
  },
}

local function values(changes)
  local out = { rate = 4 }
  for name, value in pairs(changes) do out[name] = value end
  return out
end

test("an instance has its defaults and the values it was given", function(t)
  local instance = policy.instance(ALL, values { size = 5, kind = "b" }, { name = "all" })
  t.equal(instance.opt, {
    size = 5, weight = 0.5, loud = false, word = "", list = {}, kind = "b", rate = 4,
  })
  t.equal({ instance.slot, instance.name, type(instance.item) }, { "metric", "all", "function" })
end)

test("a float without fraction is taken as a whole number", function(t)
  t.equal(policy.instance(ALL, values { size = 5.0 }).opt.size, 5)
end)

--- Wrong values, and what the message says of them.
local WRONG <const> = {
  { { size = 10 }, "option 'size' must be a whole number from 1 to 9, got 10" },
  { { size = 1.5 }, "option 'size' must be a whole number from 1 to 9, got 1.5" },
  { { weight = "1" }, "option 'weight' must be a number, got \"1\"" },
  { { weight = 0 / 0 }, "option 'weight' must be a number" },
  { { loud = "no" }, "option 'loud' must be true or false" },
  { { word = 3 }, "option 'word' must be a string" },
  { { list = { a = 1 } }, "option 'list' must be a list" },
  { { kind = "c" }, "option 'kind' must be one of a, b, got \"c\"" },
  { { rate = false }, "option 'rate' must be a whole number, got false" },
  { { sise = 3 }, "unknown option \"sise\" (did you mean \"size\"?)" },
}

test("a wrong value is a configuration error that names the option", function(t)
  for _, case in ipairs(WRONG) do
    local instance, err = policy.instance(ALL, values(case[1]), { name = "all" })
    t.equal(instance, nil)
    t.equal(err.kind, "config")
    has(t, err.message, case[2])
    has(t, err.message, 'policy.metric "all"')
  end
end)

test("a value that comes from the configuration must be handed in", function(t)
  local _, err = policy.instance(ALL, {})
  has(t, err.message, "option 'rate' must be a whole number, got nil")
end)

test("options that do not go together are refused by the policy's check", function(t)
  local definition = policy.define {
    slot = "metric", item = nothing,
    options = { low = { "number", 3, "low" }, high = { "number", 2, "high" } },
    check = function(opt) return opt.low <= opt.high, "low must not be above high" end,
  }
  local _, err = policy.instance(definition, {}, { name = "m" })
  has(t, err.message, "low must not be above high")
  t.equal(policy.instance(definition, { high = 3 }).opt, { low = 3, high = 3 })
end)

test("a policy of another slot is refused", function(t)
  local instance, err = policy.instance(ALL, values {}, { slot = "gate", name = "all" })
  t.equal(instance, nil)
  has(t, err.message, 'is for slot "metric", not "gate"')
end)

test("a function stands for a policy of its slot", function(t)
  local metric =
    policy.instance(function(marks) return marks.hard end, nil, { slot = "metric" })
  t.equal(metric.item({ hard = 1 }, metric.opt), 1)
  local rate = policy.instance(function(step) return step end, nil, { slot = "rate" })
  t.equal(rate.run(3, 10, rate.opt), 3)
  t.raises(function() policy.instance(nothing) end, "a function needs its slot")
  t.raises(function() policy.instance({ slot = "metric" }) end,
    "what policy.define returns")
end)

local function gate(answer, reason, need)
  local run = function() return answer, reason, need end
  return policy.instance(run, nil, { slot = "gate", name = "g" }).run()
end

test("a gate may answer with a truth value", function(t)
  t.equal({ gate(true, "why") }, { "accept", "why" })
  t.equal({ gate(false) }, { "reject" })
end)

test("an undecided gate needs one repeat of both unless it says otherwise", function(t)
  t.equal(table.pack(gate("undecided", "close")),
    { "undecided", "close", { repeats = 1, of = { "candidate", "current" } }, n = 3 })
  local need = { repeats = 3, of = { "candidate" } }
  t.equal(select(3, gate("undecided", "close", need)), need)
  t.raises(function() gate("undecided", "close", { repeats = 0, of = { "best" } }) end,
    "need must be")
  t.raises(function() gate("undecided", "close", { repeats = 1, of = { "all" } }) end,
    "need must be")
end)

test("a gate's answer that is no decision raises and names the gate", function(t)
  t.raises(function() gate("yes") end, 'policy.gate "g": a gate answers true, false')
  t.raises(function() gate(nil) end, "got nil")
  t.raises(function() gate(true, 3) end, "reason is a text")
end)

test("a rate that is no whole number of at least 0 raises", function(t)
  local function rate(value)
    return policy.instance(function() return value end, nil,
      { slot = "rate", name = "r" }).run()
  end
  t.equal(rate(2.0), 2)
  t.raises(function() rate(2.5) end, 'policy.rate "r": a rate is a whole number')
  t.raises(function() rate(-1) end, "got -1")
  t.raises(function() rate(nil) end, "got nil")
end)

test("what a slot does not take is a mistake of the policy, with its name", function(t)
  local cases = {
    { "reflect", 7, "a list of raw patches, got 7" }, { "aggregate", nil, "a patch, got nil" },
    { "select", "x", 'a patch, got "x"' }, { "slow_update", 5, "a text or nil, got 5" },
    { "meta_skill", false, "a text or nil, got false" },
    { "appendix", nil, "a list of notes, which are texts, got nil" },
  }
  for _, case in ipairs(cases) do
    local slot, answer, words = case[1], case[2], case[3]
    local made = policy.instance(function() return answer end, nil, { slot = slot })
    local err = t.raises(made.run, ('policy.%s "inline": it must answer %s'):format(slot, words))
    t.equal(err.kind, "config")
  end
end)

test("all that a policy answers goes on, nil for no text too", function(t)
  local some = { edits = {} }
  local two = policy.instance(function() return some, nil, 3 end, nil, { slot = "select" })
  t.equal(table.pack(two.run()), { some, nil, 3, n = 3 })
  local none = policy.instance(function() return nil, "why" end, nil, { slot = "slow_update" })
  t.equal(table.pack(none.run()), { nil, "why", n = 2 })
end)
