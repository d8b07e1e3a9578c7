--- `ctx:ask`: one repair, then an error; never an invented "nothing".
local test = require "skillopt.test"
local support = test.support "tests/lua/support.lua"
local scene = test.support "tests/lua/scene.lua"

local PROMPT <const> = [[
---
inputs:
  notes: what was seen
---
You judge.
=== user ===
Notes: {{notes}}
]]

local folder = support.folder()
assert(require "rt.file".mkdir(folder .. "/prompts"))
support.write(folder .. "/prompts/judge.md", PROMPT)

local function place(script, more)
  local p = scene.policy(script, more)
  p.prompt_folders = { folder }
  return p
end

local function ask(p, more)
  local options = { prompt = "judge", inputs = { notes = "n" }, want = { "edits" } }
  for k, v in pairs(more or {}) do options[k] = v end
  return scene.at(p, function(ctx) return ctx:ask(options) end)
end

local GOOD <const> = '{"edits": []}'

test("a reply with the wanted object is parsed", function(t)
  local p = place { "Here: " .. GOOD }
  t.equal(ask(p), { edits = {} })
  t.equal(scene.messages(p.sent[1]), { "system: You judge.", "user: Notes: n" })
end)

test("an unusable reply is sent back with the fault named", function(t)
  local p = place { "I would rather not.", GOOD }
  t.equal(ask(p), { edits = {} })
  local messages = scene.messages(p.sent[2])
  t.equal({ #messages, messages[3] }, { 4, "assistant: I would rather not." })
  t.ok(messages[4]:find "edits" and messages[4]:find "could not be used", messages[4])
end)

test("a second unusable reply is nil and an error of kind parse", function(t)
  local p = place { "no", "no again" }
  local value, err = ask(p)
  t.equal({ value, err.kind, err.retry, #p.sent }, { nil, "parse", false, 2 })
end)

test("both tries are in the log, in words", function(t)
  local p = place { "no", "no again" }
  ask(p)
  t.equal({ p.logged[1].event, p.logged[2].event, p.logged[1].prompt }, { "unusable_reply",
    "malformed_reply", "judge" })
end)

test("two objects that differ are ambiguous, not the first of them", function(t)
  local two = '{"edits": [1]} or rather {"edits": [2]}'
  local value, err = ask(place { two, two })
  t.equal({ value, err.kind, err.reason }, { nil, "parse", "ambiguous" })
end)

test("a cut reply is asked again with twice the cap and without the fragment", function(t)
  local p = place { { text = '{"edits": [', finish = "length" }, GOOD }
  t.equal(ask(p, { max_tokens = 50 }), { edits = {} })
  t.equal({ #p.sent[2].request.messages, p.sent[2].request.params.max_tokens }, { 2, 100 })
end)

test("a cut reply doubles the default cap as well", function(t)
  local p = place { { text = '{"edits": [', finish = "length" }, GOOD }
  ask(p)
  t.equal({ p.sent[1].request.params.max_tokens, p.sent[2].request.params.max_tokens },
    { 1000, 2000 })
end)

test("a cut reply is never used, even when it can be parsed", function(t)
  local cut = { text = GOOD .. " and then", finish = "length" }
  local value, err = ask(place { cut, cut })
  t.equal({ value, err.kind }, { nil, "truncated" })
end)

test("a reply of reasoning only is malformed, not empty edits", function(t)
  local thought = { text = "", outcome = "reasoning_only" }
  local value, err = ask(place { thought, thought })
  t.equal(value, nil)
  t.ok(err.kind == "parse" or err.kind == "truncated", err.kind)
end)

test("refused, filtered and too long twice are errors of that kind", function(t)
  for _, kind in ipairs { "refused", "filtered", "too_long" } do
    local no = { error = { kind = kind, message = "no" } }
    local p = place { no, no }
    local value, err = ask(p)
    t.equal({ value, err.kind, #p.sent }, { nil, kind, 2 })
  end
end)

test("a refusal is asked once more in the same words", function(t)
  local p = place { { error = { kind = "refused", message = "no" } }, GOOD }
  t.equal(ask(p), { edits = {} })
  t.equal(scene.messages(p.sent[1]), scene.messages(p.sent[2]))
end)

test("weather passes through", function(t)
  local p = place { { raise = { kind = "network", message = "gone", weather = true } } }
  t.equal(scene.error_at(p, function(ctx)
    ctx:ask { prompt = "judge", inputs = { notes = "n" } }
  end).kind, "network")
end)

test("a failed login is no malformed reply", function(t)
  local p = place { { raise = { kind = "auth", message = "no" } } }
  t.equal(scene.error_at(p, function(ctx)
    ctx:ask { prompt = "judge", inputs = { notes = "n" } }
  end).kind, "auth")
end)

test("what the check function refuses is sent back with its words", function(t)
  local p = place { '{"edits": 5}', '{"edits": [1]}' }
  local value = ask(p, { check = function(v)
    return type(v.edits) == "table", "edits is no list"
  end })
  t.equal(value, { edits = { 1 } })
  local messages = scene.messages(p.sent[2])
  t.ok(messages[#messages]:find("edits is no list", 1, true), messages[#messages])
end)

test("what the check function refuses twice is malformed", function(t)
  local value, err = ask(place { GOOD, GOOD }, { check = function() return false end })
  t.equal({ value, err.kind }, { nil, "parse" })
end)

test("an empty list is a value where lists are allowed", function(t)
  local value = scene.at(place { "[]" }, function(ctx)
    return ctx:ask { prompt = "judge", inputs = { notes = "n" }, array = true }
  end)
  t.equal(value, {})
end)

test("an array counts only where it is allowed", function(t)
  t.equal(ask(place { '[{"edits": 1}]' }, { array = true }), { { edits = 1 } })
  local value = ask(place { "[1, 2]", "[1, 2]" })
  t.equal(value, nil)
end)

test("stage and role stand beside the request", function(t)
  local p = place { GOOD }
  ask(p, { stage = "merge", role = "target" })
  t.equal({ p.sent[1].stage, p.sent[1].role }, { "merge", "target" })
end)

test("an unknown option is refused with the nearest name", function(t)
  local err = scene.error_at(place {}, function(ctx) ctx:ask { prompt = "judge", input = {} } end)
  t.ok(err.message:find("did you mean 'inputs'", 1, true), err.message)
end)

test("both tries are effects, so the second run asks nobody", function(t)
  local p = place { "no", GOOD }
  ask(p)
  t.equal(ask(p), { edits = {} })
  t.equal({ #p.sent, p.run.effects.counts.stored }, { 2, 2 })
end)
