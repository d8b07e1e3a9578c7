--- Prompt files: found, checked, filled in.
local file = require "rt.file"
local loader = require "skillopt.loader"
local prompt = require "skillopt.prompt"
local skill_of = require "skillopt.skill"
local test = require "skillopt.test"
local support = test.support "tests/lua/support.lua"

--- A folder with these prompts.
local function folder_with(prompts)
  local folder = support.folder()
  assert(file.mkdir(folder .. "/prompts"))
  for name, text in pairs(prompts) do
    support.write(folder .. "/prompts/" .. name .. ".md", text)
  end
  return folder
end

local function text(inputs, body)
  return "---\ninputs:\n" .. inputs .. "---\n" .. body
end

local BOTH <const> = "  skill: what is known\n  question: what is asked\n"
local ROLLOUT <const> = text(BOTH, "Use {{skill}}.\n=== user ===\n{{question}}\n")

test("a prompt has a system and a user message", function(t)
  local folder = folder_with { rollout = ROLLOUT }
  t.equal(prompt.render("rollout", { skill = "S", question = "Q" }, { folder }),
    { system = "Use S.", user = "Q" })
end)

test("without a user line the whole prompt is the user's", function(t)
  local folder = folder_with { plain = text("  question: q\n", "{{question}}\n") }
  t.equal(prompt.render("plain", { question = "Q" }, { folder }), { system = "", user = "Q" })
end)

test("a block goes when its input is empty", function(t)
  local folder = folder_with { block = text("  notes: n\n",
    "a\n{{#notes}}\nNotes: {{notes}}\n{{/notes}}\nb\n") }
  t.equal(prompt.render("block", { notes = "" }, { folder }).user, "a\nb")
  t.equal(prompt.render("block", { notes = "N" }, { folder }).user, "a\nNotes: N\nb")
end)

test("a skill and a number may be inputs", function(t)
  local folder = folder_with { rollout = ROLLOUT }
  t.equal(prompt.render("rollout", { skill = skill_of.new "S", question = 7 }, { folder }),
    { system = "Use S.", user = "7" })
end)

test("inputs are put in as they are and never expanded", function(t)
  local folder = folder_with { rollout = ROLLOUT }
  local hostile = test.read "tests/cases/b11_template_tokens_skill.md"
  t.equal(prompt.render("rollout", { skill = hostile, question = "{{skill}}" }, { folder }),
    { system = "Use " .. hostile .. ".", user = "{{skill}}" })
end)

test("a prompt that was found stays the one while its folders are used", function(t)
  local own, folder = folder_with {}, folder_with { plain = text("  q: q\n", "first {{q}}\n") }
  local folders = { own, folder }
  t.equal(prompt.render("plain", { q = "Q" }, folders).user, "first Q")
  support.write(own .. "/prompts/plain.md", text("  q: q\n", "second {{q}}\n"))
  t.equal(prompt.render("plain", { q = "Q" }, folders).user, "first Q")
  t.equal(prompt.render("plain", { q = "Q" }, { own, folder }).user, "second Q")
end)

test("a missing input is an error that names it", function(t)
  local folder = folder_with { rollout = ROLLOUT }
  local err = t.raises(function() prompt.render("rollout", { skill = "S" }, { folder }) end)
  t.equal({ err.kind, err.message }, { "config", "prompt 'rollout': input 'question' is missing" })
end)

test("an unknown input is an error with the nearest name", function(t)
  local folder = folder_with { rollout = ROLLOUT }
  local err = t.raises(function()
    prompt.render("rollout", { skill = "S", question = "Q", questions = "Q" }, { folder })
  end)
  t.equal({ err.message, err.hint },
    { "prompt 'rollout' has no input 'questions'", "did you mean 'question'?" })
end)

test("an input that is no text is an error", function(t)
  local folder = folder_with { rollout = ROLLOUT }
  local err = t.raises(function() prompt.render("rollout", { skill = "S", question = {} },
    { folder }) end)
  t.ok(err.message:find("must be text, a number or a skill, got table", 1, true), err.message)
end)

test("a prompt that is nowhere is an error that lists the folders", function(t)
  local folder = folder_with {}
  local err = t.raises(function() prompt.render("absent", {}, { folder }) end)
  t.equal(err.kind, "config")
  t.ok(err.message:find(folder, 1, true), err.message)
end)

----------------------------------------------------------------------- overrides

test("the first folder that has a prompt is used", function(t)
  local mine = folder_with { rollout = text(BOTH, "Mine: {{skill}} {{question}}\n") }
  local shipped = folder_with { rollout = ROLLOUT }
  t.equal(prompt.render("rollout", { skill = "S", question = "Q" }, { mine, shipped }).user,
    "Mine: S Q")
end)

test("an override may use fewer inputs, but the caller still gives all", function(t)
  local mine = folder_with { rollout = text("  question: q\n", "{{question}}\n") }
  local shipped = folder_with { rollout = ROLLOUT }
  t.equal(prompt.render("rollout", { skill = "S", question = "Q" }, { mine, shipped }).user, "Q")
  t.raises(function() prompt.render("rollout", { question = "Q" }, { mine, shipped }) end)
end)

test("an override that uses other inputs is refused with those it may use", function(t)
  local mine = folder_with { rollout = text("  mood: m\n", "{{mood}}\n") }
  local shipped = folder_with { rollout = ROLLOUT }
  local err = t.raises(function() prompt.render("rollout", { skill = "S", question = "Q" },
    { mine, shipped }) end)
  t.equal({ err.kind, err.hint }, { "config", "it may use: question, skill" })
  t.ok(err.message:find("input 'mood'", 1, true), err.message)
end)

test("check finds the faults of all prompts before the first call", function(t)
  local mine = folder_with { rollout = text("  mood: m\n", "{{mood}}\n") }
  local shipped = folder_with { rollout = ROLLOUT }
  prompt.check { shipped }
  t.raises(function() prompt.check { mine, shipped } end)
end)

test("a fault in a prompt names file and line", function(t)
  local folder = folder_with { broken = text("  a: b\n", "fine\n{{a\n") }
  local err = t.raises(function() prompt.check { folder } end)
  t.ok(tostring(err.message):find("prompts/broken.md, line 6", 1, true), err.message)
end)

test("files that are no prompts are left alone", function(t)
  local folder = folder_with { rollout = ROLLOUT }
  support.write(folder .. "/prompts/notes.txt", "{{")
  prompt.check { folder, folder .. "/not_there" }
  t.equal((file.kind(folder .. "/prompts/notes.txt")), "file")
end)

test("a prompt is one of the run's sources, once", function(t)
  local folder = folder_with { rollout = ROLLOUT }
  local before = #loader.sources()
  prompt.render("rollout", { skill = "S", question = "Q" }, { folder })
  prompt.render("rollout", { skill = "S", question = "Q" }, { folder })
  t.equal(#loader.sources(), before + 1)
  t.equal(loader.sources()[before + 1],
    { path = folder .. "/prompts/rollout.md", text = ROLLOUT, world = "user" })
end)
