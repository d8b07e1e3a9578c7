--- Effects: answered by the journal when they are on file, by the world otherwise.
local chat = require "skillopt.chat"
local core = require "rt.task"
local digest = require "rt.digest"
local effect = require "skillopt.effect"
local file = require "rt.file"
local flow = require "rt.flow"
local journal = require "rt.journal"
local json = require "rt.json"
local secrets = require "skillopt.secrets"
local task = require "skillopt.task"
local test = require "skillopt.test"
local process = test.support "tests/lua/process.lua"
local support = test.support "tests/lua/support.lua"

local DIGEST <const> = ("d"):rep(64)

--- What `f` gives as the only child of that slot; asked again it is the same slot.
local function at(slot, f, ...)
  local out = {}
  core.spawn(slot, out, 0, f, ...)
  core.join(0)
  return table.unpack(out, 1, out.n)
end

--- An asker that counts its calls and answers `reply 1`, `reply 2`...
local function asker()
  local calls = 0
  return function()
    calls = calls + 1
    return { value = { text = "reply " .. calls },
      usage = { prompt_tokens = 10, completion_tokens = calls } }
  end, function() return calls end
end

local function answer(effects, ask, id)
  return effect.perform(effects, id or DIGEST, ask).text
end

--- The same test with the journal in memory and on disk.
local function both(name, run)
  test(name .. " (in memory)", function(t) run(t, function() return assert(journal.open()) end) end)
  test(name .. " (on disk)", function(t)
    local n = 0
    run(t, function()
      n = n + 1
      return assert(journal.open(("%s/j%d.db"):format(support.folder(), n)))
    end)
  end)
end

--------------------------------------------------------------------- the journal

both("the same digest asked twice in a task has two answers", function(t, open)
  local j <close> = open()
  local effects, ask = effect.new { journal = j }, asker()
  t.equal({ at("twice", function() return answer(effects, ask), answer(effects, ask) end) },
    { "reply 1", "reply 2" })
end)

both("a stored answer comes back without asking", function(t, open)
  local j <close> = open()
  local ask, calls = asker()
  at("again", function() return answer(effect.new { journal = j }, ask) end)
  local effects = effect.new { journal = j }
  t.equal(at("again", function() return answer(effects, ask) end), "reply 1")
  t.equal({ calls(), effects.counts.stored, effects.counts.asked }, { 1, 1, 0 })
end)

test("a parent's answer that cannot be taken over is not asked for again", function(t)
  local parent <close> = assert(journal.open())
  local ask, calls = asker()
  at("fork", function() return answer(effect.new { journal = parent }, ask) end)
  local full = { message = "the journal is full", kind = "io" }
  local child = { find = function() end, copy = function() return nil, full end }
  local err = t.raises(function()
    at("fork", function()
      return answer(effect.new { journal = child, parents = { parent } }, ask)
    end)
  end)
  t.equal({ err.message, calls() }, { full.message, 1 })
end)

both("an inserted call leaves the answers of the others valid", function(t, open)
  local j <close> = open()
  local ask, calls = asker()
  local first, second = ("a"):rep(64), ("b"):rep(64)
  at("insert", function()
    local effects = effect.new { journal = j }
    return answer(effects, ask, first), answer(effects, ask, second)
  end)
  local got = { at("insert", function()
    local effects = effect.new { journal = j }
    return answer(effects, ask, first), answer(effects, ask, ("c"):rep(64)),
      answer(effects, ask, second)
  end) }
  t.equal({ got, calls() }, { { "reply 1", "reply 3", "reply 2" }, 3 })
end)

both("a digest asked in another slot is another effect", function(t, open)
  local j <close> = open()
  local effects, ask = effect.new { journal = j }, asker()
  t.equal({ at("one", answer, effects, ask), at("other", answer, effects, ask) },
    { "reply 1", "reply 2" })
end)

test("an answer is on disk before the program sees it", function(t)
  local path = file.absolute(support.folder()) .. "/j.db"
  local killed = process.lua(([[
    local effect, journal = require "skillopt.effect", require "rt.journal"
    local j = assert(journal.open "%s")
    effect.perform(effect.new { journal = j }, "digest", function()
      return { value = { text = "paid" } }
    end)
    os.execute "kill -9 $PPID"
  ]]):format(path))
  t.equal(killed.signal, true)
  local j <close> = assert(journal.open(path))
  t.equal(json.decode(j:read(j:find("effect", "", "digest"))).value, { text = "paid" })
end)

both("nothing is stored when asking raises", function(t, open)
  local j <close> = open()
  local effects = effect.new { journal = j }
  local rows = j:last()
  t.raises(function()
    at("raises", answer, effects, function() error({ kind = "network", message = "gone" }, 0) end)
  end)
  t.equal(j:last(), rows)
end)

both("what raised is asked again when the task is run again", function(t, open)
  local j <close> = open()
  local ask = asker()
  t.raises(function()
    at("later", answer, effect.new { journal = j },
      function() error({ kind = "network", message = "gone" }, 0) end)
  end)
  t.equal(at("later", answer, effect.new { journal = j }, ask), "reply 1")
end)

both("a replay raises where the journal has no answer and asks nobody", function(t, open)
  local j <close> = open()
  local ask, calls = asker()
  local effects = effect.new { journal = j, is_replay = true }
  local err = t.raises(function() at("missing", answer, effects, ask) end)
  t.equal({ err.kind, err.at_end, calls() }, { "io", true, 0 })
  t.ok(err.message:find("missing", 1, true), err.message)
end)

both("message bodies are kept once", function(t, open)
  local j <close> = open()
  local effects, ask = effect.new { journal = j }, asker()
  local body = { key = ("b"):rep(64), bytes = "a body" }
  at("bodies", function()
    for _ = 1, 3 do effect.perform(effects, DIGEST, ask, function() return { body } end) end
  end)
  local n, count = j:next("body", 0), 0
  while n do n, count = j:next("body", n), count + 1 end
  t.equal(count, 1)
  t.equal(j:read(j:find("body", "", body.key)), "a body")
end)

--------------------------------------------------------------------------- forks

--- A parent journal in which `slot` asked DIGEST twice.
local function parent_with(open, slot)
  local parent, ask = open(), asker()
  at(slot, function()
    local effects = effect.new { journal = parent }
    return answer(effects, ask), answer(effects, ask)
  end)
  return parent
end

both("a fork takes a parent's answer of the same slot, digest and count", function(t, open)
  local parent <close> = parent_with(open, "steps/1/q1")
  local own <close> = open()
  local effects = effect.new { journal = own, parents = { parent } }
  local ask, calls = asker()
  local got = { at("steps/1/q1", function()
    return answer(effects, ask), answer(effects, ask), answer(effects, ask)
  end) }
  t.equal({ got, calls(), effects.counts.copied }, { { "reply 1", "reply 2", "reply 1" }, 1, 2 })
end)

both("a fork takes nothing by digest alone", function(t, open)
  local parent <close> = parent_with(open, "steps/1/q1")
  local own <close> = open()
  local ask, calls = asker()
  at("steps/2/q1", answer, effect.new { journal = own, parents = { parent } }, ask)
  t.equal(calls(), 1)
end)

both("a fork stands alone: what it took is in its own journal", function(t, open)
  local parent = parent_with(open, "alone")
  local own <close> = open()
  local effects = effect.new { journal = own, parents = { parent } }
  local ask, calls = asker()
  at("alone", answer, effects, ask)
  parent:close()
  t.equal(at("alone", answer, effect.new { journal = own }, ask), "reply 1")
  t.equal(calls(), 0)
end)

both("a fork has the message bodies of what it took", function(t, open)
  local parent <close> = open()
  local body = { key = ("b"):rep(64), bytes = "a body" }
  local function bodies() return { body } end
  at("body", effect.perform, effect.new { journal = parent }, DIGEST, (asker()), bodies)
  local own <close> = open()
  at("body", effect.perform, effect.new { journal = own, parents = { parent } }, DIGEST, (asker()),
    bodies)
  t.ok(own:find("body", "", body.key))
end)

------------------------------------------------------------------------ disorder

test("stored answers in another order give the same results", function(t)
  local j <close> = assert(journal.open())
  local ask, calls = asker()
  local function all(effects, trail)
    local out = {}
    at("disorder", function()
      out = task.map({ 1, 2, 3, 4, 5, 6 }, function(i)
        local text = answer(effects, ask, ("%064d"):format(i))
        trail[#trail + 1] = i
        return text
      end)
    end)
    return out
  end
  local plain, trails = all(effect.new { journal = j }, {}), {}
  for seed = 1, 5 do
    trails[seed] = {}
    t.equal(all(effect.new { journal = j, disorder = seed }, trails[seed]), plain)
  end
  t.equal(calls(), 6)
  t.ok(table.concat(trails[1]) ~= "123456" or table.concat(trails[2]) ~= "123456",
    "nothing was shuffled")
end)

test("the same seed shuffles in the same way", function(t)
  local j <close> = assert(journal.open())
  local ask = asker()
  local function trail(disorder)
    local seen, effects = {}, effect.new { journal = j, disorder = disorder }
    at("seeded", function()
      task.map({ 1, 2, 3, 4, 5, 6, 7, 8 }, function(i)
        answer(effects, ask, ("%064d"):format(i))
        seen[#seen + 1] = i
      end)
    end)
    return seen
  end
  trail(nil)
  t.equal(trail(3), trail(3))
end)

------------------------------------------------------------------------- secrets

local SECRET <const> = "sk-0123456789abcdef0123"

local function with_secret(secret)
  local j = assert(journal.open())
  return j, effect.new { journal = j, scrub = secrets.scrubber { secret } }
end

test("a secret in an answer is neither stored nor delivered", function(t)
  local j <close>, effects = with_secret(SECRET)
  local got = at("secret", effect.perform, effects, DIGEST, function()
    return { value = { text = "your key is " .. SECRET .. ", keep it" } }
  end)
  t.equal(got.text, "your key is ***, keep it")
  t.ok(not j:read(j:find("effect", "secret", DIGEST)):find(SECRET, 1, true))
end)

test("a secret in a message body is not stored", function(t)
  local j <close>, effects = with_secret(SECRET)
  at("secret", effect.perform, effects, DIGEST, (asker()),
    function() return { { key = "k", bytes = "use " .. SECRET } } end)
  t.equal(j:read(j:find("body", "", "k")), "use ***")
end)

test("a secret that JSON would escape is not stored either", function(t)
  local secret = "pass\"word\\with/signs"
  local j <close>, effects = with_secret(secret)
  local got = at("escaped", effect.perform, effects, DIGEST, function()
    return { value = { text = "it is " .. secret } }
  end)
  t.equal(got.text, "it is ***")
  t.ok(not j:read(j:find("effect", "escaped", DIGEST)):find("with/signs", 1, true))
end)

test("a live run and its replay see the same value", function(t)
  local j <close>, effects = with_secret(SECRET)
  local function ask()
    return { value = { text = SECRET, score = 1.0, list = json.array {}, none = json.null,
      big = 2 ^ 53 } }
  end
  local live = at("same", effect.perform, effects, DIGEST, ask)
  local replayed = effect.new { journal = j, is_replay = true }
  local stored = at("same", effect.perform, replayed, DIGEST, ask)
  t.equal(live, stored)
end)

test("an answer that is no valid UTF-8 is mended before it is stored", function(t)
  local j <close> = assert(journal.open())
  local got = at("bytes", effect.perform, effect.new { journal = j }, DIGEST, function()
    return { value = { text = "a\xffb" } }
  end)
  t.equal(got.text, "a\u{FFFD}b")
end)

------------------------------------------------------------------- clock, spending

test("a stored answer moves the clock as the live one did", function(t)
  local j <close> = assert(journal.open())
  local ask = asker()
  local before = math.floor(flow.wall())
  local live = at("clock", function()
    answer(effect.new { journal = j }, ask)
    return core.time()
  end)
  t.ok(live >= before, "the answer did not move it")
  flow.sleep(0.005)
  local again = at("clock", function()
    answer(effect.new { journal = j }, ask)
    return core.time()
  end)
  t.equal(again, live)
end)

test("ctx.spent sums over the task and those above it", function(t)
  local j <close> = assert(journal.open())
  local effects, ask = effect.new { journal = j }, asker()
  local seen = {}
  at("spent", function()
    answer(effects, ask, ("1"):rep(64)) -- 11 tokens
    task.map({ 1, 2 }, function(i)
      answer(effects, ask, ("%d"):format(i + 1):rep(64))
      seen[i] = effect.spent()
    end, { limit = 1 })
    seen[3] = effect.spent()
  end)
  t.equal(seen, { { calls = 2, tokens = 23 }, { calls = 2, tokens = 24 },
    { calls = 3, tokens = 36 } })
end)

test("what a failed child had spent is counted by its parent", function(t)
  local j <close> = assert(journal.open())
  local effects, ask = effect.new { journal = j }, asker()
  local spent = at("failed child", function()
    pcall(task.scope, "child", function()
      answer(effects, ask)
      error { kind = "data", message = "m" }
    end)
    return effect.spent()
  end)
  t.equal(spent, { calls = 1, tokens = 11 })
end)

test("a call counts as in flight from sending to storing", function(t)
  local j <close> = assert(journal.open())
  local before, during = flow.flights(), nil
  at("flight", effect.perform, effect.new { journal = j }, DIGEST, function(plane)
    plane:start()
    during = flow.flights()
    return { value = {} }
  end)
  t.equal({ during, flow.flights() }, { before + 1, before })
end)

test("an answer keeps its place in the limit until it is stored", function(t)
  local j <close> = assert(journal.open())
  local left = {}
  local place = { leave = function(_, outcome)
    left[#left + 1] = { outcome, j:find("effect", "kept", DIGEST) ~= nil }
  end }
  at("kept", effect.perform, effect.new { journal = j }, DIGEST, function(plane)
    plane:start()
    plane:keep(place, "how it ended")
    return { value = {} }
  end)
  t.equal(left, { { "how it ended", true } })
end)

test("a call that raises is no longer in flight", function(t)
  local j <close> = assert(journal.open())
  local before = flow.flights()
  pcall(at, "flight 2", effect.perform, effect.new { journal = j }, DIGEST, function(plane)
    plane:start()
    error({ kind = "network", message = "m" }, 0)
  end)
  t.equal(flow.flights(), before)
end)

------------------------------------------------------------------------- digests

local function request(changes)
  local r = { provider = "p", model = "m", params = { max_tokens = 10, temperature = 0.5 },
    messages = { { role = "user", content = json.array { { text = "hello" } } } } }
  for k, v in pairs(changes or {}) do r[k] = v end
  return r
end

local function id(changes) return (chat.identity(request(changes))) end

local function bodies_of(r)
  local _, ids = chat.identity(r)
  return chat.bodies(r, ids)
end

test("a digest is that of the canonical logical request", function(t)
  local message = digest.sha256 [[{"content":[{"text":"hello"}],"role":"user"}]]
  t.equal(id(), digest.sha256('{"kind":"chat","messages":["' .. message
    .. '"],"model":"m","params":{"max_tokens":10,"temperature":0.5},"provider":"p"}'))
end)

test("a digest does not depend on the order of fields or on whole floats", function(t)
  t.equal(id { params = { temperature = 0.5, max_tokens = 10.0 } }, id())
end)

test("a digest depends on provider, model, parameters, tools, format and messages", function(t)
  local changes = {
    { provider = "q" }, { model = "n" }, { params = { max_tokens = 11, temperature = 0.5 } },
    { tools = json.array { { name = "f", description = "", parameters = json.object {} } } },
    { format = "json" },
    { messages = { { role = "system", content = json.array { { text = "hello" } } } } },
  }
  local seen = { [id()] = true }
  for i, change in ipairs(changes) do
    t.ok(not seen[id(change)], "change " .. i)
    seen[id(change)] = true
  end
end)

test("a digest has images by their own digest, type and detail", function(t)
  local function image(bytes, kind)
    return { messages = { { role = "user",
      content = json.array { { image = bytes, type = kind or "image/png", detail = "auto" } } } } }
  end
  local bodies = bodies_of(request(image "\x89PNG\0\xff"))
  t.ok(not bodies[1].bytes:find("PNG", 1, true))
  t.equal(id(image "one"), id(image "one"))
  t.ok(id(image "one") ~= id(image "two"))
  t.ok(id(image "one") ~= id(image("one", "image/jpeg")))
end)

test("bodies lie under the digests of their bytes, whichever message was before", function(t)
  local function message(role, ...)
    local parts = json.array {}
    for i, text in ipairs { ... } do parts[i] = { text = text } end
    return { role = role, content = parts }
  end
  for _, text in ipairs { "one", "one", "two", "one" } do
    local bodies = bodies_of(request { messages = { message("system", text),
      message("user", text), message("system", text, text), message("system") } })
    for i, body in ipairs(bodies) do t.equal(body.key, digest.sha256(body.bytes), i) end
    t.ok(bodies[1].bytes:find(text, 1, true))
  end
end)

test("a call has one digest for every host, key and deadline", function(t)
  local keys = {}
  for i, settings in ipairs { { base_url = "https://a", api_key = "k1" },
    { base_url = "http://b", timeout_s = 3 } } do
    local j <close> = assert(journal.open())
    local endpoint = require("skillopt.endpoint").new { role = "target", model = "m",
      settings = settings,
      log = function() end, shared = {}, backend = { name = "p", handle = function()
        return { status = 200, headers = {}, body = "" }
      end, protocol = { build = function() return "" end, parse = function()
        return { text = "x", finish = "stop", outcome = "ok", usage = {}, tool_calls = {} }
      end } } }
    local run = { endpoint = function() return endpoint end, tally = function() end,
      effects = effect.new { journal = j } }
    local place = { run = run, role = "target", kind = "policy", timeout_s = i }
    at("hosts", chat.chat, place, { user = "hi", timeout_s = i })
    keys[i] = j:row(j:next("effect", 0)).key
  end
  t.equal(keys[1], keys[2])
end)
