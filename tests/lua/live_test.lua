--- The line at the bottom of a terminal.
local live_of = require "skillopt.run.live"
local test = require "skillopt.test"
local text_of = require "rt.text"

local function run_with(options)
  return {
    calls = function() return options.calls or 0 end,
    token_summary = function() return { _total = { total_tokens = options.tokens or 0 } } end,
    limit_view = function() return options.view end, calls_expected = options.expected,
  }
end

local function measured(options)
  local live = live_of.of(run_with(options))
  local d = { label = options.label or "rollout", done = 30, total = 60, sum = 15.0, marked = 28,
    failed = 2, no_answer = 1 }
  live:begin(d)
  d.started = d.started - 30
  return live, d
end

local VIEW <const> = { in_flight = 3, window = 64, waiting = 0, is_alone = false, paused_s = 0 }

test("the line says what, how far, how good, how long, at what cost, how many", function(t)
  local live = measured { calls = 50, tokens = 12345, view = VIEW }
  live.step = "step 2/12"
  local line = live:line(200)
  for _, piece in ipairs { "rollout", "[########--------] 30/60", "hard=0.5357", "failed=2",
    "no_answer=1", "ETA 0:30", "50 calls, 12k tokens", "0/64 in flight", "step 2/12" } do
    t.ok(line:find(piece, 1, true), piece .. " is not in " .. line)
  end
end)

test("it fits every width, and what matters stays longest", function(t)
  local live = measured { calls = 50, tokens = 12345, view = VIEW, label = "prüfung\27[2J\n" }
  for columns = 10, 140 do
    local line = live:line(columns)
    t.ok(text_of.length(line) < columns - 2, line) -- an interrupt shows two more
    t.equal(line:find "%c", nil)
  end
  t.ok(measured({}):line(40):find("rollout  30/60  hard=0.5357", 1, true))
end)

test("the rate is that of the last seconds, the time of the run is what is expected", function(t)
  local live = live_of.of(run_with { expected = 200 })
  t.equal(live:rate(100, 0), nil)
  t.equal(live:rate(102, 20), 10.0)
  t.equal(live:rate(130, 20), 0.0)
  t.equal(live:rate(131, 24), 4.0)
end)

test("a pause of the server is shown", function(t)
  local view = { window = 8, paused_s = 4.2 }
  t.ok(measured({ view = view }):line(200):find("0/8 in flight, paused 4s", 1, true))
end)

test("an evaluation that ended is no longer shown, the one around it is", function(t)
  local live, d = measured {}
  local inner = { label = "inner", done = 0, total = 4, sum = 0, marked = 0, failed = 0,
    no_answer = 0 }
  live:begin(inner)
  t.ok(live:line(80):find "^inner")
  live:finish(inner)
  t.ok(live:line(80):find "^rollout")
  live:finish(d)
  t.ok(live:line(80):find "^starting")
  live.step = "step 1/2"
  t.ok(live:line(80):find "^optimizer")
end)

test("times and counts are written for people", function(t)
  local duration = live_of.duration
  t.equal({ duration(0), duration(61.9), duration(3700), duration(-5) },
    { "0:00", "1:01", "1:01:40", "0:00" })
  t.equal({ live_of.count(9999), live_of.count(10500), live_of.count(3400000) },
    { "9999", "10k", "3.4M" })
end)

test("what runs below the line gives its result, its error, and leaves no task", function(t)
  local live = live_of.of(run_with {})
  live.draw = function() end
  t.equal(live_of.during(live, function(a) return a + 1 end, 4), 5)
  t.equal(live_of.during(nil, function(a) return a end, 3), 3)
  local function fails() error({ kind = "data", message = "so" }, 0) end
  t.raises(function() live_of.during(live, fails) end)
  local flow = require "rt.flow"
  t.equal(live_of.during(live, function()
    flow.sleep(0.02)
    return "late"
  end), "late")
end)

test("without a terminal there is none", function(t)
  if require("rt.stdout").is_terminal() then t.skip "this is a terminal" end
  t.equal(live_of.new(run_with {}), nil)
end)
