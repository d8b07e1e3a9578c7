--- The skill document: regions, edits and their fates, notes.
local test = require "skillopt.test"
local document = require "rt.document"
local json = require "rt.json"
local text = require "rt.text"
local vectors = test.support "tests/lua/vectors.lua"

local SLOW_START <const> = "<!-- SLOW_UPDATE_START -->"
local SLOW_END <const> = "<!-- SLOW_UPDATE_END -->"
local NOTES_START <const> = "<!-- APPENDIX_START -->"
local NOTES_END <const> = "<!-- APPENDIX_END -->"
local HEADING <const> = "## Execution Notes Appendix"

local function decoded(name) return assert(json.decode(test.read("tests/cases/" .. name))) end

local function apply_one(skill, edit)
  local out, rows = document.apply(skill, { edit })
  return out, rows[1]
end

local function fates(rows)
  local list = {}
  for i, row in ipairs(rows) do list[i] = row.fate end
  return list
end

--------------------------------------------------------- vectors: one edit at a time

local OPS <const> = { append = true, insert_after = true, replace = true, delete = true }

--- Where we differ from the reference on purpose: what makes a case belong there,
--- and what must come out instead.
local differences = {
  {
    why = "the name of an operation counts in any case and with blanks around it",
    holds = function(_, edit)
      local op = edit.op
      return type(op) == "string" and not OPS[op] and OPS[text.lower(text.strip(op))]
    end,
    check = function(t, skill, edit, out, row)
      t.equal(row.fate, "applied")
      t.equal(row.op, "append")
      local plain = document.apply(skill, { { op = "append", content = edit.content } })
      t.equal(out, plain)
    end,
  },
  {
    why = "a missing anchor is not turned into an append",
    holds = function(skill, edit)
      return edit.op == "insert_after" and (edit.target or "") ~= ""
        and not text.find(skill, edit.target)
    end,
    check = function(t, skill, _, out, row)
      t.equal(out, skill)
      t.equal({ row.fate, row.status }, { "anchor_missing", "skipped_anchor_missing" })
    end,
  },
  {
    why = "insert_after needs an anchor",
    holds = function(_, edit) return edit.op == "insert_after" and (edit.target or "") == "" end,
    check = function(t, skill, _, out, row)
      t.equal(out, skill)
      t.equal({ row.fate, row.status }, { "empty_target", "skipped_empty_target" })
    end,
  },
  {
    why = "nothing blank is added",
    holds = function(_, edit)
      local adds = edit.op == "append" or edit.op == "insert_after"
      return adds and text.strip(edit.content or "") == ""
    end,
    check = function(t, skill, _, out, row)
      t.equal(out, skill)
      t.equal({ row.fate, row.status }, { "empty_content", "skipped_empty_content" })
    end,
  },
  {
    why = "an anchor that ends its line is followed at once, not one line later",
    holds = function(_, edit) return edit.op == "insert_after" and edit.target:sub(-1) == "\n" end,
    check = function(t, skill, edit, out, row)
      t.equal(out, (text.replace(skill, edit.target, edit.target .. "\n" .. edit.content .. "\n")))
      t.equal({ row.fate, row.status }, { "applied", "applied_insert_after" })
    end,
  },
  {
    why = "a document with CR LF keeps CR LF",
    holds = function(skill, edit)
      return skill:find("\r\n", 1, true) and (edit.op == "append" or edit.op == "insert_after")
    end,
    check = function(t, _, _, out, row, want)
      t.equal(out, (want.skill:gsub("\r?\n", "\r\n")))
      t.equal({ row.fate, row.status }, { "applied", want.reports[1].status })
    end,
  },
  {
    why = "an anchor that reaches into a region does not count",
    holds = function(_, edit) return (edit.target or ""):find("- beta\n\n<!--", 1, true) end,
    check = function(t, skill, _, out, row)
      t.equal(out, skill)
      t.equal({ row.fate, row.status }, { "protected", "skipped_protected_region" })
    end,
  },
  {
    why = "a place in a region does not hide the one in the body",
    holds = function(_, edit) return edit.target == "- dup" end,
    check = function(t, skill, _, out, row)
      t.equal(out, (skill:gsub("%- dup\n$", "Z\n")))
      t.equal({ row.fate, row.status }, { "applied", "applied_replace" })
    end,
  },
  {
    why = "null is an empty target",
    holds = function(_, edit) return edit.target == json.null end,
    check = function(t, skill, _, out, row)
      t.equal(out, skill .. "\nx\n")
      t.equal({ row.fate, row.status }, { "applied", "applied_append" })
    end,
  },
  {
    why = "an operation that is not text is shown as empty",
    holds = function(_, edit) return edit.op == json.null or type(edit.op) == "number" end,
    check = function(t, skill, _, out, row)
      t.equal(out, skill)
      t.equal({ row.op, row.fate, row.status }, { "", "unknown_op", "skipped_unknown_op" })
    end,
  },
}

local function difference_of(skill, edits)
  local edit = edits[1]
  if #edits ~= 1 or type(edit) ~= "table" then return nil end
  for _, difference in ipairs(differences) do
    local ok, holds = pcall(difference.holds, skill, edit)
    if ok and holds then return difference end
  end
end

--- The same for cases of several edits: the text and the fates that must come out.
local several = {
  {
    why = "an anchor that occurs more than once is refused",
    holds = function(skill) return skill:find("- same\n- other\n- same", 1, true) end,
    check = function(t, skill, out, rows)
      t.equal(out, skill)
      for _, row in ipairs(rows) do
        t.equal({ row.fate, row.status, row.matches },
          { "anchor_ambiguous", "skipped_anchor_ambiguous", 3 })
      end
    end,
  },
  {
    why = "null is an empty content, and nothing blank is added",
    holds = function(_, edits) return edits[2].content == json.null end,
    check = function(t, skill, out, rows)
      t.equal(out, skill .. "\nx\n\ny\n")
      t.equal(fates(rows), { "applied", "empty_content", "applied" })
    end,
  },
  {
    why = "a missing anchor is not turned into an append",
    holds = function(_, edits) return edits[2].target == "nowhere" end,
    check = function(t, _, out, rows)
      t.equal(fates(rows), { "applied", "anchor_missing", "applied" })
      t.equal(text.find(out, "\nb\n"), nil)
    end,
  },
}

local function difference_of_several(skill, edits)
  for _, difference in ipairs(several) do
    if #edits > 1 and type(edits[2]) == "table" and difference.holds(skill, edits) then
      return difference
    end
  end
end

local function check_same(t, out, rows, want)
  t.equal(out, want.skill)
  t.equal(#rows, #want.reports)
  for i, report in ipairs(want.reports) do
    local row = rows[i]
    t.equal({ row.status, row.op, row.target, row.content_preview, row.index },
      { report.status, report.op, report.target, report.content_preview, report.index })
    if report.status == "error" then t.equal(row.fate, "malformed") end
  end
end

test("apply equals core_apply_patch but for the differences listed here", function(t)
  local book = vectors.book "core_apply_patch.json"
  for i, case in ipairs(book.cases) do
    local skill, edits = case["in"].skill, case["in"].edits
    local out, rows = document.apply(skill, edits)
    local one, more = difference_of(skill, edits), difference_of_several(skill, edits)
    if one then
      one.check(t, skill, edits[1], out, rows[1], case.out)
    elseif more then
      more.check(t, skill, out, rows)
    else
      check_same(t, out, rows, case.out)
    end
    book:note(i, (one or more or {}).why)
  end
  book:check(t)
end)

------------------------------------------------------------------ vectors: regions

local function injected(skill, name)
  if document.region(skill, name) then return skill end
  if name == "appendix" then return document.with_notes(skill, {}) end
  return document.with_region(skill, name, "")
end

local function with_more_notes(skill, notes)
  local all = document.notes(skill)
  table.move(notes, 1, #notes, #all + 1, all)
  return document.with_notes(skill, all)
end

local fields = {
  has_slow_update_field = function(i) return document.region(i.skill, "slow_update") ~= nil end,
  has_appendix_field = function(i) return document.region(i.skill, "appendix") ~= nil end,
  extract_slow_update_field = function(i) return document.region(i.skill, "slow_update") or "" end,
  inject_empty_slow_update_field = function(i) return injected(i.skill, "slow_update") end,
  inject_empty_appendix_field = function(i) return injected(i.skill, "appendix") end,
  strip_all_slow_update_fields = function(i)
    return text.rstrip(document.without_region(i.skill, "slow_update"))
  end,
  strip_all_appendix_fields = function(i)
    return text.rstrip(document.without_region(i.skill, "appendix"))
  end,
  replace_slow_update_field = function(i)
    return document.with_region(i.skill, "slow_update", i.content)
  end,
  extract_appendix_notes_from_skill = function(i) return document.notes(i.skill) end,
  append_to_appendix_field = function(i) return with_more_notes(i.skill, i.notes) end,
  dedupe_preserve_order = function(i) return document.distinct_notes(i.notes) end,
}

local function without_pairs(skill)
  return skill:gsub(SLOW_START:gsub("%p", "%%%0") .. ".-" .. SLOW_END:gsub("%p", "%%%0"), "")
    :gsub(NOTES_START:gsub("%p", "%%%0") .. ".-" .. NOTES_END:gsub("%p", "%%%0"), "")
end

--- Differences in how regions are kept: which inputs, and what must hold of our
--- result (`want` is the reference's).
local region_differences = {
  {
    why = "a document with CR LF keeps CR LF",
    holds = function(i) return i.skill and i.skill:find("\r\n- two", 1, true) end,
    check = function(t, _, got, want) t.equal(got, (want:gsub("\r?\n", "\r\n"))) end,
  },
  {
    why = "blank lines elsewhere in the document are left alone",
    holds = function(i) return i.skill and i.skill:find("^# G\n.*\n\n\n\n[ay-]") end,
    check = function(t, i, got, want)
      local own, theirs = text.rstrip(i.skill), (text.rstrip(i.skill):gsub("\n\n\n+", "\n\n"))
      t.equal(got, own .. want:sub(#theirs + 1))
    end,
  },
  {
    why = "regions end at the first end marker, and notes hold no marker",
    holds = function(i) return i.skill and i.skill:find("^a <!%-%- APPENDIX_START %-%-> b <!") end,
    check = function(t, i, got)
      t.equal(got:sub(1, 7), "a  d  e")
      if i.notes then
        t.equal(document.notes(got), { "b c", "Note one", "follow the rule." })
      end
    end,
  },
  {
    why = "a marker without its partner is no region, and goes when one is written",
    holds = function(i)
      local rest = i.skill and without_pairs(i.skill) or ""
      return rest:find("<!%-%- [A-Z_]+ %-%->")
    end,
    check = function(t, i, got, want)
      if want == true then return t.equal(got, false) end
      t.equal(text.find(document.body(got), "<!--"), nil)
      for word in i.skill:gmatch "%l+" do t.ok(got:find(word, 1, true), "a word is gone") end
    end,
  },
  {
    why = "an empty region has no blank line in it",
    holds = function(i) return i.content and text.strip(i.content) == "" end,
    check = function(t, _, got, want)
      t.equal(got, (want:gsub("START %-%->\n\n", "START -->\n")))
    end,
  },
  {
    why = "markers inside a content are taken out",
    holds = function(i) return i.content and i.content:find("<!--", 1, true) end,
    check = function(t, i, got)
      local clean = text.strip((i.content:gsub("<!%-%- [A-Z_]+ %-%->", "")))
      t.equal(document.region(got, "slow_update"), clean)
      t.equal(document.check(got), {})
    end,
  },
}

test("regions and notes equal core_fields but for the differences listed here", function(t)
  local book = vectors.book("core_fields.json", "regions")
  for i, case in ipairs(book.cases) do
    local run, input = fields[case.fn], case["in"]
    if run then
      local got = run(input)
      local difference
      if not test.same(got, case.out) then
        for _, each in ipairs(region_differences) do
          if not difference and each.holds(input) then difference = each end
        end
      end
      if difference then
        difference.check(t, input, got, case.out)
      else
        t.equal(got, case.out)
      end
      book:note(i, difference and difference.why)
    end
  end
  book:check(t)
end)

test("regions written in turn move to the end, as in core_fields", function(t)
  local book = vectors.book("core_fields.json", "sequence")
  for _, case in ipairs(book.cases) do
    if case.fn:find("^sequence") then
      local skill, got = case["in"].skill, {}
      got[1] = injected(skill, "appendix")
      got[2] = injected(got[1], "slow_update")
      got[3] = with_more_notes(got[2], { "n1" })
      got[4] = document.with_region(got[3], "slow_update", "g1")
      got[5] = with_more_notes(got[4], { "n2", "n1." })
      got[6] = document.with_region(got[5], "slow_update", "g2")
      t.equal(got, case.out)
      book:same()
    end
  end
  book:check(t)
end)

------------------------------------------------------------------------ body

local GUIDED <const> = "# T\n- a\n\n" .. SLOW_START .. "\nkeep calm\n" .. SLOW_END .. "\n\n"
  .. NOTES_START .. "\n" .. HEADING .. "\n- note\n" .. NOTES_END .. "\n"

test("body has one character for each region, and with_body puts them back", function(t)
  local body, regions = document.body(GUIDED)
  t.equal(regions, { slow_update = "keep calm", appendix = HEADING .. "\n- note" })
  t.equal(body, "# T\n- a\n\n\u{100000}\n\n\u{100001}\n")
  t.equal(document.with_body(GUIDED, body), GUIDED)
  t.equal(document.body "plain\n", "plain\n")
end)

test("with_body keeps each region where its character is, or at the end", function(t)
  local slow = SLOW_START .. "\nkeep calm\n" .. SLOW_END
  local notes = NOTES_START .. "\n" .. HEADING .. "\n- note\n" .. NOTES_END
  local moved = document.with_body(GUIDED, "\u{100001}\nnew \u{100000}!\n")
  t.equal(moved, notes .. "\nnew " .. slow .. "!\n")
  t.equal(document.with_body(GUIDED, "new\n"), "new\n\n" .. slow .. "\n\n" .. notes .. "\n")
  t.equal(document.with_body(GUIDED, "\u{100000}x\u{100000}\u{100001}"), slow .. "x" .. notes)
end)

test("with_body takes markers out of a new body", function(t)
  t.equal(document.with_body("a\n", "b " .. SLOW_START .. " c\n"), "b  c\n")
  local lone = "a " .. SLOW_END .. " b\n"
  t.equal(document.with_body(lone, document.body(lone)), lone)
end)

test("a skill that has the characters of regions in its text keeps them", function(t)
  local skill = "icons \u{100000}\u{100002}\n" .. GUIDED
  local body = document.body(skill)
  t.equal(body:sub(1, 14), "icons \u{100000}\u{100002}")
  t.equal(text.find(body, "\u{100001}") ~= nil, true)
  t.equal(text.find(body, "\u{100003}") ~= nil, true)
  t.equal(document.with_body(skill, body), skill)
  local out, row = apply_one(skill, { op = "delete", target = "\u{100000}" })
  t.equal({ out, row.fate }, { (skill:gsub("\u{100000}", "")), "applied" })
end)

test("a byte order mark stays in front and out of the body", function(t)
  local skill = "\u{FEFF}# T\n- a\n"
  t.equal(document.body(skill), "# T\n- a\n")
  t.equal(document.with_body(skill, "# U\n"), "\u{FEFF}# U\n")
  local out = apply_one(skill, { op = "replace", target = "\u{FEFF}# T", content = "# U" })
  t.equal(out, "\u{FEFF}# U\n- a\n")
  t.equal(document.with_region(skill, "slow_update", "x"):sub(1, 3), "\u{FEFF}")
  t.equal(document.front_matter("\u{FEFF}---\na: 1\n---\n"), "a: 1\n")
end)

test("key is the same with and without empty regions", function(t)
  local skill = "# T\n\n- a\n"
  local key = document.key(skill)
  local with_both = document.with_notes(document.with_region(skill, "slow_update", ""), {})
  t.equal(document.key(with_both), key)
  t.ok(document.hash(with_both) ~= document.hash(skill), "the texts differ")
  local in_front = SLOW_START .. "\n" .. SLOW_END .. "\n\n# T\n\n- a"
  t.equal(document.key(in_front), document.key("\n\n# T\n\n- a"))
  t.ok(document.key(document.with_region(skill, "slow_update", "x")) ~= key, "a region counts")
  t.ok(document.key(document.with_notes(skill, { "x" })) ~= key, "a note counts")
  t.equal(#key, 16)
end)

test("hash is the reference's name of the text", function(t)
  t.equal(document.hash "", "e3b0c44298fc1c14")
end)

test("clean takes out markers, those too that appear on the way", function(t)
  t.equal(document.clean("a" .. SLOW_START .. "b" .. NOTES_END), "ab")
  t.equal(document.clean("<!-- SLOW_" .. NOTES_START .. "UPDATE_START -->x"), "x")
  t.equal(document.clean "<!-- OTHER -->", "<!-- OTHER -->")
end)

test("without_region leaves a document without one as it is", function(t)
  t.equal(document.without_region("a  \n\n\n", "slow_update"), "a  \n\n\n")
  t.equal(document.without_region(GUIDED, "slow_update"),
    "# T\n- a\n\n" .. NOTES_START .. "\n" .. HEADING .. "\n- note\n" .. NOTES_END .. "\n")
  local apart = "a\n\n\n" .. SLOW_START .. SLOW_END .. "\n\n\nb\n"
  t.equal(document.without_region(apart, "slow_update"), "a\n\nb\n")
end)

test("every complete pair is a region, the first gives the content", function(t)
  local one, two = SLOW_START .. "one" .. SLOW_END, SLOW_START .. "two" .. SLOW_END
  local skill = one .. "\nmiddle\n" .. two .. "\n"
  t.equal(document.region(skill, "slow_update"), "one")
  local _, row = apply_one(skill, { op = "delete", target = "two" })
  t.equal(row.fate, "protected")
  t.equal(document.with_region(skill, "slow_update", "new"),
    "\nmiddle\n\n" .. SLOW_START .. "\nnew\n" .. SLOW_END .. "\n")
end)

test("an unknown name of a region is misuse", function(t)
  t.raises(function() document.region("a", "slow") end, 'must be "slow_update" or "appendix"')
end)

------------------------------------------------------------------------ edits

test("an anchor in two places is refused, and the row says in how many", function(t)
  local case = decoded "b01_anchor_not_unique.json"
  local out, row = apply_one(case.skill, case.edit)
  t.equal(out, case.skill)
  t.equal({ row.fate, row.status, row.matches },
    { "anchor_ambiguous", "skipped_anchor_ambiguous", 2 })
end)

test("no character of a target or a content has a meaning", function(t)
  local case = decoded "b02_pattern_magic.json"
  local out, rows = document.apply(case.skill, case.edits)
  t.equal(out, "# Rates\n- Write 5%1 as 100%% of %w+ (a+b)*.\n- Use \n")
  t.equal(fates(rows), { "applied", "applied" })
end)

test("a document with CR LF stays one, whatever the edit uses", function(t)
  local skill = decoded("b03_crlf_skill.json").skill
  local want = (skill:gsub("%- open the sheet\r\n%- read row 1", "- read the header row"))
  for _, line_end in ipairs { "\n", "\r\n" } do
    local out, row = apply_one(skill, {
      op = "replace",
      target = "- open the sheet" .. line_end .. "- read row 1",
      content = "- read the header row",
    })
    t.equal({ out, row.fate }, { want, "applied" })
  end
  local out = apply_one(skill, { op = "insert_after", target = "# Steps", content = "a\nb\r\nc" })
  t.equal(out, (skill:gsub("^# Steps\r\n", "# Steps\r\n\r\na\r\nb\r\nc\r\n")))
  out = apply_one(skill, { op = "delete", target = "\n- read row 1" })
  t.equal(out, (skill:gsub("\r\n%- read row 1", "")))
end)

test("with both kinds of line ends the exact place comes first, bytes stay", function(t)
  local skill = "x\r\na\nb\n--\r\na\r\nb\n"
  local out, row = apply_one(skill, { op = "replace", target = "a\nb", content = "c\nd\r\ne" })
  t.equal({ out, row.fate }, { "x\r\nc\nd\r\ne\n--\r\na\r\nb\n", "applied" })
  out, row = apply_one("x\r\na\nb\r\nc\n", { op = "delete", target = "x\na\r\nb\nc" })
  t.equal({ out, row.fate }, { "\n", "applied" })
  out = apply_one("a\nb\n", { op = "replace", target = "a\r\nb", content = "c\r\nd" })
  t.equal(out, "c\nd\n")
end)

test("an edit that touches a region is refused and changes no byte", function(t)
  local case = decoded "b05_straddle_protected.json"
  local out, row = apply_one(case.skill, case.edit)
  t.equal({ out, row.fate, row.status }, { case.skill, "protected", "skipped_protected_region" })
end)

test("slow updates with a marker in them leave one clean region", function(t)
  local case = decoded "b07_slow_end_marker_in_text.json"
  local skill = case.skill
  for _, content in ipairs(case.slow_updates) do
    skill = document.with_region(skill, "slow_update", content)
  end
  t.equal(skill, "# T\n- a\n\n" .. SLOW_START .. "\nsecond note\n" .. SLOW_END .. "\n")
  local orphan = case.orphan_skill
  for _ = 1, 3 do orphan = document.with_region(orphan, "slow_update", "new") end
  t.equal(orphan, "# T\n\nold text without end\n\n" .. SLOW_START .. "\nnew\n" .. SLOW_END .. "\n")
end)

test("every edit of a sequence has its own fate", function(t)
  local case = decoded "b08_sequence_consumed_anchor.json"
  local out, rows = document.apply(case.skill, case.edits)
  t.equal(out, "# T\n- single step\n")
  t.equal(fates(rows),
    { "applied", "anchor_missing", "empty_target", "anchor_missing", "unknown_op" })
  for i, row in ipairs(rows) do t.equal(row.index, i) end
end)

test("a near match is named and not taken", function(t)
  local case = decoded "b10_unicode_lookalike_anchor.json"
  local out, rows = document.apply(case.skill, case.edits)
  t.equal(out, case.skill)
  t.equal({ rows[1].near, rows[2].near, rows[3].near }, {
    "a near match differs only in Unicode form",
    "a near match differs only in quotes",
    "a near match differs only in spaces",
  })
  t.equal(fates(rows), { "anchor_missing", "anchor_missing", "anchor_missing" })
end)

test("a near match names the fewest differences, and only those of the body", function(t)
  local near = function(skill, target)
    local _, row = apply_one(skill, { op = "delete", target = target })
    return row.near
  end
  t.equal(near("- don’t  stop\n", "- don't stop"), "a near match differs only in quotes and spaces")
  t.equal(near("A – b\n", "a - B"), "a near match differs only in dashes and letter case")
  t.equal(near("zero\u{200B}width\n", "zerowidth"), "a near match differs only in spaces")
  t.equal(near("nothing\n", "like it"), nil)
  t.equal(near("a\n" .. SLOW_START .. "\nB\n" .. SLOW_END .. "\n", "b"), nil)
end)

test("edits of the wrong shape are malformed, each with what is wrong", function(t)
  local reply = decoded("a09_shape_errors.json").replies[4]
  local out, rows = document.apply("# T\n", reply.edits)
  t.equal(out, "# T\n\ny\n")
  t.equal(fates(rows), {
    "malformed", "malformed", "malformed", "empty_content", "empty_content", "applied",
    "empty_target", "empty_content",
  })
  t.equal(rows[1].error, "an edit must be an object")
  local _, row = apply_one("a", { op = "delete", target = 5 })
  t.equal({ row.fate, row.status, row.error }, { "malformed", "error", "'target' must be text" })
  _, row = apply_one("a", { op = "append", content = json.array { "x" } })
  t.equal({ row.fate, row.error }, { "malformed", "'content' must be text" })
end)

test("a replacement by the same text is no change", function(t)
  local out, row = apply_one("a b\n", { op = "replace", target = "b", content = " b " })
  t.equal({ out, row.fate, row.status }, { "a b\n", "no_change", "skipped_no_change" })
end)

test("an edit that grows the text beyond max_tokens is not applied, a later one may fit",
  function(t)
  local more, less = { op = "append", content = "éé" }, { op = "append", content = "a" }
  local edits = { more, { op = "delete", target = "cd" }, more, less }
  local out, rows = document.apply("abcdef", edits, { max_tokens = 2 })
  t.equal(out, "abef\n\na\n")
  t.equal(fates(rows), { "over_size", "applied", "over_size", "applied" })
  t.equal(rows[1].status, "skipped_over_size")
  t.equal((document.apply("abef", { more }, { max_tokens = 3 })), "abef\n\néé\n")
  t.raises(function() document.apply("a", {}, { max_toknes = 1 }) end, "did you mean 'max_tokens'")
end)

test("a text that is too large may become smaller step by step, and larger never", function(t)
  local edits = { { op = "delete", target = "1234" },
    { op = "replace", target = "a", content = "b" },
    { op = "append", content = "more" } }
  local out, rows = document.apply("a 1234 5678 9012", edits, { max_tokens = 1 })
  t.equal({ out, fates(rows) }, { "b  5678 9012", { "applied", "applied", "over_size" } })
end)

test("content of nothing but markers is empty, not a deletion", function(t)
  local out, row = apply_one("a b\n", { op = "replace", target = "b", content = SLOW_START })
  t.equal({ out, row.fate, row.status }, { "a b\n", "empty_content", "skipped_empty_content" })
end)

test("an edit that would make or end a region is refused", function(t)
  local skill = "<!-- SLOW_xUPDATE_START -->\na\n" .. SLOW_END .. "\n"
  local out, row = apply_one(skill, { op = "delete", target = "x" })
  t.equal({ out, row.fate }, { skill, "protected" })
end)

test("a line that holds a region ends behind it", function(t)
  local skill = "A " .. SLOW_START .. "\nkeep\n" .. SLOW_END .. " B\nC\n"
  local out = apply_one(skill, { op = "insert_after", target = "A", content = "x" })
  t.equal(out, "A " .. SLOW_START .. "\nkeep\n" .. SLOW_END .. " B\n\nx\nC\n")
end)

test("edits are linear in a text that repeats its anchor", function(t)
  local skill = ("ab"):rep(100000)
  local out, row = apply_one(skill, { op = "delete", target = ("ab"):rep(50000) })
  t.equal({ out == skill, row.fate, row.matches }, { true, "anchor_ambiguous", 50001 })
  skill = SLOW_START:rep(20000)
  out, row = apply_one(skill, { op = "append", content = "x" })
  t.equal({ #out - #skill, row.fate }, { 5, "applied" })
end)

------------------------------------------------------------------------ notes

test("distinct_notes keeps the first of notes that say the same, without markers", function(t)
  local notes = { "Use  units.", "use units", "b" .. NOTES_END, "..", "b" }
  t.equal(document.distinct_notes(notes), { "Use units.", "b" })
  t.raises(function() document.distinct_notes { 1 } end, "notes must be strings")
end)

test("with_notes writes what notes reads", function(t)
  local skill = document.with_notes("# T\n", { "one", "- two\nlines" })
  local block = NOTES_START .. "\n" .. HEADING .. "\n- one\n- - two lines\n" .. NOTES_END .. "\n"
  t.equal(skill, "# T\n\n" .. block)
  t.equal(document.notes(skill), { "one", "- two lines" })
  t.equal(document.notes "# T\n", {})
end)

------------------------------------------------------------------------ checks

test("front_matter finds its YAML and where the rest begins", function(t)
  local skill = decoded("b12_frontmatter_break.json").skill
  local yaml, rest = document.front_matter(skill)
  t.equal(yaml, "name: invoice-check\ndescription: Checks invoices against orders.\n")
  t.equal(skill:sub(rest), "# Invoice check\n")
  t.equal({ document.front_matter "---\r\na: 1\r\n...\r\nb" }, { "a: 1\r\n", 17 })
  t.equal({ document.front_matter "---\n---" }, { "", 8 })
  t.equal({ document.front_matter "# T\n---\na: 1\n---\n" }, {})
  t.equal({ document.front_matter "---\na: 1\n" }, {})
end)

test("check names what is wrong with a document", function(t)
  t.equal(document.check(GUIDED), {})
  t.equal(document.check "---\nA ruler, then text.\n", {})
  t.equal(document.check "---\nname: x\n# T\n", { "the front matter is not closed by a line ---" })
  t.equal(document.check("\u{FEFF}\n" .. SLOW_START .. "x" .. SLOW_END),
    { "the skill has no text outside its protected regions" })
  t.equal(document.check("a" .. SLOW_START), { "a region marker has no partner" })
  t.equal(document.check("a" .. SLOW_START .. SLOW_END .. SLOW_START .. SLOW_END),
    { "a protected region occurs more than once" })
  t.equal(document.check "a\xFF", { "the skill is not valid UTF-8" })
end)
