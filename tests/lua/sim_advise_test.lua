--- The simulated model as adviser and writer.
local advise = require "backends.sim.advise"
local rewrite = require "backends.sim.rewrite"
local test = require "skillopt.test"
local json = require "rt.json"

local RULE <const> =
  "- A value like `{Word} {Word}` is answered as `{2}, {1}`. Example: `Alpha Beta` "
  .. "becomes `Beta, Alpha`."

local function comparison(counts, old)
  return ("## Skill at the end of the epoch before\n\n# S\n\n%s\n\n## Skill now\n\n# S\n%s\n\n"
    .. "## The same tasks with both\n\n%s\n\n## Regressed"):format(RULE, old or "", counts)
end

local LOST <const> = "9 tasks: 3 regressed, 1 failed twice, 1 improved, 4 solved twice."
local WON <const> = "9 tasks: 0 regressed, 1 failed twice, 4 improved, 4 solved twice."

test("guidance brings back a rule that was lost when tasks were lost with it", function(t)
  t.equal(json.decode(advise.guidance(comparison(LOST))).slow_update_content, RULE)
  local old = "\n## Guidance in force until now\n\n- Go on."
  t.equal(json.decode(advise.guidance(comparison(WON, old))).slow_update_content, "- Go on.")
end)

test("the memory says another thing when tasks were lost", function(t)
  local lost, won = json.decode(advise.memory(comparison(LOST))),
    json.decode(advise.memory(comparison(WON)))
  t.ok(lost.meta_skill_content ~= won.meta_skill_content)
  t.equal(lost.reasoning, LOST)
end)

test("the rate is the number of proposals with support, at least one", function(t)
  local pool = [[

[0] append, content "a", support 3
[1] append, content "b", support 1
[2] append, support 2]]
  t.equal(json.decode(advise.rate(pool)).learning_rate, 2)
  t.equal(json.decode(advise.rate "").learning_rate, 1)
end)

test("doubled notes are taken out", function(t)
  t.equal(
    json.decode(advise.notes "## Notes\n\n1. Read it twice.\n2. read it twice\n3. Stop.")
      .appendix_notes, { "Read it twice.", "Stop." })
end)

local ANALYSIS <const> = json.encode { patch = { reasoning = "r", edits = json.array {
  { op = "append", content = "- b" }, { op = "replace", target = "- a", content = "- c" } } } }

test("edits said as suggestions are carried out as the edits would be", function(t)
  local list = json.decode(rewrite.as_suggestions(ANALYSIS)).patch.revise_suggestions
  local user = "## Current skill\n\n# S\n\n- a\n\n## Suggestions\n\n" .. json.encode(list)
  local new = json.decode(rewrite.rewritten(user)).new_skill
  t.ok(new:find("- b", 1, true) and new:find("- c", 1, true) and not new:find("- a", 1, true))
end)

test("documents of several analysts become one with what each adds", function(t)
  local user = "## Current skill\n\n# S\n\n- a\n\n## Failed tasks (2)"
  local one = json.decode(rewrite.as_document(ANALYSIS, user)).patch.skill_candidates[1]
  local other = { new_skill = "# S\n\n- z\n", support_count = 2 }
  local merged = json.decode(rewrite.merge_documents("\n" .. json.encode(json.array {
    { skill_candidates = { one } }, { skill_candidates = { other } } }))).skill_candidates
  t.equal({ #merged, merged[1].support_count }, { 1, 3 })
  t.ok(merged[1].new_skill:find("- z", 1, true) and merged[1].new_skill:find("- b", 1, true))
end)
