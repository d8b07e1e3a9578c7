--- Documents written anew: the update policies `rewrite` and `full_rewrite`.
local loader = require "skillopt.loader"
local patch = require "skillopt.patch"
local policy = require "skillopt.policy"
local prompt = require "skillopt.prompt"
local skill = require "skillopt.skill"
local test = require "skillopt.test"
local json = require "rt.json"
local reply = require "rt.reply"
local vectors = test.support "tests/lua/vectors.lua"

local FOLDER <const> = loader.home .. "/lua/policies/update"
local OPT <const> = { max_tokens = 64000, effort = "high" }

local function update(name)
  local values = name == "rewrite" and OPT or name == "patch" and { max_tokens = 0 } or {}
  return policy.instance(loader.user_file(FOLDER .. "/" .. name .. ".lua"), values, { name = name })
end

local function fake(text)
  local ctx = { step = { memory = "MEMORY", size = 5, max_size = "" }, asked = json.array {},
    records = {} }
  function ctx:ask(options)
    self.asked[#self.asked + 1] = { options.max_tokens, options.stage, options.reasoning_effort }
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

local function suggestions(n)
  local out = patch.empty("", "revise_suggestions")
  for i = 1, n do
    out.revise_suggestions[i] = { type = "clarify", title = "t", instruction = "i" .. i,
      motivation = "", priority_hint = "high" }
  end
  return out
end

local function rewrite(document, text, n)
  local ctx, policy_of = fake(text), update "rewrite"
  local new, fates, summary = policy_of.run(skill.new(document), suggestions(n or 1), ctx,
    policy_of.opt)
  return new, fates, summary, ctx
end

--- Replies of core_rewrite that differ on purpose: what is no text is no document, and a
--- summary is a list of texts.
local OURS <const> = { ['{"new_skill":null}'] = "none", ['{"new_skill":5}'] = "none",
  ['{"new_skill":["a"]}'] = "none", ['{"new_skill":"x","change_summary":"str"}'] = { "str" },
  ['{"new_skill":"x","extra":1,"change_summary":[1,null]}'] = {} }

local function check_case(t, case, ours)
  local n = #case["in"].suggestions
  local new, _, summary, ctx = rewrite("# Old\n", case["in"].reply, n)
  local result = case.out.result
  if n == 0 then
    return t.equal({ new.text, #ctx.asked }, { "# Old\n", 0 }) -- nothing asked, nothing changed
  end
  t.equal(ctx.asked[1], { 64000, "rewrite", "high" })
  if ours == "none" or result == json.null then return t.equal(new, nil, case["in"].reply) end
  t.equal(new.text, result.new_skill)
  t.equal(summary, ours or result.change_summary)
end

test("rewrites equal core_rewrite", function(t)
  local book = vectors.book "core_rewrite.json"
  for i, case in ipairs(book.cases) do
    local ours = OURS[case["in"].reply]
    if case["in"].suggestions == json.null then
      book:differs(i, "what is no list of suggestions never gets so far")
    elseif case["in"].raises then
      book:differs(i, "weather stops the run, resumable")
    else
      check_case(t, case, ours)
      book:note(i, ours and "what is no text is no document and no summary"
        or #case["in"].suggestions == 0 and "nothing suggested changes nothing: no_change")
    end
  end
  book:check(t)
end)

test("a rewrite that cannot be used is none, with its kind as reason", function(t)
  local new, why, _, ctx = rewrite("# Old\n", "no JSON at all")
  t.equal({ new, why }, { nil, "parse" })
  t.equal(ctx.records, {})
end)

test("the writer sees body, suggestions and memory, and what it wrote is on record", function(t)
  local _, _, _, ctx = rewrite("# Old\n", '{"reasoning": "r", "new_skill": "# New\\n"}')
  for _, piece in ipairs { "# Old", '"instruction": "i1"', "MEMORY" } do
    t.ok(ctx.filled.user:find(piece, 1, true), piece)
  end
  t.equal(ctx.records.rewrite_result,
    { reasoning = "r", change_summary = {}, new_skill = "# New\n" })
end)

local GUIDED <const> = skill.new("# Old\n"):with_region("slow_update", "Guidance.")
  :with_region("appendix", "- Note.")

local function keeps_regions(t, new)
  t.equal(new.regions, GUIDED.regions)
  local _, n = new.text:gsub("Guidance%.", "")
  t.equal(n, 1)
end

test("protected regions are not shown to the writer and survive", function(t)
  local ctx, one = fake '{"new_skill": "# New\\n"}', update "rewrite"
  local new = one.run(GUIDED, suggestions(1), ctx, one.opt)
  t.ok(not ctx.filled.user:find("Guidance.", 1, true))
  t.ok(new.text:find "^# New\n")
  keeps_regions(t, new)
end)

test("a writer that gives the regions back, changed, changes nothing in them", function(t)
  local written = skill.new("# New\n"):with_region("slow_update", "Other guidance").text
  local ctx, one = fake(json.encode { new_skill = written }), update "rewrite"
  local new = one.run(GUIDED, suggestions(1), ctx, one.opt)
  t.ok(not new.text:find("Other guidance", 1, true))
  keeps_regions(t, new)
end)

local function candidates(...)
  local out = patch.empty("", "skill_candidates")
  for i, text in ipairs { ... } do
    out.skill_candidates[i] = { title = "t" .. i, change_summary = { "c" .. i }, new_skill = text }
  end
  return out
end

test("the first candidate takes the place of the document, regions stay", function(t)
  local ctx, one = fake "", update "full_rewrite"
  local merged = candidates("# One\n\n", "# Two\n")
  local new, fates, summary = one.run(GUIDED, merged, ctx, one.opt)
  t.ok(new.text:find "^# One\n")
  keeps_regions(t, new)
  t.equal({ fates, summary, #ctx.asked }, { {}, { "c1" }, 0 })
  t.equal(ctx.records.full_rewrite_result,
    { selected_candidate = merged.skill_candidates[1], merged_patch = merged })
end)

test("without a candidate there is no new document", function(t)
  local one = update "full_rewrite"
  t.equal({ one.run(GUIDED, candidates(), fake "", one.opt) }, { nil, "no candidate" })
end)

test("each update says what it works on", function(t)
  t.equal({ update("patch").takes, update("rewrite").takes, update("full_rewrite").takes },
    { "edits", "revise_suggestions", "skill_candidates" })
end)
