--- The minibatch reflection: grouping, calls, raw patches.
local budget = require "skillopt.budget"
local evaluation = require "skillopt.evaluation"
local loader = require "skillopt.loader"
local patch = require "skillopt.patch"
local policy = require "skillopt.policy"
local prompt = require "skillopt.prompt"
local test = require "skillopt.test"
local json = require "rt.json"
local reply_of = require "rt.reply"
local vectors = test.support "tests/lua/vectors.lua"
local text = require "rt.text"

local FOLDER <const> = loader.home .. "/lua/policies/reflect"

local function reflect(changes)
  local values =
    { minibatch_size = 3, failure_only = false, budget = 4, workers = 8,
      prompt_tokens = 80000, trajectory_tokens = 16000 }
  for name, value in pairs(changes or {}) do values[name] = value end
  local definition = loader.user_file(FOLDER .. "/minibatch.lua")
  return policy.instance(definition, values, { name = "minibatch" })
end

--- A batch of {id, hard} items; `hard` may be false for an item that failed.
local function batch(items, options)
  local rows = {}
  for i, item in ipairs(items) do
    local row = { hidden = options and options.hidden, question = "Q " .. item[1] }
    local rep = { state = "ok", marks = { hard = item[2] }, row = row }
    if item[2] == false then
      rep = { state = "failed", kind = "timeout", reason = "slow" }
    end
    rows[i] = { id = item[1], reps = { rep } }
  end
  return evaluation.new {
    rows = rows,
    trajectory = options and options.trajectory
      or function(id) return { { role = "assistant", content = "said by " .. id } } end,
  }
end

--- A ctx that answers calls with `reply(options)`, as `ctx:ask` does: a reply that the
--- check refuses is an error of kind `parse`.
local function fake(reply, seed)
  local ctx = {
    skill = "SKILL", asked = {}, recorded = {}, logged = {},
    step = { seed = seed or 42, memory = "MEMORY", meta = "", size = 5, max_size = "" },
  }
  function ctx:prompt(name, inputs) return prompt.render(name, inputs, { FOLDER }) end
  function ctx:log(event) self.logged[#self.logged + 1] = event end
  function ctx:ask(options)
    self.asked[#self.asked + 1] = options
    self.filled = prompt.render(options.prompt, options.inputs, { FOLDER })
    local value = reply(options)
    local ok, why = options.check(value)
    if ok then return value end
    return nil, { kind = "parse", message = why }
  end
  function ctx:record(name, value)
    self.recorded[#self.recorded + 1] = { name, value }
  end
  return ctx
end

local function no_edits()
  return { patch = { reasoning = "r", edits = json.array {} } }
end

--- Ids of the items in a call, in order.
local function ids_of(options)
  local out = {}
  for id in options.inputs.trajectories:gmatch "%(id: ([^)]*)%)" do out[#out + 1] = id end
  return out
end

local function groups_of(ctx)
  local out = { analyst_error = {}, analyst_success = {} }
  for _, options in ipairs(ctx.asked) do
    table.insert(out[options.prompt], ids_of(options))
  end
  return { fail = out.analyst_error, succ = out.analyst_success }
end

--- Cases of core_minibatch that differ on purpose: without a seed the reference keeps the
--- input order, here a batch always has one; marks that are missing, null, text or
--- negative are faults of the item (their case is the only one of its kind with a seed).
local function irregularity(input)
  for _, result in ipairs(input.results) do
    local hard = result[2]
    if not math.type(hard) or hard < 0 then
      return "a mark that is missing, no number or negative is a fault of the item"
    end
  end
  return input.seed == json.null and "a batch always has a seed" or nil
end

test("groups and minibatches equal core_minibatch", function(t)
  local book = vectors.book "core_minibatch.json"
  for i, case in ipairs(book.cases) do
    local input = case["in"]
    local why = irregularity(input)
    if not why then
      local ctx = fake(no_edits, input.seed)
      local instance =
        reflect { minibatch_size = input.minibatch_size,
          failure_only = input.failure_only }
      instance.run(batch(input.results), ctx, instance.opt)
      t.equal(groups_of(ctx), case.out, i)
    end
    book:note(i, why)
  end
  book:check(t)
end)

test("a batch without a seed is misuse", function(t)
  local ctx, instance = fake(no_edits), reflect()
  ctx.step.seed = nil
  t.raises(function() instance.run(batch { { "a", 0 } }, ctx, instance.opt) end)
end)

test("fractions are successes, and so is all but nothing", function(t)
  local ctx, instance = fake(no_edits), reflect()
  instance.run(batch { { "a", 0.3 }, { "b", 1e-10 }, { "c", 0.0 } }, ctx, instance.opt)
  t.equal(groups_of(ctx).succ, { { "a" } })
  t.equal(#groups_of(ctx).fail[1], 2)
end)

test("items that failed for weather are shown to nobody", function(t)
  local ctx, instance = fake(no_edits), reflect()
  instance.run(batch { { "a", false }, { "b", 1 }, { "c", false } }, ctx, instance.opt)
  t.equal(groups_of(ctx), { fail = {}, succ = { { "b" } } })
  t.equal(ctx.asked[1].inputs.count, 1)
end)

local function edits(n)
  local out = {}
  for i = 1, n do out[i] = { op = "append", content = "- rule " .. i } end
  return out
end

test("a call has the prompt's inputs, stage and limit", function(t)
  local ctx, instance = fake(no_edits), reflect { trajectory_tokens = 2000 }
  instance.run(batch { { "a", 0 } }, ctx, instance.opt)
  local asked = ctx.asked[1]
  t.equal({ asked.prompt, asked.stage, asked.want, asked.array, asked.max_tokens },
    { "analyst_error", "analyst", { "patch", "edits" }, true, 16384 })
  t.ok(asked.inputs.trajectories:find("said by a", 1, true))
  asked.inputs.trajectories = nil
  t.equal(asked.inputs,
    { skill = "SKILL", count = 1, budget = 4, memory = "MEMORY", meta = "", size = 5,
      max_size = "" })
end)

test("the prompts show skill, budget, memory and trajectories", function(t)
  local ctx, instance = fake(no_edits), reflect()
  for _, hard in ipairs { 0, 1 } do
    instance.run(batch { { "a", hard } }, ctx, instance.opt)
    local user = ctx.filled.user
    t.ok(user:find "SKILL.*At most 4 edits.*MEMORY.*%(1 in this batch%).*said by a", user)
    t.ok(not user:find("taught about edits", 1, true), user)
  end
  ctx.step = { seed = 1, memory = "", meta = "META", size = 5, max_size = "" }
  instance.run(batch { { "a", 0 } }, ctx, instance.opt)
  t.ok(ctx.filled.user:find "taught about edits.*META", ctx.filled.user)
  t.ok(not ctx.filled.user:find("Earlier steps", 1, true), ctx.filled.user)
end)

test("the examples in the prompts are replies that would be taken", function(t)
  local ctx, instance = fake(no_edits), reflect()
  for _, hard in ipairs { 0, 1 } do
    instance.run(batch { { "a", hard } }, ctx, instance.opt)
    local example = reply_of.extract(ctx.filled.system, { want = { "patch" } })
    local _, faults = patch.check(patch.list(example))
    t.equal(faults, {}, hard)
    t.ok(#patch.list(example) > 0)
  end
end)

test("raw patches come failures first, on record, with their real size", function(t)
  local ctx = fake(function(options)
    if options.prompt == "analyst_success" then
      return { edits = edits(1), success_patterns = { "p" } }
    end
    return { batch_size = 99, failure_summary = {},
      patch = { reasoning = "r", edits = edits(2) } }
  end)
  local instance = reflect { minibatch_size = 2 }
  local raws = instance.run(batch { { "a", 1 }, { "b", 0 }, { "c", 0 }, { "d", 0 } }, ctx,
    instance.opt)
  local got, names = {}, {}
  for i, raw in ipairs(raws) do
    got[i] = { raw.source_type, raw.batch_size, #raw.patch.edits }
  end
  t.equal(got, { { "failure", 2, 2 }, { "failure", 1, 2 }, { "success", 1, 1 } })
  for i, record in ipairs(ctx.recorded) do
    names[i] = record[1]
    t.equal(record[2], raws[i])
  end
  t.equal(names, { "patches/minibatch_fail_000", "patches/minibatch_fail_001",
    "patches/minibatch_succ_000" })
  t.equal(json.is_array(raws), true)
end)

test("edits beyond the budget are listed with their fate", function(t)
  local ctx = fake(function() return { patch = { edits = edits(3) } } end)
  local instance = reflect { budget = 2 }
  local raw = instance.run(batch { { "a", 0 } }, ctx, instance.opt)[1]
  t.equal(#raw.patch.edits, 2)
  t.equal({ raw.dropped[1].index, raw.dropped[1].fate }, { 3, "over_budget" })
end)

test("a reply that stays unusable is malformed, never no edits", function(t)
  local ctx = fake(function() return { patch = { edits = json.null } } end)
  local instance = reflect()
  local raws = instance.run(batch { { "a", 0 }, { "b", 0 } }, ctx, instance.opt)
  t.equal(raws,
    { { malformed = true, kind = "parse", source_type = "failure", batch_size = 2 } })
end)

test("without a trajectory no call is made", function(t)
  local ctx, instance = fake(no_edits), reflect()
  local silent = batch({ { "a", 0 } }, { trajectory = function() return nil end })
  local raws = instance.run(silent, ctx, instance.opt)
  t.equal(#ctx.asked, 0)
  t.equal(raws[1].patch, { reasoning = "There is no trajectory to read.", edits = {} })
end)

test("an edit that the step refuses as a leak is dropped", function(t)
  local ctx = fake(function() return { edits = edits(2) } end)
  ctx.step.leak = function(s) return s:find "rule 1" and "leak: it" or nil end
  local instance = reflect()
  local raws = instance.run(batch { { "a", 0 } }, ctx, instance.opt)
  t.equal(#raws[1].patch.edits, 1)
  t.equal({ raws[1].dropped[1].index, raws[1].dropped[1].fate }, { 1, "leak" })
end)

test("an empty batch asks nothing", function(t)
  local ctx, instance = fake(no_edits), reflect()
  t.equal(instance.run(batch {}, ctx, instance.opt), {})
  t.equal(#ctx.asked, 0)
end)

--- A trajectory of about so many tokens.
local function long(tokens)
  return function(id)
    return { { role = "assistant", content = id .. (" abc"):rep(tokens) } }
  end
end

--- Tokens of an analyst's prompt without trajectories.
local function fixed()
  local ctx = fake(no_edits)
  return 100000 - budget.room(ctx, 100000, { prompt = "analyst_error", open = "trajectories",
    inputs = { skill = "SKILL", count = 4, budget = 4, memory = "MEMORY", meta = "", size = 5,
      max_size = "" } })
end

local FOUR <const> = { { "a", 0 }, { "b", 0 }, { "c", 0 }, { "d", 0 } }

local function reflected(reply, changes, tokens)
  local ctx, instance = fake(reply), reflect(changes)
  local raws = instance.run(batch(FOUR, { trajectory = long(tokens) }), ctx, instance.opt)
  local names = {}
  for i, record in ipairs(ctx.recorded) do names[i] = record[1]:match "[^/]*$" end
  return raws, ctx, names
end

test("a minibatch that does not fit is split into parts that do, in order", function(t)
  local whole = select(2, reflected(no_edits, { minibatch_size = 4 }, 1000))
  local raws, ctx, names = reflected(no_edits,
    { minibatch_size = 4, prompt_tokens = fixed() + 2500 }, 1000)
  local order = {}
  for _, options in ipairs(ctx.asked) do
    t.equal(#ids_of(options), options.inputs.count)
    t.ok(text.tokens(options.inputs.trajectories) <= 2500)
    table.move(ids_of(options), 1, 9, #order + 1, order)
  end
  t.equal(order, ids_of(whole.asked[1]))
  t.equal(names, { "minibatch_fail_000_1", "minibatch_fail_000_2" })
  t.equal({ raws[1].split, raws[1].batch_size, raws[1].cut },
    { { of = "minibatch_fail_000", part = 1, parts = 2 }, 2 })
end)

test("a long trajectory is cut in its middle, and its record says so", function(t)
  local raws, ctx = reflected(no_edits, { minibatch_size = 1, trajectory_tokens = 500 }, 1000)
  t.ok(ctx.asked[1].inputs.trajectories:find("middle of this trajectory cut", 1, true))
  t.equal({ #raws, #raws[1].cut, raws[1].cut[1].id }, { 4, 1, ids_of(ctx.asked[1])[1] })
end)

test("a trajectory that does not fit alone is cut to what there is", function(t)
  local raws, ctx = reflected(no_edits,
    { minibatch_size = 2, prompt_tokens = fixed() + 1200 }, 2000)
  t.equal(#ctx.asked, 4)
  for i, options in ipairs(ctx.asked) do
    t.ok(text.tokens(options.inputs.trajectories) <= 1200)
    t.equal(#raws[i].cut, 1)
  end
end)

test("what is within its budget is shown as ever", function(t)
  local raws, ctx, names = reflected(no_edits, { minibatch_size = 4 }, 1000)
  t.equal({ names, raws[1].split, raws[1].cut }, { { "minibatch_fail_000" } })
  t.ok(not ctx.asked[1].inputs.trajectories:find("cut to fit", 1, true))
end)

--- As `fake`, for a model that takes at most so many items.
local function short_sighted(most)
  local ctx = fake(no_edits)
  local ask = ctx.ask
  function ctx:ask(options)
    local reply, err = ask(self, options)
    if options.inputs.count <= most then return reply, err end
    return nil, { kind = "too_long", message = "m" }
  end
  return ctx
end

test("a minibatch that the model calls too long is halved, one item is malformed", function(t)
  local instance, names = reflect { minibatch_size = 4 }, {}
  local ctx = short_sighted(1)
  local raws = instance.run(batch(FOUR), ctx, instance.opt)
  for i, record in ipairs(ctx.recorded) do names[i] = record[1]:match "[^/]*$" end
  t.equal(names, { "minibatch_fail_000_1_1", "minibatch_fail_000_1_2", "minibatch_fail_000_2_1",
    "minibatch_fail_000_2_2" })
  t.equal({ #raws, raws[1].batch_size, raws[4].split.of }, { 4, 1, "minibatch_fail_000_2" })
  raws = instance.run(batch { { "a", 0 } }, short_sighted(0), instance.opt)
  t.equal({ raws[1].malformed, raws[1].kind }, { true, "too_long" })
end)
