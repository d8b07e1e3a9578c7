--- leak.lua - the guard against leaks over 100,000 items: its index, made once, the texts of
--- all questions, read when something is first suspected, and a look into a new text.
local leak = require "skillopt.leak"
local stdout = require "rt.stdout"

local ITEMS <const>, LOOKS <const> = 100000, 20000

local function items()
  local out = {}
  for i = 1, ITEMS do
    out[i] = { id = ("item-%06d"):format(i),
      question = ("What is the name of number %d in the list of things?"):format(i),
      answers = { "thing called " .. i, "the " .. i * 7919 } }
  end
  return out
end

local PLAIN <const> = "- Give the value of the line whose label fits, as in 12.50 EUR."
local LEAKING <const> = "- Answer: thing called 77777. See item-000123."
local guard = leak.new { data = { train = items(), val = {}, test = {} }, env = {} }

local function figure(name, seconds, unit)
  stdout.write(("figure leak.%s %.3f %s\n"):format(name, seconds, unit))
end

local function timed(f)
  local from = os.clock()
  f()
  return os.clock() - from
end

figure("index_100000_items", timed(function() guard:find(PLAIN, "") end), "s")
figure("first_suspicion", timed(function() guard:find(LEAKING, "") end), "s")
figure("look_at_an_edit", timed(function()
  for _ = 1, LOOKS do guard:find(PLAIN, "") end
end) / LOOKS * 1e6, "us")
figure("look_at_a_skill", timed(function()
  for _ = 1, 10 do guard:find((PLAIN .. "\n"):rep(100), "") end
end) / 10 * 1e3, "ms")
