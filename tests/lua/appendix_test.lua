--- Notes at the end of the skill: whose are taken, and how they become fewer.
local appendix = require "skillopt.appendix"
local loader = require "skillopt.loader"
local patch = require "skillopt.patch"
local policy = require "skillopt.policy"
local prompt = require "skillopt.prompt"
local skill = require "skillopt.skill"
local test = require "skillopt.test"
local document = require "rt.document"
local replies = require "rt.reply"
local vectors = test.support "tests/lua/vectors.lua"

local FOLDER <const> = loader.home .. "/lua/policies/appendix"

local function skill_aware(source, threshold)
  return policy.instance(loader.user_file(FOLDER .. "/skill_aware.lua"),
    { source = source, threshold = threshold or 0 }, { name = "skill_aware" })
end

test("notes of a reply are texts, objects with a text, or one text", function(t)
  t.equal(appendix.notes_in { " a ", { note = "b" }, { content = "c" }, 5, "  ", { other = "d" } },
    { "a", "b", "c" })
  t.equal(appendix.notes_in "one", { "one" })
  t.equal(appendix.notes_in(nil), {})
end)

local RAWS <const> = { { source_type = "failure", appendix_notes = { "f" } },
  { source_type = "success", appendix_notes = { "s" } }, { source_type = "failure" } }

test("notes are taken from both sides or from failures alone", function(t)
  local both, failures = skill_aware "both", skill_aware "failure_only"
  t.equal(both.run(RAWS, nil, both.opt), { "f", "s" })
  t.equal(failures.run(RAWS, nil, failures.opt), { "f" })
end)

test("notes are taken from a reply only when they were asked for", function(t)
  local facts = { batch_size = 1, source_type = "failure", budget = 1, has_notes = true }
  local reply = patch.empty ""
  reply.appendix_notes = { "read twice" }
  t.equal(patch.raw(reply, facts).appendix_notes, { "read twice" })
  facts.has_notes = nil
  t.equal(patch.raw(reply, facts).appendix_notes, nil)
end)

local function asking(reply)
  local ctx = { asked = 0 }
  function ctx:ask(options)
    self.asked, self.options = self.asked + 1, options
    self.filled = prompt.render(options.prompt, options.inputs, { FOLDER })
    return options.check(reply) and reply or nil
  end
  return ctx
end

test("above the threshold the notes are made fewer by one call", function(t)
  local one, ctx = skill_aware("both", 2), asking { appendix_notes = { "a and b", "A and b." } }
  t.equal(one.compact({ "a", "b" }, ctx, one.opt), nil)
  t.equal(ctx.asked, 0)
  t.equal(one.compact({ "a", "b", "c" }, ctx, one.opt), { "a and b" })
  t.equal({ ctx.options.stage, ctx.options.max_tokens }, { "appendix_consolidate", 4096 })
  t.ok(ctx.filled.user:find("3. c", 1, true))
end)

test("a reply without notes keeps all, and a threshold of 0 asks nobody", function(t)
  local one, ctx = skill_aware("both", 2), asking { appendix_notes = {} }
  t.equal(one.compact({ "a", "b", "c" }, ctx, one.opt), nil)
  local never = skill_aware("both", 0)
  t.equal(never.compact({ "a", "b", "c" }, ctx, never.opt), nil)
  t.equal(ctx.asked, 1)
end)

--------------------------------------------------------------------------- vectors

local check = {}

--- Texts of one key are one note.
function check.canonicalize(t, i, given, out)
  t.equal(#document.distinct_notes { given.text, out }, out == "" and 0 or 1, i)
end

function check.extract_appendix_notes_from_result(t, i, given, out)
  local result = given.result
  local got = appendix.notes_in(type(result) == "table" and result.appendix_notes or nil)
  if test.same(got, out) then return nil end
  t.equal(got, { "n", "c", "c2" }, i)
  return "a note that is no text is none"
end

--- The notes of a skill after a step that brought these.
local function flushed(notes, ctx)
  local one, record = skill_aware("both", 1), {}
  local state = { run = { policies = { appendix = one } }, skill = skill.new "# A\n",
    ctx = { record = function(_, _, value) record.value = value end },
    admission = { fault = function() end }, -- everything may go in
    call = function() return notes end,
    invoke = function(_, _, _, all) return one.compact(all, ctx, one.opt) end,
    replace = function(self, new) self.skill = new end }
  appendix.flush(state, { raws = {}, record = record })
  return document.notes(state.skill.text)
end

function check.consolidate_appendix_notes(t, i, given, out)
  if given.call_raises then return "weather stops the run, resumable" end
  local ctx = asking(nil)
  function ctx:ask(options)
    local value = replies.extract(given.reply, { want = options.want })
    return value and options.check(value) and value or nil
  end
  local got = flushed(given.notes, ctx)
  if test.same(got, out) then return nil end
  t.equal({ #got, #out }, { #given.notes, #given.notes }, i)
  return "as many notes as before are not taken (nor in a step of the reference)"
end

test("notes equal core_fields", function(t)
  local book = vectors.book("core_fields.json", "notes")
  for i, case in ipairs(book.cases) do
    local compare = check[case.fn]
    if compare then book:note(i, compare(t, i, case["in"], case.out)) end
  end
  book:check(t)
end)

test("a place for notes is made once and says nothing", function(t)
  local plain = skill.new "# A\n"
  local made = appendix.prepared(plain)
  t.ok(made.text ~= plain.text and made.key == plain.key)
  t.equal(appendix.prepared(made).text, made.text)
end)
