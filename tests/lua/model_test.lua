--- rt.model: requests into bytes, bytes into replies. The cases of every dialect are in
--- tests/c/test_openai_chat.c; here is what Lua sees.
local test = require "skillopt.test"
local json = require "rt.json"
local chat = require("rt.model").openai_chat

local function request(fields)
  local r = { model = "m", messages = { { role = "user", content = "hi" } } }
  for k, v in pairs(fields or {}) do r[k] = v end
  return r
end

local function built(fields, quirks)
  local body = assert(chat.build(request(fields), quirks))
  return json.decode(body)
end

local function completion(message, finish)
  return json.encode { choices = { { message = message, finish_reason = finish or "stop" } } }
end

test("chat.build writes the least that a request can be", function(t)
  local body, tokens = chat.build(request())
  t.equal(body, '{"model": "m", "messages": [{"role": "user", "content": "hi"}]}')
  t.equal(tokens, 5)
end)

test("chat.build takes the request that ctx:chat makes", function(t)
  local body = built {
    provider = "x", seed = 7,
    messages = {
      { role = "system", content = json.array { { text = "s" } } },
      { role = "user", content = json.array { { text = "look" },
        { image = "\x89PNG", type = "image/png", detail = "auto" } } },
      { role = "assistant", content = json.array {},
        tool_calls = { { id = "c1", name = "f", arguments = { x = 1 } } } },
      { role = "tool", content = "done", tool_call_id = "c1" },
    },
    params = { max_tokens = 9, temperature = 0.5, reasoning_effort = "low" },
    tools = { { name = "f", description = "d", parameters = { type = "object" } } },
    format = { schema = { type = "object" } },
  }
  t.equal(body.provider, nil)
  t.equal(body.seed, 7)
  t.equal(body.max_tokens, 9)
  t.equal(body.temperature, 0.5)
  t.equal(body.reasoning_effort, "low")
  t.equal(body.messages[1].content, "s")
  t.equal(body.messages[2].content[2].image_url,
    { url = "data:image/png;base64,iVBORw==", detail = "auto" })
  t.equal(body.messages[3].tool_calls[1]["function"], { name = "f", arguments = '{"x": 1}' })
  t.equal(body.messages[4].tool_call_id, "c1")
  t.equal(body.tools[1]["function"].parameters, { type = "object" })
  t.equal(body.response_format.json_schema.schema, { type = "object" })
end)

test("chat.build follows the quirks", function(t)
  local params = { max_tokens = 9, temperature = 0.5, thinking = "disabled", stop = { "a", "b" } }
  t.equal(built({ params = params, stream = true }, {
    token_parameter = "max_completion_tokens", omit = { "temperature" },
    thinking = "chat_template_kwargs", system_role = "developer", extra = { top_k = 20 },
  }), {
    model = "m", messages = json.array { { role = "user", content = "hi" } },
    max_completion_tokens = 9, stop = json.array { "a", "b" },
    chat_template_kwargs = { enable_thinking = false }, stream = true,
    stream_options = { include_usage = true }, top_k = 20,
  })
  t.equal(built({ format = { schema = {} } }, { schema = "json_object" }).response_format,
    { type = "json_object" })
end)

test("chat.build raises for what is no request, with the place", function(t)
  local function raises(fields, piece, quirks)
    t.raises(function() chat.build(request(fields), quirks) end, piece)
  end
  raises({ messages = { { role = "user", content = "a" }, { role = "bot" } } },
    "messages[2].role must be system, user, assistant or tool")
  raises({ messages = { { role = "user", content = 3 } } }, "messages[1].content must be a list")
  raises({ messages = { "hi" } }, "messages must be a list of tables")
  raises({ params = { max_token = 1 } }, "did you mean 'max_tokens'?")
  raises({ params = { max_tokens = 0 } }, "params.max_tokens must be at least 1")
  raises({ params = { temperature = 0 / 0 } }, "params.temperature must be a number")
  raises({ format = "xml" }, "format must be")
  raises({ tools = { { description = "d" } } }, "tools[1].name is missing")
  raises({ tools = { { name = "f", parameters = { print } } } }, "tools[1].parameters")
  raises({}, "option 'omit' is a list of parameter names", { omit = { "temprature" } })
  raises({}, "option 'token_parameter' must be", { token_parameter = "tokens" })
  t.raises(function() chat.build { messages = {} } end, "model is missing")
end)

test("chat.build answers with an error when a text is not UTF-8", function(t)
  local body, err = chat.build(request { messages = { { role = "user", content = "\xFF" } } })
  t.equal(body, nil)
  t.equal(err.kind, "data")
end)

test("chat.parse gives the reply, usage and limits", function(t)
  local reply = assert(chat.parse(200, {
    ["x-ratelimit-remaining-requests"] = "9", ["x-ratelimit-reset-requests"] = "1m3s",
  }, json.encode {
    id = "i", model = "m2",
    choices = { { finish_reason = "stop", message = { content = "hi", reasoning = "why" } } },
    usage = { prompt_tokens = 5, completion_tokens = 2,
      prompt_tokens_details = { cached_tokens = 4 } },
  }))
  t.equal(reply, {
    text = "hi", reasoning = "why", finish = "stop", outcome = "ok", model = "m2", id = "i",
    usage = { prompt_tokens = 5, completion_tokens = 2, cached_tokens = 4 },
    limits = { requests = { remaining = 9.0, reset_s = 63.0 } },
  })
end)

test("chat.parse estimates what was not measured, and says so", function(t)
  local body = completion { content = "four words, no more" }
  t.equal(assert(chat.parse(200, nil, body, { prompt_tokens = 12 })).usage,
    { prompt_tokens = 12, completion_tokens = 5, estimated = true })
  t.equal(assert(chat.parse(200, nil, body)).usage, { completion_tokens = 5, estimated = true })
end)

test("chat.parse keeps think text apart unless it is part of the task", function(t)
  local body = completion { content = "<think>why</think>\nhi" }
  local reply = assert(chat.parse(200, nil, body))
  t.equal(reply.text, "hi")
  t.equal(reply.reasoning, "why")
  reply = assert(chat.parse(200, nil, body, { keep_think = true }))
  t.equal(reply.text, "<think>why</think>\nhi")
  t.equal(reply.reasoning, nil)
end)

test("chat.parse gives tool calls with text arguments", function(t)
  local reply = assert(chat.parse(200, nil, completion({ tool_calls = {
    { ["function"] = { name = "f", arguments = { x = 1 } } },
  } }, "tool_calls")))
  t.equal(reply.tool_calls, json.array { { id = "call_1", name = "f", arguments = '{"x": 1}' } })
  t.equal(reply.finish, "tool_calls")
  t.equal(assert(chat.parse(200, nil, completion { content = "<tool_call>" })).call_markup, true)
end)

test("chat.parse turns refusals and filters into errors with their usage", function(t)
  local refusal = completion { content = json.null, refusal = "I will not" }
  local reply, err = chat.parse(200, nil, refusal)
  t.equal(reply, nil)
  t.equal(err.kind, "refused")
  t.equal(err.message, "the model refused: I will not")
  t.equal(err.retry, false)
  t.equal(err.usage.completion_tokens, 3)
  reply, err = chat.parse(200, nil, completion({ content = "par" }, "content_filter"))
  t.equal(reply, nil)
  t.equal(err.kind, "filtered")
end)

test("chat.parse says how long to wait and which parameter is refused", function(t)
  local _, err = chat.parse(429, {
    ["retry-after"] = "2.5", ["x-ratelimit-limit-tokens"] = "100",
  }, json.encode { error = { message = "slow down", code = "rate_limit_exceeded" } })
  t.equal(err.kind, "rate_limit")
  t.equal(err.retry_after_s, 2.5)
  t.equal(err.status, 429)
  t.equal(err.code, "rate_limit_exceeded")
  t.equal(err.limits, { tokens = { limit = 100.0 } })
  _, err = chat.parse(400, {}, json.encode { error = { message = "no", param = "seed" } })
  t.equal(err.kind, "bad_request")
  t.equal(err.param, "seed")
  t.equal(err.retry_after_s, nil)
end)

test("chat.adapt changes the quirks once for each refused parameter", function(t)
  local quirks = {}
  t.equal(chat.adapt(quirks, { param = "max_tokens", message = "use another" }), true)
  t.equal(chat.adapt(quirks, { param = "max_tokens", message = "use another" }), false)
  t.equal(chat.adapt(quirks, { param = "temperature", message = "only the default" }), true)
  t.equal(chat.adapt(quirks, { param = "top_p", message = "must be between 0 and 1" }), false)
  t.equal(chat.adapt(quirks, { message = "no" }), false)
  t.equal(quirks, { token_parameter = "max_completion_tokens", omit = { "temperature" } })
  local body = built({ params = { max_tokens = 3, temperature = 1.0 } }, quirks)
  t.equal(body.max_completion_tokens, 3)
  t.equal(body.temperature, nil)
end)

test("stream:feed takes any pieces and stream:finish gives the reply", function(t)
  local bytes = 'data: {"choices":[{"delta":{"content":"caf\u{e9}"}}]}\r\n\r\n'
    .. 'data: {"choices":[{"delta":{},"finish_reason":"stop"}],"usage":'
    .. '{"prompt_tokens":3,"completion_tokens":2}}\r\n\r\n'
  local stream = chat.stream()
  for i = 1, #bytes do t.equal(stream:feed(bytes:sub(i, i)), "more") end
  t.equal(stream:feed "data: [DONE]\n\n", "last")
  t.equal(assert(stream:finish(200)), { text = "caf\u{e9}", finish = "stop", outcome = "ok",
    usage = { prompt_tokens = 3, completion_tokens = 2 } })
  t.raises(function() stream:feed "x" end, "the stream is finished")
end)

test("stream:finish tells of errors and cuts in mid-stream", function(t)
  local stream = chat.stream()
  t.equal(stream:feed 'data: {"error":{"code":502,"message":"gone"}}\n\n', "enough")
  local _, err = stream:finish(200, {})
  t.equal(err.kind, "server")
  stream = chat.stream()
  stream:feed 'data: {"choices":[{"delta":{"content":"partial"}}]}\n\n'
  _, err = stream:finish(200)
  t.equal(err.kind, "network")
  t.equal(err.retry, true)
end)
