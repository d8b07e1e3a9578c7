--- Prices and worst cases (skillopt.spending); whole runs under a cap are in
--- tests/e2e/spending.sh.
local json = require "rt.json"
local spending = require "skillopt.spending"
local test = require "skillopt.test"

test("a price names input and output, and cached input where it is cheaper", function(t)
  t.equal({ spending.price "gpt-x=2.5/10" }, { "gpt-x", { input = 2.5, output = 10 } })
  t.equal({ spending.price "a/b=c:7b=1/2/0.5" },
    { "a/b=c:7b", { input = 1, output = 2, cached_input = 0.5 } })
end)

test("what is no price is none", function(t)
  for _, text in ipairs { "gpt-x", "gpt-x=", "gpt-x=1", "gpt-x=1/", "gpt-x=/2", "gpt-x=1/2/x",
    "gpt-x=-1/2", "=1/2", "gpt-x=1.2.3/4" } do
    t.equal(spending.price(text), nil, text)
  end
end)

test("the worst case of a request has a token for every byte and the whole reply", function(t)
  local request = { params = { max_tokens = 100 },
    messages = { { role = "user", content = { { text = ("x"):rep(1000) } } } } }
  local worst = spending.worst(request)
  t.equal(worst.completion_tokens, 100)
  t.ok(worst.prompt_tokens >= 1000 and worst.prompt_tokens < 1200, worst.prompt_tokens)
  request.messages[1].content[2] = { image = ("i"):rep(1000000), type = "image/png" }
  t.ok(spending.worst(request).prompt_tokens < 20000, "an image is not counted by its bytes")
  request.tools = json.array { { name = "look", description = ("d"):rep(500) } }
  t.ok(spending.worst(request).prompt_tokens > worst.prompt_tokens + 500, "tools count")
end)

-------------------------------------------------------------------- before a run

local function priced(values, models)
  local config = { get = function(_, name) return values[name] end }
  local ok, err = pcall(spending.check, config, models)
  return ok and "fine" or err.kind .. ": " .. err.message
end

test("prices are looked at before anything is sent", function(t)
  local paid = { paid = { "m" }, free = {} }
  t.equal(priced({ ["spend.prices"] = { "m=1/2" }, ["spend.cost"] = 1 }, paid), "fine")
  t.equal(priced({ ["spend.prices"] = { "m=1/" } }, paid),
    'config: spend.prices: "m=1/" is no price')
  t.equal(priced({ ["spend.prices"] = { "m=1/2", "m=3/4" } }, paid),
    "config: spend.prices: m has two prices")
  t.equal(priced({ ["spend.cost"] = 1 }, paid),
    "budget: no price for m, and spending is capped")
end)

test("a model that costs nothing needs no price, unless one of its name is paid", function(t)
  local cap = { ["spend.cost"] = 1 }
  t.equal(priced(cap, { paid = {}, free = { "sim" } }), "fine")
  t.equal(priced(cap, { paid = { "sim" }, free = { "sim" } }),
    "budget: no price for sim, and spending is capped")
end)

test("that a call cost nothing and cannot be put on file is an error", function(t)
  local err = { kind = "io", message = "the disk is full" }
  local run = {
    config = { get = function(_, name) return name == "spend.calls" and 5 or nil end },
    journal = {
      next = function() end, find = function() end, store = function() return true end,
      put = function() return nil, err end,
    },
  }
  local book = spending.new(run, { paid = { "m" }, free = {} })
  local request = { params = { max_tokens = 1 }, messages = {} }
  local leave = book:leave({ role = "target", stage = "s", model = "m" }, request,
    { slot = "a", key = "b" })
  local ok, raised = pcall(leave.ended, leave, nil, { kind = "rate_limit" })
  t.equal({ ok, raised }, { false, err })
end)
