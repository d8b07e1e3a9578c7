--- The choice of edits when there are more than the rate allows.
local loader = require "skillopt.loader"
local patch = require "skillopt.patch"
local policy = require "skillopt.policy"
local prompt = require "skillopt.prompt"
local test = require "skillopt.test"
local json = require "rt.json"
local reply = require "rt.reply"
local vectors = test.support "tests/lua/vectors.lua"

local FOLDER <const> = loader.home .. "/lua/policies/select"
local RANK <const> = policy.instance(
  loader.user_file(FOLDER .. "/rank.lua"), {}, { name = "rank" })

local function pool(n, mode)
  if mode == "rewrite_from_suggestions" then
    local out = patch.empty("merged", "revise_suggestions")
    for i = 1, n do
      out.revise_suggestions[i] = { type = "clarify", title = "t", instruction = "e" .. i - 1 }
    end
    return out
  end
  local edits = json.array {}
  for i = 1, n do
    edits[i] = { op = "append", content = "e" .. i - 1, support_count = i }
  end
  return { reasoning = "merged", edits = edits }
end

--- A ctx that answers every call with the text, as `ctx:ask` does.
local function fake(text)
  local ctx = { skill = "SKILL", step = { meta = "META", size = 5, max_size = "" }, asked = {} }
  function ctx:ask(options)
    self.asked[#self.asked + 1] = options
    self.filled = prompt.render(options.prompt, options.inputs, { FOLDER })
    local value, err = reply.extract(text, { want = options.want, array = options.array })
    if value == nil then return nil, err end
    local ok, why = options.check(value)
    if ok then return value end
    return nil, { kind = "parse", message = why }
  end
  return ctx
end

local function names(chosen)
  local out = {}
  for i, item in ipairs(patch.items(chosen)) do out[i] = item.content or item.instruction end
  return out
end

--- Cases of core_rank_select that differ on purpose, with our choice:
--- JSON truth values are no numbers here, and a comma too many is mended.
local OURS <const> = { ["[true, false, 2]"] = { "e2" }, ["[4,3,]"] = { "e4", "e3" } }
local REASONS <const> = { ["[true, false, 2]"] = "a truth value is no index",
  ["[4,3,]"] = "a comma too many is mended" }

local function outcome(case)
  local input = case["in"]
  local ctx, whole = fake(input.reply), pool(input.n, input.mode)
  local got = RANK.run(whole, math.max(input.max_edits, 0), ctx, RANK.opt)
  return {
    called = #ctx.asked > 0, selected = names(got),
    has_ranking_details = got.ranking_details ~= nil, unchanged = got == whole,
  }
end

test("selections equal core_rank_select", function(t)
  local book = vectors.book "core_rank_select.json"
  for i, case in ipairs(book.cases) do
    local input = case["in"]
    local list, why = input.reply:match "(%[.*%])", nil
    if input.max_edits <= 0 and input.n > 0 then
      t.equal(outcome(case),
        { called = false, selected = {}, has_ranking_details = false, unchanged = false }, i)
      why = "at a rate of 0 nobody is asked and nothing is kept"
    elseif OURS[list] then
      t.equal(outcome(case).selected, OURS[list], i)
      why = REASONS[list]
    else
      t.equal(outcome(case), case.out, i)
    end
    book:note(i, why)
  end
  book:check(t)
end)

test("a ranking call has its inputs, stage and limit", function(t)
  local ctx = fake '{"reasoning": "r", "selected_indices": [2, 0]}'
  RANK.run(pool(3), 2, ctx, RANK.opt)
  local asked = ctx.asked[1]
  t.equal({ asked.prompt, asked.stage, asked.want, asked.max_tokens },
    { "ranking", "ranking", { "selected_indices" }, 16384 })
  t.equal(asked.inputs, {
    skill = "SKILL", meta = "META", count = 3, last = 2, rate = 2, size = 5,
    max_size = "",
    pool = '[0] append, content "e0", support 1\n[1] append, content "e1", support 2\n'
      .. '[2] append, content "e2", support 3',
  })
end)

test("the prompt shows skill, memory of edits, pool and rate", function(t)
  local ctx = fake '{"reasoning": "r", "selected_indices": [2, 0]}'
  RANK.run(pool(3), 2, ctx, RANK.opt)
  local user = ctx.filled.user
  t.ok(user:find "about edits.*META.*## Current skill\n\nSKILL.*%(3, numbered 0 to 2%)",
    user)
  t.ok(user:find '%[2%] append, content "e2".*Choose 2 of them%.', user)
  ctx.step.meta = ""
  RANK.run(pool(3), 2, ctx, RANK.opt)
  t.ok(ctx.filled.user:find "^## Current skill", ctx.filled.user)
end)

test("the example in the prompt is a reply that would be taken", function(t)
  local ctx = fake '{"selected_indices": [0]}'
  RANK.run(pool(5), 2, ctx, RANK.opt)
  local example = reply.extract(ctx.filled.system, { want = { "selected_indices" } })
  t.equal(ctx.asked[1].check(example), true)
end)

test("edits left out are listed with place and fate", function(t)
  local got =
    RANK.run(pool(3), 1, fake '{"reasoning": "r", "selected_indices": [1]}', RANK.opt)
  t.equal(got.reasoning, "merged\nRanked: 1 of 3 selected.")
  t.equal(got.ranking_details, { reasoning = "r", selected_indices = { 1 } })
  t.equal(got.dropped, {
    { index = 1, fate = "over_budget", reason = "the rate is 1", op = "append",
      content = "e0" },
    { index = 3, fate = "over_budget", reason = "the rate is 1", op = "append",
      content = "e2" },
  })
end)

test("an unusable ranking takes the first edits and says so", function(t)
  local got = RANK.run(pool(3), 2, fake "no JSON", RANK.opt)
  t.equal(names(got), { "e0", "e1" })
  t.equal(got.reasoning, "merged\nNo usable ranking (parse): the first 2 were taken.")
end)

test("a rate of 0 gives an empty patch without a call", function(t)
  local ctx = fake "{}"
  local got = RANK.run(pool(2), 0, ctx, RANK.opt)
  t.equal({ #got.edits, #got.dropped, #ctx.asked }, { 0, 2, 0 })
  t.equal(json.is_array(got.edits), true)
end)
