local dataset = require "skillopt.dataset"
local file = require "rt.file"
local json = require "rt.json"
local schedule = require "skillopt.schedule"
local scratch = require "skillopt.scratch"
local test = require "skillopt.test"
local vectors = test.support "tests/lua/vectors.lua"

local function plain(value)
  if type(value) ~= "table" then return value end
  local out = {}
  for k, v in pairs(value) do out[k] = plain(v) end
  return out
end

-- Texts on which we differ on purpose, with the reason.
local ONE_ITEM = "an object that is no list of items is one item"
local NO_ITEMS = "a scalar is no list of items: an error, not an item that no one can use"
local BOM = "a byte order mark is dropped"
local LINES = "only line feeds divide lines: others may stand inside a value"
local DIFFERS = {
  ['{"id":1}'] = { ONE_ITEM, { { id = 1 } } },
  ['{"data":{"x":1},"b":2}'] = { ONE_ITEM, { { data = { x = 1 }, b = 2 } } },
  ["{}"] = { ONE_ITEM, { {} } },
  ['{"data":"x"}'] = { ONE_ITEM, { { data = "x" } } },
  ['{"data":"abc"}'] = { ONE_ITEM, { { data = "abc" } } },
  ['{"data":null,"z":{"id":3}}'] = { ONE_ITEM, { { data = json.null, z = { id = 3 } } } },
  ['{"data":null,"k":{"id":3}}'] = { ONE_ITEM, { { data = json.null, k = { id = 3 } } } },
  ['{"a":1,"a":2}'] = { ONE_ITEM, { { a = 2 } } },
  ["5"] = { NO_ITEMS }, ["42"] = { NO_ITEMS }, ['"x"'] = { NO_ITEMS }, ['"text"'] = { NO_ITEMS },
  ["null"] = { NO_ITEMS }, ["true"] = { NO_ITEMS },
  ["\u{FEFF}[1]"] = { BOM, { 1 } }, ["\u{FEFF}[]"] = { BOM, {} },
  ['{"id":1}\v{"id":2}'] = { LINES }, ['{"id":1}\u{85}{"id":2}'] = { LINES },
  ['{"id":1}\u{2028}{"id":2}'] = { LINES },
  ['{"data":[]}'] = { "a `data` list is the list, even when it is empty", {} },
  ['{"data":[],"x":{"id":9}}'] = { "a `data` list is the list, even when it is empty", {} },
  ['{"data":{"id":5}}'] = { "values in order", { { id = 5 } } },
}

for _, name in ipairs { "core_load_items.json", "envs_base_load_raw.json",
  "envs_searchqa_load_raw.json" } do
  test("items are read as in " .. name, function(t)
    local book = vectors.book(name)
    for i, case in ipairs(book.cases) do
      local got = dataset.decode(case["in"], "x.json")
      local differs = DIFFERS[case["in"]]
      if differs then
        t:equal(plain(got), differs[2], case["in"] .. " (" .. differs[1] .. ")")
      else
        local out = case.out
        if type(out) == "table" and (out.items or out.error) then out = out.items end
        if out == json.null then out = nil end
        t:equal(plain(got), plain(out), case["in"])
      end
      book:note(i, differs and differs[1])
    end
    book:check(t)
  end)
end

test("a line that cannot be read is named", function(t)
  local items, err = dataset.decode('{"id":1}\nbad', "x.json")
  t:equal(items, nil)
  t:ok(err.message:find("x.json, line 2", 1, true), err.message)
end)

test("a single line in a .jsonl file is one item", function(t)
  local items = dataset.decode(test.read "tests/cases/d03_single_line.jsonl",
    "d03_single_line.jsonl")
  t:equal(plain(items), { { id = "only-1", question = "Which year?", answers = { "1921" } } })
end)

test("ratios, counts and partitions are the reference's", function(t)
  for _, name in ipairs { "core_split_ratio.json", "envs_split_ratio.json",
    "envs_split_counts.json" } do
    local book = vectors.book(name)
    for i, case in ipairs(book.cases) do
      local given, fn, why = case["in"], case.fn, nil
      if type(given) ~= "table" then
        local got = dataset.ratio(given)
        local out = case.out
        if type(out) ~= "table" or out.error then out = nil end
        if out and tostring(given):find "[\x80-\xFF_]" then
          out, why = nil, "numbers are written in ASCII digits"
        end
        t:equal(got, plain(out), tostring(given))
      elseif fn == "ratio_partition" then
        local ids = {}
        for k = 1, given.n do ids[k] = "q" .. k - 1 end
        local seed = given.split_seed ~= 0 and given.split_seed or given.seed
        local got = dataset.partition(ids, dataset.ratio(given.split_ratio), seed)
        for _, split in ipairs(dataset.SPLITS) do t:equal(got[split], plain(case.out[split])) end
      else
        t:equal(dataset.counts(given.total, given.ratio), plain(case.out))
      end
      book:note(i, why)
    end
    book:check(t)
  end
end)

test("the remainder rule is the one of the case list", function(t)
  local case = json.decode(test.read "tests/cases/d05_split_ratio.json")
  for i, total in ipairs(case.total) do
    t:equal(dataset.counts(total, dataset.ratio(case.ratio)), plain(case.largest_remainder[i]))
  end
end)

local function batch_facts(batches, id_of)
  local out = {}
  for i, batch in ipairs(batches) do
    out[i] = { seed = batch.seed, ids = {} }
    for k, item in ipairs(batch.items) do out[i].ids[k] = id_of and id_of(item) or item end
  end
  return out
end

local function wanted_facts(out)
  local list = {}
  for i, batch in ipairs(out) do list[i] = { seed = batch.seed, ids = plain(batch.ids) } end
  return list
end

test("epochs are drawn as the reference draws them", function(t)
  for _, name in ipairs { "core_epoch_plan.json", "envs_split_epoch.json" } do
    local book = vectors.book(name, "epochs")
    for number, case in ipairs(book.cases) do
      local given = case["in"]
      if case.fn == nil or case.fn == "plan_train_epoch" then
        local items = given.train_ids and plain(given.train_ids) or {}
        for i = 1, given.n or 0 do items[i] = i - 1 end
        local got = schedule.epoch(items, given.epoch, { seed = given.seed,
          batch_size = given.batch_size, count = given.steps_per_epoch * given.accumulation })
        t:equal(batch_facts(got), wanted_facts(case.out))
        book:same()
      elseif case.fn == "steps_per_epoch" then
        t:equal(schedule.steps_per_epoch(given.train_size, given.batch_size, given.accumulation),
          case.out)
        book:same()
      elseif case.fn:find "seeds" then
        book:differs(number, "no environment here is without a list of items")
      end
    end
    book:check(t)
  end
end)

local FIRST <const> = { train = 0, val = 1000, test = 2000 }
local PREFIX <const> = { train = "tr", val = "va", test = "te" }

--- Compares one evaluation's items; why they differ, or nil.
local function check_front(t, given, out)
  if given.env_num < 0 then return "a number of items is no slice end" end
  local split, items = dataset.split_name(given.split), {}
  if not split then return "an unknown split name is refused, not taken for val" end
  for i = 1, (given.sizes or given)[split] do
    items[i] = given.sizes and PREFIX[split] .. i - 1 or FIRST[split] + i - 1
  end
  t:equal(schedule.front(items, given.env_num), plain(out.ids))
end

--- Compares one sample; why it differs, or nil.
local function check_sample(t, given, out)
  local items = {}
  if given.batch_size == -1 then
    t:equal(schedule.sample({ 1, 2 }, -1, 1), {})
    return "a number of items is no slice end"
  end
  for i = 1, given.n or given.n_train do
    items[i] = given.n_train and "tr" .. i - 1 or i - 1
  end
  t:equal(schedule.sample(items, given.batch_size, given.seed), plain(out.ids))
end

test("samples and evaluation fronts are the reference's", function(t)
  for _, name in ipairs { "core_epoch_plan.json", "envs_split_train_batch.json",
    "envs_split_eval_batch.json" } do
    local book = vectors.book(name, "samples")
    for i, case in ipairs(book.cases) do
      local given = case["in"]
      if given.env_num then
        book:note(i, check_front(t, given, case.out))
      elseif case.fn == "build_train_batch" or given.n_train then
        book:note(i, check_sample(t, given, case.out))
      end
    end
    book:check(t)
  end
end)

test("an unknown split name is refused", function(t)
  local split, err = dataset.split_name "tets"
  t:equal(split, nil)
  t:ok(err.hint:find "valid_unseen")
end)

test("duplicate, leaking, colliding and missing ids are listed before anything runs", function(t)
  local case = json.decode(test.read "tests/cases/d01_duplicate_ids.json")
  local items, err = dataset.check(case, { required = { "question" }, least = 1 })
  t:equal(items, nil)
  for _, words in ipairs { "id 't-1' stands more than once in train",
    "id 't-2' is in train and in val (a leak)",
    "id 7 and \"7\" in val are the same text", "test item 1 has no id" } do
    t:ok(err.message:find(words, 1, true), words .. " is not in: " .. err.message)
  end
end)

test("ids made from content do not depend on the place", function(t)
  local splits = { train = { { question = "a" } }, val = { { question = "b" }, { question = "c" } },
    test = { { question = "d" } } }
  local first = dataset.check(splits, { fix_ids = true })
  local again = dataset.check({ train = splits.val, val = { splits.train[1], splits.test[1] },
    test = { { question = "e" } } }, { fix_ids = true })
  t:equal(first.train[1].id, again.val[1].id)
end)

test("an item that JSON cannot write is a problem of the data", function(t)
  for _, fix in ipairs { true, false } do
    local items = assert(dataset.decode('[{"id":"a","x":NaN},{"id":"b"},{"y":[1e999]}]', "x.json"))
    local _, err = dataset.check({ train = items, val = { { id = "v" }, { id = "w" } },
      test = { { id = "t" } } }, { fix_ids = fix })
    t.equal(err.kind, "data")
    t.ok(err.message:find("train item 1 cannot be stored: x: NaN", 1, true), err.message)
    t.ok(err.message:find("train item 3 cannot be stored: y[1]: ", 1, true), err.message)
  end
end)

test("hostile ids are items like others, each with its own folder name", function(t)
  local case = json.decode(test.read "tests/cases/d02_hostile_ids.json")
  local items = assert(dataset.check({ train = case, val = { { id = "v1", question = "x" },
    { id = "v2", question = "x" } }, test = { { id = "t", question = "x" } } },
    { required = { "question" } }))
  local seen = {}
  for _, item in ipairs(items.train) do
    local name = file.label(item.id)
    t:ok(not name:find "^%.*$" and not name:find "/" and #name <= 120, name)
    t:ok(not seen[name], "two items share " .. name)
    seen[name] = true
  end
end)

test("empty parts are refused, a selection set of one only when allowed", function(t)
  for i, sizes in ipairs(json.decode(test.read "tests/cases/c04_tiny_val.json").splits) do
    local splits, n = {}, 0
    for _, split in ipairs(dataset.SPLITS) do
      splits[split] = {}
      for k = 1, sizes[split] do
        n = n + 1
        splits[split][k] = { id = n, question = "q" }
      end
    end
    local items, err = dataset.check(splits, {})
    t:equal(items, nil)
    t:ok(err.message:find(i == 2 and "fewer than evaluation.min_items" or "nothing to gate on",
      1, true), err.message)
    t:equal(dataset.check(splits, { least = 1 }) ~= nil, i == 2)
  end
end)

test("look-up lists are named as such", function(t)
  local one = { { id = "a" } }
  local _, err = dataset.check({ train = one, val = { { id = "b" }, { id = "c" } },
    test = { { id = "d" } } }, { required = { "question" } })
  t:ok(err.hint:find "ids only", err.hint)
end)

test("data that is not set is an error, not the working directory", function(t)
  local _, err = dataset.load { split_mode = "ratio", data_path = "", seed = 1 }
  t:ok(err.message:find "data_path is not set", err.message)
  _, err = dataset.load { split_mode = "split_dir", split_dir = "tests/no-such", seed = 1 }
  t:ok(err.message:find "tests/no%-such has neither", err.message)
end)

test("texts wait in the folder that is given, and an empty name is none", function(t)
  t.equal({ scratch "/some/where", scratch "" }, { "/some/where", "/var/tmp" })
end)
