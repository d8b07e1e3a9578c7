--- The shipped example: its generator, its data, its environment.
local digest = require "rt.digest"
local json = require "rt.json"
local loader = require "skillopt.loader"
local test = require "skillopt.test"

local HOME <const> = loader.home .. "/lua/envs/houserules"
local generator = loader.user_file(HOME .. "/generator.lua")
local env = loader.user_file(HOME .. "/init.lua")

local function tables_in(folder)
  local tables = {}
  for _, name in ipairs { "words", "records", "families" } do
    tables[name] = loader.user_file(("%s/%s.lua"):format(folder, name))
  end
  return tables
end

local TABLES <const> = tables_in(HOME .. "/tables")

local function shipped(name)
  return test.read("data/houserules/" .. name)
end

local function shipped_items(split)
  return json.decode(shipped(split .. "/items.json"))
end

local SEED <const> = json.decode(shipped "split_manifest.json").seed

test("the shipped files are what the generator makes of the seed in their manifest", function(t)
  for name, text in pairs(generator.files(TABLES, SEED)) do
    t.equal(digest.short(shipped(name)), digest.short(text), name)
  end
end)

test("the generator makes the same items of the same seed and others of another", function(t)
  local first, again = generator.files(TABLES, 5), generator.files(TABLES, 5)
  t.equal(first, again)
  local other = generator.files(TABLES, 6)
  t.ok(first["train/items.json"] ~= other["train/items.json"])
end)

test("the rules are drawn from the seed, as many for each", function(t)
  local seen = {}
  for seed = 1, 8 do
    local _, forms = generator.generate(TABLES, seed)
    local names = {}
    for family, form in pairs(forms) do
      names[#names + 1] = family .. json.encode { form[1] or "", form.join or "" }
    end
    t.equal(#names, 9)
    seen[table.concat(names, " ")] = true
  end
  local count = 0
  for _ in pairs(seen) do count = count + 1 end
  t.equal(count, 8)
end)

test("the shipped splits are as large as promised and share no item", function(t)
  local ids, contexts = {}, {}
  for split, least in pairs { train = 80, val = 40, test = 80 } do
    local items = shipped_items(split)
    t.ok(#items >= least, split)
    for _, item in ipairs(items) do
      t.equal(ids[item.id], nil, item.id)
      t.equal(contexts[item.context], nil, item.id)
      ids[item.id], contexts[item.context] = split, split
    end
  end
end)

test("a quarter of the questions needs no rule; the families with one share the rest", function(t)
  local _, forms = generator.generate(TABLES, SEED)
  for split, least in pairs { train = 10, val = 5, test = 10 } do
    local plain, counts, items = 0, {}, shipped_items(split)
    for _, item in ipairs(items) do
      local family = item.task_type
      if not forms[family] then plain = plain + 1 end
      counts[family] = (counts[family] or 0) + 1
    end
    t.equal(plain, #items // 4, split)
    for family in pairs(forms) do t.ok(counts[family] >= least, split .. " " .. family) end
  end
end)

test("an answer that needs a rule cannot be read off the records, any other can", function(t)
  local _, forms = generator.generate(TABLES, SEED)
  for _, split in ipairs { "train", "val", "test" } do
    for _, item in ipairs(shipped_items(split)) do
      local is_there = item.context:find(": " .. item.answers[1], 1, true) ~= nil
      t.equal(is_there, forms[item.task_type] == nil, item.id)
    end
  end
end)

test("house forms are written as the tables say", function(t)
  local families = {
    when = { kind = "date", ruled = true, raw = "{d} {Month} {yyyy}",
      forms = { { "{yyyy}{mm}{dd}" } } },
    much = { kind = "number", ruled = true, raw = "{n} l", least = 12345, most = 12345,
      decimals = 1, group = ",", forms = { { "{n} cl", factor = 100, group = " " } } },
    half = { kind = "number", ruled = true, raw = "{n} h", least = 3, most = 3,
      forms = { { "{n} d", divisor = 2 } } },
    what = { kind = "list", ruled = true, from = "kinds", raw = { join = ", ", last = " and " },
      forms = { { order = "reversed", join = "-", case = "capitals" } } },
  }
  local fields = {}
  for family in pairs(families) do
    fields[#fields + 1] = { family, family, { "What " .. family .. " in {record}?" } }
  end
  fields[#fields + 1] = { "plain", "plain", { "What plain in {record}?" } }
  families.plain = { kind = "word", from = "kinds" }
  local tables = { families = families,
    words = { kinds = { "b", "c", "a", "d" }, remark = { "So." } },
    records = { { title = "T {number}", name = "t {number}", fields = fields } } }
  local got = {}
  for _, item in ipairs(generator.generate(tables, 1).train) do
    local label = item.task_type
    local record = item.context:match("T " .. item.question:match "%d+" .. "\n(.*)")
    got[label] = { record:match(label .. ": ([^\n]*)"), item.answers[1] }
  end
  t.equal(got.much, { "1,234.5 l", "123 450 cl" })
  t.equal(got.half, { "3 h", "1.5 d" })
  t.equal(got.plain[1], got.plain[2])
  local d, month, year = got.when[1]:match "^(%d+) (%u%l+) (%d+)$"
  t.ok(month and got.when[2]:find("^" .. year .. "%d%d" .. ("%02d"):format(d)), got.when[2])
  local in_order = got.what[1]:gsub(" and ", ""):gsub(", ", "")
  t.equal(got.what[2]:gsub("-", ""):reverse():lower(), in_order)
end)

test("an item without a text as context or answer is refused", function(t)
  t.equal({ env.check { context = {}, answers = { "a" } } }, { false, "the context is no text" })
  for _, answers in ipairs { "a", {}, { 3 }, { " " } } do
    t.equal({ env.check { context = "c", answers = answers } },
      { false, "answers must be a list with one text" })
  end
  t.equal(env.check { context = "c", answers = { "a" } }, true)
end)

--- What the rollout makes of a reply.
local function mark_of(reply, expected)
  local ctx = { skill = "", prompt = function(_, name, inputs)
    return { system = name, user = inputs.question }
  end }
  function ctx:conversation() -- luacheck: ignore self
    return { ask = function() return { text = reply } end }
  end
  return env.rollout({ question = "Q?", context = "c", answers = { expected } }, ctx)
end

test("an answer is right when it is equal but for runs of blanks", function(t)
  t.equal(mark_of("<answer> 4  kg\n</answer>", "4 kg").hard, 1)
  t.equal(mark_of("<answer>4 KG</answer>", "4 kg").hard, 0)
  t.equal(mark_of("<answer>4 kg.</answer>", "4 kg").hard, 0)
  t.equal(mark_of("4 kg", "4 kg").hard, 0)
end)

test("an answer that is nearly right has a soft mark", function(t)
  local mark = mark_of("<answer>4 kg</answer>", "4 pounds")
  t.equal(mark.hard, 0)
  t.equal(mark.soft, 0.5)
  t.equal(mark_of("<answer>4 kg</answer>", "4 kg").soft, 1.0)
end)

test("the reason of a failure names no answer", function(t)
  t.equal(mark_of("<answer>5</answer>", "4").fail_reason, "the answer is not the expected one")
  t.equal(mark_of("5", "4").fail_reason, "no answer in its tag")
  t.equal(mark_of("<answer>4</answer>", "4").fail_reason, "")
end)

test("the feedback says question, predicted and expected answer, a line each", function(t)
  local item = { question = "How much?", context = "c", answers = { "4\nkg" } }
  t.equal(env.feedback(item, { predicted_answer = "4" }),
    "Question: How much?\nPredicted answer: 4\nExpected answer: 4 kg")
end)
