--- How a request gets to a model and back: retries by class, Retry-After, what a server
--- does not take, who goes first, and what ends the run.
local core = require "rt.task"
local effect = require "skillopt.effect"
local endpoint_of = require "skillopt.endpoint"
local flow = require "rt.flow"
local journal = require "rt.journal"
local task = require "skillopt.task"
local test = require "skillopt.test"

--- Waits are noted, not waited.
local function without_sleep(f)
  local sleep, waits = flow.sleep, {}
  flow.sleep = function(seconds) waits[#waits + 1] = seconds end
  local out = table.pack(pcall(f, waits))
  flow.sleep = sleep
  if not out[1] then error(out[2], 0) end
  return table.unpack(out, 2, out.n)
end

local function reply(text)
  return { text = text or "fine", finish = "stop", outcome = "ok", tool_calls = {},
    usage = { prompt_tokens = 3, completion_tokens = 2 } }
end

--- An error as a protocol gives it; weather comes with a short Retry-After.
local function fault(kind, more)
  local err = { kind = kind, message = kind .. " happened", retry_after_s = 0.0001,
    retry = kind ~= "auth"
    and kind ~= "bad_request" and kind ~= "refused" and kind ~= "filtered" and kind ~= "too_long" }
  for k, v in pairs(more or {}) do err[k] = v end
  return err
end

--- The way of an answer to the journal: here it is stored as soon as it came.
local function new_plane()
  return { start = function() end, stop = function() end,
    keep = function(_, entry, outcome) entry:leave(outcome) end }
end

--- An endpoint that goes through a script of replies and errors; the last one stays. It
--- notes the request bodies and the log.
local function scripted(script, options)
  options = options or {}
  local sent, log = {}, {}
  local backend = {
    name = "scripted", quirks = options.quirks,
    protocol = {
      build = options.build or function(request) return request.body or "body" end,
      parse = function(_, _, body)
        local entry = script[math.min(body, #script)]
        if entry.kind then return nil, entry end
        return entry
      end,
      adapt = options.adapt or function() return false end,
    },
    handle = function(body)
      sent[#sent + 1] = body
      return { status = 200, headers = {}, body = #sent }
    end,
  }
  local settings = { max_in_flight = 8 }
  for k, v in pairs(options.settings or {}) do settings[k] = v end
  local endpoint = endpoint_of.new { role = options.role or "target", backend = backend,
    model = "m", settings = settings, shared = options.shared or {}, spending = options.spending,
    log = function(event) log[#log + 1] = event end }
  return endpoint, sent, log
end

local function ask(endpoint, request)
  return endpoint:ask(request or {},
    { count = 1, plane = new_plane() })
end

--- An endpoint that has answered once, so that a failing call is nothing special.
local function known(script, options)
  table.insert(script, 1, reply "first")
  local endpoint, sent, log = scripted(script, options)
  ask(endpoint)
  return endpoint, sent, log
end

local function kinds_of(log, event)
  local out = {}
  for _, one in ipairs(log) do
    if one.event == event then out[#out + 1] = one.kind or one.param end
  end
  return out
end

------------------------------------------------------------------------- retries

test("a reply comes back with its usage", function(t)
  local answer = ask((scripted { reply "hello" }))
  t.equal({ answer.value.text, answer.usage.prompt_tokens }, { "hello", 3 })
end)

test("weather is tried again until there is a reply", function(t)
  for _, kind in ipairs { "network", "timeout", "server", "rate_limit", "parse" } do
    local endpoint, sent, log = scripted { fault(kind), fault(kind), reply "at last" }
    local answer = without_sleep(function() return ask(endpoint) end)
    t.equal({ answer.value.text, #sent }, { "at last", 3 }, kind)
    t.equal(kinds_of(log, "retry"), { kind, kind })
  end
end)

test("tries end by class: six for the transport, three for output", function(t)
  for kind, tries in pairs { network = 6, timeout = 6, server = 6, parse = 3 } do
    local endpoint, sent = known { fault(kind) }
    local err = t.raises(function() without_sleep(function() ask(endpoint) end) end)
    t.equal({ err.kind, #sent - 1 }, { kind, tries }, kind)
  end
end)

test("a busy server is asked twelve times", function(t)
  local endpoint, sent = known { fault "rate_limit" }
  t.raises(function() without_sleep(function() ask(endpoint) end) end)
  t.equal(#sent - 1, 12)
end)

test("kinds of one class share their tries", function(t)
  local script = {}
  for i = 1, 20 do script[i] = fault(i % 2 == 1 and "network" or "timeout") end
  local endpoint, sent = known(script)
  t.raises(function() without_sleep(function() ask(endpoint) end) end)
  t.equal(#sent - 1, 6)
end)

test("waiting for a busy server does not use up the tries of another class", function(t)
  local script = {}
  for i = 1, 8 do script[i] = fault "rate_limit" end
  for i = 9, 13 do script[i] = fault "network" end
  script[14] = reply "through"
  local endpoint = known(script)
  t.equal(without_sleep(function() return ask(endpoint) end).value.text, "through")
end)

test("the configured number of tries is kept", function(t)
  local endpoint, sent = known({ fault "server" }, { settings = { max_attempts = 2 } })
  t.raises(function() without_sleep(function() ask(endpoint) end) end)
  t.equal(#sent - 1, 2)
end)

test("Retry-After is kept to the second", function(t)
  local endpoint = scripted { fault("server", { retry_after_s = 0.25 }), reply() }
  without_sleep(function(waits)
    ask(endpoint)
    t.equal(waits, { 0.25 })
  end)
end)

test("delays double without Retry-After", function(t)
  local none = { retry_after_s = 0 }
  local endpoint = scripted { fault("network", none), fault("network", none),
    fault("network", none), reply() }
  without_sleep(function(waits)
    ask(endpoint)
    for i, wait in ipairs(waits) do
      t.ok(wait >= 2 ^ (i - 1) / 2 and wait <= 2 ^ (i - 1), ("wait %d is %g"):format(i, wait))
    end
    t.equal(#waits, 3)
  end)
end)

test("logins and malformed requests are not tried again", function(t)
  for _, kind in ipairs { "auth", "bad_request" } do
    local endpoint, sent = known { fault(kind) }
    local err = t.raises(function() ask(endpoint) end)
    t.equal({ err.kind, #sent - 1 }, { kind, 1 })
  end
end)

test("refused, filtered and too long are answers", function(t)
  for _, kind in ipairs { "refused", "filtered", "too_long" } do
    local endpoint, sent = scripted { fault(kind, { usage = { prompt_tokens = 7 } }) }
    local answer = ask(endpoint)
    t.equal({ answer.value.error.kind, answer.usage.prompt_tokens, #sent }, { kind, 7, 1 })
  end
end)

test("weather that is given up is marked as weather", function(t)
  local endpoint = known { fault "server" }
  local err = t.raises(function() without_sleep(function() ask(endpoint) end) end)
  t.equal({ err.kind, err.weather, task.is_uncatchable(err) }, { "server", true, true })
end)

test("output that stays unreadable cannot be caught like a parse error", function(t)
  local endpoint = known { fault "parse" }
  local err = t.raises(function() without_sleep(function() ask(endpoint) end) end)
  t.ok(task.is_uncatchable(err))
end)

test("an error names the server and the role when it has no hint of its own", function(t)
  local endpoint = known({ fault "auth" }, { settings = { base_url = "http://models.example/v1" } })
  local err = t.raises(function() ask(endpoint) end)
  t.equal(err.hint, "http://models.example/v1, model m, as target")
end)

test("a raising back-end gives its place back", function(t)
  local endpoint = known({ reply() }, { settings = { max_in_flight = 1 } })
  local handle = endpoint.backend.handle
  endpoint.backend.handle = function() error "broken back-end" end
  t.raises(function() ask(endpoint) end, "broken back-end")
  endpoint.backend.handle = handle
  t.equal(ask(endpoint).value.text, "fine")
end)

---------------------------------------------------------------------- first call

test("the first call's failure ends the run", function(t)
  for _, kind in ipairs { "auth", "bad_request", "network" } do
    local endpoint = scripted { fault(kind) }
    t.equal(t.raises(function() without_sleep(function() ask(endpoint) end) end).fatal, true, kind)
  end
end)

test("a later call's failure does not", function(t)
  local endpoint = known { fault "auth" }
  t.equal(t.raises(function() ask(endpoint) end).fatal, nil)
end)

test("an answer that is an error proves the endpoint as well", function(t)
  local endpoint = scripted { fault "refused", fault "auth" }
  ask(endpoint)
  t.equal(t.raises(function() ask(endpoint) end).fatal, nil)
end)

test("the first call goes alone, then the others go together", function(t)
  local now, most, first_alone = 0, 0, nil
  local endpoint = scripted { reply() }
  endpoint.backend.handle = function()
    now = now + 1
    most = math.max(most, now)
    if first_alone == nil then
      task.map({ 1, 2, 3 }, function() end, { label = "pause" })
      first_alone = now == 1
    else
      task.map({ 1, 2, 3 }, function() end, { label = "pause" })
    end
    now = now - 1
    return { status = 200, headers = {}, body = 1 }
  end
  task.map({ 1, 2, 3, 4 }, function() ask(endpoint) end, { label = "first" })
  t.equal({ first_alone, most }, { true, 3 })
end)

test("both roles at one address, key and model learn together", function(t)
  local shared = {}
  local target = scripted({ reply() }, { shared = shared })
  ask(target)
  local optimizer = scripted({ fault "auth" }, { shared = shared, role = "optimizer" })
  t.equal(t.raises(function() ask(optimizer) end).fatal, nil)
end)

test("another key is another endpoint", function(t)
  local shared = {}
  ask((scripted({ reply() }, { shared = shared, settings = { api_key = "one" } })))
  local other = scripted({ fault "auth" }, { shared = shared, settings = { api_key = "two" } })
  t.equal(t.raises(function() ask(other) end).fatal, true)
end)

------------------------------------------------------------------- what it takes

--- Options of a server that refuses some parameters by name.
local function picky(refused)
  return {
    build = function(request, quirks)
      local names = {}
      for name in pairs(request.params) do
        if not quirks[name] then names[#names + 1] = name end
      end
      return table.concat(names, " ")
    end,
    adapt = function(quirks, err)
      quirks[err.param] = true
      return true
    end,
  }, function(body)
    for _, name in ipairs(refused) do
      if body:find(name, 1, true) then return fault("bad_request", { param = name }) end
    end
    return reply()
  end
end

local function picky_endpoint(refused, sent_body)
  local options, answer = picky(refused)
  local endpoint, _, log = scripted({ reply() }, options)
  local sent = {}
  endpoint.backend.handle = function(body)
    sent[#sent + 1] = body
    if sent_body then sent_body() end
    return { status = 200, headers = {}, body = body }
  end
  endpoint.backend.protocol.parse = function(_, _, body)
    local entry = answer(body)
    if entry.kind then return nil, entry end
    return entry
  end
  return endpoint, sent, log
end

test("a parameter that a 400 names is left out from then on", function(t)
  local endpoint, sent, log = picky_endpoint { "temperature" }
  local request = { params = { max_tokens = 1, temperature = 1 } }
  ask(endpoint, request)
  ask(endpoint, request)
  t.equal(sent, { "max_tokens temperature", "max_tokens", "max_tokens" })
  t.equal(kinds_of(log, "quirk"), { "temperature" })
end)

test("a parameter that is named again after it was changed is a malformed request", function(t)
  local endpoint = known({ fault("bad_request", { param = "x" }) },
    { adapt = function() return true end })
  t.equal(t.raises(function() ask(endpoint) end).kind, "bad_request")
end)

test("a 400 that names nothing is not tried again", function(t)
  local endpoint, sent = known({ fault "bad_request" }, { adapt = function() return true end })
  t.raises(function() ask(endpoint) end)
  t.equal(#sent - 1, 1)
end)

test("calls on the way while a parameter is learnt are sent again too", function(t)
  local endpoint = picky_endpoint({ "temperature" }, function()
    task.map({ 1, 2, 3 }, function() end, { label = "pause" })
  end)
  ask(endpoint, { params = { max_tokens = 1 } }) -- opens the window
  local out = task.map({ 1, 2, 3 }, function()
    return ask(endpoint, { params = { max_tokens = 1, temperature = 1 } }).value.text
  end, { label = "together" })
  t.equal(out, { "fine", "fine", "fine", n = 3 })
end)

test("a run that ends does not wait for a call that is to be sent again", function(t)
  local j <close> = assert(journal.open())
  local effects = effect.new { journal = j }
  local endpoint = picky_endpoint({ "temperature" }, function()
    task.map({ 1, 2, 3 }, function() end, { label = "pause" })
    effects.fault = { kind = "io", message = "the disk is full" }
  end)
  local kinds = task.map({ 1, 2 }, function(i)
    core.deadline(5)
    local _, err = pcall(effect.perform, effects, ("d"):rep(63) .. i, function(plane)
      return endpoint:ask({ params = { temperature = 1 } }, { count = 1, plane = plane })
    end)
    return err.kind
  end)
  t.equal(kinds, { "io", "io", n = 2 })
end)

--------------------------------------------------------------------- parameters

test("parameters are those of the settings, with the call's own on top", function(t)
  local endpoint = scripted({ reply() }, { settings = { temperature = 0.2, max_tokens_cap = 100,
    reasoning_effort = "low", thinking = "enabled" } })
  t.equal(endpoint:params { max_tokens = 500 },
    { max_tokens = 100, temperature = 0.2, reasoning_effort = "low", thinking = "enabled" })
  t.equal(endpoint:params { max_tokens = 50, reasoning_effort = "high" },
    { max_tokens = 50, temperature = 0.2, reasoning_effort = "high", thinking = "enabled" })
end)

test("the seed is one of slot and count, for servers that take one", function(t)
  local seeds = {}
  local endpoint = scripted({ reply() }, { build = function(request)
    seeds[#seeds + 1] = request.seed
    return "body"
  end })
  endpoint.backend.sends_seed = true
  local plane = new_plane()
  for _, count in ipairs { 1, 2, 1 } do endpoint:ask({}, { count = count, plane = plane }) end
  t.ok(math.type(seeds[1]) == "integer" and seeds[1] ~= seeds[2] and seeds[1] == seeds[3])
end)

------------------------------------------------------------------------ spending

test("a call that is cancelled while it is put on file is not sent and costs nothing", function(t)
  local unused, j = 0, assert(journal.open())
  local leave = setmetatable({ unused = function() unused = unused + 1 end },
    { __close = function() end })
  local spending = { leave = function()
    core.deadline(0.001)
    local n = 0
    while not core.stopped() do
      n = n + 1
      assert(j:store("intent", "slot", tostring(n), "{}"))
    end
    return leave
  end }
  local endpoint, sent = scripted({ reply() }, { spending = spending })
  local out = {}
  core.spawn("late", out, 1, function() return (pcall(ask, endpoint)) end)
  core.join(0)
  t.equal({ out[1], #sent, unused }, { false, 0, 1 })
end)
