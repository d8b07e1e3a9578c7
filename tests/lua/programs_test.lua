--- Programs written against lua/meta/ctx.lua alone: an environment with tools, another
--- loop, a gate that asks for more.
local file = require "rt.file"
local journal = require "rt.journal"
local json = require "rt.json"
local test = require "skillopt.test"
local support = test.support "tests/lua/support.lua"

local function items(prefix, count, make)
  local out = {}
  for i = 1, count do
    out[i] = make(i)
    out[i].id = prefix .. i
  end
  return out
end

local function splits(folder, train, val, rest, make)
  support.write_splits(folder .. "/data", { train = items("t", train, make),
    val = items("v", val, make), test = items("x", rest, make) })
end

local function experiment(folder, name, more)
  local e = {
    train = { num_epochs = 1, batch_size = 4, seed = 7 }, model = { backend = "sim" },
    gradient = { minibatch_size = 2 }, optimizer = { learning_rate = 2 },
    env = { name = name, split_mode = "split_dir", split_dir = folder .. "/data" },
  }
  for section, values in pairs(more or {}) do
    e[section] = e[section] or {}
    for k, v in pairs(values) do e[section][k] = v end
  end
  return e
end

local function text_of(request)
  local out = {}
  for _, message in ipairs(request.messages) do
    for _, part in ipairs(message.content) do out[#out + 1] = part.text end
  end
  return table.concat(out, "\n")
end

local function fact_item(i)
  return { question = "Which colour has box " .. i .. "?",
    answers = { i % 2 == 0 and "red" or "blue" },
    files = { ["box" .. i .. ".txt"] = "colour: " .. (i % 2 == 0 and "red" or "blue"),
      ["note.txt"] = "nothing" } }
end

--- A target that lists, reads the box and answers; odd boxes only when the skill says how.
local function tool_user(request)
  local last = request.messages[#request.messages]
  local text = text_of(request)
  local box = text:match "has box (%d+)"
  if last.role == "user" then
    return { text = "", finish = "tool_calls",
      tool_calls = json.array { { id = "1", name = "list", arguments = "{}" } } }
  end
  local colour = last.content[1].text:match "colour: (%w+)"
  if not colour then
    return { text = "", finish = "tool_calls", tool_calls = json.array {
      { id = "2", name = "read", arguments = json.encode { path = "box" .. box .. ".txt" } } } }
  end
  local careful = text:find("Read twice", 1, true) ~= nil
  if tonumber(box) % 2 == 1 and not careful then colour = "green" end
  return { text = "<answer>" .. colour .. "</answer>" }
end

local function proposer(request, stage)
  if stage ~= "analyst" then return { text = "{}" } end
  local _ = request
  return { text = json.encode { batch_size = 1, patch = { reasoning = "r", edits = {
    { op = "append", content = "- Read twice." } } } } }
end

test("a ReAct environment trains through its tools", function(t)
  local folder = support.folder()
  splits(folder, 8, 6, 4, fact_item)
  local run = support.prepare { folder = folder, search = { "tests/programs/react" },
    experiment = experiment(folder, "react") }
  local result = support.train(run, { path = folder .. "/out", target = tool_user,
    optimizer = proposer })
  t.equal(result.summary.baseline_test_hard, 0.5)
  t.equal(result.summary.test_hard, 1.0)
  local talk = json.decode(test.read(folder .. "/out/test_eval/predictions/x1/conversation.json"))
  t.equal(#talk, 7)
end)

--- A target that works with Python in the folder of the item: it writes a file, edits it,
--- deletes another, reads what came of it.
local function python_user(request)
  local turns, last = 0, request.messages[#request.messages]
  for _, message in ipairs(request.messages) do
    if message.role == "assistant" then turns = turns + 1 end
  end
  local box = text_of(request):match "has box (%d+)"
  local calls = {
    { "python", { code = ("import os\nopen('found', 'w').write(open('box%s.txt').read())\n"
      .. "os.remove('note.txt')\nprint(os.getcwd())"):format(box) } },
    { "python", { code = "text = open('found').read()\nopen('found', 'w').write(text.upper())" } },
    { "python", { code = "open('/nonexistent')" } },
    { "list", json.object {} },
    { "read", { path = "found" } },
  }
  local call = calls[turns + 1]
  if not call then
    return { text = ("<answer>%s</answer>"):format(
      last.content[1].text:match("COLOUR: (%w+)"):lower()) }
  end
  return { text = "", finish = "tool_calls", tool_calls = json.array {
    { id = tostring(turns), name = call[1], arguments = json.encode(call[2]) } } }
end

test("a ReAct environment writes, edits and deletes files with Python", function(t)
  if file.kind "/usr/bin/python3" ~= "file" then t.skip "there is no /usr/bin/python3" end
  local folder = support.folder()
  splits(folder, 2, 2, 2, fact_item)
  local function prepare()
    local settings = experiment(folder, "react", { train = { batch_size = 2 } })
    settings.sandbox = "none"
    return support.prepare { folder = folder, search = { "tests/programs/react" },
      experiment = settings }
  end
  local j = assert(journal.open())
  local result = support.train(prepare(), { path = folder .. "/out", journal = j,
    target = python_user, optimizer = proposer })
  t.equal(result.summary.baseline_test_hard, 1.0)
  local talk = json.decode(test.read(
    folder .. "/out/test_eval_baseline/predictions/x1/conversation.json"))
  local said = {}
  for _, message in ipairs(talk) do
    if message.role == "tool" then said[#said + 1] = message.content end
  end
  t.equal({ said[1], said[2], said[4], said[5] },
    { "/workspace\n", "", "box1.txt\nfound", "COLOUR: BLUE" })
  t.ok(said[3]:find("FileNotFoundError", 1, true), said[3])
  local again = support.train(prepare(), { path = folder .. "/again", journal = j, is_replay = true,
    disorder = 3, target = error, optimizer = error })
  t.equal(again.summary.baseline_test_hard, 1.0)
  t.equal(test.read(folder .. "/again/test_eval_baseline/predictions/x1/conversation.json"),
    test.read(folder .. "/out/test_eval_baseline/predictions/x1/conversation.json"))
end)

test("without sandbox: none an environment that runs Python stops the run with words", function(t)
  local folder = support.folder()
  splits(folder, 2, 2, 2, fact_item)
  local run = support.prepare { folder = folder, search = { "tests/programs/react" },
    experiment = experiment(folder, "react", { train = { batch_size = 2 } }) }
  local ok, err = pcall(support.train, run, { path = folder .. "/out", target = python_user,
    optimizer = proposer })
  t.equal({ ok, err.kind }, { false, "config" })
end)

test("the GEPA-like loop keeps a pool and ends as the others do", function(t)
  local folder = support.folder()
  splits(folder, 8, 6, 4, fact_item)
  local run = support.prepare { folder = folder,
    search = { "tests/programs/gepa", "tests/programs/react" },
    experiment = experiment(folder, "react", {
      policy = { loop = { "gepa", rounds = 2, proposals = 2 } } }) }
  local result = support.train(run, { path = folder .. "/out", target = tool_user,
    optimizer = function()
      return { text = json.encode { new_skill = "# Boxes\n\n- Read twice.\n" } }
    end })
  t.equal(result.summary.test_hard, 1.0)
  t.equal(json.decode(test.read(folder .. "/out/rounds/round_01.json")).pool > 1, true)
end)

test("the paired gate asks for repeats while it is not clear", function(t)
  local folder = support.folder()
  splits(folder, 4, 5, 4, fact_item)
  local asked = {}
  local run = support.prepare { folder = folder,
    search = { "tests/programs/paired", "tests/programs/react" },
    experiment = experiment(folder, "react", { policy = { gate = { "paired", alpha = 0.001 } } }) }
  support.train(run, { path = folder .. "/out", optimizer = proposer, target = function(request)
    asked[#asked + 1] = 1
    return tool_user(request)
  end })
  local record = json.decode(test.read(folder .. "/out/steps/step_0001/step_record.json"))
  t.equal(record.action, "reject")
  t.equal(record.gate_reason, "undecided")
  local rows = test.read(folder .. "/out/steps/step_0001/selection_eval~2/results.jsonl")
  t.equal(select(2, rows:gsub("\n", "")), 5)
end)
