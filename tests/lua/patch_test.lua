--- Patches: what is taken from a reply, and what becomes of the rest.
local patch = require "skillopt.patch"
local test = require "skillopt.test"
local json = require "rt.json"
local vectors = test.support "tests/lua/vectors.lua"


local function facts(changes)
  local out = { batch_size = 5, source_type = "failure", budget = 4 }
  for name, value in pairs(changes or {}) do out[name] = value end
  return out
end

local function append(content, changes)
  local out = { op = "append", content = content }
  for name, value in pairs(changes or {}) do out[name] = value end
  return out
end

test("a reply without a list of edits says what is wrong", function(t)
  local case = json.decode(test.read "tests/cases/a09_shape_errors.json")
  t.equal({ patch.list(case.replies[1]) }, { nil, '"edits" is no list' })
  t.equal({ patch.list(case.replies[2]) }, { nil, '"edits" is no list' })
  t.equal({ patch.list(case.replies[3]) }, { nil, '"edits" is no list' })
  t.equal({ patch.list {} }, { nil, "the reply is no JSON object" })
  t.equal({ patch.list "text" }, { nil, "the reply is no JSON object" })
  t.equal({ patch.list { patch = "x" } }, { nil, '"patch" is no JSON object' })
  t.equal({ patch.list { patch = { reasoning = "" } } }, { nil, '"edits" is missing' })
end)

test("each element that is no edit is named with its place and the reason", function(t)
  local case = json.decode(test.read "tests/cases/a09_shape_errors.json")
  local items, faults, places = patch.check(patch.list(case.replies[4]))
  t.equal(items, { { op = "append", content = "y" } })
  t.equal(places, { 6 })
  t.equal(faults, {
    { index = 1, fate = "malformed", reason = "not an object" },
    { index = 2, fate = "malformed", reason = "not an object" },
    { index = 3, fate = "malformed", reason = "not an object" },
    { index = 4, fate = "malformed", reason = "append has no content", op = "append" },
    { index = 5, fate = "malformed", reason = "append has no content", op = "append" },
    { index = 7, fate = "empty_target",
      reason = "replace needs the text it refers to as target",
      op = "replace", content = "z" },
    { index = 8, fate = "malformed", reason = "append has no content", op = "append",
      content = "   " },
  })
end)

test("a bare list of edits is taken as the edits", function(t)
  local case = json.decode(test.read "tests/cases/a09_shape_errors.json")
  t.equal((patch.check(patch.list(case.replies[5]))), { append "bare array" })
end)

test("ops are read in any case, an unknown one is named", function(t)
  local items, faults = patch.check {
    { op = " Insert_After ", target = "a", content = "b" },
      { op = "regex", content = "c" },
    { content = "d" }, { op = "append", content = 3 }, { op = "delete", target = "e" },
    { op = "replace", target = "f" },
  }
  t.equal(items, {
    { op = "insert_after", target = "a", content = "b" }, { op = "delete", target = "e" },
    { op = "replace", target = "f", content = "" },
  })
  t.equal({ faults[1].fate, faults[1].reason },
    { "unknown_op", 'there is no op "regex"' })
  t.equal({ faults[2].reason, faults[3].reason },
    { "op is no text", "content is no text" })
end)

test("a reply is usable when it is empty or has one good edit", function(t)
  t.equal(patch.is_usable { edits = json.array {} }, true)
  t.equal(patch.is_usable { patch = { edits = { 7, append "x" } } }, true)
  local ok, reason = patch.is_usable { edits = { 7, { op = "append" } } }
  t.equal(ok, false)
  t.equal(reason,
    'item 1 of "edits": not an object; item 2 of "edits": append has no content')
end)

test("a reply is whole only when every edit is good", function(t)
  t.equal(patch.is_whole { edits = { append "x" } }, true)
  t.equal(patch.is_whole { edits = { 7, append "x" } }, false)
  t.equal(patch.is_whole { edits = json.null }, false)
end)

test("a raw patch has our counts, not the model's", function(t)
  local reply = {
    batch_size = "3 trajectories",
    failure_summary = { { failure_type = "rule_missing", count = 99, description = "d" },
      { failure_type = "x" }, "text", { count = 3 } },
    patch = { reasoning = "r", edits = { append "a" } },
    extra = "not kept",
  }
  t.equal(patch.raw(reply, facts()), {
    batch_size = 5, source_type = "failure",
    failure_summary = {
      { failure_type = "rule_missing", count = 5, description = "d" },
      { failure_type = "x", count = 1, description = "" },
    },
    patch = { reasoning = "r", edits = { append "a" } },
  })
end)

test("a raw patch of successes has their patterns", function(t)
  local reply = { success_patterns = { "p", 3, " " }, edits = json.array {} }
  t.equal(patch.raw(reply, facts { source_type = "success" }), {
    batch_size = 5, source_type = "success", success_patterns = { "p" },
    patch = { reasoning = "", edits = {} },
  })
end)

test("edits beyond the budget are dropped with their fate", function(t)
  local raw =
    patch.raw({ edits = { 7, append "a", append "b", 8 } }, facts { budget = 1 })
  t.equal(raw.patch.edits, { append "a" })
  t.equal(raw.dropped, {
    { index = 1, fate = "malformed", reason = "not an object" },
    { index = 3, fate = "over_budget", reason = "the budget is 1", op = "append",
      content = "b" },
    { index = 4, fate = "malformed", reason = "not an object" },
  })
end)

test("an edit that is refused as a leak is dropped and leaves the budget", function(t)
  local edits = { append "give Napoleon", append "a", append "b" }
  local function leak(content)
    return content:find "Napoleon" and "leak: gives an answer" or nil
  end
  local raw = patch.raw({ edits = edits }, facts { leak = leak, budget = 2 })
  t.equal(raw.patch.edits, { edits[2], edits[3] })
  t.equal({ raw.dropped[1].fate, raw.dropped[1].reason }, { "leak", "leak: gives an answer" })
end)

test("a reply that stayed unusable is counted as malformed", function(t)
  local raw = patch.malformed({ kind = "truncated", message = "m" }, facts())
  t.equal(raw,
    { malformed = true, kind = "truncated", source_type = "failure", batch_size = 5 })
  t.equal(patch.normalise { raw }, { failure = {}, success = {}, malformed = 1 })
end)

--- Kinds of the modes in core_normalise_patches; what is no mode the configuration refuses.
local KINDS <const> = { patch = "edits", rewrite = "revise_suggestions",
  rewrite_from_suggestions = "revise_suggestions", full_rewrite = "skill_candidates" }

--- Items that claim a support of their own, or a batch size that is no positive
--- whole number. Here support is the batch size, which we set, or 1; a claim never counts
--- and no claim ends the run.
local function has_claim(raws)
  for _, raw in ipairs(raws) do
    if type(raw) == "table" then
      local size = raw.batch_size
      if size ~= nil and size ~= json.null and math.type(size) ~= "integer" then
        return true
      end
      local inner = type(raw.patch) == "table" and raw.patch or raw
      for _, item in ipairs(type(inner.edits) == "table" and inner.edits or {}) do
        if type(item) == "table" and (item.support_count or item.source_type) then
          return true
        end
      end
    end
  end
  return false
end

--- Elements that are no objects stay in there; here they are gone at the door. A source
--- that is no text stays in there; here it counts as a failure.
local function expected(patches)
  local out = {}
  for i, one in ipairs(patches) do
    out[i] = {}
    for _, item in ipairs(one.edits) do
      if type(item) == "table" then
        if item.source_type == json.null then item.source_type = "failure" end
        table.insert(out[i], item)
      end
    end
  end
  return out
end

local function bare_edits(patches)
  local out = {}
  for i, one in ipairs(patches) do out[i] = one.edits end
  return out
end

local function edits_of(patches)
  local out = {}
  for i, one in ipairs(patches) do out[i] = one.edits end
  return out
end

--- Our support of each raw patch that has items: the batch size, or 1.
local function supports(raws, side)
  local out = {}
  for _, raw in ipairs(raws) do
    local inner = type(raw) == "table" and (raw.patch == nil and raw or raw.patch) or {}
    local is_success = type(raw) == "table" and raw.source_type == "success"
    if type(inner.edits) == "table" and #inner.edits > 0
      and is_success == (side == "success") then
      local size = raw.batch_size
      out[#out + 1] = math.type(size) == "integer" and size > 0 and size or 1
    end
  end
  return out
end

--- For cases with claims: the same edits in the same places, with our support.
local function check_claims(t, groups, case, i)
  for _, side in ipairs { "failure", "success" } do
    local support = supports(case["in"].raw_patches, side)
    t.equal(#groups[side], #support, i)
    for p, edits in ipairs(case.out.error and {} or expected(case.out[side])) do
      for e, item in ipairs(edits) do
        local got = groups[side][p].edits[e]
        t.equal({ got.op, got.content, got.support_count },
          { item.op, item.content, support[p] }, i)
      end
    end
  end
end

--- Compares one case; why it differs, or nil.
local function check_groups(t, i, case)
  local input = case["in"]
  local kind = KINDS[input.update_mode]
  if not kind then return "an unknown mode is refused, not taken for patch" end
  local groups = patch.normalise(input.raw_patches, kind)
  if kind ~= "edits" then
    for _, side in ipairs { "failure", "success" } do
      t.equal(#groups[side], #case.out[side], i)
      for p, one in ipairs(case.out[side]) do t.equal(groups[side][p][kind], one[kind], i) end
    end
    return nil
  end
  if has_claim(input.raw_patches) then
    check_claims(t, groups, case, i)
    return "support is the size of the minibatch; claims count nowhere and end no run"
  end
  local want = { expected(case.out.failure), expected(case.out.success) }
  local has_others = json.canonical(want) ~= json.canonical {
    bare_edits(case.out.failure), bare_edits(case.out.success) }
  t.equal({ edits_of(groups.failure), edits_of(groups.success) }, want, i)
  return has_others and "what is no object is gone at the door" or nil
end

test("normalised patches equal core_normalise_patches", function(t)
  local book = vectors.book "core_normalise_patches.json"
  for i, case in ipairs(book.cases) do book:note(i, check_groups(t, i, case)) end
  book:check(t)
end)

test("support is the batch size whatever the model claims", function(t)
  local item = append("a", { support_count = 9, source_type = "success" })
  local raws = {
    { source_type = "failure", batch_size = 2, patch = { edits = { item } } },
    { source_type = "success", batch_size = "4", patch = { edits = { append "b" } } },
  }
  local groups = patch.normalise(raws)
  t.equal(groups.failure[1].edits[1],
    append("a", { support_count = 2, source_type = "failure" }))
  t.equal(groups.success[1].edits[1].support_count, 1)
  t.equal(item.support_count, 9, "the raw patch is left as it is")
end)

test("an element that is no object is left out when patches are normalised", function(t)
  local groups =
    patch.normalise { { batch_size = 7, patch = { edits = { "str", append "ok" } } } }
  t.equal(#groups.failure[1].edits, 1)
end)

test("a merged patch claims no more support than its inputs have", function(t)
  local inputs = {
    { reasoning = "1", edits = { append("a", { support_count = 3 }) } },
    { reasoning = "2",
      edits = { append("b", { support_count = 2 }), append("a", { support_count = 2 }) },
      notes = { "old note" } },
  }
  local reply = { reasoning = "m", edits = {
    append("x", { support_count = 99 }), append "a", append("y", { support_count = 2 }),
      append "z",
  } }
  local merged = patch.merged(reply, inputs, 2)
  local support = {}
  for i, item in ipairs(merged.edits) do support[i] = item.support_count end
  t.equal(support, { 5, 5, 2, 1 })
  t.equal({ merged.reasoning, merged.notes, merged.edits[1].merge_level },
    { "m", { "old note" }, 2 })
end)

test("a merge that keeps nothing says so", function(t)
  local inputs = { { edits = { append "a" } }, { edits = { append "b" } } }
  local merged = patch.merged({ reasoning = "", edits = json.array {} }, inputs, 1)
  t.equal(merged.notes, { "A merge kept none of 2 edits." })
end)

test("concat puts items one behind the other and keeps their levels", function(t)
  local inputs =
    { { edits = { append("a", { merge_level = 1 }) } }, { edits = { append "b" } } }
  t.equal(patch.concat(inputs, "why", 2), {
    reasoning = "why", notes = { "why" },
    edits = { append("a", { merge_level = 1 }), append("b", { merge_level = 2 }) },
  })
  t.equal(patch.concat({ patch.empty "" }, "why"), { reasoning = "why", edits = {} })
  t.equal(inputs[2].edits[1].merge_level, nil)
end)

test("items are told in lines numbered from 0 with exact texts", function(t)
  local pool = patch.pool { edits = {
    append("- a \"b\"", { support_count = 3 }), { op = "delete", target = "x\ny" },
  } }
  t.equal(pool,
    '[0] append, content "- a \\"b\\"", support 3\n[1] delete, target "x\\ny", support 0')
end)

test("the compact form has op, content and target", function(t)
  t.equal(patch.compact(append("a", { support_count = 3 })),
    { op = "append", content = "a", target = "" })
  t.equal(patch.compact { content = 3 }, { op = "?", content = "", target = "" })
end)

test("items that say the same to the same place have one key", function(t)
  t.equal(patch.key(append " a\n"), patch.key(append("a", { support_count = 2 })))
  t.ok(patch.key(append "a") ~= patch.key { op = "delete", target = "a" })
  t.ok(patch.key { op = "replace", target = "a", content = "b" }
    ~= patch.key { op = "replace", target = "ab", content = "" })
end)

test("an empty patch is an array in JSON", function(t)
  t.equal(json.encode(patch.empty "r"), '{"edits": [], "reasoning": "r"}')
end)

test("a patch has the kind of the list in it, and edits when it has none", function(t)
  t.equal(patch.kind(patch.empty("", "revise_suggestions")), "revise_suggestions")
  t.equal(patch.kind(patch.empty("", "skill_candidates")), "skill_candidates")
  t.equal(patch.kind {}, "edits")
  t.equal(patch.items(patch.empty("", "skill_candidates")), {})
end)
