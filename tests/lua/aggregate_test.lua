--- The merge tree.
local budget = require "skillopt.budget"
local loader = require "skillopt.loader"
local policy = require "skillopt.policy"
local prompt = require "skillopt.prompt"
local test = require "skillopt.test"
local json = require "rt.json"
local reply = require "rt.reply"
local vectors = test.support "tests/lua/vectors.lua"
local text = require "rt.text"

local FOLDER <const> = loader.home .. "/lua/policies/aggregate"
local DEFINITION <const> = loader.user_file(FOLDER .. "/tree.lua")

local function tree(size, prompt_tokens)
  return policy.instance(DEFINITION, { merge_batch_size = size, workers = 1,
    prompt_tokens = prompt_tokens or 80000 }, { name = "tree" })
end

local function append(content, changes)
  local out = { op = "append", content = content }
  for name, value in pairs(changes or {}) do out[name] = value end
  return out
end

--- Items of each kind that are told apart by `name`; a patch has one document.
local ITEMS <const> = {
  edits = function(name, j) return append(("%s.%d"):format(name, j)) end,
  revise_suggestions = function(name, j)
    return { type = "add_rule", title = ("%s.%d"):format(name, j), instruction = "x",
      motivation = "", priority_hint = "medium" }
  end,
  skill_candidates = function(name, j)
    return j == 0 and { title = name, change_summary = json.array {}, new_skill = "S " .. name }
  end,
}
local KINDS <const> = { patch = "edits", rewrite_from_suggestions = "revise_suggestions",
  full_rewrite_minibatch = "skill_candidates" }

--- A raw patch called `name` with `n` items.
local function raw(name, source_type, n, batch_size, kind)
  local list = json.array {}
  kind = kind or "edits"
  for j = 1, n do list[#list + 1] = ITEMS[kind](name, j - 1) or nil end
  return { batch_size = batch_size or 1, source_type = source_type,
    patch = { reasoning = name, [kind] = list } }
end

local function raws_of(input)
  local out, kind = {}, KINDS[input.update_mode]
  for i = 1, input.n_failure do
    out[#out + 1] = raw("F" .. i - 1, "failure", input.items_per_patch, 1, kind)
  end
  for i = 1, input.n_success do
    out[#out + 1] = raw("S" .. i - 1, "success", input.items_per_patch, 1, kind)
  end
  return out
end

--- A ctx whose n-th call (from 0) is answered by `answer(n, patches)`.
local function fake(answer, kind)
  local ctx = { skill = "SKILL", step = { meta = "META", items = kind, size = 5, max_size = "" },
    asked = {}, logged = {} }
  function ctx:prompt(name, inputs) return prompt.render(name, inputs, { FOLDER }) end
  function ctx:log(event) self.logged[#self.logged + 1] = event end
  function ctx:ask(options)
    local n = #self.asked
    self.asked[n + 1] = options
    self.filled = prompt.render(options.prompt, options.inputs, { FOLDER })
    local value = answer(n, json.decode(options.inputs.patches))
    local ok, why = options.check(value)
    if ok then return value end
    return nil, { kind = "parse", message = why }
  end
  return ctx
end

local function among(list, n)
  for _, one in ipairs(list or {}) do
    if one == n then return true end
  end
  return false
end

--- The scripted optimizer of core_merge_tree: the first item of every input that has any.
local function scripted(input)
  local kind = KINDS[input.update_mode] or "edits"
  return function(n, patches)
    if among(input.calls_raising, n) or among(input.calls_unusable, n) then
      return { reasoning = "no list" }
    end
    local list = json.array {}
    for _, one in ipairs(patches) do list[#list + 1] = one[kind][1] end
    if among(input.calls_returning_empty, n) then list = json.array {} end
    return { reasoning = "M" .. n, [kind] = list }
  end
end

--- Our fixed reasonings as the file writes them.
local function placeholder(reasoning)
  if reasoning:find "^There are no %l+" then return "<no-updates>" end
  return reasoning:find "^A merge failed %(parse%)" and "<fallback-batch>" or reasoning
end

local function call_of(options)
  local inputs = {}
  for i, one in ipairs(json.decode(options.inputs.patches)) do
    inputs[i] = placeholder(one.reasoning)
  end
  return {
    level = options.prompt:find "^merge_final" and "final" or options.inputs.level,
    inputs = inputs, max_completion_tokens = options.max_tokens, stage = options.stage,
  }
end

local function calls_of(ctx)
  local out = {}
  for i, options in ipairs(ctx.asked) do out[i] = call_of(options) end
  return out
end

--- What an item says and the level it comes from.
local function bare(items)
  local out = {}
  for i, item in ipairs(items) do
    out[i] = { item.content or item.new_skill or item.title, item.merge_level or 0 }
  end
  return out
end

local function without_retries(calls)
  for _, call in ipairs(calls) do call.retries = nil end
  return calls
end

--- The kind of fallback is the reference's own word; the place says which it is here.
local function reasoning_of(merged, want)
  local got = placeholder(merged.reasoning)
  return got == "<fallback-batch>" and want == "<fallback-final>" and want or got
end

--- Compares one case; why it differs, or nil.
local function check_case(t, i, case)
  local input, want = case["in"], case.out.merged
  local kind = KINDS[input.update_mode]
  if input.batch_size < 2 then
    t.equal(tree(input.batch_size), nil, i)
    return "a merge of less than two patches is refused"
  end
  local ctx, instance = fake(scripted(input), kind), tree(input.batch_size)
  local merged = instance.run(raws_of(input), ctx, instance.opt)
  t.equal(calls_of(ctx), without_retries(case.out.calls), i)
  t.equal(reasoning_of(merged, want.reasoning), want.reasoning, i)
  t.equal(bare(merged[kind]), bare(want[kind]), i)
end

test("calls and merged patches equal core_merge_tree", function(t)
  local book = vectors.book "core_merge_tree.json"
  for i, case in ipairs(book.cases) do book:note(i, check_case(t, i, case)) end
  book:check(t)
end)

test("a merge batch below 2 is refused with words", function(t)
  local case = json.decode(test.read "tests/cases/c13_merge_batch_size.json")
  for _, size in ipairs(case.merge_batch_size) do
    local instance, err = tree(size)
    t.equal(instance, nil)
    t.ok(err.message:find("'merge_batch_size' must be a whole number of at least 2", 1,
      true))
  end
end)

test("a merge call has its inputs, stage and limit", function(t)
  local ctx, instance = fake(scripted {}), tree(8)
  instance.run({ raw("F0", "failure", 1), raw("F1", "failure", 1),
    raw("S0", "success", 2) }, ctx,
    instance.opt)
  local first, last = ctx.asked[1], ctx.asked[2]
  t.equal({ first.prompt, first.stage, first.want, first.max_tokens },
    { "merge_failure", "merge", { "edits" }, 16384 })
  t.equal({ first.inputs.skill, first.inputs.meta, first.inputs.count,
    first.inputs.level },
    { "SKILL", "META", 2, 1 })
  t.equal({ last.prompt, last.inputs.failures, last.inputs.successes },
    { "merge_final", 2, 2 })
end)

test("the prompts show skill, memory of edits, patches and sizes", function(t)
  local ctx, instance = fake(scripted {}), tree(8)
  instance.run({ raw("F0", "failure", 1), raw("F1", "failure", 1) }, ctx, instance.opt)
  local user = ctx.filled.user
  t.ok(user:find("about edits.*META.*SKILL.*merge %(2, round 1%).*F0%.0.*F1%.0"), user)
  instance.run({ raw("F0", "failure", 3), raw("S0", "success", 1) }, ctx, instance.opt)
  user = ctx.filled.user
  t.ok(user:find("from failures %(3 edits, .*successes %(1 edits%).*F0%.2.*S0%.0"), user)
end)

test("the examples in the prompts are replies that would be taken", function(t)
  local batches = {
    { raw("F0", "failure", 1), raw("F1", "failure", 1) },
    { raw("S0", "success", 1), raw("S1", "success", 1) },
    { raw("F0", "failure", 1), raw("S0", "success", 1) },
  }
  for i, raws in ipairs(batches) do
    local ctx, instance = fake(scripted {}), tree(8)
    instance.run(raws, ctx, instance.opt)
    local example = reply.extract(ctx.filled.system, { want = { "edits" } })
    t.equal(ctx.asked[1].check(example), true, i)
  end
end)

test("support is the real size of the minibatches, at most their sum", function(t)
  local ctx = fake(function()
    return { reasoning = "m",
      edits = { append("x", { support_count = 40 }), append "F0.0" } }
  end)
  local instance = tree(8)
  local merged =
    instance.run({ raw("F0", "failure", 1, 8), raw("F1", "failure", 1, 3) }, ctx,
    instance.opt)
  t.equal({ merged.edits[1].support_count, merged.edits[2].support_count }, { 11, 8 })
end)

test("a reply with one bad element loses no edit: the inputs stay", function(t)
  local ctx =
    fake(function() return { reasoning = "m", edits = { append "x", "text" } } end)
  local instance = tree(8)
  local merged =
    instance.run({ raw("F0", "failure", 1), raw("F1", "failure", 2) }, ctx, instance.opt)
  t.equal(bare(merged.edits), { { "F0.0", 1 }, { "F1.0", 1 }, { "F1.1", 1 } })
  t.equal(merged.notes,
    { "A merge failed (parse): its edits were put one behind the other." })
end)

test("notes of earlier merges are carried to the last one", function(t)
  local ctx, instance = fake(scripted { calls_unusable = { 0 } }), tree(2)
  local merged = instance.run({ raw("F0", "failure", 1), raw("F1", "failure", 1),
    raw("F2", "failure", 1), raw("S0", "success", 1) }, ctx, instance.opt)
  t.equal(#ctx.asked, 3)
  t.equal(merged.notes,
    { "A merge failed (parse): its edits were put one behind the other." })
end)

test("malformed raw patches and empty ones give nothing to merge", function(t)
  local ctx, instance = fake(scripted {}), tree(8)
  local merged = instance.run({ { malformed = true, kind = "parse", batch_size = 3 },
    raw("F0", "failure", 0) }, ctx, instance.opt)
  t.equal(merged, { reasoning = "There are no edits.", edits = {} })
  t.equal(#ctx.asked, 0)
end)

--- A raw patch whose one edit has about so many tokens.
local function large(name, source_type, tokens)
  local one = raw(name, source_type, 1)
  one.patch.edits[1].content = name .. (" abc"):rep(tokens)
  return one
end

--- Tokens of the prompt of a merge of failures without patches.
local function fixed()
  local ctx = fake(scripted {})
  return 100000 - budget.room(ctx, 100000, { prompt = "merge_failure", open = "patches",
    inputs = { skill = "SKILL", meta = "META", size = 5, max_size = "", count = 4, level = 1 } })
end

local function names_of(ctx)
  local out = {}
  for i, options in ipairs(ctx.asked) do
    local names = {}
    for k, one in ipairs(json.decode(options.inputs.patches)) do names[k] = one.reasoning end
    out[i] = table.concat(names, " ")
  end
  return out
end

test("a merge that does not fit its prompt is split, and the parts are merged", function(t)
  local limit = fixed() + 2500
  local ctx, instance = fake(function()
    return { reasoning = "M", edits = { append "m" } }
  end), tree(8, limit)
  local raws = {}
  for i = 1, 4 do raws[i] = large("F" .. i, "failure", 1000) end
  local merged = instance.run(raws, ctx, instance.opt)
  t.equal(names_of(ctx), { "F1 F2", "F3 F4", "M M" })
  t.equal({ merged.n_merges_split, merged.notes }, { 1 })
  for _, options in ipairs(ctx.asked) do
    t.ok(text.tokens(options.inputs.patches) <= 2500)
  end
end)

test("patches of which no two fit are put one behind the other, and none is lost", function(t)
  local ctx, instance = fake(scripted {}), tree(8, fixed() + 1200)
  local raws = { large("F1", "failure", 1000), large("F2", "failure", 1000),
    large("S1", "success", 1000) }
  local merged = instance.run(raws, ctx, instance.opt)
  t.equal({ #ctx.asked, #merged.edits, merged.n_merges_split }, { 0, 3, 2 })
  t.ok(merged.notes[1]:find("^A merge was over %d+ tokens: its edits were put one behind"))
end)

test("a budget that leaves no room is gone over, and the log says so", function(t)
  local ctx, instance = fake(scripted {}), tree(8, 10)
  instance.run({ raw("F0", "failure", 1), raw("F1", "failure", 1) }, ctx, instance.opt)
  t.equal(#ctx.asked, 1)
  t.equal({ ctx.logged[1].event, ctx.logged[1].prompt, ctx.logged[1].prompt_tokens },
    { "over_budget", "merge_failure", 10 })
end)
