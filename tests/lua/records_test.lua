--- Large files read record by record, and items kept as bytes.
local collector = require "skillopt.collector"
local dataset = require "skillopt.dataset"
local json = require "rt.json"
local lists = require "skillopt.lists"
local records = require "skillopt.data.records"
local test = require "skillopt.test"
local support = test.support "tests/lua/support.lua"

local function file_with(name, text)
  local path = support.folder() .. "/" .. name
  support.write(path, text)
  return path
end

local function all(list)
  return table.move(list, 1, #list, 1, {})
end

--- Records of a text, by both forms of reading: as places in the file, and decoded whole.
local function both(name, text)
  local list = records.open(file_with(name, text))
  return list and all(list), dataset.decode(text, name)
end

test("lines and arrays give the records that reading them whole gives", function(t)
  for _, case in ipairs {
    { "x.jsonl", '{"id":1}\n\n  \n{"id":"b"}' }, { "x.jsonl", "" }, { "x.jsonl", "\n\n" },
    { "x.jsonl", '\xEF\xBB\xBF{"id":1}\r\n[1,2]\r\n"text"\n' },
    { "x.json", '[{"id":1},{"id":"]\\"[","x":[[1],{}]} , null,1.5,"a"]\n' },
    { "x.json", " [ ]  " }, { "x.json", "\xEF\xBB\xBF\n[1]" },
  } do
    local got, want = both(case[1], case[2])
    t.equal(got, want, case[2])
  end
end)

test("records taken in any order are the same", function(t)
  local texts, want = {}, {}
  for i = 1, 40 do
    want[i] = { id = i, text = ("x"):rep(i % 7 == 0 and 100000 or 3000) }
    texts[i] = json.encode(want[i])
  end
  local list = records.open(file_with("x.jsonl", table.concat(texts, "\n")))
  for step = 1, 40 do
    local i = step * 17 % 41
    t.equal(list[i], want[i])
  end
  t.equal(all(list), want)
end)

test("records longer than what is read at once are whole", function(t)
  local long = ("x"):rep(3 << 20)
  local want = { { id = "a", text = long }, { id = "b" }, { id = "c", text = long } }
  local lines = {}
  for i, item in ipairs(want) do lines[i] = json.encode(item) end
  t.equal(all(records.open(file_with("x.jsonl", table.concat(lines, "\n")))), want)
  t.equal(all(records.open(file_with("x.json", json.encode(json.array(want))))), want)
end)

test("what is neither lines nor one array is left to the reader of whole files", function(t)
  for _, text in ipairs { '{"data":[1]}', "[1,]", "[1] 2", "[1", '["a]', "[1 2]", "", "x" } do
    t.equal(records.open(file_with("x.json", text)), nil, text)
  end
  t.equal(records.open "build/tmp/no-such.jsonl", nil)
end)

test("a record that is no JSON is named with its line when it is taken", function(t)
  local list = records.open(file_with("x.jsonl", '{"id":1}\n\n{"id":\n{"id":2}\n'))
  t.equal({ #list, list[3].id }, { 3, 2 })
  local err = t.raises(function() return list[2] end)
  t.equal(err.kind, "data")
  t.ok(err.message:find("x.jsonl, line 3:", 1, true), err.message)
end)

test("checked items are lazy, and new each time they are taken", function(t)
  local raw = {}
  for i = 1, 5 do raw[i] = { id = i, question = "q" .. i, extra = json.array {} } end
  local splits = { train = { raw[1] }, val = { raw[2], raw[3] }, test = { raw[4], raw[5] } }
  local items, _, keys = dataset.check(splits, {})
  t.ok(lists.is_lazy(items.test))
  items.test[1].question = "other"
  t.equal(items.test[1], { id = "4", question = "q4", extra = {} })
  t.ok(json.is_array(items.test[1].extra))
  t.equal({ #keys.val, #keys.val[1] }, { 2, 64 })
end)

test("a shuffled file is cut as a list in memory is", function(t)
  local lines, plain = {}, {}
  for i = 1, 20 do
    plain[i] = { id = "q" .. i }
    lines[i] = json.encode(plain[i])
  end
  local list = records.open(file_with("x.jsonl", table.concat(lines, "\n")))
  local got = dataset.partition(list, { 2, 1, 7 }, 3)
  local want = dataset.partition(plain, { 2, 1, 7 }, 3)
  for _, split in ipairs(dataset.SPLITS) do t.equal(all(got[split]), want[split]) end
end)

test("the collector looks at all sooner, in proportion, when much lives", function(t)
  local got = {}
  for i, kb in ipairs { 0, 16383, 16384, 32767, 32768, 10000000 } do
    got[i] = collector.growth(kb)
  end
  t.equal(got, { 100, 100, 75, 75, 50, 50 })
end)

test("the collector stands still for nobody while calls are sent or much lives", function(t)
  t.equal({ collector.mode(20000, true) }, { "incremental", 200 })
  t.equal({ collector.mode(20000, false) }, { "generational", 75 })
  t.equal({ collector.mode(100000, true) }, { "incremental", 150 })
  t.equal({ collector.mode(100000, false) }, { "incremental", 150 })
end)

test("the collector of generations works where the journal answers, not where calls are sent",
  function(t)
    local asked = 0
    local function mode_after(items, asked_each)
      for _ = 1, items do
        asked = asked + asked_each
        collector.pace(asked)
      end
      return collectgarbage "incremental" -- the mode before
    end
    local live, stored = mode_after(512, 1), mode_after(512, 0)
    t.equal({ live, stored }, { "incremental", "generational" })
  end)
