--- The reference's configuration cases, through the one path that ours take. What is read
--- otherwise on purpose stands in the tables below, with the reason and our reading.
local test = require "skillopt.test"
local cli = require "skillopt.cli"
local config = require "skillopt.config"
local open = require "skillopt.config.open"
local schema = require "skillopt.schema"
local file = require "rt.file"
local json = require "rt.json"
local vectors = test.support "tests/lua/vectors.lua"

local CONFIGS <const> = open.configs()

local function examine(command, path, texts, args, load)
  local line, err = cli.parse(command, args)
  if not line then return nil, err end
  return config.examine { file = path, args = line.assignments, configs = CONFIGS,
    read = function(name) return texts[name] or file.read(name) end, load = load }
end

--- An environment with two of the reference's options; policies without any.
local function load_options(slot)
  return { options = slot == "env" and { max_steps = { "integer", 1, "steps" },
    mode = { "string", "single", "mode" } } or {} }
end

--- Problems, but for those about back-ends that this version does not have.
local function problems(c)
  local out = {}
  for _, problem in ipairs(c.problems) do
    if not problem:find("this version has no", 1, true) then out[#out + 1] = problem end
  end
  return table.concat(out, "\n")
end

local function says_nothing(value)
  return value == nil or value == "" or value == json.null
end

--- A value of the reference's flat form as ours: nothing said is nothing, or a default.
local function same(c, flat, name, want)
  if not says_nothing(want) then return test.same(flat[name], want) end
  local key = c:find(name)
  local origin = key and c:origin(key.switch and "policy." .. key.switch or key.name)
  return says_nothing(flat[name]) or origin:find "_base_/default.yaml" ~= nil
    or origin:find "^default" ~= nil or origin == "built in"
end

--- What is not as wanted, in words; "" when all is.
local function compare(c, want)
  local flat, out = c:flat(), {}
  for name, value in pairs(want) do
    if not same(c, flat, name, value) then
      out[#out + 1] = string.format("%s is %s, not %s", name, json.encode(flat[name]),
        json.encode(value))
    end
  end
  return table.concat(out, ", ")
end

------------------------------------------------------------------------- core_config

-- Reasons for another reading.
local UNKNOWN <const> = "an unknown key is an error"
local TWICE <const> = "two spellings of one key in one file are an error"
local REPEATED <const> = "a key that stands twice in one mapping is an error"
local TYPED <const> = "the schema types values, not their looks"
local WIPED <const> = "a section without content does not wipe what lies below"
local SECTION <const> = "a section needs keys"
local SANDBOX <const> = "a bare sandbox is not a setting of one back-end"
local FORM <const> = "a name of a key has no blanks and is not empty"
local EMPTY <const> = "an empty value says nothing"
local LOST <const> = "an override of the environment's key is not lost"
local RETIRED <const> = "the key was never read"
local SECRET <const> = "a login stays text and is masked"

--- By number of the case: reason, a problem that is named, values that ours has.
local CONFIG <const> = {
  [4] = { UNKNOWN, "a is not a key" },
  [13] = { WIPED, values = { num_epochs = 4, batch_size = 40, seed = 42 } },
  [14] = { WIPED, values = { num_epochs = 4, batch_size = 40, seed = 42 } },
  [15] = { SECTION, "m.yaml:2: train is a section", values = { num_epochs = 4 } },
  [16] = { TWICE, "optimizer.learning_rate" },
  [18] = { UNKNOWN,
    "optimizer.learing_rate is not a key (did you mean optimizer.learning_rate" },
  [19] = { UNKNOWN, "optimzer is not a key" },
  [20] = { UNKNOWN, "env.batch_size is not a key (did you mean train.batch_size?)" },
  [21] = { UNKNOWN, "env.env is not a key (did you mean env.name?)" },
  [22] = { UNKNOWN, "env.seed is not a key (did you mean train.seed?)" },
  [24] = { TWICE, "model.codex_bin and model.codex_cli_bin" },
  [26] = { SANDBOX, "sandbox must be one of auto, none" },
  [27] = { TWICE, "model.codex_exec_sandbox and model.codex_sandbox" },
  [29] = { TWICE, "codex_path" },
  [40] = { REPEATED, usage = "m.yaml, line 2: the key 'a' stands in line 1 already" },
  [43] = { TWICE, "batch_size and train.batch_size", "env.workers and workers" },
  [44] = { TYPED,
    'env.split_ratio must be three shares in quotes, as "2:1:7", got 7267' },
  [46] = { TYPED, "train.seed must be a whole number", "train.a is not a key",
    values = { batch_size = 1000 } },
  [47] = { TYPED, values = { gate_mixed_weight = 0.5, use_gate = false,
    eval_test = true } },
  [49] = { TYPED, "optimizer.lr_scheduler must be one of", values = { edit_budget = 4 } },
  [50] = { TYPED, "evaluation.leading_words must be a list of texts" },
  [51] = { TYPED, values = { leading_words = { "MUST", "NEVER" } } },
  [52] = { UNKNOWN, "env.nested is not a key", "env.data_dirs: the environment" },
  [53] = { UNKNOWN, "env.k.dot is not a key", values = { env = "x" } },
  [55] = { TYPED, "train.batch_size must be a whole number", values = { seed = 31 } },
  [57] = { UNKNOWN, "env.text is not a key", "env.fold is not a key" },
  [64] = { TYPED, values = { use_gate = false } },
  [71] = { LOST, values = { workers = 3 } },
  [72] = { UNKNOWN, "foo is not a key" },
  [73] = { UNKNOWN, "foo.bar is not a key" },
  [74] = { UNKNOWN, "foo.bar.baz is not a key" },
  [75] = { UNKNOWN, "train.x.y is not a key" },
  [79] = { SANDBOX, "sandbox must be one of auto, none" },
  [81] = { TYPED, values = { out_root = "2024" } },
  [82] = { SECRET, values = { azure_openai_api_key = "***" } },
  [83] = { TYPED, values = { optimizer_model = "yes" } },
  [84] = { EMPTY, values = { optimizer_model = "m-big" } },
  [85] = { UNKNOWN, "a is not a key" },
  [86] = { FORM, usage = "expected KEY=VALUE" },
  [91] = { TYPED, values = { seed = 1000 } },
  [92] = { TYPED, values = { seed = 1 } },
  [97] = { TYPED, values = { leading_words = { "MUST", "NEVER" } } },
  [98] = { FORM, usage = "expected KEY=VALUE" },
  [101] = { RETIRED, note = "optimizer.meta_learning_rate is retired" },
  [107] = { TYPED, values = { use_gate = false } },
  [115] = { UNKNOWN, "foo is not a key" },
  [116] = { UNKNOWN, "foo.bar is not a key" },
  [117] = { UNKNOWN, "foo.bar.baz is not a key" },
  [118] = { UNKNOWN, "train.x.y is not a key", values = { batch_size = 40 } },
  [122] = { SANDBOX, "sandbox must be one of auto, none" },
  [124] = { TYPED, values = { out_root = "2024" } },
  [125] = { SECRET, values = { azure_openai_api_key = "***" } },
  [126] = { TYPED, values = { optimizer_model = "yes" } },
  [128] = { UNKNOWN, "a is not a key" },
  [129] = { FORM, usage = "expected KEY=VALUE" },
  [133] = { UNKNOWN, "x is not a key" },
  [135] = { SECTION, "m.yaml:1: train is a section", values = { seed = 3 } },
  [137] = { "a name at the top and a section elsewhere do not hinder each other",
    values = { env = "demo", workers = 2 } },
}

--- Our reading of a case that is listed.
local function check_listed(t, i, listed, c, err)
  if listed.usage then
    t.equal(c, nil, i)
    t.ok(err.message:find(listed.usage, 1, true), i .. ": " .. err.message)
    return
  end
  t.ok(c, i)
  local said = problems(c)
  for j = 2, #listed do
    t.ok(said:find(listed[j], 1, true), string.format("%d: %q not in %q", i, listed[j],
      said))
  end
  if #listed == 1 then t.equal(said, "", i) end
  if listed.note then
    t.ok(table.concat(c.notes, "\n"):find(listed.note, 1, true), i .. ": no note")
  end
  t.equal(compare(c, listed.values or {}), "", i)
end

local function overrides(list)
  if #list == 0 then return {} end
  return { "--cfg-options", table.unpack(list) }
end

test("core_config: files, bases and overrides, flattened", function(t)
  local book = vectors.book "core_config.json"
  for i, case in ipairs(book.cases) do
    local given = case["in"]
    local c, err = examine("run", given.main, given.files, overrides(given.overrides))
    if CONFIG[i] then
      check_listed(t, i, CONFIG[i], c, err)
    elseif case.out.error then
      t.ok(not c and err.message ~= "", "case " .. i .. " is an error")
    else
      t.equal(problems(c), "", i)
      t.equal(compare(c, case.out.flat), "", i)
    end
    book:note(i, CONFIG[i] and CONFIG[i][1])
  end
  book:check(t)
end)

test("core_config: values stand in the sections of the reference", function(t)
  for i, case in ipairs(test.vectors("core_config.json").cases) do
    local given = case["in"]
    if not CONFIG[i] and not case.out.error then
      local c = examine("run", given.main, given.files, overrides(given.overrides))
      for section, content in pairs(case.out.loaded) do
        for leaf, value in pairs(type(content) == "table" and content or {}) do
          local key = schema.find(schema.core, section .. "." .. leaf)
          local got = c.values[section] and c.values[section][leaf]
          if not key.switch and not says_nothing(value) then
            t.equal(c:get(key.name), value, i)
            if key.name == section .. "." .. leaf then t.equal(got, value, i) end
          end
        end
      end
    end
  end
end)

---------------------------------------------------------------------------- core_cli

local QWEN <const> = "eval knows the label qwen_chat like run"
local COMPATIBLE <const> = "openai_compatible is a value of --backend"
local DEFAULT_LABEL <const> = "a file without a label gets that of the defaults"

local QWEN_ROLES <const> = { model_backend = "qwen_chat",
  optimizer_backend = "openai_chat",
  target_backend = "qwen_chat", optimizer_model = "gpt-5.5",
  target_model = "Qwen/Qwen3.5-4B" }
local COMPATIBLE_ROLES <const> = { model_backend = "openai_compatible",
  optimizer_backend = "openai_compatible", target_backend = "openai_compatible" }
local DEFAULT_ROLES <const> = { model_backend = "openai_compatible",
  optimizer_backend = "openai_compatible", target_backend = "openai_compatible",
  optimizer_model = "m", target_model = "m" }

local CLI <const> = {
  [59] = { QWEN, values = QWEN_ROLES }, [60] = { QWEN, values = QWEN_ROLES },
  [64] = { QWEN, values = QWEN_ROLES }, [65] = { QWEN, values = QWEN_ROLES },
  [92] = { QWEN, values = QWEN_ROLES },
  [86] = { QWEN, values = { optimizer_backend = "qwen_chat",
    target_backend = "openai_chat",
    optimizer_model = "Qwen/Qwen3.5-4B" } },
  [96] = { QWEN, values = { target_backend = "qwen_chat", optimizer_model = "gpt-5.4",
    target_model = "Qwen/Qwen3.5-4B" } },
  [76] = { COMPATIBLE, values = COMPATIBLE_ROLES },
  [79] = { COMPATIBLE, values = COMPATIBLE_ROLES },
  [104] = { TYPED, values = { use_gate = true } },
  [106] = { LOST, values = { workers = 3 } },
  [114] = { SECRET, values = { azure_openai_api_key = "***" },
    note = "can be read by others" },
  [115] = { SECRET, values = { azure_openai_api_key = "***" },
    note = "can be read by others" },
  [116] = { SECRET, values = { azure_openai_api_key = "***" },
    note = "can be read by others" },
  [120] = { "edits is one of the words for patch",
    values = { skill_update_mode = "patch" } },
  [121] = { "a word gets its full name",
    values = { skill_update_mode = "full_rewrite_minibatch" } },
}
for i = 126, 132 do
  if i ~= 129 then CLI[i] = { DEFAULT_LABEL, values = DEFAULT_ROLES,
    note = "is retired" } end
end

local NOTES <const> = { FutureWarning = "is retired",
  DeprecationWarning = "read by others" }

local function check_cli(t, i, case, c, err)
  if case.out.exit or case.out.error then
    t.ok(not c and err.kind == "usage" or problems(c) ~= "", i .. " is refused")
    return
  end
  t.equal(problems(c), "", i)
  local want = {}
  for name, value in pairs(case.out) do
    if name ~= "warnings" then want[name] = value end
  end
  t.equal(compare(c, want), "", i)
  for _, warning in ipairs(case.out.warnings or {}) do
    t.ok(table.concat(c.notes, "\n"):find(NOTES[warning], 1, true), i .. ": " .. warning)
  end
end

test("core_cli: the command lines of train and eval", function(t)
  local book = vectors.book "core_cli.json"
  for i, case in ipairs(book.cases) do
    local command = case.fn:find "^train" and "run" or "eval"
    local c, err = examine(command, "c.yaml",
      { ["c.yaml"] = json.encode(case["in"].config) },
      case["in"].argv, load_options)
    if CLI[i] then
      check_listed(t, i, CLI[i], c, err)
    else
      check_cli(t, i, case, c, err)
    end
    book:note(i, CLI[i] and CLI[i][1])
  end
  book:check(t)
end)

---------------------------------------------------------------- core_cast_and_roles

test("core_cast_and_roles: the back-ends of a label and two roles", function(t)
  local book = vectors.book("core_cast_and_roles.json", "roles")
  for i, case in ipairs(book.cases) do
    if case.fn == "trainer_resolve_role_backends" then
      local given = case["in"]
      local text = json.encode { model = given }
      local c = examine("run", "c.yaml", { ["c.yaml"] = text }, {})
      local got = { c:get "model.optimizer_backend", c:get "model.target_backend" }
      local why
      if given.backend == "weird" then
        why = "an unknown back-end is an error"
        t.ok(problems(c):find('there is no back-end "weird"', 1, true),
          "an unknown label")
      elseif given.backend == "" then
        why = "an empty label says nothing: the one of the defaults holds"
        t.equal(c:get "model.backend", "openai_compatible")
      else
        t.equal(got, case.out, i)
      end
      book:note(i, why)
    end
  end
  book:check(t)
end)
