--- Every knob of the reference works or is refused with words; none is read and dropped.
local backends = require "skillopt.schema.backends"
local cli = require "skillopt.cli"
local config = require "skillopt.config"
local open = require "skillopt.config.open"
local test = require "skillopt.test"
local file = require "rt.file"

--- What becomes of a knob: `set` is a value of the configuration that something reads, a
--- slot's name says that it chooses the policy, a back-end's that it belongs to it,
--- `retired` that there is nothing to set any more, `later` that it is refused, `declared`
--- that an environment may have it as an option.
--- Rows: structured name, flat name, a value that is not the default, what becomes of it,
--- and for a slot the policy that it chooses.
local KNOBS <const> = {
  { "model.backend", "backend", "sim", "set" },
  { "model.optimizer", "optimizer_model", "m-1", "set" },
  { "model.target", "target_model", "m-2", "set" },
  { "model.optimizer_backend", "optimizer_backend", "sim", "set" },
  { "model.target_backend", "target_backend", "sim", "set" },
  { "model.reasoning_effort", "reasoning_effort", "high", "set" },
  { "model.rewrite_reasoning_effort", "rewrite_reasoning_effort", "low", "set" },
  { "model.rewrite_max_completion_tokens", "rewrite_max_completion_tokens", "9000", "set" },
  { "model.codex_trace_to_optimizer", "codex_trace_to_optimizer", "true", "codex_exec" },
  { "model.codex_exec_full_auto", "codex_exec_full_auto", "true", "retired" },
  { "train.num_epochs", "num_epochs", "7", "set" },
  { "train.train_size", "train_size", "12", "set" },
  { "train.steps_per_epoch", "steps_per_epoch", "3", "retired" },
  { "train.batch_size", "batch_size", "11", "set" },
  { "train.accumulation", "accumulation", "2", "set" },
  { "train.seed", "seed", "5", "set" },
  { "gradient.minibatch_size", "minibatch_size", "3", "set" },
  { "gradient.merge_batch_size", "merge_batch_size", "3", "set" },
  { "gradient.analyst_workers", "analyst_workers", "2", "set" },
  { "gradient.failure_only", "failure_only", "true", "set" },
  { "gradient.max_analyst_rounds", "max_analyst_rounds", "2", "retired" },
  { "optimizer.learning_rate", "edit_budget", "6", "set" },
  { "optimizer.min_learning_rate", "min_edit_budget", "1", "set" },
  { "optimizer.lr_scheduler", "lr_scheduler", "linear", "rate", "linear" },
  { "optimizer.lr_control_mode", "lr_control_mode", "autonomous", "rate", "autonomous" },
  { "optimizer.skill_update_mode", "skill_update_mode", "rewrite", "update", "rewrite" },
  { "optimizer.meta_learning_rate", "meta_edit_budget", "2", "retired" },
  { "optimizer.use_slow_update", "use_slow_update", "false", "slow_update", "none" },
  { "optimizer.slow_update_samples", "slow_update_samples", "9", "set" },
  { "optimizer.slow_update_gate_with_selection", "slow_update_gate_with_selection", "true",
    "set" },
  { "optimizer.longitudinal_pair_policy", "longitudinal_pair_policy", "changed", "set" },
  { "optimizer.use_meta_skill", "use_meta_skill", "false", "meta_skill", "none" },
  { "optimizer.use_skill_aware_reflection", "use_skill_aware_reflection", "true", "appendix",
    "skill_aware" },
  { "optimizer.skill_aware_appendix_source", "skill_aware_appendix_source", "failure_only",
    "set" },
  { "optimizer.skill_aware_consolidate_threshold", "skill_aware_consolidate_threshold", "4",
    "set" },
  { "evaluation.use_gate", "use_gate", "false", "gate", "none" },
  { "evaluation.gate_metric", "gate_metric", "soft", "metric", "soft" },
  { "evaluation.gate_mixed_weight", "gate_mixed_weight", "0.25", "set" },
  { "evaluation.use_semantic_density", "use_semantic_density", "true", "set" },
  { "evaluation.semantic_density_weight", "semantic_density_weight", "0.1", "set" },
  { "evaluation.leading_words", "leading_words", "a,b", "set" },
  { "evaluation.sel_env_num", "sel_env_num", "4", "set" },
  { "evaluation.test_env_num", "test_env_num", "4", "set" },
  { "evaluation.eval_test", "eval_test", "false", "set" },
  { "env.name", "env", "houserules", "set" },
  { "env.skill_init", "skill_init", "s.md", "set" },
  { "env.out_root", "out_root", "out", "set" },
  { "env.split_mode", "split_mode", "split_dir", "set" },
  { "env.split_ratio", "split_ratio", "1:1:1", "set" },
  { "env.split_seed", "split_seed", "3", "set" },
  { "env.split_dir", "split_dir", "d", "set" },
  { "env.data_path", "data_path", "d.json", "set" },
  { "env.split_output_dir", "split_output_dir", "o", "later" },
  { "env.exec_timeout", "exec_timeout", "9", "set" },
  { "env.workers", "workers", "3", "set" },
  { "env.limit", "limit", "5", "set" },
  { "env.max_completion_tokens", "max_completion_tokens", "900", "set" },
}

--- Options of the reference's environments.
local DECLARED <const> = { max_turns = "2", max_steps = "3", max_api_workers = "2",
  image_detail = "low", shuffle_choices = "true", use_theorem = "true", use_sketch = "true",
  data_root = "d", mode = "multi", data_dirs = "a,b", max_tool_turns = "3",
  search_mode = "offline", max_queries_per_turn = "2", search_api_url = "http://h/s",
  search_auth_env = "S", search_provider = "p", search_max_num_results = "3",
  search_timeout_seconds = "4" }

--- Parts of each back-end's knobs, with a value each; `by_role` also stands with the
--- prefix of a role.
local PARTS <const> = {
  codex_exec = { path = "p", sandbox = "s", profile = "f", reasoning_effort = "low",
    approval_policy = "never", use_sdk = "auto", network_access = "true", web_search = "true" },
  claude_code_exec = { path = "p", profile = "f", use_sdk = "never", effort = "low",
    max_thinking_tokens = "9" },
  cursor_exec = { path = "p", sandbox = "s" },
  copilot_exec = { path = "p", home = "h", allow_all_tools = "true" },
  copilot_chat = { optimizer_model = "o", target_model = "t", timeout = "9" },
  openai_chat = { endpoint = "https://h", api_key = "k", auth_mode = "api_key", ad_scope = "s",
    managed_identity_client_id = "i", api_version = "v" },
  qwen_chat = { base_url = "http://h/v1", api_key = "k", temperature = "0.5",
    timeout_seconds = "9", max_tokens = "90", enable_thinking = "true",
    thinking_mode = "enabled" },
  minimax_chat = { region = "r", base_url = "http://h", api_key = "k", model = "m",
    temperature = "0.5", max_tokens = "9", enable_thinking = "true" },
}
local PREFIX <const> = { openai_chat = "azure_openai", minimax_chat = "minimax" }
local BY_ROLE <const> = { openai_chat = true, qwen_chat = true }
--- Older names of the keys of one back-end.
local OLD <const> = { azure_endpoint = "https://h", azure_api_version = "v", azure_api_key = "k",
  codex_path = "p", codex_cli_bin = "p", codex_bin = "p", codex_sandbox = "s" }

for backend, parts in pairs(PARTS) do
  for part, value in pairs(parts) do
    for _, role in ipairs(BY_ROLE[backend] and { "", "optimizer_", "target_" } or { "" }) do
      local name = role .. (PREFIX[backend] or backend) .. "_" .. part
      table.insert(KNOBS, { "model." .. name, name, value, backend })
    end
  end
end
for name, value in pairs(OLD) do
  table.insert(KNOBS, { "model." .. name, name, value,
    name:find "^azure" and "openai_chat" or "codex_exec" })
end
for _, role in ipairs { "optimizer", "target" } do
  for _, part in ipairs { "base_url", "api_key" } do
    local name = role .. "_minimax_" .. part
    table.insert(KNOBS, { "model." .. name, name, "x", "retired" })
  end
end

--------------------------------------------------------------------------- asking

--- An environment that declares the named option.
local function load_with(option, type)
  return function(slot)
    local own = slot == "env" and option and { [option] = { type, nil, "an option" } } or {}
    return { options = own }
  end
end

local function examine(args, load)
  local line, err = cli.parse("run", args)
  if not line then return nil, err.message end
  local c, wrong = config.examine { args = line.assignments, configs = open.configs(),
    read = file.read, load = load }
  return c, wrong and wrong.message
end

--- The problems of a configuration or of its command line, as one text.
local function problems_of(c, err)
  return c and table.concat(c.problems, "\n") or err
end

local function said(c, name)
  local value = c:get(name)
  return type(value) == "table" and table.concat(value, ",") or tostring(value)
end

local BASE <const> = examine {}

--- Both ways to say a knob on the command line.
local function ways(knob)
  return { { knob[1] .. "=" .. knob[3] }, { "--" .. knob[2], knob[3] } }
end

--- Sources that read values of the configuration: all but the schema.
local sources
local function reads(name)
  sources = sources or {}
  local function collect(folder)
    for _, entry in ipairs(assert(file.list(folder))) do
      local path = folder .. "/" .. entry
      local kind = file.kind(path)
      if kind == "folder" and entry ~= "schema" and entry ~= "meta" then collect(path) end
      if kind == "file" and entry:find "%.lua$" then sources[#sources + 1] = test.read(path) end
    end
  end
  if #sources == 0 then collect "lua" end
  local short = name:match "^env%.(.+)$"
  for _, text in ipairs(sources) do
    if text:find('"' .. name .. '"', 1, true) then return true end
    if short and text:find('get "' .. short .. '"', 1, true) then return true end
  end
  return false
end

-------------------------------------------------------------------------- checking

local function check_set(t, knob, c, err)
  t.equal(problems_of(c, err), "", knob[1])
  local name = knob[1]
  local key = c:find(name)
  t.equal(said(c, key.name), knob[3], name)
  t.ok(said(BASE, key.name) ~= knob[3], name .. " has this value anyway")
  t.ok(reads(key.name) or key.backend or name:find "^model%.", name .. " is read by nothing")
  if key.class == "result" then
    t.ok(not test.same(c:identity(), BASE:identity()), name .. " is no part of the identity")
  end
end

--- A knob of one back-end: a value of it, or what the choice of that back-end is refused
--- with.
local function check_backend(t, knob, args)
  local backend = backends.by_name[knob[4]]
  local role = backend.roles.target and "target" or "optimizer"
  local choice = ("model.%s_backend=%s"):format(role, backend.name)
  local c, err = examine(table.move(args, 1, #args, 2, { choice }))
  if backend.usable then return t.equal(problems_of(c, err), "", knob[1]) end
  t.ok(problems_of(c, err):find("this version ", 1, true), knob[1] .. " is not refused")
end

--- Said in a note; the reference has no flag for some.
local function check_retired(t, knob, c, err)
  if not c then return t.ok(err:find("no flag --" .. knob[2], 1, true), err) end
  t.equal(problems_of(c, err), "", knob[1])
  t.ok(table.concat(c.notes, "\n"):find("is retired", 1, true), knob[1] .. ": no note")
end

local function check_knob(t, knob)
  for _, args in ipairs(ways(knob)) do
    local what = knob[4]
    local c, err = examine(args)
    if what == "set" then check_set(t, knob, c, err)
    elseif what == "retired" then check_retired(t, knob, c, err)
    elseif what == "later" then
      t.ok(problems_of(c, err):find("this version ", 1, true), knob[1])
    elseif backends.by_name[what] then check_backend(t, knob, args)
    else
      t.equal(problems_of(c, err), "", knob[1])
      t.equal(c:get("policy." .. what), knob[5], knob[1])
      t.ok(BASE:get("policy." .. what) ~= knob[5], knob[1])
    end
  end
end

test(("each of the %d knobs of the reference works or is refused with words"):format(#KNOBS),
  function(t)
  for _, knob in ipairs(KNOBS) do check_knob(t, knob) end
end)

local TYPES <const> = { integer = "^%d+$", boolean = "^true$" }

local function type_of(name, value)
  if name == "data_dirs" then return "list" end
  for type, form in pairs(TYPES) do
    if value:find(form) then return type end
  end
  return "string"
end

test("an option of an environment works where it is declared and is refused elsewhere",
  function(t)
  for name, value in pairs(DECLARED) do
    for _, args in ipairs { { "env.name=x", "env." .. name .. "=" .. value },
      { "env.name=x", "--" .. name, value } } do
      local c = examine(args, load_with(name, type_of(name, value)))
      t.equal(problems_of(c), "", name)
      t.equal(said(c, "env." .. name):gsub("^.*/", ""), (value:gsub("^.*/", "")), name)
      local without, err = examine(args, load_with())
      t.ok(problems_of(without, err):find(name, 1, true), name .. " is not refused")
    end
  end
end)
