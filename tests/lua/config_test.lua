--- Configuration: where values come from, who wins, what is refused.
local test = require "skillopt.test"
local cli = require "skillopt.cli"
local config = require "skillopt.config"
local dotenv = require "skillopt.config.dotenv"
local experiment = require "skillopt.experiment"
local files = require "skillopt.config.files"
local open = require "skillopt.config.open"
local schema = require "skillopt.schema"
local show = require "skillopt.config.show"
local file = require "rt.file"
local json = require "rt.json"

local CONFIGS <const> = open.configs()

--- A request over files in memory, the shipped ones beneath.
local function request(given)
  local texts = given.files or {}
  return {
    file = given.file, table = given.table, source = given.source, dotenv = given.dotenv,
    args = given.args and assert(cli.parse("run", given.args)).assignments,
    env = function(name) return (given.env or {})[name] end,
    read = function(path)
      if texts[path] then return texts[path] end
      return file.read(path)
    end,
    configs = CONFIGS, cwd = "/work", load = given.load, complete = given.complete,
  }
end

local function examine(given)
  return assert(config.examine(request(given)))
end

local function from_yaml(text, given)
  given = given or {}
  given.files, given.file = { ["my.yaml"] = text }, "my.yaml"
  return examine(given)
end

local function from_args(...)
  return examine { args = { ... } }
end

local function problems(c)
  return table.concat(c.problems, "\n")
end

local function has(t, text, piece)
  t.ok(text:find(piece, 1, true), string.format("%q is not in %q", piece, text))
end

------------------------------------------------------------------------ precedence

local SHIPPED <const> = CONFIGS .. "/searchqa/default.yaml"

test("without a word the shipped defaults hold, and say where they stand", function(t)
  local c = examine {}
  t.equal(c.problems, {})
  t.equal(c.values.train.batch_size, 40)
  t.equal(c.values.policy.rate, "cosine")
  has(t, c:origin "train.batch_size", "_base_/default.yaml:")
  t.equal(c:origin "model.qwen_chat_max_tokens", "built in")
end)

test("each stronger source wins over the weaker ones", function(t)
  local given = { file = SHIPPED }
  local function target() return examine(given):get "model.target_backend" end
  local function origin() return examine(given):origin "model.target_backend" end
  t.equal(target(), "openai_compatible")
  given.dotenv = "TARGET_BACKEND=sim\n"
  t.equal(target() .. " " .. origin(), "sim .env TARGET_BACKEND")
  given.env = { TARGET_BACKEND = "qwen_chat" }
  t.equal(target() .. " " .. origin(), "qwen_chat environment TARGET_BACKEND")
  given.files = { ["my.yaml"] = "_base_: " .. SHIPPED
    .. "\nmodel:\n  target_backend: sim\n" }
  given.file = "my.yaml"
  t.equal(target() .. " " .. origin(), "sim my.yaml:3")
  given.table = { base = "my.yaml", model = { target_backend = "qwen_chat" } }
  given.source = "return experiment {\n model = {\n target_backend = 'qwen_chat' } }"
  given.file = "exp.lua"
  t.equal(target() .. " " .. origin(), "qwen_chat exp.lua:3")
  given.args = { "model.target_backend=sim" }
  t.equal(target() .. " " .. origin(), "sim command line")
end)

test("an empty value and null say nothing, in every source", function(t)
  local c = from_yaml("train:\n  seed: ''\nenv:\n  workers: null\n", {
    args = { "train.num_epochs=" }, env = { TARGET_BACKEND = "" },
    dotenv = "TARGET_BACKEND=sim", })
  t.equal(c.values.train.seed, 42)
  t.equal(c.values.env.workers, 24)
  t.equal(c.values.train.num_epochs, 4)
  t.equal(c.values.model.target_backend, "sim")
end)

test("a shipped file does not stop the environment, a copy of it does", function(t)
  local text = "env:\n  name: x\nmodel:\n  target: from-file\n"
  local function target(path)
    return examine { files = { [path] = text }, file = path,
      env = { TARGET_DEPLOYMENT = "from-env" } }:get "model.target"
  end
  t.equal(target(CONFIGS .. "/x/default.yaml"), "from-env")
  t.equal(target "x/default.yaml", "from-file")
end)

test("a section without content does not wipe what lies below", function(t)
  for _, text in ipairs { "train:\n", "train: null\n", "train: {}\n" } do
    t.equal(from_yaml(text).values.train.num_epochs, 4)
  end
end)

------------------------------------------------------------------------------ files

test("a base is looked up beside the file, then in the shipped configs", function(t)
  local own = "train:\n  seed: 7\n"
  local child = "_base_: ../_base_/default.yaml\nenv:\n  name: x\n"
  local beside = { ["a/_base_/default.yaml"] = own, ["a/b/my.yaml"] = child }
  t.equal(examine { files = beside, file = "a/b/my.yaml" }.values.train.seed, 7)
  t.equal(examine { files = { ["a/b/my.yaml"] = child }, file = "a/b/my.yaml" }
    .values.train.seed, 42)
end)

test("an experiment stands on its base, or on the defaults", function(t)
  local c = examine { table = { base = "searchqa/default.yaml" }, file = "mine/exp.lua" }
  t.equal(c.values.env.name, "searchqa")
  t.equal(c:origin "env.name":match "^[^:]*", "searchqa/default.yaml")
  t.equal(examine { table = {}, file = "mine/exp.lua" }.values.train.seed, 42)
end)

test("a base that is missing, circular or no path is an error", function(t)
  local function message(texts, table)
    local _, err = config.examine(request { files = texts, file = "m.yaml",
      table = table })
    return err.kind .. ": " .. err.message
  end
  has(t, message { ["m.yaml"] = "_base_: gone.yaml" },
    "m.yaml: the base gone.yaml is not there")
  has(t, message { ["m.yaml"] = "_base_: n.yaml", ["n.yaml"] = "_base_: ./m.yaml" },
    "the bases are circular")
  has(t, message { ["m.yaml"] = "_base_: [a.yaml]" }, "_base_ must be one path")
  has(t, message({}, { base = { "a" } }), "base must be one path")
  has(t, message { ["m.yaml"] = "- 1\n" }, "expected names and values")
  has(t, message { ["m.yaml"] = "words\n" }, "expected names and values")
  has(t, message { ["m.yaml"] = "a: [\n" }, "config: m.yaml, line 2, column 1: ")
  has(t, message { ["m.yaml"] = "train:\n  seed: 1\ntrain:\n  num_epochs: 2\n" },
    "config: m.yaml, line 3: the key 'train' stands in line 1 already")
  has(t, message { ["m.yaml"] = '{"train": {"seed": 1,\n"seed": 2}}' },
    "config: m.yaml, line 2: the key 'seed' stands in line 1 already")
end)

test("clean takes dots and double slashes out of a path", function(t)
  for given, want in pairs { ["a/./b//c.yaml"] = "a/b/c.yaml", ["a/../b"] = "b",
    ["../../x"] = "../../x", ["/a/../../b"] = "/b", ["./x"] = "x" } do
    t.equal(files.clean(given), want)
  end
end)

test("shipped configs hold nothing that a variable can give", function(t)
  for _, name in ipairs { "_base_/default.yaml", "searchqa/default.yaml",
    "features/soft_gate.yaml", "features/paper_gated.yaml" } do
    local c = examine { file = CONFIGS .. "/" .. name }
    for _, row in ipairs(c:rows()) do
      if row.key.env and #row.key.env > 0 then
        t.ok(not row.origin:find("yaml:", 1, true) or row.origin:find "^model.backend",
          row.name .. " " .. row.origin)
      end
    end
  end
end)

-- Keys that mean something when they have no value.
local MAY_BE_UNSET <const> = { name = true, sandbox = true, ["env.name"] = true,
  ["env.skill_init"] = true, ["env.out_root"] = true, ["env.split_dir"] = true,
  ["env.data_path"] = true, ["env.split_output_dir"] = true,
  ["model.requests_per_minute"] = true, ["model.tokens_per_minute"] = true,
  ["model.qwen_chat_thinking_mode"] = true, ["model.qwen_chat_enable_thinking"] = true }

test("every other key of this version has a default", function(t)
  local c = examine {}
  for _, key in ipairs(schema.core.list) do
    local needs = not (key.retired or key.feature or key.declared or key.role
      or key.switch
      or key.type == "secret" or MAY_BE_UNSET[key.name])
    if needs then t.ok(c:get(key.name) ~= nil, key.name .. " has no default") end
  end
end)

test("the shipped examples are right", function(t)
  t.equal(examine { file = SHIPPED, complete = true }.problems, {})
  t.equal(examine { file = CONFIGS .. "/features/soft_gate.yaml" }.values.policy.metric,
    "soft")
  local path = CONFIGS .. "/searchqa/experiment.lua"
  local source = file.read(path)
  local chunk = load(source, "@" .. path, "t", {
    require = function() return { experiment = experiment.define } end })
  local c = examine { file = path, table = chunk(), source = source, complete = true,
    load = open.loader {} }
  t.equal(c.values.train.batch_size, 16)
  t.equal(c.values.policy.metric, "mixed")
  t.equal(c:policy "gate"({ score = 0.52 }, { score = 0.5 }), true)
end)

--- The published protocol. Slots that decide are named; what they take stands beside them.
local PROTOCOL <const> = { ["train.num_epochs"] = 4, ["train.batch_size"] = 40,
  ["train.accumulation"] = 1, ["train.seed"] = 42, ["gradient.minibatch_size"] = 8,
  ["gradient.merge_batch_size"] = 8, ["gradient.failure_only"] = false,
  ["optimizer.learning_rate"] = 4, ["optimizer.min_learning_rate"] = 2,
  ["policy.rate"] = "cosine", ["policy.update"] = "patch", ["policy.gate"] = "strict",
  ["policy.metric"] = "hard", ["policy.slow_update"] = "longitudinal",
  ["optimizer.slow_update_samples"] = 20, ["optimizer.longitudinal_pair_policy"] = "mixed",
  ["optimizer.slow_update_gate_with_selection"] = false, ["policy.meta_skill"] = "epoch",
  ["policy.appendix"] = "none", ["evaluation.use_semantic_density"] = false,
  ["evaluation.sel_env_num"] = 0, ["evaluation.test_env_num"] = 0,
  ["evaluation.eval_test"] = true }

test("the published protocol stands in one file", function(t)
  local c = examine {}
  for name, value in pairs(PROTOCOL) do
    t.equal(c:get(name), value, name)
    t.ok(c:origin(name):find("_base_/default.yaml:", 1, true), name .. " " .. c:origin(name))
  end
end)

--- What a shipped file changes of the protocol, by key.
local function changes(name)
  local c, out = examine { file = CONFIGS .. "/features/" .. name }, {}
  for key, value in pairs(PROTOCOL) do
    if c:get(key) ~= value then out[key] = c:get(key) end
  end
  return out
end

test("a feature file changes what it is for, and says when to use it", function(t)
  t.equal(changes "soft_gate.yaml", { ["policy.metric"] = "soft" })
  t.equal(changes "paper_gated.yaml", { ["optimizer.slow_update_gate_with_selection"] = true })
  for _, name in ipairs { "soft_gate.yaml", "paper_gated.yaml" } do
    t.ok(test.read(CONFIGS .. "/features/" .. name):find "Use it %l+", name)
  end
end)

--------------------------------------------------------------------------- refusals

test("an unknown key is an error with file, line and the nearest name", function(t)
  local c = from_yaml "gradient:\n  minibatch_size: 4\n  minibatch_sise: 4\nfoo: 1\n"
  t.equal(c.problems, {
    "my.yaml:4: foo is not a key",
    "my.yaml:3: gradient.minibatch_sise is not a key "
      .. "(did you mean gradient.minibatch_size?)",
  })
end)

test("an unknown key of an experiment is named with its line", function(t)
  local c = examine { file = "e.lua", table = { train = { sed = 1 } },
    source = "return experiment {\n  train = {\n    sed = 1 } }" }
  t.equal(problems(c), "e.lua:3: train.sed is not a key (did you mean train.seed?)")
end)

test("two spellings of one key in one source are an error", function(t)
  local c = from_yaml "optimizer:\n  learning_rate: 9\nedit_budget: 9\n"
  t.equal(#c.problems, 1)
  has(t, problems(c), "say the same: give one of them")
  has(t, problems(from_args("--batch_size", "8", "train.batch_size=8")),
    "command line: --batch_size and train.batch_size say the same")
  t.equal(from_args("train.seed=1", "train.seed=2").values.train.seed, 2)
end)

test("a stronger source wins in whatever spelling", function(t)
  local c = examine { file = "m.yaml", files = {
    ["b.yaml"] = "optimizer:\n  learning_rate: 9\n",
    ["m.yaml"] = "_base_: b.yaml\nedit_budget: 7\n" } }
  t.equal(c.problems, {})
  t.equal(c.values.optimizer.learning_rate, 7)
end)

test("all problems are listed at once, behind the place where each was said", function(t)
  local c, err = config.resolve(request { file = "m.yaml", args = { "--workers", "0" },
    files = { ["m.yaml"] = "gradient:\n  merge_batch_size: 1\n  max_analyst_rounds: 3\n"
      .. "evaluation:\n  gate_metric: harder\n" } })
  t.equal(c, nil)
  t.equal(err.kind, "config")
  t.equal(err.message, table.concat({ "the configuration has 3 problems:",
    'm.yaml:5: evaluation.gate_metric must be one of hard, soft, mixed, got "harder"',
    "m.yaml:2: gradient.merge_batch_size must be a whole number, 2 or more, got 1",
    'command line: --workers must be a whole number, 1 or more, got "0"',
    "note: m.yaml:3: gradient.max_analyst_rounds is retired and does nothing: "
      .. "an analyst is asked once" }, "\n  "))
end)

test("a merge batch below 2 is refused", function(t)
  for _, size in ipairs(json.decode(test.read "tests/cases/c13_merge_batch_size.json")
    .merge_batch_size) do
    has(t, problems(from_yaml("merge_batch_size: " .. size)), "2 or more, got " .. size)
  end
end)

test("a switch that is no switch is refused, in any form", function(t)
  has(t, problems(from_yaml "evaluation:\n  use_gate: maybe\n"), "must be true or false")
  for _, off in ipairs { "0", "false", '"false"', "off", '"0"' } do
    t.equal(from_yaml("evaluation:\n  use_gate: " .. off).values.policy.gate, "none")
  end
end)

test("a schedule that ends above its start is refused", function(t)
  local c = from_args("--edit_budget", "1")
  has(t, problems(c),
    "optimizer.min_learning_rate (2) is above optimizer.learning_rate (1, "
    .. "command line)")
  t.equal(from_args("--edit_budget", "1", "policy.rate=constant").problems, {})
end)

test("what a run cannot do without is asked for before it starts", function(t)
  local function missing(...)
    return problems(examine { args = { ... }, complete = true })
  end
  has(t, missing(), "say which environment: env.name=NAME")
  has(t, missing "env.split_mode=ratio", "env.split_mode = ratio needs env.data_path")
  has(t, missing "env.split_dir=d",
    "(env.split_dir is set: did you mean env.split_mode=split_dir?)")
  t.equal(missing("env.name=x", "env.data_path=d.json"), "")
end)

test("what this version does not have is refused with words", function(t)
  for argument, words in pairs {
    ["split_output_dir=d"] = "does not have splits written to a folder yet",
    ["sandbox=auto"] = "does not have a sandbox for child processes yet",
    ["model.target_backend=claude_code_exec"] = "this version has no claude_code_exec",
    ["model.backend=azure"] = "this version has no openai_chat, only",
    ["model.backend=openai"] = "the OpenAI API is openai_compatible",
    ["env.image_detail=auto"] = "has no such option",
  } do
    has(t, problems(from_args(argument)), words)
  end
end)

test("a run refuses settings of a back-end that nobody asks", function(t)
  local c = examine { args = { "azure_openai_endpoint=https://x/" }, complete = true }
  has(t, problems(c), "model.azure_openai_endpoint: this version has no openai_chat, only")
  c = examine { args = { "qwen_chat_base_url=http://127.0.0.1:1/v1" }, complete = true }
  has(t, table.concat(c.notes, "\n"),
    "model.qwen_chat_base_url has no effect: qwen_chat is not asked")
  c = examine { args = { "qwen_chat_base_url=http://127.0.0.1:1/v1", "model.backend=qwen_chat" },
    complete = true }
  t.ok(not table.concat(c.notes, "\n"):find("has no effect", 1, true))
end)

test("only the roles that are asked have to be there", function(t)
  local asked = request { args = { "model.optimizer_backend=openai_chat",
    "model.target_backend=sim" } }
  t.equal(#config.examine(asked).problems, 1)
  asked.roles = { "target" }
  local c = config.examine(asked)
  t.equal({ #c.problems, c.roles.target.backend, c.roles.optimizer }, { 0, "sim" })
end)

test("the words of the reference name the policies of rate and update", function(t)
  for argument, policy in pairs {
    ["lr_control_mode=auto"] = "rate autonomous", ["lr_control_mode=optimizer"] = "rate autonomous",
    ["lr_scheduler=autonomous"] = "rate autonomous", ["lr_control_mode=no_lr"] = "rate none",
    ["lr_control_mode=off"] = "rate none", ["lr_control_mode=manual"] = "rate cosine",
    ["skill_update_mode=rewrite"] = "update rewrite", ["skill_update_mode=edits"] = "update patch",
    ["skill_update_mode=suggestions"] = "update rewrite",
    ["skill_update_mode=full_rewrite"] = "update full_rewrite",
    ["skill_update_mode=skill_rewrite_minibatch"] = "update full_rewrite",
  } do
    local c = from_args(argument)
    t.equal(c.problems, {})
    local slot, name = policy:match "^(%S+) (%S+)$"
    t.equal(c:policy(slot), name)
  end
end)

test("switching such a part off is no question for it", function(t)
  t.equal(from_args("use_slow_update=false", "policy.meta_skill=none",
    "lr_control_mode=fixed",
    "skill_update_mode=patch", "slow_update_samples=20",
    "spend.cost=none", "codex_exec_path=/bin/codex").problems, {})
end)

--------------------------------------------------------------------------- policies

-- Definitions as policy files give them.
local POLICIES <const> = {
  metric = { mixed = { is_policy = true, slot = "metric", options = { weight = { "number",
    key = "evaluation.gate_mixed_weight", doc = "share of the soft mark" } } } },
  gate = { careful = { is_policy = true, slot = "gate", options = {
    margin = { "number", 0.01, "gain asked for", min = 0 },
    tries = { "integer", 2, "tries" } } } },
  env = { capitals = { options = { max_turns = { "integer", 1, "turns", min = 1 } } } },
}

local function load_policy(slot, name)
  local found = POLICIES[slot] and POLICIES[slot][name]
  return found, not found and { kind = "config", message = "no file of that name" } or nil
end

local function with_policies(table, args, files_)
  return examine { table = table, file = "e.lua", source = "", load = load_policy,
    args = args, files = files_ }
end

-- The shipped names, which the loader of these tests does not know.
local REST <const> = { loop = "l", reflect = "r", aggregate = "a", select = "s",
  update = "u", rate = "p", metric = "m", gate = "g", slow_update = "w", meta_skill = "k" }

local function only(policy)
  for slot, name in pairs(REST) do
    if policy[slot] == nil then
      policy[slot] = function() return name end
    end
  end
  return { policy = policy }
end

test("a policy's table is its name and its options", function(t)
  local c = with_policies(only { metric = { "mixed", weight = 0.3 },
    gate = { "careful", tries = 3 } })
  t.equal(c.problems, {})
  local name, options = c:policy "metric"
  t.equal({ name, options }, { "mixed", { weight = 0.3 } })
  name, options = c:policy "gate"
  t.equal({ name, options }, { "careful", { margin = 0.01, tries = 3 } })
  t.equal(c:origin "policy.gate.margin", "default")
end)

test("a policy may be a function or a definition", function(t)
  local gate = function() return true end
  local c = with_policies(only { gate = gate, metric = POLICIES.metric.mixed })
  t.equal(c.problems, {})
  t.ok(c:policy "gate" == gate)
  local definition, options = c:policy "metric"
  t.ok(definition == POLICIES.metric.mixed)
  t.equal(options, { weight = 0.5 })
end)

test("a stronger policy takes the options below it away", function(t)
  local c = with_policies({ base = "b.yaml",
    policy = only { gate = { "careful" } }.policy }, {},
    { ["b.yaml"] = "policy:\n  gate: {name: careful, margin: 0.5}\n" })
  t.equal(select(2, c:policy "gate"), { margin = 0.01, tries = 2 })
end)

test("a policy's option can be given alone by a stronger source", function(t)
  local c = with_policies(only { gate = { "careful", margin = 0.2 } },
    { "policy.gate.margin=0.3" })
  t.equal(c.problems, {})
  t.equal(c:get "policy.gate.margin", 0.3)
end)

test("wrong policies and options are named with their place", function(t)
  local function wrong(policy, args) return problems(with_policies(only(policy),
    args)) end
  has(t, wrong { gate = "carefull" },
    "e.lua: policy.gate = carefull: no file of that name")
  has(t, wrong { gate = { "careful", marginn = 1 } },
    "policy.gate.marginn is not a key (did you mean policy.gate.margin?)")
  has(t, wrong { gate = { "careful", margin = -1 } },
    "policy.gate.margin must be a number, 0 or more, got -1")
  has(t, wrong { gate = POLICIES.metric.mixed },
    "policy.gate must be a policy for gate, not for metric")
  has(t, wrong { gate = 5 },
    "a policy's name, a table { name, option = value } or a function")
end)

test("options of the environment exist where it declares them", function(t)
  local function with_env(args)
    return with_policies(only {}, args)
  end
  local c = with_env { "env.name=capitals", "--max_turns", "3" }
  t.equal(c.problems, {})
  t.equal(c:options "env", { max_turns = 3 })
  t.equal(with_env { "env.name=capitals" }:options "env", { max_turns = 1 })
  has(t, problems(with_env { "env.name=capitals", "--max_steps", "3" }),
    "env.max_steps: the environment capitals has no such option")
  c = with_policies({ base = "b.yaml", policy = only {}.policy }, { "env.name=capitals" },
    { ["b.yaml"] = "env:\n  max_steps: 3\n" })
  t.equal(problems(c),
    "b.yaml:2: env.max_steps: the environment capitals has no such option")
  has(t, problems(with_env { "env.name=nowhere" }),
    "env.name = nowhere: no file of that name")
end)

test("a slot that is off has no policy, and an unknown slot is a mistake", function(t)
  local c = examine {}
  t.equal(c:policy "appendix", nil)
  t.equal(from_args("use_slow_update=false"):policy "slow_update", nil)
  t.equal(c:policy "gate", "strict")
  t.raises(function() c:policy "gait" end, "there is no slot gait")
end)

test("the control mode replaces the scheduler of its file, in either order", function(t)
  local c = from_yaml "optimizer:\n  lr_scheduler: linear\n  lr_control_mode: fixed\n"
  t.equal(c.problems, {})
  t.equal(c.values.policy.rate, "linear")
  c = from_args("lr_scheduler=linear", "lr_control_mode=autonomous")
  t.equal(c.problems, {})
  t.equal(c.values.policy.rate, "autonomous")
  t.equal(from_args("lr_control_mode=autonomous",
    "lr_scheduler=linear").values.policy.rate,
    "autonomous")
end)

------------------------------------------------------------------------------ roles

test("two roles, two servers, two models, two deadlines", function(t)
  local case = json.decode(test.read "tests/cases/f05_role_routing.json")
  local args = {}
  for _, role in ipairs { "optimizer", "target" } do
    local prefix = "model." .. role
    args[#args + 1] = prefix .. "=" .. case[role].model
    args[#args + 1] = prefix .. "_openai_compatible_base_url=" .. case[role].base_url
    args[#args + 1] = prefix .. "_openai_compatible_timeout_seconds="
      .. case[role].timeout
  end
  local c = from_args(table.unpack(args))
  t.equal(c.problems, {})
  for role, answer in pairs(config.roles(c)) do
    t.equal(answer.backend, "openai_compatible")
    t.equal(answer.model, case[role].model)
    t.equal(answer.settings.base_url, case[role].base_url)
    t.equal(answer.settings.timeout_s, case[role].timeout)
  end
end)

test("the settings of an openai_compatible role", function(t)
  local c = from_yaml("model:\n  openai_compatible_temperature: 0.2\n"
    .. "  reasoning_effort: high\n  requests_per_minute: 60\n"
    .. "  target_openai_compatible_temperature: none\n")
  t.equal(c.roles.optimizer.settings, {
    base_url = "https://api.openai.com/v1", temperature = 0.2, max_tokens_cap = 8000,
    timeout_s = 300, token_parameter = "max_tokens", reasoning_effort = "high",
    max_attempts = 6, max_in_flight = 64, rpm = 60,
  })
  t.equal(c.roles.target.settings.temperature, nil)
end)

test("the settings of a qwen_chat role", function(t)
  local c = from_args("model.target_backend=qwen_chat",
    "model.qwen_chat_thinking_mode=off",
    "model.qwen_chat_use_max_completion_tokens=true", "model.reasoning_effort=low")
  t.equal(c.roles.target.settings, {
    base_url = "http://localhost:8000/v1", temperature = 0.7, max_tokens_cap = 8000,
    timeout_s = 300, token_parameter = "max_completion_tokens", thinking = "disabled",
    max_attempts = 6, max_in_flight = 64,
  })
  t.equal(c.roles.target.model, "Qwen/Qwen3.5-4B")
  has(t, table.concat(c.notes, "\n"), "model.reasoning_effort is not sent to qwen_chat")
end)

test("the simulated model answers both roles", function(t)
  local c = from_args("--backend", "sim", "model.sim_latency_seconds=2",
    "model.optimizer_sim_malformed_rate=0.5")
  t.equal(c.problems, {})
  t.equal(c.roles.target, { backend = "sim", model = "sim", settings = { noise = 0.1,
    latency_s = 2, error_rate = 0, malformed_rate = 0, max_attempts = 6,
      max_in_flight = 64 } })
  t.equal(c.roles.optimizer.settings.malformed_rate, 0.5)
end)

test("thinking: the new key, the old one, neither, and both in contradiction", function(t)
  local function mode(...)
    local c = from_args("model.target_backend=qwen_chat", ...)
    return c.problems[1] or c.roles.target.settings.thinking
  end
  t.equal(mode(), "server_default")
  t.equal(mode "qwen_chat_enable_thinking=true", "enabled")
  t.equal(mode "qwen_chat_enable_thinking=false", "server_default")
  t.equal(mode("target_qwen_chat_thinking_mode=disabled",
    "qwen_chat_thinking_mode=enabled"),
    "disabled")
  t.equal(mode("qwen_chat_enable_thinking=true", "qwen_chat_thinking_mode=enabled"),
    "enabled")
  has(t, mode("qwen_chat_enable_thinking=false", "qwen_chat_thinking_mode=enabled"),
    "model.qwen_chat_enable_thinking contradicts model.qwen_chat_thinking_mode = enabled")
end)

test("a label left to the server is said once a role", function(t)
  local c = from_args("model.target_backend=qwen_chat",
    "model.optimizer_backend=qwen_chat")
  t.equal(c.notes, {
    "model: whether the optimizer thinks is left to its server "
      .. "(model.optimizer_qwen_chat_thinking_mode)",
    "model: whether the target thinks is left to its server "
      .. "(model.target_qwen_chat_thinking_mode)",
  })
end)

test("a label gives way to a role named at least as strongly", function(t)
  local text = "model:\n  backend: openai_compatible\n  target_backend: sim\n"
  t.equal(from_yaml(text).roles.target.backend, "sim")
  local c = from_yaml(text, { args = { "--backend", "openai_compatible" } })
  t.equal(c.roles.target.backend, "openai_compatible")
  has(t, c.notes[1],
    "model.target_backend = sim has no effect: model.backend (command line)")
  t.equal(from_yaml(text, { args = { "--target_backend", "qwen" } }).roles.target.backend,
    "qwen_chat")
end)

test("variables name back-ends, models and settings by role", function(t)
  local c = examine { env = { TARGET_BACKEND = "qwen", QWEN_CHAT_MODEL = "q",
    TARGET_QWEN_CHAT_MAX_TOKENS = "100", QWEN_CHAT_MAX_TOKENS = "200",
    OPTIMIZER_DEPLOYMENT = "d", QWEN_CHAT_TEMPERATURE = "none" } }
  t.equal(c.problems, {})
  t.equal(c.roles.target.model, "q")
  t.equal(c:origin "model.target", "environment QWEN_CHAT_MODEL")
  t.equal(c.roles.target.settings.max_tokens_cap, 100)
  t.equal(c.roles.target.settings.temperature, nil)
  t.equal(c.roles.optimizer.model, "d")
end)

test("a model is taken from the strongest source that names one", function(t)
  local given = { env = { TARGET_DEPLOYMENT = "general" } }
  local function model() return examine(given).roles.target.model end
  t.equal(model(), "general")
  given.env.OPENAI_COMPATIBLE_MODEL = "shared"
  t.equal(model(), "shared")
  given.env.TARGET_OPENAI_COMPATIBLE_MODEL = "own"
  t.equal(model(), "own")
  given.files, given.file = { ["my.yaml"] = "target_model: written" }, "my.yaml"
  t.equal(model(), "written")
  given.args = { "--target_model", "said" }
  t.equal(model(), "said")
end)

test("a bad variable matters when its back-end is asked", function(t)
  local env = { QWEN_CHAT_MAX_TOKENS = "many" }
  t.equal(examine { env = env }.problems, {})
  has(t, problems(examine { env = env, args = { "model.target_backend=qwen" } }),
    "environment QWEN_CHAT_MAX_TOKENS: model.qwen_chat_max_tokens must be a whole number")
end)

test("roles refuse names that are none, and back-ends that cannot play them", function(t)
  has(t, problems(from_args "--backend=quen_chat"),
    "there is no back-end \"quen_chat\" (did "
    .. "you mean qwen_chat?)")
  has(t, problems(from_args "model.target_backend=azure_openai"),
    "azure_openai is a label")
  has(t, problems(from_args "--backend=qwen"),
    "model.optimizer_backend: this version has no openai_chat")
end)

----------------------------------------------------------------------------- logins

local SECRET <const> = "sk-0123456789abcdef"

test("a login is kept apart; the configuration has only where it came from", function(t)
  local c = examine { env = { OPENAI_COMPATIBLE_API_KEY = SECRET } }
  t.equal(c:get "model.openai_compatible_api_key",
    "environment OPENAI_COMPATIBLE_API_KEY")
  t.equal(c.roles.target.key, "model.openai_compatible_api_key")
  t.equal(c.roles.target.key_from, "environment OPENAI_COMPATIBLE_API_KEY")
  t.equal(c:secret(c.roles.target.key), SECRET)
  t.equal(c:secrets(), { SECRET })
  t.equal(c:flat().openai_compatible_api_key, "***")
  for _, page in ipairs { show.page(c), show.page(c, { json = true }),
    json.encode(c:identity()), json.encode(c:flat()), json.encode(c.values),
    json.encode(c.roles) } do
    t.ok(not page:find(SECRET, 1, true), "the login is in an output")
  end
end)

test("a login in a file is refused without being shown", function(t)
  local c = from_yaml("model:\n  qwen_chat_api_key: " .. SECRET .. "\n")
  has(t, problems(c),
    "my.yaml:2: model.qwen_chat_api_key: a login does not belong in a file")
  has(t, problems(c), "QWEN_CHAT_API_KEY")
  t.ok(not problems(c):find(SECRET, 1, true))
  c = from_yaml "model:\n  qwen_chat_api_key: 12345\n"
  t.ok(not problems(c):find("12345", 1, true))
  c = from_args("qwen_chat_base_url=http://me:" .. SECRET .. "@host/")
  t.ok(not problems(c):find(SECRET, 1, true))
end)

test("a login on the command line works, keeps its digits and is warned of", function(t)
  local c = from_args("--openai_compatible_api_key", "0012345")
  t.equal(c.problems, {})
  t.equal(c:secret "model.openai_compatible_api_key", "0012345")
  has(t, c.notes[1], "set OPENAI_COMPATIBLE_API_KEY in the environment")
end)

local function key_sent(given)
  local c = examine(given)
  return c.roles.target.key, table.concat(c.notes, "\n")
end

test("a shared login goes to the shared server, wherever that was said", function(t)
  local env = { OPENAI_COMPATIBLE_API_KEY = SECRET }
  t.ok(key_sent { env = env,
    args = { "openai_compatible_base_url=https://own.example/v1" } })
end)

test("a shared login does not go to a server of one role", function(t)
  local key, notes = key_sent { env = { OPENAI_COMPATIBLE_API_KEY = SECRET },
    args = { "target_openai_compatible_base_url=https://other.example/v1" } }
  t.equal(key, nil)
  has(t, notes,
    "the key belongs to https://api.openai.com:443 and is not sent to the target "
    .. "at https://other.example:443; a key for that server is "
    .. "TARGET_OPENAI_COMPATIBLE_API_KEY")
end)

test("a name and password in an address get into no message", function(t)
  local _, notes = key_sent { env = { OPENAI_COMPATIBLE_API_KEY = SECRET,
    OPENAI_COMPATIBLE_BASE_URL = "https://me:hush@mine.example/v1" },
    args = { "target_openai_compatible_base_url=https://other.example/v1" } }
  has(t, notes, "belongs to https://mine.example:443")
  t.ok(not notes:find "hush", notes)
end)

test("a role's login goes to the role's server", function(t)
  t.equal(key_sent { env = { OPENAI_COMPATIBLE_API_KEY = SECRET,
    TARGET_OPENAI_COMPATIBLE_API_KEY = SECRET .. "2" },
    args = { "target_openai_compatible_base_url=https://other.example/v1" } },
    "model.target_openai_compatible_api_key")
end)

test("a login whose own source names a server stays with it", function(t)
  local env = { OPENAI_COMPATIBLE_API_KEY = SECRET,
    OPENAI_COMPATIBLE_BASE_URL = "https://mine.example/v1" }
  t.ok(key_sent { env = env })
  local key, notes = key_sent { env = env, files = { ["my.yaml"] =
    "model:\n  openai_compatible_base_url: https://theirs.example/v1\n" },
      file = "my.yaml" }
  t.equal(key, nil)
  has(t, notes, "belongs to https://mine.example:443")
  t.ok(key_sent { env = env,
    args = { "openai_compatible_base_url=https://MINE.example:443" } })
end)

test("a login over plain http to another machine is warned of", function(t)
  local env = { QWEN_CHAT_API_KEY = SECRET }
  local args = { "model.target_backend=qwen", "qwen_chat_thinking_mode=enabled" }
  local _, notes = key_sent { env = env, args = args }
  t.ok(not notes:find "encryption", "loopback is fine")
  args[3] = "qwen_chat_base_url=http://gpu.example:8000/v1"
  _, notes = key_sent { env = env, args = args }
  has(t, notes, "the key goes to http://gpu.example:8000/v1 without encryption")
end)

test(".env: comments, quotes, export, and what says nothing", function(t)
  local variables,
    faults = dotenv.parse("\xEF\xBB\xBF# c\r\nexport A = 1 # x\nB='a # b'\n"
    .. 'C="a\\"b\\n" # d\nD=\nE=a#b\nE=last\nwrong\nF="open\n  G=$A\nH=\'x\n')
  t.equal(variables, { A = "1", B = "a # b", C = 'a"b\n', D = "", E = "last", G = "$A" })
  t.equal(faults, {
    { line = 8, words = "expected NAME=value" },
    { line = 9, words = "F: a quote is not closed" },
    { line = 11, words = "H: a quote is not closed" },
  })
  has(t, problems(examine { dotenv = "nonsense" }), ".env:1: expected NAME=value")
end)

test(".env: a quote ends where it is closed, and nothing is expanded", function(t)
  local variables, faults = dotenv.parse('A="x" # says "y"\nB="a\\\\"\nexport C="$HOME `id`"\n'
    .. "D='$(id)'\nE=\"x\"y\nF='x'y\nG=  spaced out  \n")
  t.equal(variables, { A = "x", B = "a\\", C = "$HOME `id`", D = "$(id)", G = "spaced out" })
  t.equal({ faults[1].line, faults[2].line, #faults }, { 5, 6, 2 })
end)

local ENDPOINT <const> = "https://elsewhere.example/v1"
local OWN_SERVER <const> = "https://api.openai.com/v1"

--- Where the target is asked, with which key, and what is said about it.
local function asked(given)
  given.args = { "model.backend=openai_compatible" }
  local c = examine(given)
  local role = c.roles.target
  return role.settings.base_url, role.key and c:secret(role.key), table.concat(c.notes, "\n")
end

test("an address in .env counts when its key stands there too", function(t)
  local url, key = asked { dotenv = "OPENAI_COMPATIBLE_BASE_URL=" .. ENDPOINT
    .. "\nOPENAI_COMPATIBLE_API_KEY=" .. SECRET }
  t.equal({ url, key }, { ENDPOINT, SECRET })
end)

test("an address in .env gets no key from elsewhere, and is not used without one", function(t)
  local dotenv_text = "OPENAI_COMPATIBLE_BASE_URL=" .. ENDPOINT
  local url, key, notes = asked { dotenv = dotenv_text,
    env = { OPENAI_COMPATIBLE_API_KEY = SECRET } }
  t.equal({ url, key }, { OWN_SERVER, SECRET })
  has(t, notes, "its key does not come from .env")
  t.equal(asked { dotenv = dotenv_text }, OWN_SERVER)
end)

test("a key of the environment for one role keeps the address in .env from that role", function(t)
  local given = { dotenv = "OPENAI_COMPATIBLE_BASE_URL=" .. ENDPOINT
    .. "\nOPENAI_COMPATIBLE_API_KEY=" .. SECRET,
    env = { TARGET_OPENAI_COMPATIBLE_API_KEY = "another-key-of-the-environment" } }
  local url, key = asked(given)
  t.equal({ url, key }, { OWN_SERVER, "another-key-of-the-environment" })
  t.equal(examine(given).roles.optimizer.settings.base_url, ENDPOINT)
end)

test("an address of the environment is used whatever .env says", function(t)
  local url = asked { env = { OPENAI_COMPATIBLE_BASE_URL = ENDPOINT },
    dotenv = "OPENAI_COMPATIBLE_BASE_URL=https://third.example/v1" }
  t.equal(url, ENDPOINT)
end)

test("back-ends of the environment and .env choose when nothing else does", function(t)
  local c = examine { env = { OPTIMIZER_BACKEND = "sim" }, dotenv = "TARGET_BACKEND=qwen_chat" }
  t.equal({ c:get "model.optimizer_backend", c:get "model.target_backend" }, { "sim", "qwen_chat" })
  c = examine { env = { OPTIMIZER_BACKEND = "sim" }, args = { "model.backend=qwen_chat",
    "model.optimizer_backend=openai_compatible" } }
  t.equal(c:get "model.optimizer_backend", "openai_compatible")
end)

----------------------------------------------------------------------------- case f01

test("the precedence case: empty, no, retired, misspelt, octal, quoted", function(t)
  local c = examine { file = "tests/cases/f01_config_precedence.yaml",
    env = { AZURE_OPENAI_AUTH_MODE = "api_key",
      MINIMAX_BASE_URL = "https://mini.example/v1" } }
  t.equal(c:get "model.azure_openai_auth_mode", "api_key")
  t.equal(c:origin "model.azure_openai_auth_mode", "environment AZURE_OPENAI_AUTH_MODE")
  t.equal(c:get "model.minimax_base_url", "https://mini.example/v1")
  t.equal(c:get "model.target_qwen_chat_enable_thinking", false)
  t.equal(c:get "train.seed", 34)
  t.equal(c:get "train.train_size", 400)
  has(t, problems(c),
    "f01_config_precedence.yaml:8: gradient.minibatch_sise is not a key (did "
    .. "you mean gradient.minibatch_size?)")
  has(t, table.concat(c.notes, "\n"),
    "f01_config_precedence.yaml:7: gradient.max_analyst_rounds is retired")
end)

------------------------------------------------------------------------------- forms

--- Names of the keys in which two identities differ.
local function changed(before, now)
  local keys = {}
  for name, value in pairs(before) do
    if not test.same(value, now[name]) then keys[#keys + 1] = name end
  end
  for name in pairs(now) do
    if before[name] == nil then keys[#keys + 1] = name end
  end
  return table.concat(keys, " ")
end

test("identity: result keys count, run keys and settings of others do not", function(t)
  local function after(...)
    return changed(examine {}:identity(), from_args(...):identity())
  end
  t.equal(after "train.seed=43", "train.seed")
  t.equal(after("env.workers=2", "env.out_root=o", "name=n", "env.exec_timeout=9",
    "openai_compatible_base_url=http://x/", "model.retries=1",
    "evaluation.predictions=none"), "")
  t.equal(after "qwen_chat_temperature=0.1", "")
  t.equal(after "openai_compatible_temperature=0.1",
    "model.openai_compatible_temperature")
  t.equal(after "policy.gate=none", "policy.gate")
  t.equal(after "env.limit=3", "env.limit")
end)

test("a resumed run's configuration differs where it was changed", function(t)
  local case = json.decode(test.read "tests/cases/d12_changed_config.json")
  local function identity(of)
    return from_args("--target_model", of.target_model, "--seed", tostring(of.seed),
      "--edit_budget", tostring(of.edit_budget)):identity()
  end
  t.equal(changed(identity(case.run_config_on_disk), identity(case.config_now)),
    "model.target optimizer.learning_rate")
end)

test("rows are sorted and have a value, an origin and the key", function(t)
  local rows = from_args("train.seed=5"):rows()
  for i = 2, #rows do t.ok(rows[i - 1].name < rows[i].name) end
  for _, row in ipairs(rows) do
    t.ok(row.value ~= nil and row.origin and row.key.class, row.name)
  end
end)

test("page shows one key under any of its names", function(t)
  local c = from_args("--edit_budget", "7", "use_gate=false")
  local line = show.page(c, { key = "edit_budget" })
  t.equal(line:gsub(" +", " "), "optimizer.learning_rate 7 command line\n")
  t.equal(show.page(c, { key = "use_gate" }):gsub(" +", " "),
    "policy.gate none command line\n")
  local _, err = show.page(c, { key = "nope" })
  t.equal(err.message, "there is no key nope")
  _, err = show.page(c, { key = "env.data_path" })
  t.equal(err.message, "env.data_path has no value")
end)

test("docs/config.md is what config --schema writes", function(t)
  local page = show.reference(examine {})
  t.ok(page == file.read "docs/config.md",
    "the schema says something else: make docs")
end)

test("the first folder to look in is that of the file", function(t)
  t.equal(open.folders "a/b/exp.lua"[1], "a/b")
  t.equal(open.folders "exp.lua"[1], ".")
end)

test("the loader gives words for what is not there", function(t)
  local load = open.loader {}
  local found = load("gate", "strict")
  t.equal(found and found.slot, "gate")
  local function words(slot, name)
    local none, err = load(slot, name)
    t.equal(none, nil)
    return err.message
  end
  has(t, words("gate", "strictt"),
    "there is no such policy (did you mean strict?); looked for "
    .. "policies/gate/strictt.lua in the file's folder")
  has(t, words("gate", "../x"), "a name is lower-case letters, digits and _")
  has(t, words("env", "no_such_env"), "there is no environment 'no_such_env'")
end)

test("a value that is given again on the command line is noted, and the last counts", function(t)
  local c = from_args("train.seed=1", "train.seed=2", "train.batch_size=8", "train.batch_size=8")
  t.equal(c:get "train.seed", 2)
  local notes = table.concat(c.notes, "\n")
  has(t, notes, "command line: train.seed is given more than once: the last one counts")
  t.ok(not notes:find "batch_size is given", notes)
end)
