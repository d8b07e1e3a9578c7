--- The rate that the optimizer decides, and the run without one.
local loader = require "skillopt.loader"
local patch = require "skillopt.patch"
local policy = require "skillopt.policy"
local prompt = require "skillopt.prompt"
local test = require "skillopt.test"
local json = require "rt.json"
local reply = require "rt.reply"
local vectors = test.support "tests/lua/vectors.lua"

local FOLDER <const> = loader.home .. "/lua/policies/rate"

local function rate(name)
  return policy.instance(loader.user_file(FOLDER .. "/" .. name .. ".lua"), {}, { name = name })
end

local function merged(n)
  local out = patch.empty "merged"
  for i = 1, n do out.edits[i] = { op = "append", content = "e" .. i, support_count = i } end
  return out
end

--- A ctx that answers every call with the text, as `ctx:ask` does, and keeps records.
local function fake(text)
  local step = { memory = "MEMORY", meta = "META", seen = { n = 4, hard = 0.25, soft = 0.5 } }
  local ctx = { skill = "SKILL", step = step, asked = 0, records = {} }
  function ctx:ask(options)
    self.asked = self.asked + 1
    self.stage = options.stage
    self.filled = prompt.render(options.prompt, options.inputs, { FOLDER })
    local value, err = reply.extract(text, { want = options.want })
    if value == nil then return nil, err end
    local ok, why = options.check(value)
    if ok then return value end
    return nil, { kind = "parse", message = why }
  end
  function ctx:record(name, value) self.records[name] = value end
  return ctx
end

local function decide(text, n)
  local ctx = fake(text)
  local edits, decision = rate("autonomous").run(merged(n), ctx, {})
  return edits, decision, ctx
end

--- Values of core_lr_autonomous (as JSON) that differ on purpose: only a number or a text
--- with one in it is a rate, and a number with a fraction is none.
local OURS <const> = { ["2.5"] = true, ["[3]"] = true, ['{"a":2}'] = true, ["1e+20"] = true,
  ['"\u{663}"'] = true }

test("readings of the rate equal core_lr_autonomous", function(t)
  local book = vectors.book("core_lr_autonomous.json", "number")
  for i, case in ipairs(book.cases) do
    if case.fn == "coerce_nonnegative_int" then
      local text = json.canonical(case["in"])
      local raw = (text == "100000000000000000000" or text:find "e%+?20") and "1e+20" or text
      local _, decision = decide(('{"learning_rate": %s}'):format(text), 100)
      local want = not OURS[raw] and case.out ~= json.null and case.out or nil
      t.equal({ decision.fallback, decision.raw_learning_rate }, { want == nil, want or 0 }, text)
      book:note(i, OURS[raw] and "only a whole number, or a text with one, is a rate")
    end
  end
  book:check(t)
end)

local FIELDS <const> = { "learning_rate", "raw_learning_rate", "available_update_items",
  "clamped", "fallback", "confidence", "risk_notes" }

test("decisions equal core_lr_autonomous, and without proposals nobody is asked", function(t)
  local book = vectors.book("core_lr_autonomous.json", "decision")
  for i, case in ipairs(book.cases) do
    if case.fn == "decide" then
      local n = case["in"].n_items
      local edits, decision, ctx = decide(case["in"].reply, n)
      t.equal(edits, case.out.learning_rate, i)
      if n == 0 then
        t.equal({ ctx.asked, decision }, { 0 })
      else
        for _, field in ipairs(FIELDS) do t.equal(decision[field], case.out[field], i) end
        t.equal(ctx.records.lr_decision, decision)
      end
      book:note(i, n == 0 and "without proposals nobody is asked")
    end
  end
  book:check(t)
end)

test("a reply without a number applies nothing, and the decision names the fault", function(t)
  local edits, decision = decide('{"learning_rate": "some"}', 3)
  t.equal({ edits, decision.fallback, decision.error }, { 0, true, "parse" })
end)

test("the prompt shows skill, proposals, what the step saw, memory and meta", function(t)
  local _, _, ctx = decide('{"learning_rate": 1}', 2)
  t.equal(ctx.stage, "lr_autonomous")
  for _, piece in ipairs { "SKILL", "[1] append", "4 tasks", "0.250000", "0.500000", "MEMORY",
    "META", "How many of the 2" } do
    t.ok(ctx.filled.user:find(piece, 1, true), piece)
  end
end)

test("without a rate all that was merged is applied", function(t)
  t.equal((rate("none").run(merged(7), fake "", {})), 7)
  t.equal({ rate("none").control, rate("autonomous").control }, { "none", "autonomous" })
end)
