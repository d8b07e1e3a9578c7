--- The files at the top of a run folder that tell where training stands.
---
--- They are derived: written for people and for scripts made for the reference's folders,
--- never read by the program. Paths in them are relative to the run folder.
local json = require "rt.json"

local M = {}

-- The reference's order of fields in a step's record; fields of ours stand behind.
M.STEP_KEYS = {
  "step", "epoch", "step_in_epoch", "timing", "tokens", "rollout_hard", "rollout_soft", "rollout_n",
  "rollout_failed", "accumulation_batches", "n_patches", "n_failure_patches", "n_success_patches",
  "n_malformed_replies", "n_trajectories_cut", "n_minibatches_split", "n_merges_split",
  "n_edits_merged", "n_edits_ranked", "edit_budget", "lr_control_mode",
  "lr_decision", "support_counts", "candidate_hash", "candidate_skill_len", "candidate_tokens",
  "rewrite_change_summary", "edit_apply_summary", "selection_hard", "selection_soft", "selection_n",
  "selection_not_run",
  "gate_metric",
  "candidate_gate_score", "action", "gate_reason", "n_execution_lapse_notes",
  "n_appendix_notes_added", "n_appendix_notes_total", "n_appendix_notes_consolidated",
  "current_score", "best_score", "best_step",
  "current_origin", "best_origin", "current_is_unmeasured", "skill_len", "skill_tokens",
  "skill_body_tokens", "skill_region_tokens", "leaks", "wall_time_s",
  leaks = { "where", "fate", "reason" },
}

local STATE_KEYS = {
  "last_completed_step", "current_skill_path", "current_score", "current_origin",
  "best_skill_path", "best_score", "best_step", "best_origin", "current_is_unmeasured",
}

--- `history.json`: the records of all steps.
---@param run table
---@param history table[]
function M.history(run, history)
  run.write("history.json", json.encode(history, { indent = true, keys = M.STEP_KEYS }))
end

--- `runtime_state.json`.
---@param run table
---@param state skillopt.TrainState
function M.state(run, state)
  run.write("runtime_state.json", json.encode({
    last_completed_step = state.number,
    current_skill_path = string.format("skills/skill_v%04d.md", state.number),
    current_score = state.current.score, current_origin = state.current_origin,
    best_skill_path = "best_skill.md", best_score = state.best.score, best_step = state.best_step,
    best_origin = state.best_origin, current_is_unmeasured = state.is_unmeasured,
  }, { indent = true, keys = STATE_KEYS }))
end

-- Declared orders of recorded files, by name.
local KEYS = {
  step_record = M.STEP_KEYS,
  edit_apply_report = { "index", "op", "target", "content_preview", "status", "fate" },
  trajectory_digest = { "step", "action", "n_total", "n_fail", "failure_patterns" },
  merged_patch = { "reasoning", "edits" },
  ranked_edits = { "reasoning", "edits" },
  rewrite_result = { "reasoning", "change_summary", "new_skill" },
  slow_result = { "reasoning", "slow_update_content", "prev_hard", "curr_hard",
    "candidate_hash", "update_origin", "update_target", "selection_hard", "selection_soft",
    "action" },
  meta_skill_result = { "reasoning", "meta_skill_content", "action" },
  comparison_pairs = { "id", "task", "category", "prev", "curr" },
  comparison_pairs_all = { "id", "task", "category", "prev", "curr" },
  lr_decision = { "learning_rate", "raw_learning_rate", "available_update_items", "clamped",
    "fallback", "reasoning", "confidence", "risk_notes", "error" },
}

--- A recorded value as its file holds it.
---@param name string
---@param value table
---@return string
function M.file_text(name, value)
  return json.encode(value, { indent = true, keys = KEYS[name:match "[^/]*$"] })
end

-- Fields that may differ between two runs that are equal in all that matters.
local EXEMPT = {
  timing = true, tokens = true, cost = true, token_summary = true, wall_time_s = true,
  total_wall_time_s = true, time_s = true,
}

--- The value without the exempt fields, at every depth.
---@param value any
---@return any
function M.comparable(value)
  if type(value) ~= "table" then return value end
  local out = json.is_array(value) and json.array {} or json.object {}
  for k, v in pairs(value) do
    if not EXEMPT[k] then out[k] = M.comparable(v) end
  end
  return out
end

return M
