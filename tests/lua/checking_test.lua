--- Checking a configuration before anything is paid, and the text to attach to a report.
local checking = require "skillopt.checking"
local exits = require "skillopt.exits"
local json = require "rt.json"
local show = require "skillopt.show.checked"
local test = require "skillopt.test"
local support = test.support "tests/lua/support.lua"

local function has(t, text, piece)
  t.ok(text:find(piece, 1, true), piece .. " is not in:\n" .. text)
end

local function items(first, n)
  local list = {}
  for i = 1, n do
    list[i] = { id = "q" .. first + i, question = "question " .. first + i, context = "c",
      answers = { "a" } }
  end
  return list
end

--- Check a YAML file over these splits, with `assignments` `key=value`.
local function check(splits, assignments)
  local folder = support.folder()
  support.write_splits(folder .. "/data", splits)
  support.write(folder .. "/x.yaml", "model:\n  backend: sim\nenv:\n  name: houserules\n"
    .. "  split_mode: split_dir\n  split_dir: " .. folder .. "/data\ntrain:\n  batch_size: 2\n")
  local line = { file = folder .. "/x.yaml", assignments = {}, arguments = {}, options = {} }
  for i, word in ipairs(assignments or {}) do
    local name, value = word:match "^([^=]+)=(.*)$"
    line.assignments[i] = { name = name, value = value, from = name }
  end
  return checking.run(line), line
end

local function fine() return { train = items(0, 4), val = items(10, 3), test = items(20, 2) } end

test("what would be run is said, and nobody is asked", function(t)
  local checked = check(fine())
  t.equal(checked.problems, {})
  t.equal({ checked.plan.items, checked.plan.steps }, { { train = 4, val = 3, test = 2 }, 8 })
  local page = show.page(checked)
  for _, piece in ipairs { "items: 4 train, 3 selection, 2 test", "target: sim", "needs no login",
    "gate strict", "8 steps in 4 epochs, in all about ", "fine: nothing is in the way" } do
    has(t, page, piece)
  end
end)

test("all problems of the configuration are listed, the first gives the code", function(t)
  local checked = check(fine(), { "train.num_epoch=3", "policy.gate=strickt" })
  t.equal(#checked.problems, 2)
  t.equal(exits.of(checked.problems[1]), 2)
  has(t, show.page(checked), "did you mean train.num_epochs?")
  has(t, show.page(checked), "2 problems")
end)

test("an id in two splits is a problem with the data", function(t)
  local splits = fine()
  splits.test[1].id = splits.train[1].id
  local checked = check(splits)
  t.equal(exits.of(checked.problems[1]), 3)
  has(t, show.page(checked), "(a leak)")
end)

test("items that are the same but for the id are a leak that is noted", function(t)
  local splits = fine()
  splits.test[2].question = splits.train[3].question
  local checked = check(splits)
  t.equal(checked.problems, {})
  has(t, show.page(checked),
    "a leak: 1 item of train and test are the same but for the id (q3, q22)")
end)

test("a login that is missing is a problem, with the variable to set", function(t)
  local checked = check(fine(), { "model.target_backend=openai_compatible" })
  t.equal({ #checked.problems, exits.of(checked.problems[1]) }, { 1, 4 })
  has(t, show.page(checked), "set OPENAI_COMPATIBLE_API_KEY, or TARGET_OPENAI_COMPATIBLE_API_KEY")
end)

test("a server of one's own may be without a key, and that is noted", function(t)
  local checked = check(fine(), { "model.target_backend=openai_compatible",
    "openai_compatible_base_url=http://127.0.0.1:9/v1" })
  t.equal(checked.problems, {})
  has(t, show.page(checked), "is asked at http://127.0.0.1:9/v1 without a key")
end)

test("a prompt that uses what it does not get is a problem", function(t)
  local checked, line = check(fine())
  t.equal(checked.problems, {})
  local folder = line.file:match "^(.*)/"
  assert(require("rt.file").mkdir(folder .. "/prompts"))
  support.write(folder .. "/prompts/rollout.md", "---\ninputs:\n  nonsense: x\n---\n{{nonsense}}\n")
  checked = checking.run(line)
  t.equal(#checked.problems, 1)
  has(t, show.page(checked), "nonsense")
end)

test("the same as JSON", function(t)
  local value = assert(json.decode(show.json(check(fine()))))
  t.equal({ value.problems, value.plan.env }, { {}, "houserules" })
  value = assert(json.decode(show.json(check(fine(), { "train.seeed=1" }))))
  t.equal({ value.problems[1].kind, value.plan }, { "config", json.null })
end)

local KEY <const> = "sk-secret-secret-secret-secret"

test("a report has versions, values, origins, last events; logins are masked", function(t)
  local root = support.folder()
  support.write(root .. "/config.json", "{}")
  support.write(root .. "/log.jsonl",
    json.encode { event = "retry",
      message = "with " .. KEY .. " at http://me:word@127.0.0.1:9/v1" } .. "\n")
  local checked, line = check(fine(), { "env.out_root=" .. root,
    "model.target_backend=openai_compatible", "openai_compatible_api_key=" .. KEY,
    "openai_compatible_base_url=http://me:word@127.0.0.1:9/v1" })
  support.write(line.file, "env:\n  out_root: " .. root .. "\n")
  local text = show.report(checked, line)
  for _, piece in ipairs { "skillopt 0.", "train.batch_size", "x.yaml:", "Last lines of log.jsonl",
    '"event": "retry"', "://***@127.0.0.1:9" } do
    has(t, text, piece)
  end
  t.equal(text:find(KEY, 1, true), nil)
  t.equal(text:find("me:word", 1, true), nil)
end)

test("a report is written when the configuration is wrong, too", function(t)
  local checked, line = check(fine(), { "train.seeed=1" })
  has(t, show.report(checked, line), "problem (config)")
end)
