--- What belongs to single tasks stays out of a skill: what counts as a leak and what does
--- not.
local dataset = require "skillopt.dataset"
local env_of = require "skillopt.env"
local file = require "rt.file"
local json = require "rt.json"
local leak = require "skillopt.leak"
local test = require "skillopt.test"

local CASE <const> = json.decode(test.read "tests/cases/c16_judge_leak.json")

--- Thirty items: trivia, of which a third is answered `none` and two share an answer.
local function trivia()
  local items = {}
  for i = 1, 30 do
    local answer = i % 3 == 0 and "none" or "Person number " .. i
    items[i] = { id = ("quiz-%04d"):format(i), question = "Who did thing " .. i .. "?",
      answers = { answer } }
  end
  items[1].answers = { "Napoleon Bonaparte", "Bonaparte" }
  items[2].answers = { "Napoleon Bonaparte" }
  items[4].answers, items[5].answers = { "42" }, { 1234567 }
  items[7].question = "In which unit, Kilograms or pounds, is it?"
  items[8].question, items[10].question = "How many kilograms?", "Kilograms of what?"
  items[11].answers = { "kilograms" }
  items[14].answers, items[16].answers = { "evidence" }, { "photosynthesis" }
  items[13].answers = { "中华人民共和国" }
  return items
end

local function guard(more)
  local options = { data = { train = trivia(), val = {}, test = {} }, env = {} }
  for name, value in pairs(more or {}) do options[name] = value end
  return leak.new(options)
end

--- Kinds and texts of what is found.
local function found(text, before, more)
  local out = {}
  for i, one in ipairs(guard(more):find(text, before or "")) do
    out[i] = one.kind .. " " .. one.text
  end
  return out
end

local LEAKS <const> = {
  { "an answer", "- If in doubt, say Napoleon Bonaparte.", { "answer napoleon bonaparte" } },
  { "an answer in another case and with other signs", "Use NAPOLEON-bonaparte.",
    { "answer napoleon bonaparte" } },
  { "a part that is an answer of its own", "It is Bonaparte!", { "answer bonaparte" } },
  { "a number of many digits", "Answer 1234567 then.", { "answer 1234567" } },
  { "an answer in a script without blanks", "答案是中华人民共和国。",
    { "answer 中 华 人 民 共 和 国" } },
  { "an id", "As in quiz-0012, read twice.", { "id quiz-0012" } },
  { "a long word", "It is photosynthesis.", { "answer photosynthesis" } },
  { "two at once", "quiz-0012: Person number 17", { "id quiz-0012", "answer person number 17" } },
}

for _, case in ipairs(LEAKS) do
  test("a leak: " .. case[1], function(t) t.equal(found(case[2]), case[3]) end)
end

local CLEAN <const> = {
  { "a rule about a form", "- Give dates as 2024-05-17 and amounts as 12.50 EUR." },
  { "a short answer", "- When there are several, answer 42 or yes." },
  { "a common answer", "- When nothing fits, answer none." },
  { "a word that other questions have", "- Weights are in kilograms." },
  { "an everyday word", "- Answer with the evidence of the text." },
  { "words that hold an answer inside a longer one", "- The Bonapartes ruled." },
  { "an answer cut short", "- Name the person number." },
  { "a number beside an id", "- The quiz-001 of 2024 is no item." },
}

for _, case in ipairs(CLEAN) do
  test("no leak: " .. case[1], function(t) t.equal(found(case[2]), {}) end)
end

test("what the skill says already is no new leak", function(t)
  t.equal(found("- Say Napoleon Bonaparte. See quiz-0012.", "napoleon, BONAPARTE; quiz-0012"), {})
  t.equal(found("See QUIZ-0012.", ""), {}) -- an id in its own spelling alone
end)

test("ids that may be everyday words or numbers do not count", function(t)
  local items = { { id = "billing", question = "q" }, { id = "12345", question = "q" },
    { id = "q17", question = "q" }, { id = "123456", question = "q" } }
  local options = { data = { train = items, val = {}, test = {} } }
  t.equal(found("billing 12345 q17", "", options), {})
  t.equal(found("item 123456", "", options), { "id 123456" })
end)

test("of a long answer the first twelve words count", function(t)
  local long = "one two three four five six seven eight nine ten eleven twelve"
  local options = { data = { train = { { id = "a", answer = long .. " thirteen" } } } }
  t.equal(#found("so: " .. long .. ", and on", "", options), 1)
  t.equal(found("so: one two three four five six", "", options), {})
end)

test("the fields of the answers are those the environment declares", function(t)
  local items = { { id = "a", question = "q", result = { value = "Waterloo" },
    answers = { "Austerlitz" } } }
  local options = { data = { train = items }, env = { answers = { "result.value" } } }
  t.equal(found("Waterloo, Austerlitz", "", options), { "answer waterloo" })
end)

---------------------------------------------------------------------------- judges

local JUDGED <const> = { hidden = { "check.pattern" } }

local function ticket(description)
  return { id = "ticket-2024-17", question = "Route the ticket.",
    check = { pattern = CASE.check.pattern, op = "regex",
      description = description or CASE.check.description } }
end

local function judge(text, before, more)
  local options = { env = JUDGED, data = { train = { ticket() } } }
  for name, value in pairs(more or {}) do options[name] = value end
  return found(text, before, options)
end

test("a piece of a judge's pattern is a leak, its description is none", function(t)
  t.equal(judge("Write what matches " .. CASE.check.pattern),
    { "judge " .. CASE.check.pattern })
  t.equal(judge "Begin with ROUTE:\\s*billing as in the check.", { "judge ROUTE:\\s*billing" })
  t.equal(judge(CASE.check.description), {})
  t.equal(judge("- " .. CASE.check.pattern, "old: " .. CASE.check.pattern), {})
end)

test("what a row of results hides is guarded once it was seen", function(t)
  local one = guard()
  local text = "Begin with ROUTE:\\s*billing as in the check."
  t.equal(#one:find(text, ""), 0)
  one:see { { hidden = CASE.check.pattern }, { hidden = { "other" } } }
  t.equal(one:find(text, "")[1].kind, "judge")
end)

local TESTS <const> = [[
def check(candidate):
    assert candidate([1.0, 2.0, 3.9], 0.3) == True
    # the numbers are compared with each other
    return has_close_elements(candidate)
]]

test("a judge's file: code is a leak, what tasks show and plain prose are none", function(t)
  local shown = { id = "a", question = "Write has_close_elements(numbers)." }
  local more = { env = {}, data = { train = { shown } }, judge = { TESTS } }
  t.equal(judge("- Return True for ([1.0, 2.0, 3.9], 0.3) alone.", "", more),
    { "judge ([1.0, 2.0, 3.9], 0.3)" })
  t.equal(judge("- Define has_close_elements(numbers) first.", "", more), {})
  t.equal(judge("- Mind that the numbers are compared.", "", more), {})
  t.equal(judge("- Mind that the numbers are compared with each other.", "", more),
    { "judge the numbers are compared with each other" })
end)

test("a piece is found whichever of many judges it is of", function(t)
  local items = {}
  for i = 1, 200 do
    items[i] = { id = "t" .. i, question = "q", pattern = ("^\\s*ROUTE%d:\\s*$"):format(i) }
  end
  local more = { env = { hidden = { "pattern" } }, data = { train = items } }
  t.equal(judge("Say ^\\s*ROUTE7:\\s* first", "", more), { "judge ^\\s*ROUTE7:\\s*" })
  t.equal(judge("Say ROUTE187:\\s*$", "", more), { "judge ROUTE187:\\s*$" })
end)

test("a short hidden text counts as a whole", function(t)
  local more = { env = { hidden = function(item) return item.secret end },
    data = { train = { { id = "a", question = "q", secret = "sesame" } } } }
  t.equal(judge("Say sesame.", "", more), { "judge sesame" })
  t.equal(judge("Say sesames.", "", more), {})
end)

test("a description that quotes its pattern is refused with the data", function(t)
  local opt = { required = { "question" }, hidden = JUDGED.hidden, least = 1 }
  local bad = ticket("It must match " .. CASE.check.pattern)
  local splits = { train = { bad }, val = { { id = "v", question = "q" } },
    test = { { id = "x", question = "q" } } }
  local _, err = dataset.check(splits, opt)
  t.ok(err.message:find("the description beside 'check.pattern' quotes it", 1, true), err.message)
  splits.train = { ticket() }
  t.ok(dataset.check(splits, opt))
end)

test("an environment says with names what only its judge reads", function(t)
  local function rollout() return { hard = 1 } end
  t.ok(env_of.define { name = "a", rollout = rollout, answers = { "x" }, hidden = { "y" },
    judge = {} })
  t.ok(env_of.define { name = "a", rollout = rollout, hidden = function() end })
  local _, err = pcall(env_of.define, { name = "a", rollout = rollout, hidden = "y" })
  t.ok(err.message:find("'hidden' must be a table or function", 1, true), err.message)
end)

test("a reason begins with the fate and names item and words", function(t)
  local one = guard():find("- Say Napoleon Bonaparte.", "")[1]
  t.equal(leak.words(one), 'leak: gives the answer "napoleon bonaparte" of item quiz-0001')
end)

---------------------------------------------------------------------- real text

--- Items of a converted data set, or a skip.
local function real(t, name)
  local path = test.shared(("data/converted/searchqa_%s.json"):format(name))
  if not path then t.skip "the shared data is not there" end
  local items = json.decode(test.read(path))
  for _, item in ipairs(items) do item.id = tostring(item.id) end
  return items, guard { data = { train = items } }
end

--- The policies' prompts: rules for writers that are about none of the items.
local function prose()
  local out = {}
  for _, slot in ipairs { "aggregate", "reflect", "select", "slow_update", "update" } do
    local folder = "lua/policies/" .. slot .. "/prompts/"
    for _, name in ipairs(file.list(folder)) do out[#out + 1] = test.read(folder .. name) end
  end
  return table.concat(out, "\n")
end

for _, name in ipairs { "xquad_en_100", "xquad_tr_60", "xquad_zh_60", "pubmedqa_120",
  "gsm8k_120" } do
  test("eight thousand words on how to write rules leak nothing of " .. name, function(t)
    local _, one = real(t, name)
    t.equal(one:find(prose(), ""), {})
  end)
end

for name, share in pairs { xquad_en_100 = 0.8, xquad_tr_60 = 0.8, xquad_zh_60 = 0.8 } do
  test("four of five answers of real text are found: " .. name, function(t)
    local items, one = real(t, name)
    local n = 0
    for _, item in ipairs(items) do
      if #one:find(("- When asked, answer %s."):format(item.answers[1]), "") > 0 then n = n + 1 end
    end
    t.ok(n >= share * #items, n)
  end)
end
