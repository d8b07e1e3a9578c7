--- How much a prompt may hold.
local budget = require "skillopt.budget"
local test = require "skillopt.test"

test("runs are as long as the room allows, in order", function(t)
  local list = { "a", "b", "c", "d", "e" }
  t.equal(budget.runs(list, { 1, 1, 1, 1, 1 }, 2), { { "a", "b" }, { "c", "d" }, { "e" } })
  t.equal(budget.runs(list, { 1, 1, 1, 1, 1 }, 5), { list })
  t.equal(budget.runs({}, {}, 5), {})
end)

test("what is larger than the room is a run of its own", function(t)
  t.equal(budget.runs({ "a", "b", "c" }, { 1, 9, 1 }, 2), { { "a" }, { "b" }, { "c" } })
  t.equal(budget.runs({ "a", "b" }, { 9, 0 }, 2), { { "a" }, { "b" } })
end)

local function ctx()
  local one = { logged = {} }
  function one.prompt(_, name, inputs)
    return { system = (name .. ""):rep(10), user = inputs.text or "" }
  end
  function one:log(event) self.logged[#self.logged + 1] = event end
  return one
end

test("the room is what the rest of the prompt leaves", function(t)
  local one = ctx()
  local asked = { prompt = "abcd", inputs = { text = "not counted", other = "x" }, open = "text" }
  t.equal({ budget.room(one, 5000, asked), one.logged }, { 4990, {} })
  asked.also = "more"
  t.equal(budget.room(one, 5000, asked), 4980)
  t.equal(asked.inputs.text, "not counted")
end)

test("there is a least room, and a log line when it is over the budget", function(t)
  local one = ctx()
  t.equal(budget.room(one, 1009, { prompt = "abcd", inputs = {}, open = "text" }), 1000)
  t.equal(one.logged, { { event = "over_budget", prompt = "abcd", tokens = 1010,
    prompt_tokens = 1009 } })
end)
