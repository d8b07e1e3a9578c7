local fitness = require "skillopt.fitness"
local json = require "rt.json"
local skill = require "skillopt.skill"
local test = require "skillopt.test"

test("an edit that breaks the front matter makes an invalid candidate", function(t)
  local case = json.decode(test.read "tests/cases/b12_frontmatter_break.json")
  local current = skill.new(case.skill)
  for i, edit in ipairs(case.edits) do
    local candidate = current:apply { edits = { edit } }
    t.ok(fitness.fault(candidate, current), "edit " .. i .. " was taken")
  end
  t.equal(fitness.fault(current, current), nil)
end)

test("front matter that is gone is missed, a skill without any is fine", function(t)
  local packaged = skill.new "---\nname: a\ndescription: b\n---\n# A\n"
  t.equal(fitness.fault(skill.new "# A\n", packaged), "the front matter is gone")
  t.equal(fitness.fault(skill.new "# B\n", skill.new "# A\n"), nil)
end)

test("what was wrong before is not held against the candidate", function(t)
  local broken = skill.new "---\nname: Not Proper\n---\n# A\n"
  t.equal(fitness.fault(skill.new "---\nname: Not Proper\n---\n# B\n", broken), nil)
end)

test("names are lower-case words joined by hyphens, descriptions are bounded", function(t)
  local function with(name, description)
    return skill.new(("---\nname: %s\ndescription: %s\n---\n"):format(name, description))
  end
  local current = with("a-b", "fine")
  for _, name in ipairs { "A", "-a", "a-", "a--b", "a_b", ("a"):rep(65) } do
    t.ok(fitness.fault(with(name, "fine"), current), name)
  end
  t.ok(fitness.fault(with("a", ("x"):rep(1025)), current), "long description")
  t.equal(fitness.fault(with("a", ("x"):rep(1024)), current), nil)
end)
