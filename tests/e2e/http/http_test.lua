--- rt.http and rt.model against the stub whose address is in SKILLOPT_TEST_URL. The stub
--- echoes the last user message; "stub: ..." in it says what it should do besides.
local test = require "skillopt.test"
local chat = require("rt.model").openai_chat
local http = require "rt.http"
local json = require "rt.json"
local task = require "skillopt.task"

local URL <const> = os.getenv "SKILLOPT_TEST_URL" .. "/v1/chat/completions"

local function body_of(text, stream)
  local body = assert(chat.build { model = "m", stream = stream,
    messages = { { role = "user", content = text } } })
  return body
end

local function post(text, more)
  local request = { url = URL, body = body_of(text, more and more.into ~= nil),
    headers = { Authorization = "Bearer sk-e2e-key", ["Content-Type"] = "application/json" } }
  for k, v in pairs(more or {}) do request[k] = v end
  return http.request(request)
end

local function ask(text)
  local answer, err = post(text)
  if not answer then return nil, err end
  return chat.parse(answer.status, answer.headers, answer.body)
end

local function ask_stream(text, more)
  local stream = chat.stream()
  local answer, err = post(text, { into = stream, timeout_s = more and more.timeout_s })
  if not answer then return nil, err end
  return stream:finish(answer.status, answer.headers)
end

test("http.request brings the answer with its figures", function(t)
  local answer = assert(post "hello")
  t.equal(answer.status, 200)
  t.equal(json.decode(answer.body).choices[1].message.content, "hello")
  t.ok(answer.headers["content-type"]:find "json")
  t.ok(answer.elapsed_s >= answer.first_byte_s and answer.first_byte_s >= answer.connect_s)
  t.ok(answer.bytes_in > #answer.body and answer.bytes_out > #body_of "hello")
  t.equal(assert(post "again").is_reused, true)
end)

test("a call without the key is an auth error", function(t)
  local answer = assert(http.request { url = URL, body = body_of "x" })
  local reply, err = chat.parse(answer.status, answer.headers, answer.body)
  t.equal(reply, nil)
  t.equal(err.kind, "auth")
  t.equal(err.retry, false)
end)

test("a reply is read from a plain answer and from a stream alike", function(t)
  local plain = assert(ask "caf\u{e9} stub: reasoning = 'why', finish = 'length'")
  local streamed = assert(ask_stream "caf\u{e9} stub: reasoning = 'why', finish = 'length'")
  t.equal(plain.outcome, "truncated")
  t.equal(plain.reasoning, "why")
  plain.id, streamed.id = nil, nil
  t.equal(streamed, plain)
end)

test("tool calls are read from a plain answer and from a stream alike", function(t)
  local text = "stub: text = '', tool_calls = { { name = 'f', arguments = { x = 1 } } }"
  local plain, streamed = assert(ask(text)), assert(ask_stream(text))
  t.equal(plain.finish, "tool_calls")
  t.equal(#plain.tool_calls, 1)
  t.equal(json.decode(streamed.tool_calls[1].arguments), { x = 1 })
  t.equal(streamed.tool_calls[1].name, "f")
end)

test("a cut body is a network error, in a stream as well", function(t)
  local reply, err = ask "stub: cut = 40"
  t.equal(reply, nil)
  t.equal(err.kind, "network")
  reply, err = ask_stream "stub: cut = 40"
  t.equal(reply, nil)
  t.equal(err.kind, "network")
end)

test("waits, statuses and bodies of errors are understood", function(t)
  local _, err = ask "stub: status = 429, headers = { ['Retry-After'] = '3' }, body = 'slow'"
  t.equal(err.kind, "rate_limit")
  t.equal(err.retry_after_s, 3.0)
  _, err = ask "stub: status = 503, body = 'later'"
  t.equal(err.kind, "server")
  _, err = ask "stub: body = '<html><title>Proxy</title></html>'"
  t.equal(err.kind, "server")
  t.ok(err.message:find('"Proxy"', 1, true))
  _, err = ask "stub: body = '{not json'"
  t.equal(err.kind, "parse")
  _, err = ask "stub: body = { choices = {} }"
  t.equal(err.kind, "server")
end)

test("the limits of time and size are kept", function(t)
  local _, err = post("stub: delay_ms = 5000", { timeout_s = 0.1 })
  t.equal(err.kind, "timeout")
  _, err = post("stub: delay_ms = 5000", { idle_timeout_s = 0.1 })
  t.equal(err.kind, "timeout")
  t.ok(err.message:find "nothing came")
  _, err = post(("x"):rep(9000), { max_body = 5000 })
  t.equal(err.kind, "limit")
end)

test("a hundred calls at once get each its own answer", function(t)
  local places = {}
  for i = 1, 100 do places[i] = i end
  local texts = task.map(places, function(i) return assert(ask("text " .. i)).text end)
  for i = 1, 100 do t.equal(texts[i], "text " .. i) end
  t.equal(http.in_flight(), 0)
end)

test("a cancelled call is gone from the server", function(t)
  local started = 0
  t.raises(function()
    task.map({ 1, 2 }, function(i)
      if i == 2 then
        started = started + 1
        post "stub: delay_ms = 60000"
      end
      assert(ask "first stub: delay_ms = 50")
      error "stop"
    end)
  end, "stop")
  t.equal(started, 1)
  t.equal(http.in_flight(), 0)
  assert(ask "still there")
end)
