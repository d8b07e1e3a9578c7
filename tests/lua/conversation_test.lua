--- Conversations and the tool loop over them.
local json = require "rt.json"
local test = require "skillopt.test"
local scene = test.support "tests/lua/scene.lua"

local function calls(...)
  return { text = "", finish = "tool_calls", tool_calls = json.array { ... } }
end

local function at(place, f) return scene.at(place, f) end

test("each question is sent with all that was said before", function(t)
  local place = scene.place { "one", "two" }
  at(place, function(ctx)
    local talk = ctx:conversation { system = "s" }
    t.equal(talk:ask("a").text, "one")
    t.equal(talk:ask("b").text, "two")
    t.equal(talk.turns, 2)
  end)
  t.equal(scene.messages(place.sent[2]), { "system: s", "user: a", "assistant: one", "user: b" })
end)

test("a conversation is the item's trajectory", function(t)
  local place = scene.place { "one" }
  local talk = at(place, function(ctx)
    local c = ctx:conversation()
    c:ask "a"
    return c
  end)
  t.ok(rawequal(place.item.conversation, talk.messages))
  t.equal(talk.messages, { { role = "user", content = "a" },
    { role = "assistant", content = "one" } })
end)

test("add puts a user message without asking", function(t)
  local place = scene.place { "one" }
  at(place, function(ctx)
    local talk = ctx:conversation()
    talk:add "a"
    talk:add "b"
    talk:ask()
  end)
  t.equal(scene.messages(place.sent[1]), { "user: a", "user: b" })
end)

test("tool answers a call by its id", function(t)
  local place = scene.place { calls(scene.call("c1", "look", "{}")), "done" }
  at(place, function(ctx)
    local talk = ctx:conversation { tools = { { name = "look", description = "" } } }
    local reply = talk:ask "a"
    talk:tool(reply.tool_calls[1], "seen")
    t.equal(talk:ask().text, "done")
  end)
  local sent = place.sent[2].request.messages
  t.equal({ sent[3].role, sent[3].tool_call_id, sent[3].content[1].text }, { "tool", "c1", "seen" })
  t.equal(place.sent[2].request.tools[1].name, "look")
end)

test("the conversation's cap holds for each call, a call's own goes before it", function(t)
  local place = scene.place { "one", "two" }
  at(place, function(ctx)
    local talk = ctx:conversation { max_tokens = 5 }
    talk:ask "a"
    talk:ask("b", { max_tokens = 9 })
  end)
  t.equal({ place.sent[1].request.params.max_tokens, place.sent[2].request.params.max_tokens },
    { 5, 9 })
end)

test("a cut turn is asked again and stands once in the conversation", function(t)
  local place = scene.place { { text = "ha", finish = "length" }, "half" }
  local talk = at(place, function(ctx)
    local c = ctx:conversation()
    c:ask "a"
    return c
  end)
  t.equal({ #talk.messages, talk.messages[2].content, talk.turns }, { 2, "half", 1 })
end)

test("messages of another place cannot be smuggled into a turn", function(t)
  local err = scene.error_at(scene.place { "one" }, function(ctx)
    ctx:conversation():ask("a", { messages = { { role = "user", content = "x" } } })
  end)
  t.ok(err.message:find("messages", 1, true), err.message)
end)

-------------------------------------------------------------------------- agent

local function tool(name, run)
  return { name = name, description = name, parameters = { type = "object", properties = {} },
    run = run }
end

local echo = tool("echo", function(arguments) return "echo " .. tostring(arguments.text) end)

local function agent(script, options)
  local place = scene.place(script)
  options = options or {}
  options.user, options.tools = options.user or "go", options.tools or { echo }
  local ok, reply = pcall(at, place, function(ctx) return ctx:agent(options) end)
  return place, ok, reply
end

--- Texts of the tool messages the model was sent in its last request.
local function tool_results(place)
  local out = {}
  for _, message in ipairs(place.sent[#place.sent].request.messages) do
    if message.role == "tool" then out[#out + 1] = message.content[1].text end
  end
  return out
end

test("the agent runs tools until the model replies without a call", function(t)
  local place, _, reply = agent { calls(scene.call("1", "echo", '{"text": "x"}')), "done" }
  t.equal(reply.text, "done")
  t.equal(tool_results(place), { "echo x" })
end)

test("a model that calls no tool is asked once", function(t)
  local place, _, reply = agent { "at once", "never" }
  t.equal({ reply.text, #place.sent }, { "at once", 1 })
end)

test("several calls of one message are answered in their order", function(t)
  local place = agent { calls(scene.call("1", "echo", '{"text": "x"}'),
    scene.call("2", "echo", '{"text": "y"}')),
    "done" }
  t.equal(tool_results(place), { "echo x", "echo y" })
end)

test("an unknown tool is named to the model", function(t)
  local place = agent { calls(scene.call("1", "shout", "{}")), "done" }
  t.equal(tool_results(place), { "error: there is no tool 'shout'" })
end)

test("bad arguments are named to the model", function(t)
  local place = agent { calls(scene.call("1", "echo", '{"text": '),
    scene.call("2", "echo", "[1]")), "done" }
  t.equal(tool_results(place), { "error: the arguments are no JSON object",
    "error: the arguments are no JSON object" })
end)

test("an id that stands twice in a message is named to the model", function(t)
  local place = agent { calls(scene.call("1", "echo", "{}"), scene.call("1", "echo", "{}")),
    "done" }
  t.equal(tool_results(place), { "echo nil",
    "error: this tool_call id stands twice in this message" })
end)

test("a call without an id is answered", function(t)
  local place, ok = agent { calls(scene.call(nil, "echo", '{"text": "x"}')), "done" }
  t.equal({ ok, tool_results(place) }, { true, { "echo x" } })
end)

test("what a tool raises goes to the model", function(t)
  local broken = tool("broken", function() error("no such page", 0) end)
  local place = agent({ calls(scene.call("1", "broken", "{}")), "done" }, { tools = { broken } })
  t.equal(tool_results(place), { "error: no such page" })
end)

test("a tool without a result says so to the model", function(t)
  local silent = tool("silent", function() end)
  local place = agent({ calls(scene.call("1", "silent", "{}")), "done" }, { tools = { silent } })
  t.equal(tool_results(place), { "error: no result" })
end)

test("a tool's table goes to the model as JSON", function(t)
  local list = tool("list", function() return { "a", "b" } end)
  local place = agent({ calls(scene.call("1", "list", "{}")), "done" }, { tools = { list } })
  t.equal(tool_results(place), { '["a", "b"]' })
end)

test("a tool may ask a model itself, and weather in it ends the item", function(t)
  local judge = tool("judge", function(_, ctx) return ctx:chat { user = "well?" }.text end)
  local _, ok, err = agent({ calls(scene.call("1", "judge", "{}")),
    { raise = { kind = "server", message = "down", weather = true } } }, { tools = { judge } })
  t.equal({ ok, err.kind }, { false, "server" })
end)

test("turns that are used up end the item as no_answer", function(t)
  local again = calls(scene.call("1", "echo", "{}"))
  local place, ok, err = agent({ again, again, again }, { max_turns = 2 })
  t.equal({ ok, err.no_answer, err.reason, #place.sent }, { false, true, "turn limit", 2 })
end)

test("unknown options are refused", function(t)
  local _, ok, err = agent({}, { max_turn = 2 })
  t.equal(ok, false)
  t.ok(err.message:find("did you mean 'max_turns'", 1, true), err.message)
end)
