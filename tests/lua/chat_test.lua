--- `ctx:chat`: what a usable reply is, the second try, and what the digest's request holds.
local json = require "rt.json"
local skill_of = require "skillopt.skill"
local test = require "skillopt.test"
local scene = test.support "tests/lua/scene.lua"

local function ask(place, options)
  return scene.at(place, function(ctx) return ctx:chat(options or { user = "hi" }) end)
end

local function raised(place, options)
  return scene.error_at(place, function(ctx) ctx:chat(options or { user = "hi" }) end)
end

------------------------------------------------------------------------- replies

test("a reply has text, message, finish, usage and no tool calls", function(t)
  local place = scene.place { { text = "hello", reasoning = "well" } }
  local reply = ask(place)
  t.equal({ reply.text, reply.finish, reply.tool_calls, reply.usage.prompt_tokens },
    { "hello", "stop", {}, 1 })
  t.equal(reply.message, { role = "assistant", content = "hello" })
end)

test("an empty reply is asked once more with twice the cap", function(t)
  local place = scene.place { " \n", "there" }
  t.equal(ask(place).text, "there")
  t.equal({ place.sent[1].request.params.max_tokens, place.sent[2].request.params.max_tokens },
    { 1000, 2000 })
end)

test("the call's own cap is doubled too", function(t)
  local place = scene.place { "", "there" }
  ask(place, { user = "hi", max_tokens = 7 })
  t.equal(place.sent[2].request.params.max_tokens, 14)
end)

test("a second reply that is no better ends the item as no_answer with stable words", function(t)
  local words = {
    { { text = "" }, "the reply was empty" },
    { { text = "", outcome = "reasoning_only" },
      "no final answer (the output was spent on reasoning)" },
    { { text = "half a sen", finish = "length" }, "the reply was cut at the output limit" },
    { { text = "", outcome = "reasoning_only", finish = "length" },
      "no final answer (the output was spent on reasoning)" },
  }
  for _, pair in ipairs(words) do
    local place = scene.place { pair[1], pair[1] }
    local err = raised(place)
    t.equal({ err.no_answer, err.reason, #place.sent }, { true, pair[2], 2 })
  end
end)

test("elsewhere than in a rollout such a reply is an error of kind truncated", function(t)
  local err = raised(scene.policy { "", "" })
  t.equal({ err.kind, err.no_answer, err.retry }, { "truncated", nil, false })
end)

test("partial returns such a reply at once", function(t)
  for _, entry in ipairs { { text = "" }, { text = "half", finish = "length" },
    { text = "", outcome = "reasoning_only" } } do
    local place = scene.place { entry }
    local reply = ask(place, { user = "hi", partial = true })
    t.equal({ reply.text, #place.sent }, { entry.text, 1 })
  end
end)

test("a reply that only calls tools is usable", function(t)
  local place = scene.place { { text = "", finish = "tool_calls",
    tool_calls = json.array { scene.call("1", "look", '{"at": "x"}') } } }
  local reply = ask(place, { user = "hi", tools = { { name = "look", description = "looks" } } })
  t.equal(reply.tool_calls, { { id = "1", name = "look", arguments = { at = "x" } } })
  t.equal(reply.message.tool_calls[1].arguments, '{"at": "x"}')
end)

test("arguments that are no JSON object stay as the model wrote them", function(t)
  for _, raw in ipairs { '{"at": ', "[1]", "5", "" } do
    local place = scene.place { { tool_calls = json.array { scene.call("1", "look", raw) } } }
    t.equal(ask(place).tool_calls[1].arguments, raw)
  end
end)

test("refused, filtered and too long raise their kind at once", function(t)
  for _, kind in ipairs { "refused", "filtered", "too_long" } do
    local place = scene.place { { error = { kind = kind, message = "m" } } }
    local err = raised(place)
    t.equal({ err.kind, err.message, err.retry, #place.sent }, { kind, "m", false, 1 })
  end
end)

test("a prompt cut by the server is asked once more", function(t)
  local place = scene.place { { error = { kind = "truncated", message = "m" } }, "there" }
  t.equal(ask(place).text, "there")
end)

test("weather passes through", function(t)
  local err = raised(scene.place { { raise = { kind = "network", message = "gone",
    weather = true } } })
  t.equal(err.kind, "network")
end)

test("each try of a call is an effect of its own", function(t)
  local place = scene.place { "", "there" }
  ask(place)
  ask(place)
  t.equal({ #place.sent, place.run.effects.counts.stored }, { 2, 2 })
end)

---------------------------------------------------------------------------- json

test("json gives the parsed reply beside the text", function(t)
  local place = scene.place { 'Sure: {"a": 1}' }
  t.equal(ask(place, { user = "hi", json = true }).json, { a = 1 })
  t.equal(place.sent[1].request.format, "json")
end)

test("a reply that is no JSON is asked once more, then there is no answer", function(t)
  t.equal(ask(scene.place { "no", '{"a": 2}' }, { user = "hi", json = true }).json, { a = 2 })
  local err = raised(scene.place { "no", "no" }, { user = "hi", json = true })
  t.equal(err.no_answer, true)
end)

test("a schema is sent and implies json", function(t)
  local place = scene.place { '{"a": 1}' }
  t.equal(ask(place, { user = "hi", schema = { type = "object" } }).json, { a = 1 })
  t.equal(place.sent[1].request.format, { schema = { type = "object" } })
end)

------------------------------------------------------------------------- request

test("system and user become messages of text parts", function(t)
  local place = scene.place { "ok" }
  ask(place, { system = "be brief", user = "hi" })
  t.equal(scene.messages(place.sent[1]), { "system: be brief", "user: hi" })
end)

test("an empty system message is left out", function(t)
  local place = scene.place { "ok" }
  ask(place, { system = "", user = "hi" })
  t.equal(scene.messages(place.sent[1]), { "user: hi" })
end)

test("a skill may stand where text is taken", function(t)
  local place = scene.place { "ok" }
  ask(place, { system = skill_of.new "# Skill", user = { { text = skill_of.new "part" } } })
  t.equal(scene.messages(place.sent[1]), { "system: # Skill", "user: part" })
end)

test("images go as parts with a type and a detail", function(t)
  local place = scene.place { "ok" }
  ask(place, { user = { { text = "what is it?" },
    { image = "\xff\xd8bytes", type = "image/jpeg" } } })
  t.equal(place.sent[1].request.messages[1].content[2],
    { image = "\xff\xd8bytes", type = "image/jpeg", detail = "auto" })
end)

test("tools are sent with name, description and an object of parameters", function(t)
  local place = scene.place { "ok" }
  ask(place, { user = "hi", tools = { { name = "list",
    parameters = { type = "object", properties = {} },
    run = print } } })
  t.equal(json.canonical(place.sent[1].request.tools),
    '[{"description":"","name":"list","parameters":{"properties":{},"type":"object"}}]')
end)

test("the stage and the deadline are the place's unless the call says otherwise", function(t)
  local place = scene.place({ "ok", "ok" }, { timeout_s = 9 })
  ask(place)
  ask(place, { user = "judge it", stage = "judge", timeout_s = 3 })
  t.equal({ place.sent[1].stage, place.sent[1].timeout_s, place.sent[2].stage,
    place.sent[2].timeout_s },
    { "rollout", 9, "judge", 3 })
end)

test("a role of the call's own is asked", function(t)
  local place = scene.place { "ok", "ok" }
  ask(place)
  ask(place, { user = "judge it", role = "optimizer" })
  t.equal({ place.sent[1].role, place.sent[2].role }, { "target", "optimizer" })
end)

test("wrong arguments raise at the caller with words", function(t)
  local wrong = {
    { { user = "hi", messages = { { role = "user", content = "x" } } }, "not both" },
    { {}, "needs `user` or `messages`" },
    { { messages = { { role = "robot", content = "x" } } }, "the role 'robot'" },
    { { user = { { txt = "x" } } }, "a part of a message is" },
    { { user = "hi", time_out_s = 3 }, "did you mean 'timeout_s'" },
    { { user = 5 }, "must be text" },
    { { system = 5, user = "hi" }, "must be text" },
    { { user = "hi", role = "judge" }, "there is no role 'judge'" },
  }
  for _, pair in ipairs(wrong) do
    local err = raised(scene.place { "ok" }, pair[1])
    t.ok(tostring(err.message):find(pair[2], 1, true), tostring(err.message))
  end
end)

test("a call outside of a run is refused", function(t)
  local ctx = require("skillopt.ctx").new()
  t.raises(function() ctx:chat { user = "hi" } end, "not inside a run")
end)

---------------------------------------------------------------------- trajectory

test("the target's replies are the item's trajectory", function(t)
  local place = scene.place { "one", "two" }
  local replies = scene.at(place, function(ctx)
    ctx:chat { system = "s", user = "first" }
    ctx:chat { user = "second" }
    return require "rt.task".locals().replies
  end)
  t.equal({ replies[1].content, replies[1].system, replies[1].user, replies[2].content },
    { "one", "s", "first", "two" })
end)

test("what a judge says is no part of the item's trajectory", function(t)
  local place = scene.place { "an answer", "the accepted answer is Paris" }
  local replies = scene.at(place, function(ctx)
    ctx:chat { user = "question" }
    ctx:chat { role = "optimizer", stage = "judge", user = "is it right?" }
    return require "rt.task".locals().replies
  end)
  t.equal(#replies, 1)
end)
