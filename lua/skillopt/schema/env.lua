--- Keys of the environment section: data, splits and deadlines, the same for every
--- environment. Rows with `declared = true` are options of the reference's environments:
--- they exist where the chosen environment declares an option of that name; here stand
--- the types of their flags.
local function declared(name, type)
  return { "env." .. name, type, "option of some environments", flat = name,
    declared = true }
end

return {
  { "env.name", "string", "the environment", flat = "env" },
  { "env.skill_init", "path", "skill to start from; default: the environment's own; "
    .. "`none` = an empty one", off = true, flat = "skill_init" },
  { "env.out_root", "path", "folder of the run; default: outputs/<experiment>/<number>",
    flat = "out_root" },
  { "env.split_mode", "choice",
    "where the splits come from: cut from one file, or a folder",
    choices = { "ratio", "split_dir" }, flat = "split_mode" },
  { "env.split_ratio", "ratio", "shares of train, val and test in ratio mode",
    flat = "split_ratio" },
  { "env.split_seed", "integer", "seed of the cut in ratio mode; 0 = train.seed",
    flat = "split_seed" },
  { "env.split_dir", "path", "folder with train, val and test", flat = "split_dir" },
  { "env.data_path", "path", "file with all items, in ratio mode", flat = "data_path" },
  { "env.split_output_dir", "path",
    "where a cut is written; default: in the run's folder",
    flat = "split_output_dir", feature = "splits written to a folder", asks = "any" },
  { "env.fix_ids", "boolean", "make ids from the items' content where they are missing",
    flat = "fix_ids" },
  { "env.limit", "integer", "use only the first so many items of each split; 0 = all",
    min = 0, flat = "limit" },
  { "env.max_completion_tokens", "integer", "most tokens of one reply in a rollout",
    min = 1, flat = "max_completion_tokens" },
  { "env.workers", "integer", "rollouts at work at once", min = 1, flat = "workers" },
  { "env.exec_timeout", "integer", "seconds for one call or process of a rollout",
    min = 1, flat = "exec_timeout" },
  { "env.item_timeout_s", "integer",
    "seconds for a whole rollout, but for the wait for a place or budget; `none` = no limit",
    min = 1, off = true, flat = "item_timeout_s" },

  declared("max_turns", "integer"), declared("max_steps", "integer"),
  declared("max_tool_turns", "integer"), declared("max_api_workers", "integer"),
  declared("image_detail", "string"), declared("mode", "string"),
  declared("data_root", "path"), declared("data_dirs", "list"),
  declared("shuffle_choices", "boolean"), declared("use_theorem", "boolean"),
  declared("use_sketch", "boolean"), declared("use_local_tools", "boolean"),
  declared("judge_model", "string"), declared("judge_max_completion_tokens", "integer"),
  declared("judge_retries", "integer"), declared("search_mode", "string"),
  declared("max_queries_per_turn", "integer"), declared("search_api_url", "string"),
  declared("search_auth_env", "string"), declared("search_provider", "string"),
  declared("search_max_num_results", "integer"),
  declared("search_timeout_seconds", "integer"),
}
