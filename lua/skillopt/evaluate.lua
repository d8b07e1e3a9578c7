--- Roll a skill out on items: one task an item and repeat, three states, a seal.
---
--- `ok`: the model answered and was marked. `no_answer`: it replied but gave no usable
--- answer; counts as 0 and is shown apart. `failed`: weather that outlived its retries or
--- a fault in the environment; counts nowhere. The seal says which items failed, so that
--- a run that is continued takes the same evaluation for granted.
---
--- With `stop` an evaluation may end before its last item. That is decided on the prefix of
--- the items, in item order, whatever came in first; what lies behind is `not_run`.
local core = require "rt.task"
local effect = require "skillopt.effect"
local evaluation = require "skillopt.evaluation"
local file = require "rt.file"
local json = require "rt.json"
local options = require "skillopt.options"
local rows_of = require "skillopt.rows"
local skill = require "skillopt.skill"
local task = require "skillopt.task"
local watch = require "rt.watch"
local workspace = require "skillopt.workspace"

local M = {}

local OPTIONS = {
  label = true, repeats = true, seed = true, feedback = true, stop = true,
}

-- Errors that say something about the reply: no answer, not a failure.
local NO_ANSWER = { refused = true, filtered = true, too_long = true, truncated = true }

-- Kinds that another try may mend; faults of the environment are not among them.
local AGAIN = {
  network = true, timeout = true, rate_limit = true, server = true, parse = true,
  process = true, sandbox = true, auth = true, bad_request = true,
}

--- Share of the items that may fail in an evaluation, and in a training rollout.
local FAILED_SHARE <const> = 0.05
local FEEDBACK_SHARE <const> = 0.5

--------------------------------------------------------------------- one item

--- Lua's own limits, by what their messages say.
local LIMITS <const> = { "stack overflow", "not enough memory", "resulting string too large" }

--- An error as a table with a kind.
local function typed(err, traceback)
  if type(err) ~= "string" then return err end
  local kind = "bug"
  for _, words in ipairs(LIMITS) do
    if err:find(words, 1, true) then kind = "limit" end
  end
  return { kind = kind, message = err, traceback = traceback }
end

--- What an item's task ended with, from a raised error; nil when it must be raised on.
local function state_of_error(err)
  err = typed(err)
  if type(err) ~= "table" then err = { kind = "bug", message = tostring(err) } end
  if err.no_answer then return { state = "no_answer", reason = err.reason } end
  if err.kind == "cancelled" or err.kind == "budget" or err.fatal or err.at_end then return nil end
  if NO_ANSWER[err.kind] then
    return { state = "no_answer", reason = rows_of.WORDS[err.kind], kind = err.kind }
  end
  return { state = "failed", kind = err.kind or "bug", message = err.message }
end

local function place_of(eval, item)
  return {
    kind = "rollout", run = eval.run, role = "target", stage = "rollout",
    env = eval.run.env, opt = eval.run.env_opt, skill = eval.skill.text,
    is_training = eval.feedback, prompt_folders = eval.run.env_prompts,
    timeout_s = eval.run.call_timeout_s, item = {},
    prepared = eval.prepared and eval.prepared[item.id],
  }
end

local function with_traceback(err)
  return typed(err, type(err) == "string" and debug.traceback("", 2) or nil)
end

local function log_failure(eval, rep, err)
  eval.run.log { event = "failed", slot = core.slot(), kind = rep.kind, message = rep.message,
    traceback = type(err) == "table" and err.traceback or nil }
end

--- Why a result cannot be written down, or nil.
local function unwritable(mark)
  local ok, why = pcall(json.encode, mark)
  if ok then return nil end
  why = tostring(why)
  return { message = "the rollout's result cannot be written: " .. (why:match "%((.*)%)$" or why) }
end

--- The rollout under the item's deadline. One that is late is a failed item, whatever it
--- ended with.
---@async
local function call_rollout(eval, item)
  local seconds = eval.deadline_s
  if seconds then core.deadline(seconds) end
  watch.on()
  local ok, mark = xpcall(eval.run.env.rollout, with_traceback, item, eval.run.ctx)
  watch.off()
  if seconds and core.end_deadline() then
    local words = string.format("the item took longer than %g s", seconds)
    return false, { kind = "timeout", message = words }
  end
  return ok, mark
end

--- Run the environment's rollout; never raises but for what ends the whole run.
---@async
local function roll(eval, item)
  local place = place_of(eval, item)
  task.set_place(place)
  local ok, mark = call_rollout(eval, item)
  workspace.close(place.item)
  local locals = core.locals()
  local rep = { replies = locals.replies or {},
    conversation = place.item.trace or place.item.conversation }
  locals.replies = nil -- they are this item's, not its parents'
  if not ok then
    local state = state_of_error(mark)
    if not state then error(mark, 0) end
    rep.state, rep.kind = state.state, state.kind
    rep.reason, rep.message = state.reason, state.message
    if state.state == "failed" then log_failure(eval, rep, mark) end
    return rep
  end
  local marks, err
  if type(mark) == "table" then
    marks, err = evaluation.check(mark)
    err = err or unwritable(mark)
    if err then marks = nil end
  end
  if not marks then
    err = err or { message = "rollout must return a table {hard = ..., soft = ...}" }
    rep.state, rep.kind, rep.message = "failed", "data", err.message
    return rep
  end
  rep.state, rep.marks, rep.mark = "ok", marks, mark
  return rep
end

------------------------------------------------------------------- all items

local function jobs_of(eval)
  local jobs, seen = {}, {}
  for i, item in ipairs(eval.items) do
    local id = item.id
    if seen[id] then error(string.format("two items have the id '%s'", id), 3) end
    seen[id] = true
    for r = 1, eval.repeats do
      local label = file.label(id) .. (r > 1 and "~" .. r or "")
      jobs[#jobs + 1] = { item = item, i = i, r = r, label = label }
    end
  end
  return jobs
end

--- A repeat as `evaluation.new` takes it.
local function rep_of(job)
  local rep, row = job.rep, job.row or {}
  return { state = rep.state, marks = rep.marks, row = job.row, kind = rep.kind,
    reason = row.fail_reason, system = job.system, user = job.user }
end

--- Items of these jobs with their repeats.
local function rows_by_item(jobs)
  local rows = {}
  for _, job in ipairs(jobs) do
    rows[job.i] = rows[job.i] or { id = job.item.id, reps = {} }
    rows[job.i].reps[job.r] = rep_of(job)
  end
  return rows
end

--- Does the evaluation end with job `i`? Asked once an item. When one has failed, its mark
--- is missing for good or until the second pass: then all are run.
local function ends_at(eval, jobs, i)
  if jobs[i].rep.state == "failed" then eval.stop = nil end
  if not eval.stop or jobs[i].r < eval.repeats then return false end
  local prefix = evaluation.new { skill = eval.skill, metric = eval.run.metric,
    rows = rows_by_item(table.move(jobs, 1, i, 1, {})) }
  watch.on()
  local is_last = core.still(eval.stop, prefix)
  watch.off()
  return is_last
end

--- Run the jobs of the list, as many at once as the run's workers; a rep each. How many of
--- them count.
---@async
local function run_jobs(eval, jobs)
  local labels = {}
  for i, job in ipairs(jobs) do labels[i] = job.label end
  local progress = eval.run.progress(eval.label, #jobs)
  local function run(job)
    job.rep = roll(eval, job.item)
    progress(job.rep)
  end
  if not eval.stop then
    task.map_flat(jobs, labels, run, eval.run.workers)
    return #jobs
  end
  return task.map_prefix(jobs, labels, run, eval.run.workers, function(i)
    return ends_at(eval, jobs, i)
  end)
end

local function failures(jobs, again_only)
  local out = {}
  for _, job in ipairs(jobs) do
    if job.rep.state == "failed" and (not again_only or AGAIN[job.rep.kind]) then
      out[#out + 1] = job
    end
  end
  return out
end

local function is_covered(eval, jobs, n_failed)
  if n_failed == #jobs then return #jobs == 0 end
  if eval.feedback then return n_failed <= #jobs * FEEDBACK_SHARE end
  return n_failed <= math.max(1, #jobs * FAILED_SHARE)
end

--- The run cannot go on: say how many failed and the most frequent reason. When some were
--- measured after all, it is too little to decide by.
local function raise_uncovered(jobs, failed)
  local counts, first, most = {}, {}, nil
  for _, job in ipairs(failed) do
    local kind = job.rep.kind
    counts[kind] = (counts[kind] or 0) + 1
    first[kind] = first[kind] or job.rep.message
  end
  for kind, n in pairs(counts) do
    if not most or n > counts[most] then most = kind end
  end
  error({
    kind = most, weather = true, fatal = true, retry = AGAIN[most] or false,
    too_little = #failed < #jobs or nil,
    message = string.format("%s: %d of %d items failed: %s", core.slot(), #failed, #jobs,
      tostring(first[most] or most)),
    hint = "nothing measured so far is lost: run the same command again when the cause is mended",
  }, 0)
end

local function set_failed(job, kind)
  job.rep = { state = "failed", kind = kind, replies = {} }
end

--- Forget the jobs behind the last one that counts.
local function cut(jobs, decided)
  for i = #jobs, decided + 1, -1 do jobs[i] = nil end
end

--- A seal over another number of tries is one of another program.
local function check_size(slot, seal, n)
  if seal.n == n then return end
  error({ kind = "io", fatal = true, retry = false,
    message = string.format(
      "%s was measured with %d tries and has %d now: this program does not do "
      .. "what the run did", slot, seal.n, n),
    hint = "the code or its items were changed; run without out_root to start a fork" }, 0)
end

--- Take the sealed outcome: failed items and those behind the end are not started again.
local function open_seal(eval, jobs)
  local run, slot = eval.run, core.slot()
  local n = run.journal:find("value", slot, "seal")
  if not n then return jobs, nil end
  local seal = json.decode(assert(run.journal:read(n)))
  check_size(slot, seal, #jobs)
  cut(jobs, seal.decided)
  local failed, live = {}, {}
  for _, entry in ipairs(seal.failed) do failed[entry[1] .. "\n" .. entry[2]] = entry[3] end
  for _, job in ipairs(jobs) do
    local kind = failed[job.item.id .. "\n" .. job.r]
    if kind then set_failed(job, kind) else live[#live + 1] = job end
  end
  return live, seal
end

local function write_seal(eval, jobs, n)
  if eval.run.is_replay then eval.run.reached_end(core.slot(), "seal") end
  local failed = json.array {}
  for _, job in ipairs(failures(jobs)) do
    failed[#failed + 1] = { job.item.id, job.r, job.rep.kind }
  end
  local spent = effect.spent_of(core.locals())
  local seal = { n = n, decided = #jobs, failed = failed,
    spent = { calls = spent.calls, tokens = spent.tokens } }
  local ok, err = eval.run.journal:store("value", core.slot(), "seal", json.canonical(seal))
  if not ok then error(err, 0) end
  return seal
end

--- What was answered when the seal was made must be so again: else the program has changed.
local function check_sealed(live)
  local job = failures(live)[1]
  if not job then return end
  error({ kind = job.rep.kind, fatal = true, retry = AGAIN[job.rep.kind] or false,
    message = string.format("%s/%s fails now, but was answered when this evaluation was done: %s",
      core.slot(), job.label, tostring(job.rep.message)) }, 0)
end

--- Run what no seal speaks of, failed items twice when too many failed.
---@async
local function run_all(eval, jobs)
  eval.deadline_s = not eval.run.is_replay and eval.run.item_timeout_s or nil
  cut(jobs, run_jobs(eval, jobs))
  local failed = failures(jobs)
  if is_covered(eval, jobs, #failed) then return end
  run_jobs(eval, failures(jobs, true))
  failed = failures(jobs)
  if not is_covered(eval, jobs, #failed) then raise_uncovered(jobs, failed) end
end

--- Answers that are not stored are asked; then the outcome is sealed. Only the jobs that
--- count stay in the list.
---@async
local function measure(eval, jobs)
  local n = #jobs
  local live, seal = open_seal(eval, jobs)
  if seal then
    eval.stop = nil
    run_jobs(eval, live)
    check_sealed(live)
  else
    run_all(eval, jobs)
    seal = write_seal(eval, jobs, n)
  end
  local spent = effect.spent_of(core.locals())
  spent.calls, spent.tokens = seal.spent.calls, seal.spent.tokens
end

---------------------------------------------------------------------- result

local function prepare(eval)
  local env = eval.run.env
  if not env.prepare then return end
  eval.prepared = {}
  for _, item in ipairs(eval.items) do
    eval.prepared[item.id] = env.prepare(item, eval.seed, eval.run.env_opt)
  end
end

local function value_of(eval, jobs)
  local rows, kept = rows_by_item(jobs), {}
  for i, item in ipairs(eval.items) do rows[i] = rows[i] or { id = item.id, reps = {} } end
  for _, job in ipairs(eval.feedback and jobs or {}) do
    kept[job.item.id .. "\n" .. job.r] = job.conversation
  end
  return evaluation.new {
    skill = eval.skill, metric = eval.run.metric, rows = rows,
    trajectory = eval.feedback and function(id, rep) return kept[id .. "\n" .. (rep or 1)] end
      or nil,
  }
end

---@async
local function perform(eval)
  watch.on()
  prepare(eval)
  watch.off()
  local jobs = jobs_of(eval)
  measure(eval, jobs)
  for _, job in ipairs(jobs) do rows_of.finish(eval, job) end
  rows_of.write(eval, jobs)
  return value_of(eval, jobs)
end

--- See `ctx:evaluate` in lua/meta/ctx.lua.
---@async
---@param place table
---@param what skillopt.Skill|string
---@param items table[]
---@param opt skillopt.EvaluateOptions?
---@return skillopt.Evaluation
function M.evaluate(place, what, items, opt)
  opt = options.check(opt, OPTIONS, "ctx:evaluate")
  if place.kind == "rollout" then error("ctx:evaluate cannot be called in a rollout", 3) end
  local repeats = opt.repeats or 1
  if math.type(repeats) ~= "integer" or repeats < 1 then
    error("ctx:evaluate: repeats must be 1 or more", 3)
  end
  if opt.stop ~= nil and type(opt.stop) ~= "function" then
    error("ctx:evaluate: stop must be a function", 3)
  end
  local eval = {
    run = place.run, skill = skill.new(what), items = items, repeats = repeats,
    seed = opt.seed or place.run.seed, feedback = opt.feedback or false,
    stop = opt.stop, label = opt.label or "evaluation",
  }
  return task.scope(eval.label, perform, eval)
end

return M
