--- Proposals by kind: how they are checked, told and compared.
local item = require "skillopt.item"
local patch = require "skillopt.patch"
local test = require "skillopt.test"
local json = require "rt.json"
local vectors = test.support "tests/lua/vectors.lua"

local SUGGESTIONS <const>, CANDIDATES <const> = "revise_suggestions", "skill_candidates"

local function suggestion(more)
  local out = { type = "clarify", title = "t", instruction = "say it" }
  for field, value in pairs(more or {}) do out[field] = value end
  return out
end

local KEY_OF <const> = { patch = "edits", rewrite = SUGGESTIONS, full_rewrite = CANDIDATES,
  rewrite_from_suggestions = SUGGESTIONS, full_rewrite_minibatch = CANDIDATES }

--- Summaries of core_update_modes (from 1) that differ on purpose, with ours: what is no
--- text is left out, and a text alone is a list of one.
local OURS <const> = {
  [3] = { op = "delete", content = "", target = "" },
  [6] = { title = "", change_summary = { "a" }, source_type = "failure" },
  [7] = { title = "", change_summary = { "x" }, source_type = "" },
}

test("short summaries equal core_update_modes, but for what is no text", function(t)
  local book, n = vectors.book("core_update_modes.json", "summaries"), 0
  for i, case in ipairs(book.cases) do
    if case.fn == "short_item_summary" then
      n = n + 1
      local kind = item.kinds[KEY_OF[case["in"].mode]]
      t.equal(kind.compact(case["in"].item), OURS[n] or case.out, n)
      book:note(i, OURS[n] and "what is no text is left out, a text alone is a list of one")
    end
  end
  book:check(t)
end)

test("the words for an update mode lead to the kind of core_update_modes", function(t)
  for _, case in ipairs(test.vectors("core_update_modes.json").cases) do
    if case.fn == "normalize" then
      local kind = item.kinds[KEY_OF[case.out.mode]]
      t.equal({ kind.key, kind.word }, { case.out.key, case.out.label })
    end
  end
end)

test("a suggestion needs an instruction and a known type", function(t)
  local items, faults = patch.check({ suggestion(), suggestion { instruction = " " },
    suggestion { type = "delete_all" },
    suggestion { type = " Add_Rule ", priority_hint = "soon" } }, SUGGESTIONS)
  t.equal({ #items, items[2].type, items[2].priority_hint }, { 2, "add_rule", "medium" })
  t.equal({ faults[1].fate, faults[2].fate }, { "malformed", "unknown_op" })
end)

test("a candidate needs a document", function(t)
  local items, faults = patch.check({ { new_skill = "# A\n", change_summary = "one" },
    { new_skill = "  " }, { title = "t" } }, CANDIDATES)
  t.equal(items, { { title = "", new_skill = "# A\n", change_summary = { "one" } } })
  t.equal({ faults[1].fate, faults[2].fate }, { "malformed", "malformed" })
end)

test("each kind has its line for a prompt", function(t)
  t.equal(item.describe { op = "append", content = "c", support_count = 2 },
    'append, content "c", support 2')
  t.equal(item.describe(suggestion { priority_hint = "high" }),
    'clarify, title "t", instruction "say it", priority high, support 0')
  t.equal(item.describe { title = "t", change_summary = { "c" }, new_skill = "# A",
    support_count = 3 }, 'title "t", changes ["c"], document "# A", support 3')
end)

test("a raw patch of each kind is kept, counted and merged under its own list", function(t)
  local facts = { batch_size = 3, source_type = "failure", budget = 2, kind = SUGGESTIONS,
    leak = function(s) return s:find("task-0001", 1, true) and "leak: it" or nil end }
  local reply = { patch = { reasoning = "r", revise_suggestions = json.array { suggestion(),
    suggestion { instruction = "as in task-0001" } } } }
  local raw = patch.raw(reply, facts)
  t.equal({ #raw.patch.revise_suggestions, raw.dropped[1].fate }, { 1, "leak" })
  local found = patch.normalise({ raw }, SUGGESTIONS)
  t.equal(found.failure[1].revise_suggestions[1].support_count, 3)
  local both = patch.merged(
    { revise_suggestions = json.array { suggestion { support_count = 99 } } },
    { found.failure[1], found.failure[1] }, 1)
  t.equal({ both.revise_suggestions[1].support_count, both.revise_suggestions[1].merge_level },
    { 6, 1 })
  t.equal(#patch.concat({ found.failure[1], found.failure[1] }, "n").revise_suggestions, 2)
end)

test("a reply with the list of another kind cannot be used", function(t)
  t.ok(not patch.is_usable({ patch = { edits = json.array {} } }, SUGGESTIONS))
  t.ok(patch.is_usable({ patch = { revise_suggestions = json.array {} } }, SUGGESTIONS))
end)

test("suggestions and candidates that say the same have one key", function(t)
  t.equal(patch.key(suggestion()), patch.key(suggestion { title = "other", support_count = 4 }))
  t.ok(patch.key(suggestion()) ~= patch.key(suggestion { instruction = "not that" }))
  t.equal(patch.key { new_skill = "a\n", change_summary = {} },
    patch.key { new_skill = "a", title = "t" })
end)
