--- Skills as values.
local digest = require "rt.digest"
local document = require "rt.document"
local skill_of = require "skillopt.skill"
local test = require "skillopt.test"

local REGION <const> = "<!-- SLOW_UPDATE_START -->\nlong view\n<!-- SLOW_UPDATE_END -->"

test("a skill has its text, hash, key and tokens", function(t)
  local skill = skill_of.new "# Skill\n"
  t.equal(skill.text, "# Skill\n")
  t.equal({ skill.hash, skill.key }, { document.hash "# Skill\n", document.key "# Skill\n" })
  t.equal(skill.hash, digest.sha256("# Skill\n"):sub(1, 16))
  t.ok(math.type(skill.tokens) == "integer" and skill.tokens > 0)
end)

test("a skill of a skill is the skill itself", function(t)
  local skill = skill_of.new "a"
  t.ok(rawequal(skill_of.new(skill), skill))
end)

test("a skill is made of text only", function(t)
  for _, wrong in ipairs { 5, true, {} } do
    t.raises(function() skill_of.new(wrong) end, "a skill is made of text")
  end
  t.raises(function() skill_of.new(nil) end, "a skill is made of text")
end)

test("a skill cannot be written", function(t)
  local skill = skill_of.new "a"
  t.raises(function() skill.text = "b" end, "a skill is a value")
  t.raises(function() skill.fresh = 1 end, "a skill is a value")
  t.equal(skill.text, "a")
end)

test("two skills with one text are equal and print as their text", function(t)
  t.ok(skill_of.new "a" == skill_of.new "a")
  t.ok(skill_of.new "a" ~= skill_of.new "b")
  t.equal(tostring(skill_of.new "a"), "a")
end)

test("is_skill and text tell values from texts", function(t)
  local skill = skill_of.new "a"
  t.equal({ skill_of.is_skill(skill), skill_of.is_skill "a", skill_of.is_skill {},
    skill_of.is_skill(nil) },
    { true, false, false, false })
  t.equal({ skill_of.text(skill), skill_of.text "b" }, { "a", "b" })
end)

test("apply gives a new skill and a fate an edit, and leaves the old one", function(t)
  local skill = skill_of.new "# Skill\n\n- old\n"
  local new, fates = skill:apply { edits = {
    { op = "append", content = "- new" }, { op = "replace", target = "- absent", content = "x" } } }
  t.equal({ skill.text, #fates, fates[1].fate, fates[2].fate },
    { "# Skill\n\n- old\n", 2, "applied", "anchor_missing" })
  t.ok(new.text:find("- new", 1, true))
end)

test("a patch without edits changes nothing", function(t)
  local skill = skill_of.new "# Skill\n"
  local new, fates = skill:apply {}
  t.equal({ new.key, #fates }, { skill.key, 0 })
end)

test("body and regions are two views of one text, whichever is asked first", function(t)
  local text = "# Skill\n\n- rule\n\n" .. REGION .. "\n"
  local one, other = skill_of.new(text), skill_of.new(text)
  local body, regions = one.body, other.regions
  t.equal({ one.regions, other.body }, { regions, body })
  t.ok(not body:find("long view", 1, true))
end)

test("the key does not see an empty region, the hash does", function(t)
  local bare = skill_of.new "# Skill"
  local with = bare:with_region("slow_update", "")
  t.equal(with.key, bare.key)
  t.ok(with.hash ~= bare.hash or with.text == bare.text)
end)

test("with_region writes a region and with_body keeps it", function(t)
  local skill = skill_of.new("# Skill"):with_region("slow_update", "keep me")
  t.equal(skill.regions.slow_update, "keep me")
  local changed = skill:with_body "# Other"
  t.equal(changed.regions.slow_update, "keep me")
  t.ok(changed.text:find("# Other", 1, true) and not changed.text:find("# Skill", 1, true))
end)

test("an unknown field of a skill is nil", function(t)
  t.equal(skill_of.new("a").colour, nil)
end)
