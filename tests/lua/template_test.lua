local test = require "skillopt.test"
local template = require "rt.template"

local TEXT = [[
---
inputs:
  skill: the document
  notes: remarks, or nothing
---
Improve it.
=== user ===
{{skill}}
{{#notes}}
Remarks: {{notes}}
{{/notes}}
End.
]]

test("template.parse tells the inputs, and render fills them in", function(t)
  local prompt = template.parse(TEXT)
  t.equal(prompt:inputs(), { skill = "the document", notes = "remarks, or nothing" })
  t.equal(prompt:render { skill = "S", notes = "N" },
    { system = "Improve it.", user = "S\nRemarks: N\nEnd." })
  t.equal(prompt:render { skill = "S", notes = "" },
    { system = "Improve it.", user = "S\nEnd." })
end)

test("a skill full of template tokens arrives byte for byte", function(t)
  local skill = test.read "tests/cases/b11_template_tokens_skill.md"
  skill = skill .. "{{notes}}\r\n\0\xff"
  local out = template.parse(TEXT):render { skill = skill, notes = "" }
  t.equal(out.user, skill .. "\nEnd.")
end)

test("render refuses missing and unknown inputs", function(t)
  local prompt = template.parse(TEXT)
  local out, err = prompt:render { skill = "" }
  t.equal(out, nil)
  t.equal(err.kind, "config")
  t.equal(err.message, "the input 'notes' is missing")
  out, err = prompt:render { skill = "", notes = "", note = "" }
  t.equal(out, nil)
  t.equal(err.message, "the prompt has no input 'note'")
  t.equal(err.hint, "did you mean 'notes'?")
  t.raises(function() prompt:render { skill = {}, notes = "" } end, "must be a string")
end)

test("a faulty prompt is refused with its name and line", function(t)
  local prompt, err = template.parse("x\n{{skil}}", { name = "a.md" })
  t.equal(prompt, nil)
  t.equal(err.kind, "config")
  t.equal(err.message, "a.md, line 2: the front matter has no input 'skil'")
  t.raises(function() template.parse("", { nam = "a" }) end, "did you mean 'name'?")
end)

test("a closed template raises", function(t)
  local prompt = template.parse(TEXT)
  do
    local _ <close> = prompt
  end
  t.raises(function() prompt:inputs() end, "closed")
end)
