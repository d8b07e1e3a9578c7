--- Command lines: the reference's flags and our own.
local test = require "skillopt.test"
local cli = require "skillopt.cli"

local function said(line)
  local out = {}
  for i, a in ipairs(line.assignments) do out[i] = a.name .. "=" .. a.value end
  return table.concat(out, " ")
end

local function fault(command, args)
  local line, err = cli.parse(command, args)
  return not line and err.kind .. ": " .. err.message or "accepted"
end

test("a file and values of keys", function(t)
  local line = cli.parse("run", { "x.yaml", "train.seed=3", "env.out_root=a=b", "seed=" })
  t.equal(line.file, "x.yaml")
  t.equal(said(line), "train.seed=3 env.out_root=a=b seed=")
  t.equal(line.arguments, {})
end)

test("the reference's way: --config, --cfg-options and flags", function(t)
  local line = cli.parse("run", { "--config", "x.yaml", "--cfg-options", "train.seed=3",
    "batch_size=8", "--edit_budget", "4", "--backend=qwen" })
  t.equal(line.file, "x.yaml")
  t.equal(said(line), "train.seed=3 batch_size=8 edit_budget=4 model.backend=qwen")
  t.equal(line.assignments[4].from, "--backend")
end)

-- Every flag of the reference's two programs.
local FLAGS <const> = [[
  env optimizer_model target_model optimizer_backend target_backend backend
  rewrite_reasoning_effort azure_endpoint azure_api_version azure_api_key
  minimax_region minimax_base_url minimax_api_key minimax_model minimax_max_tokens
  minimax_temperature minimax_enable_thinking codex_exec_path codex_exec_sandbox
  codex_exec_profile codex_exec_reasoning_effort codex_exec_use_sdk
  codex_exec_approval_policy codex_exec_full_auto codex_exec_network_access
  codex_exec_web_search codex_trace_to_optimizer claude_code_exec_path
  claude_code_exec_profile claude_code_exec_use_sdk claude_code_exec_effort
  claude_code_exec_max_thinking_tokens cursor_exec_path cursor_exec_sandbox
  copilot_exec_path copilot_exec_home copilot_exec_allow_all_tools
  copilot_chat_optimizer_model copilot_chat_target_model copilot_chat_timeout skill_init
  data_path split_ratio split_dir split_output_dir data_root image_detail judge_model
  out_root mode rewrite_max_completion_tokens num_epochs train_size steps_per_epoch
  batch_size accumulation seed edit_budget min_edit_budget merge_batch_size
  max_analyst_rounds sel_env_num test_env_num max_steps max_api_workers analyst_workers
  minibatch_size slow_update_samples skill_aware_consolidate_threshold split_seed
  max_turns workers limit judge_max_completion_tokens judge_retries eval_test use_gate
  failure_only
  use_slow_update use_meta_skill use_skill_aware_reflection shuffle_choices use_theorem
  use_sketch reasoning_effort lr_scheduler lr_control_mode skill_update_mode
  longitudinal_pair_policy skill_aware_appendix_source split_mode
]]
local AZURE <const> = "endpoint api_version api_key auth_mode ad_scope "
  .. "managed_identity_client_id"
local QWEN <const> = "base_url api_key temperature timeout_seconds max_tokens "
  .. "enable_thinking thinking_mode"

local function all_flags()
  local flags = {}
  for flag in FLAGS:gmatch "%S+" do flags[#flags + 1] = flag end
  for _, role in ipairs { "", "optimizer_", "target_" } do
    for part in AZURE:gmatch "%S+" do flags[#flags + 1] = role .. "azure_openai_"
      .. part end
    for part in QWEN:gmatch "%S+" do flags[#flags + 1] = role .. "qwen_chat_" .. part end
  end
  return flags
end

test("every flag of the reference is read, by run and by eval alike", function(t)
  local flags = all_flags()
  t.equal(#flags, 130)
  for _, flag in ipairs(flags) do
    for _, command in ipairs { "run", "eval" } do
      local line = cli.parse(command, { "x.yaml", "--" .. flag, "v" })
      t.ok(line and #line.assignments == 1, flag)
    end
  end
end)

test("an unknown flag is answered with the one that was meant", function(t)
  t.equal(fault("run", { "--bach_size", "1" }),
    "usage: run: there is no flag --bach_size (did you mean --batch_size?)")
  t.equal(fault("run", { "--resum=x" }),
    "usage: run: there is no flag --resum (did you mean --resume?)")
  t.equal(fault("replay", { "--batch_size", "1" }),
    "usage: replay: there is no flag --batch_size")
end)

test("a flag without its value is a mistake, and so is a value too many", function(t)
  t.equal(fault("run", { "--seed" }), "usage: --seed needs a value")
  t.equal(fault("run", { "--seed", "--new" }), "usage: --seed needs a value")
  t.equal(fault("run", { "--new=1" }), "usage: --new takes no value")
  t.equal(fault("run", { "--cfg-options" }), "usage: --cfg-options: expected KEY=VALUE")
  t.equal(fault("run", { "--cfg-options", "noequals" }),
    'usage: --cfg-options: expected KEY=VALUE, got "noequals"')
  t.equal(fault("run", { "a.yaml", "b.yaml" }),
    'usage: run: unexpected argument "b.yaml"')
  t.equal(fault("run", { "--config", "a.yaml", "b.yaml" }),
    'usage: run: unexpected argument "b.yaml": the file is a.yaml (--config)')
end)

test("a negative number is a value", function(t)
  t.equal(said(cli.parse("run", { "--seed", "-3" })), "seed=-3")
end)

test("the command's own flags, with dashes or underscores", function(t)
  local line = cli.parse("run", { "x.lua", "--new", "--resume", "out/1", "--retry-failed",
    "--yes", "--quiet", "--json", "--accept_loss", "--out_root", "o" })
  t.equal(line.options, { new = true, resume = "out/1", retry_failed = true, yes = true,
    quiet = true, json = true, accept_loss = true })
  t.equal(said(line), "out_root=o")
end)

test("a flag whose first value would be lost is refused", function(t)
  t.equal(fault("eval", { "x", "--split", "val", "--split=test" }),
    "usage: --split is given twice, first as val: give it once")
  t.equal(fault("run", { "--config", "a", "--config", "b" }),
    "usage: --config is given twice, first as a: give it once")
  t.equal(fault("replay", { "x", "--shuffle", "1", "--shuffle", "1" }),
    "usage: --shuffle is given twice, first as 1: give it once")
  t.equal(cli.parse("run", { "x.lua", "--quiet", "--quiet" }).options, { quiet = true })
  t.equal(cli.parse("eval", { "x", "--skill", "a", "--skill", "b" }).options.skill, { "a", "b" })
end)

test("a split has one name here, and an unknown one is refused", function(t)
  local function split(word) return cli.parse("eval", { "--split",
    word }).options.split end
  t.equal(split "valid_seen", "val")
  t.equal(split "valid_unseen", "test")
  t.equal(split "all", "all")
  t.equal(fault("eval", { "--split", "tets" }),
    'usage: --split: expected one of train, val, test, all, got "tets" '
      .. "(did you mean test?)")
  t.equal(fault("eval", { "--split", "valid_sen" }),
    'usage: --split: expected one of train, val, test, all, got "valid_sen" '
      .. "(did you mean valid_seen?)")
end)

test("a flag that may be given more than once is a list", function(t)
  t.equal(cli.parse("eval", { "x.yaml", "--skill", "a.md", "--skill=none" }).options.skill,
    { "a.md", "none" })
end)

test("the seed of a shuffle is a whole number", function(t)
  t.equal(cli.parse("replay", { "out/1", "--verify", "--shuffle", "7" }),
    { arguments = { "out/1" }, assignments = {}, options = { verify = true,
      shuffle = 7 } })
  t.equal(fault("replay", { "--shuffle", "x" }),
    'usage: --shuffle: expected a whole number, got "x"')
end)

test("config takes a file and a key", function(t)
  local line = cli.parse("config", { "x.yaml", "train.seed", "batch_size=2" })
  t.equal(line.file, "x.yaml")
  t.equal(line.arguments, { "train.seed" })
  line = cli.parse("config", { "--config", "x.yaml", "train.seed" })
  t.equal(line.file, "x.yaml")
  t.equal(line.arguments, { "train.seed" })
end)

test("a declaration of one's own is read like the shipped ones", function(t)
  local command = { name = "count", summary = "counts", max_arguments = 1,
    flags = { { name = "to", value = "N", integer = true, doc = "end" } } }
  t.equal(cli.parse(command, { "a=b", "--to", "3" }),
    { arguments = { "a=b" }, assignments = {}, options = { to = 3 } })
end)

test("help is written from the same tables", function(t)
  local help = cli.parse("run", { "x.yaml", "--help", "--nonsense" }).help
  for _, piece in ipairs { "usage: skillopt run FILE", "--retry-failed",
    "--batch_size INTEGER", "(train.batch_size)", "--cfg-options KEY=VALUE" } do
    t.ok(help:find(piece, 1, true), piece)
  end
  t.ok(not help:find("--max_analyst_rounds", 1, true), "retired keys are not offered")
  t.ok(not help:find("--use_slow_update", 1, true) or help:find("policy.slow_update", 1,
    true))
  t.equal(cli.help "replay":find("--batch_size", 1, true), nil)
end)

test("a command that was not declared is the caller's mistake", function(t)
  t.raises(function() cli.parse("dance", {}) end, "no such command")
end)

test("an empty argument is a variable that is not set, not a name", function(t)
  for name in pairs(cli.commands) do
    t.equal(fault(name, { "" }),
      "usage: " .. name .. ": argument 1 is empty (a variable that is not set?)", name)
  end
  t.equal(fault("run", { "x.yaml", "--resume", "" }),
    "usage: --resume needs a value, and this one is empty")
  t.equal(fault("eval", { "x.yaml", "--skill=" }),
    "usage: --skill needs a value, and this one is empty")
end)

test("an empty value of a key, and an empty system message, say something", function(t)
  t.equal(said(cli.parse("run", { "x.yaml", "--out_root", "" })), "out_root=")
  t.equal(cli.parse("chat", { "--system", "", "hi" }).options.system, "")
end)

test("behind -- nothing is a flag", function(t)
  t.equal(cli.parse("chat", { "--", "--help" }).arguments, { "--help" })
  t.equal(cli.parse("show", { "--json", "--", "--", "1" }).arguments, { "--", "1" })
end)
