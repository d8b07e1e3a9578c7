--- What `skillopt show` says of a run, as data: gathered from the files of its folder, which
--- may hold anything.
local json = require "rt.json"

local M = {}

local function number(x) return type(x) == "number" and x or nil end

local function word(x)
  if type(x) == "string" then return x ~= "" and x or nil end
  return (type(x) == "number" or type(x) == "boolean") and tostring(x) or nil
end

local function entries(x) return type(x) == "table" and x or {} end

--- Where a policy's name stands: in the card, or in the reference's flat words.
local function chosen(view, slot, otherwise)
  local entry = entries(entries(entries(view.card).config)["policy." .. slot])
  return word(entry.value) or otherwise
end

local function switch(view, slot, flat)
  local on = view.config[flat]
  return chosen(view, slot, on == true and "on" or on == false and "none" or nil)
end

local function role(view, name)
  local model, backend = word(view.config[name .. "_model"]), word(view.config[name .. "_backend"])
  return model and backend and string.format("%s (%s)", model, backend) or model or backend
end

local function setting_of(view)
  local c, last = view.config, view.history[#view.history] or {}
  return {
    env = word(c.env), target = role(view, "target"), optimizer = role(view, "optimizer"),
    update = word(c.skill_update_mode) or chosen(view, "update"), loop = chosen(view, "loop"),
    rate = chosen(view, "rate", word(c.lr_scheduler)),
    control = word(last.lr_control_mode) or word(c.lr_control_mode),
    edits = number(c.edit_budget),
    gate = chosen(view, "gate", c.use_gate == false and "none" or nil),
    metric = chosen(view, "metric", word(c.gate_metric)),
    slow_update = switch(view, "slow_update", "use_slow_update"),
    slow_gated = c.slow_update_gate_with_selection == true or nil,
    meta_skill = switch(view, "meta_skill", "use_meta_skill"),
    appendix = switch(view, "appendix", "use_skill_aware_reflection"),
    epochs = number(c.num_epochs), batch = number(c.batch_size), seed = number(c.seed),
  }
end

--------------------------------------------------------------------------- steps

local function tokens_of(record)
  local sum, is_known = 0, false
  for _, row in pairs(entries(record.tokens)) do
    row = entries(row)
    sum = sum + (number(row.prompt_tokens) or 0) + (number(row.completion_tokens) or 0)
    is_known = true
  end
  return is_known and sum or nil
end

local function edits_of(record)
  local s = entries(record.edit_apply_summary)
  if not number(s.total) then return nil end
  return { applied = number(s.applied), total = s.total, skipped = number(s.skipped),
    errors = number(s.errors) }
end

local function step_of(view, r)
  local body, regions = view:skill_tokens(r)
  return {
    step = r.step, epoch = number(r.epoch), rollout = number(r.rollout_hard),
    rollout_n = number(r.rollout_n), rollout_failed = number(r.rollout_failed),
    candidate = number(r.candidate_gate_score) or number(r.selection_hard),
    selection_n = number(r.selection_n), not_run = number(r.selection_not_run),
    current = number(r.current_score), best = number(r.best_score), best_step = number(r.best_step),
    edits = edits_of(r), merged = number(r.n_edits_merged), rate = number(r.edit_budget),
    malformed = number(r.n_malformed_replies), action = word(r.action),
    reason = word(r.gate_reason),
    skill_body_tokens = number(body), skill_region_tokens = number(regions),
    tokens = tokens_of(r), notes = number(r.n_appendix_notes_added),
    notes_total = number(r.n_appendix_notes_total),
    unmeasured = r.current_is_unmeasured == true or nil,
    leaks = type(r.leaks) == "table" and #r.leaks or number(r.leaks),
  }
end

--- What was done between epochs, from the folders `slow_update` and `meta_skill`.
local function epochs_of(view)
  local found, order = {}, {}
  local function note(kind, file)
    for _, name in ipairs(view:list(kind)) do
      local epoch = math.tointeger(tonumber(name:match "^epoch_(%d+)$"))
      local result = epoch and view:json(string.format("%s/%s/%s", kind, name, file))
      if result then
        if not found[epoch] then
          found[epoch] = { epoch = epoch }
          order[#order + 1] = found[epoch]
        end
        found[epoch][kind] = { action = word(result.action), score = number(result.selection_hard),
          reason = word(result.gate_reason) or word(result.reason) }
      end
    end
  end
  note("slow_update", "slow_result.json")
  note("meta_skill", "meta_skill_result.json")
  table.sort(order, function(a, b) return a.epoch < b.epoch end)
  return order
end

------------------------------------------------------------------------ failures

--- Items that were not measured by kind of error, and those without an answer.
local function unmeasured(view)
  local kinds, no_answer = {}, 0
  for line in (view:text "events.jsonl" or ""):gmatch "[^\n]+" do
    local state = line:match '"state": "([%a_]+)"'
    if state == "failed" or state == "no_answer" then
      local row = json.decode(line, { fix_utf8 = true })
      if state == "no_answer" then no_answer = no_answer + 1
      elseif type(row) == "table" then
        local kind = word(row.kind) or "unknown"
        kinds[kind] = (kinds[kind] or 0) + 1
      end
    end
  end
  return kinds, no_answer
end

local function add_patterns(counts, digest)
  for _, one in ipairs(entries(entries(digest).failure_patterns)) do
    local pattern = word(entries(one).pattern)
    if pattern then counts[pattern] = (counts[pattern] or 0) + (number(one.count) or 1) end
  end
end

--- What the analysts call the failures: the word before the colon of each description.
local function add_types(counts, digest)
  for _, description in ipairs(entries(entries(digest).failure_descriptions)) do
    local name = word(description)
    name = name and (name:match "^([^:]+):" or name)
    if name then counts[name] = (counts[name] or 0) + 1 end
  end
end

--- Most frequent first.
local function ranked(counts)
  local list = {}
  for name, count in pairs(counts) do list[#list + 1] = { kind = name, count = count } end
  table.sort(list, function(a, b) return a.count > b.count end)
  return list
end

--- What failed in the rollouts of some steps: by the reason of the marks, and by what the
--- analysts call it.
local function failures_in(view, records)
  local patterns, types = {}, {}
  for _, r in ipairs(records) do
    local digest = view:json(string.format("steps/step_%04d/trajectory_digest.json", r.step))
    add_patterns(patterns, digest)
    add_types(types, digest)
  end
  return json.array(ranked(patterns)), json.array(ranked(types))
end

--------------------------------------------------------------------------- whole

--- Tokens by stage: of the summary, or the sum of the steps so far.
local function stages_of(view)
  local out = {}
  local function add(name, row)
    out[name] = out[name] or { calls = 0, prompt_tokens = 0, completion_tokens = 0 }
    for field in pairs(out[name]) do
      out[name][field] = out[name][field] + (number(entries(row)[field]) or 0)
    end
  end
  local summary = entries(entries(view.summary).token_summary)
  for name, row in pairs(summary) do
    if name ~= "_total" then add(name, row) end
  end
  if next(out) then return out end
  for _, r in ipairs(view.history) do
    for name, row in pairs(entries(r.tokens)) do add(tostring(name), row) end
  end
  return out
end

local function scores_of(view)
  local s, last = entries(view.summary), view.history[#view.history] or {}
  return {
    selection = { initial = number(s.baseline_selection_hard),
      best = number(s.best_selection_hard) or number(last.best_score)
        or number(view.state.best_score),
      best_step = number(s.best_step) or number(last.best_step),
      current = number(last.current_score) or number(view.state.current_score) },
    test = { no_skill = number(entries(entries(s.arms).no_skill).hard),
      initial = number(s.baseline_test_hard), best = number(s.test_hard),
      last = number(s.final_test_hard), n = number(s.test_n) },
  }
end

--- Everything about a run that one page can say.
---@param view skillopt.RunView
---@return table
function M.run(view)
  local state, done, planned = view:standing()
  local kinds, no_answer = unmeasured(view)
  local patterns, types = failures_in(view, view.history)
  local steps = json.array {}
  for i, record in ipairs(view.history) do steps[i] = step_of(view, record) end
  return {
    path = view.path, program = view.is_reference and "reference" or "skillopt",
    version = word(entries(view.card).version) or word(entries(view.summary).version),
    state = state, steps_done = done, steps_planned = planned, setting = setting_of(view),
    scores = scores_of(view), steps = steps, epochs = json.array(epochs_of(view)),
    failed = json.object(kinds), no_answer = no_answer,
    failures = patterns, failure_types = types, tokens = json.object(stages_of(view)),
    missing = json.array(view.missing), damaged = json.array(view.damaged),
  }
end

--- One edit with its fate, from the report beside the candidate and the selected edits.
local function edit_of(row, edit)
  row, edit = entries(row), entries(edit)
  return { op = word(row.op) or word(edit.op) or word(edit.type) or "?",
    fate = word(row.fate) or word(row.status) or "-",
    target = word(edit.target) or word(row.target),
    content = word(edit.content) or word(row.content_preview) or word(edit.instruction)
      or word(edit.title) or word(edit.change_summary),
    support = number(edit.support_count) }
end

local LISTS <const> = { "edits", "revise_suggestions", "skill_candidates" }

local function items_of(patch)
  for _, name in ipairs(LISTS) do
    if type(entries(patch)[name]) == "table" then return patch[name] end
  end
  return {}
end

local function edits_in(view, folder)
  local rows = entries(view:json(folder .. "/edit_apply_report.json"))
  local items = items_of(view:json(folder .. "/ranked_edits.json"))
  local out = json.array {}
  for i = 1, math.max(#rows, #items) do out[i] = edit_of(rows[i], items[i]) end
  return out
end

local function dropped_in(view, folder)
  local out = json.array {}
  for _, name in ipairs { "merged_patch", "ranked_edits" } do
    for _, one in ipairs(entries(entries(view:json(folder .. "/" .. name .. ".json")).dropped)) do
      out[#out + 1] = edit_of(one, entries(one).edit or one)
    end
  end
  return out
end

--- Everything about one step.
---@param view skillopt.RunView
---@param record table
---@return table
function M.step(view, record)
  local folder = string.format("steps/step_%04d", record.step)
  local out = step_of(view, record)
  out.path, out.folder = view.path, folder
  out.soft, out.rollout_soft = number(record.selection_soft), number(record.rollout_soft)
  out.patches = { failure = number(record.n_failure_patches),
    success = number(record.n_success_patches) }
  out.edit_list, out.dropped = edits_in(view, folder), dropped_in(view, folder)
  local summary = record.rewrite_change_summary
  out.changes = type(summary) == "table" and summary or nil
  out.failures, out.failure_types = failures_in(view, { record })
  out.stages, out.files = json.object(entries(record.tokens)), json.array(view:list(folder))
  out.lr_decision = type(record.lr_decision) == "table" and record.lr_decision or nil
  out.missing, out.damaged = json.array(view.missing), json.array(view.damaged)
  return out
end

return M
