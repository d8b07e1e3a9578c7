--- One message outside of a run: `skillopt.chat` and `skillopt chat`.
local core = require "rt.task"
local json = require "rt.json"
local skillopt = require "skillopt"
local task = require "skillopt.task"
local test = require "skillopt.test"
local process = test.support "tests/lua/process.lua"
local scene = test.support "tests/lua/scene.lua"

test("skillopt.chat asks a model and gives its reply with what it used", function(t)
  local reply = skillopt.chat { backend = "sim", system = "Be brief.", user = "Are you there?" }
  t.ok(reply.text:find("I am a simulated model", 1, true), reply.text)
  t.ok(reply.usage.prompt_tokens > 0 and reply.usage.completion_tokens > 0)
end)

test("the same message is asked anew, and nothing of it stays with the caller", function(t)
  local opt = { backend = "sim", user = "Are you there?" }
  skillopt.chat(opt)
  local locals = core.locals()
  t.equal({ locals.spent, locals.effects, locals.replies }, {})
  local texts = task.map({ 1, 2, 3 }, function() return skillopt.chat(opt).text end)
  t.equal({ #texts, texts[1] }, { 3, texts[3] })
end)

test("a call that fails comes back as an error with its kind", function(t)
  local reply, err = skillopt.chat { backend = "sim", user = "x",
    settings = { ["model.sim_error_rate"] = 1, ["model.retries"] = 0 } }
  t.equal({ reply, err.kind }, { nil, "server" }, err.message)
end)

test("a configuration that does not fit comes back as an error, too", function(t)
  local reply, err = skillopt.chat { backend = "nobody", user = "x" }
  t.equal({ reply, err.kind }, { nil, "config" })
end)

test("a wrong argument raises", function(t)
  t.raises(function() skillopt.chat { user = "x", sistem = "y" } end, "did you mean 'system'?")
  t.raises(function() skillopt.chat { user = "x", role = "judge" } end, "no role 'judge'")
  t.raises(function() skillopt.chat { backend = "sim" } end, "needs `user` or `messages`")
end)

test("inside a run it is ctx:chat", function(t)
  local err = scene.error_at(scene.place {}, function()
    skillopt.chat { backend = "sim", user = "x" }
  end)
  t.ok(tostring(err.message or err):find("it is ctx:chat", 1, true), tostring(err.message))
end)

test("the command prints the reply and the usage on one line", function(t)
  local done = process.run { "chat", "--backend", "sim", "Are you there?" }
  t.equal({ done.code, done.err }, { 0, "" })
  local text, usage = done.out:match "^reply = (.*) | usage = (%b{})\n$"
  t.ok(text:find("I am a simulated model", 1, true), done.out)
  t.ok(json.decode(usage).prompt_tokens > 0)
end)

test("a message may hold an equals sign; a known key is a value", function(t)
  local done = process.run { "chat", "--backend=sim", "--json", "x=6 * 7",
    "model.sim_latency_seconds=0" }
  t.equal({ done.code, json.decode(done.out).backend }, { 0, "sim" }, done.err)
end)

test("no message, two messages and an unknown role are mistakes", function(t)
  t.equal(process.run({ "chat", "--backend", "sim" }).code, 2)
  t.equal(process.run({ "chat", "--backend", "sim", "one", "two" }).code, 2)
  t.equal(process.run({ "chat", "--role", "judge", "one" }).code, 2)
end)
