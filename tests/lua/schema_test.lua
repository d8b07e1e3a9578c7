--- The table of keys: complete, consistent, and read the same whatever a value's form.
local test = require "skillopt.test"
local schema = require "skillopt.schema"
local cast = require "skillopt.schema.cast"
local backends = require "skillopt.schema.backends"
local markdown = require "skillopt.schema.markdown"
local vectors = test.support "tests/lua/vectors.lua"

local function key(name)
  return schema.find(schema.core, name)
end

local function names_of(find)
  local out = {}
  for _, k in ipairs(schema.core.list) do
    if find(k) then out[#out + 1] = k.name end
  end
  return out
end

test("every key has a known type and a line of doc", function(t)
  t.equal(names_of(function(k)
    return not (cast.is_type(k.type) or k.type == "policy") or k.doc == ""
      and not k.retired
  end), {})
end)

test("every choice has choices, and its other words lead to them", function(t)
  for _, k in ipairs(schema.core.list) do
    if k.type == "choice" then t.ok(#k.choices > 0, k.name) end
    for word in pairs(k.type == "choice" and k.words or {}) do
      t.ok(cast.cast(k, word), k.name .. " " .. word)
    end
  end
end)

test("no two keys share a flat name", function(t)
  local seen = {}
  for _, k in ipairs(schema.core.list) do
    if k.flat then
      t.ok(not seen[k.flat], k.name .. " and " .. tostring(seen[k.flat]))
      seen[k.flat] = k.name
    end
  end
end)

test("a key is result unless a rule says cost or run", function(t)
  local classes = {}
  for _, name in ipairs { "train.seed", "policy.rate", "model.target", "env.limit",
    "model.qwen_chat_temperature", "spend.cost", "env.workers", "env.exec_timeout",
    "model.qwen_chat_base_url", "model.target_qwen_chat_api_key", "env.split_dir", "name",
    "model.retries", "model.azure_openai_api_version", "env.item_timeout_s" } do
    classes[#classes + 1] = key(name).class
  end
  t.equal(table.concat(classes, " "),
    "result result result result result cost run run run "
    .. "run run run run run run")
end)

-- The reference's flat names, by the key they lead to.
local FLAT <const> = {
  model_backend = "model.backend", optimizer_model = "model.optimizer",
  target_model = "model.target", num_epochs = "train.num_epochs",
  edit_budget = "optimizer.learning_rate",
    min_edit_budget = "optimizer.min_learning_rate",
  env = "env.name", skill_init = "env.skill_init", out_root = "env.out_root",
  workers = "env.workers", azure_endpoint = "model.azure_openai_endpoint",
  codex_bin = "model.codex_exec_path", codex_sandbox = "model.codex_exec_sandbox",
  gate_metric = "evaluation.gate_metric",
    max_analyst_rounds = "gradient.max_analyst_rounds",
  meta_edit_budget = "optimizer.meta_learning_rate", max_turns = "env.max_turns",
  target_qwen_chat_thinking_mode = "model.target_qwen_chat_thinking_mode",
  use_slow_update = "optimizer.use_slow_update",
}

test("the flat names of the reference lead to their keys", function(t)
  for flat, name in pairs(FLAT) do t.equal(key(flat).name, name) end
end)

test("a mistyped key is answered with the one that was meant", function(t)
  local function near(name) return schema.nearest(schema.core, name) end
  t.equal(near "gradient.minibatch_sise", "gradient.minibatch_size")
  t.equal(near "edit_bugdet", "optimizer.learning_rate")
  t.equal(near "optimizer.edit_budget", "optimizer.learning_rate")
  t.equal(near "train.learning_rate", "optimizer.learning_rate")
  t.equal(near "batchsize", "train.batch_size")
  t.equal(near "zzzzzzzzzzzz", nil)
end)

---------------------------------------------------------------------------- casting

-- Types the reference guesses, by the type of the schema that has such values.
local TYPES <const> = { bool = "boolean", int = "integer", float = "number",
  str = "string" }

-- Texts that are read otherwise here, with the reading and the reason.
local OTHERWISE <const> = {
  ["\u{663}"] = { nil, "numbers are written in ASCII digits" },
  ["\u{FF11}\u{FF12}"] = { nil, "numbers are written in ASCII digits" },
  ["999999999999999999999999999999"] = { nil, "a whole number has 64 bits" },
}

test("core_cast_and_roles: a text is read as its key's type, never guessed", function(t)
  local book = vectors.book("core_cast_and_roles.json", "cast")
  for i, case in ipairs(book.cases) do
    if case.fn == "cast_value" then
      local want, ours = case.out.value, OTHERWISE[case["in"]]
      if ours then want = ours[1] end
      local k = { name = "x", type = TYPES[case.out.type] }
      t.equal(cast.cast(k, case["in"]), want, case["in"])
      book:note(i, ours and ours[2])
    end
  end
  book:check(t)
end)

test("a text key keeps digits, words and leading zeros as they are", function(t)
  local k = key "model.azure_openai_api_key"
  for _, text in ipairs { "0012345", "yes", "null", "1e3" } do
    t.equal(cast.cast(k, text), text)
  end
end)

test("an unquoted number for a text is refused, since its digits may be lost", function(t)
  local value, expected = cast.cast(key "env.out_root", 2024)
  t.equal(value, nil)
  t.equal(expected, "text; put it in quotes")
end)

test("a switch takes true, yes, on, 1 and their opposites in any form", function(t)
  local k = key "evaluation.eval_test"
  for _, yes in ipairs { true, "true", "TRUE", "yes", "on", "1", 1 } do
    t.equal(cast.cast(k, yes), true)
  end
  for _, no in ipairs { false, "false", "No", "off", "0", "none", 0 } do
    t.equal(cast.cast(k, no), false)
  end
  t.equal(cast.cast(k, "maybe"), nil)
end)

test("a whole number may be written as a float without fraction", function(t)
  local k = key "train.batch_size"
  t.equal(cast.cast(k, "1e3"), 1000)
  t.equal(cast.cast(k, 8.0), 8)
  t.equal(cast.cast(k, "042"), 42)
  t.equal(cast.cast(k, "8.5"), nil)
  t.equal(cast.cast(k, "0x10"), nil)
end)

test("bounds are told in words", function(t)
  local function expected(name, value) return select(2, cast.cast(key(name), value)) end
  t.equal(expected("gradient.merge_batch_size", 1), "a whole number, 2 or more")
  t.equal(expected("evaluation.gate_mixed_weight", "1.5"), "a number from 0 to 1")
  t.equal(expected("model.qwen_chat_timeout_seconds", 0), "a number above 0")
  t.equal(expected("model.qwen_chat_temperature", "warm"), "a number, 0 or more, or none")
  t.equal(expected("evaluation.gate_metric", "harder"), "one of hard, soft, mixed")
  t.equal(expected("evaluation.gate_mixed_weight", "nan"), "a number from 0 to 1")
end)

test("off is the word none, where a key can be off", function(t)
  t.equal(cast.cast(key "model.qwen_chat_temperature", "none"), "none")
  t.equal(cast.cast(key "model.qwen_chat_temperature", false), "none")
  t.equal(cast.cast(key "model.reasoning_effort", false), "none")
  t.equal(cast.cast(key "train.batch_size", "none"), nil)
end)

test("a ratio is three shares above 0, and a number to base 60 is none", function(t)
  local k = key "env.split_ratio"
  t.equal(cast.cast(k, " 2 : 1 :7"), "2:1:7")
  for _, bad in ipairs { "2:1", "2:1:0", "a:b:c", 7267, "2:1:7:1" } do
    t.equal(cast.cast(k, bad), nil)
  end
end)

test("an address has a scheme and a host, and no login in it", function(t)
  local k = key "model.qwen_chat_base_url"
  t.equal(cast.cast(k, "http://127.0.0.1:8000/v1/"), "http://127.0.0.1:8000/v1")
  for _, bad in ipairs { "localhost:8000", "ftp://x/", "http://", "http://me:key@host/v1",
    "http://a b/" } do
    t.equal(cast.cast(k, bad), nil)
  end
end)

test("a list may be a list of texts or one text with commas", function(t)
  local k = key "evaluation.leading_words"
  t.equal(cast.cast(k, " MUST, NEVER,,"), { "MUST", "NEVER" })
  t.equal(cast.cast(k, { "a", "b" }), { "a", "b" })
  t.equal(cast.cast(k, { "MUST", false, 3 }), nil)
end)

test("show cuts long texts and names what is no text", function(t)
  t.equal(cast.show "a", '"a"')
  t.equal(#cast.show(string.rep("x", 500)), 65)
  t.equal(cast.show { "a" }, "a list")
  t.equal(cast.show(print), "a function")
end)

-------------------------------------------------------------------------- back-ends

test("core_cast_and_roles: names and default models of back-ends", function(t)
  local book = vectors.book("core_cast_and_roles.json", "names")
  local fields = { normalize_backend_name = "name", default_model_for_backend = "model" }
  for i, case in ipairs(book.cases) do
    local word, field = case["in"], fields[case.fn]
    local is_known = type(word) == "string" and word ~= "" and word ~= "weird"
    if field and is_known then t.equal(backends.find(word)[field], case.out, word) end
    if field then book:note(i, not is_known and "an unknown back-end is none") end
  end
  book:check(t)
end)

test("an unknown back-end is none, where the reference lets it pass", function(t)
  t.equal(backends.find "weird", nil)
  t.equal(backends.find "", nil)
end)

---------------------------------------------------------------------------- options

test("options of the environment and the policies join the schema", function(t)
  local keys, faults = schema.with(schema.core, {
    env = { name = "capitals", options = { max_turns = { "integer", 1, "turns", min = 1 },
      hints = { "boolean", false, "show hints" } } },
    metric = { name = "mixed", options = { weight = { "number",
      key = "evaluation.gate_mixed_weight", doc = "share of the soft mark" } } },
  })
  t.equal(faults, {})
  t.equal(schema.find(keys, "env.max_turns").default, 1)
  t.equal(schema.find(keys, "max_turns").declared, nil)
  t.equal(schema.find(keys, "env.hints").class, "result")
  t.equal(schema.find(keys, "policy.metric.weight").name, "evaluation.gate_mixed_weight")
  t.equal(schema.find(schema.core, "env.hints"), nil)
  t.equal(schema.find(schema.core, "max_turns").declared, true)
  t.equal(#keys.list, #schema.core.list + 1)
end)

test("an option takes no key's name and leans on no missing key", function(t)
  local _, faults = schema.with(schema.core, {
    env = { name = "x", options = { workers = { "integer", 1, "w" } } },
    gate = { name = "y", options = { a = { "number", key = "no.such", doc = "a" } } },
  })
  t.equal(faults, {
    { slot = "env", option = "workers",
      words = "every environment has a key of that name" },
    { slot = "gate", option = "a", words = "there is no key no.such" },
  })
end)

-------------------------------------------------------------------------- reference

test("the written reference has a row for each key", function(t)
  local page = markdown.write(function(k) return k.default end)
  for _, k in ipairs(schema.core.list) do
    if not k.role and not k.declared then
      t.ok(page:find("`" .. k.name .. "`", 1, true), k.name)
    end
  end
  t.ok(page:find("## gradient", 1, true), "sections")
  t.ok(page:find("| `train.seed` | integer |", 1, true), "type")
  t.ok(page:find("`http://localhost:8000/v1`", 1, true), "default")
end)
