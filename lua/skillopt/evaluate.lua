--- Roll a skill out on items: one task an item and repeat, three states, a seal.
---
--- `ok`: the model answered and was marked. `no_answer`: it replied but gave no usable
--- answer; counts as 0 and is shown apart. `failed`: weather that outlived its retries or
--- a fault in the environment; counts nowhere. The seal says which items failed, so that
--- a run that is continued takes the same evaluation for granted.
---
--- With `stop` an evaluation may end before its last item. That is decided on the prefix of
--- the items, in item order, whatever came in first; what lies behind is `not_run`.
---
--- Repeats are counted through as places, in item order. Of one that has ended its marks
--- stay; its row waits in a spool for its turn, and its item, prompts and replies are gone
--- (but for `feedback`, which is for as many items as an optimizer reads).
local collector = require "skillopt.collector"
local columns = require "rt.columns"
local core = require "rt.task"
local effect = require "skillopt.effect"
local evaluation = require "skillopt.evaluation"
local json = require "rt.json"
local lists = require "skillopt.lists"
local options = require "skillopt.options"
local plugin = require "skillopt.plugin"
local raw_next = require("rt.raw").next
local rows_of = require "skillopt.rows"
local skill = require "skillopt.skill"
local task = require "skillopt.task"
local text_of = require "rt.text"
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
local LIMITS <const> = { "stack overflow", "not enough memory", "string length overflow",
  "string slice too long", "table overflow", "too many results to unpack", "array too big" }

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

--- Is it a flat table that JSON can surely hold? Most results are.
local function is_plain(mark)
  if getmetatable(mark) then return false end
  for name, value in raw_next, mark do
    local kind = type(value)
    local is_fine = kind == "boolean" or kind == "number" and value - value == 0
      or kind == "string" and text_of.is_valid(value)
    if not is_fine or type(name) ~= "string" or not text_of.is_valid(name) then return false end
  end
  return true
end

--- Why a result cannot be written down, or nil.
local function unwritable(mark)
  if is_plain(mark) then return nil end
  local ok, why = pcall(json.encode, mark)
  if ok then return nil end
  why = tostring(why)
  return { message = "the rollout's result cannot be written: " .. (why:match "%((.*)%)$" or why) }
end

--- Words of the row that are the run's own: a result that has others would be passed over.
local function claims(mark, item)
  if mark.state ~= nil then
    return { message = "the rollout's result has a 'state', which only the run gives: for what "
      .. "failed raise an error, for a model that gave no answer use ctx:no_answer(reason)" }
  end
  if mark.id ~= nil and mark.id ~= item.id then
    return { message = string.format("the rollout's result has the id '%s', and the item has '%s'",
      tostring(mark.id), item.id) }
  end
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
    err = err or unwritable(mark) or claims(mark, item)
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

--- Item and repeat of a place.
local function item_at(eval, place)
  return (place - 1) // eval.repeats + 1, (place - 1) % eval.repeats + 1
end

local function label_at(eval, place)
  local i, r = item_at(eval, place)
  return rows_of.label(eval.ids[i], r)
end

local function job_at(eval, place)
  local i, r = item_at(eval, place)
  return { place = place, i = i, r = r, item = eval.items[i] }
end

--- Take in what a job ended with. When its row or its files cannot be kept, the run stops
--- once the calls on the way are in. When it is run again, what it ends with then counts. What
--- a failed one received moves no clock: when the run is continued it is not started.
local function settle(eval, job)
  local rep = job.rep
  if rep.state ~= "failed" then eval.time = math.max(eval.time, job.time) end
  watch.on() -- the environment is asked for its words on the item
  rows_of.finish(eval, job)
  watch.off()
  evaluation.put(eval.value, job.i, job.r, { state = rep.state, marks = rep.marks, row = job.row,
    kind = rep.kind, reason = job.row.fail_reason, system = job.system, user = job.user })
  eval.failures[job.place] = rep.state == "failed" and { kind = rep.kind, message = rep.message }
    or nil
  if eval.feedback then eval.kept[job.item.id .. "\n" .. job.r] = job.conversation end
  local ok, err = pcall(rows_of.keep, eval, job)
  if ok then return end
  if type(err) ~= "table" then error(err, 0) end
  effect.stop(eval.run.effects, err)
end

--- Does the evaluation end with this job? Asked once an item. When one has failed, its mark
--- is missing for good or until the second pass: then all are run.
local function ends_with(eval, job)
  if job.rep.state == "failed" then eval.stop = nil end
  if not eval.stop or job.r < eval.repeats then return false end
  evaluation.reach(eval.prefix, job.i)
  watch.on()
  local is_last = core.still(eval.stop, eval.prefix)
  watch.off()
  return is_last
end

--- Run the jobs at these places, as many at once as the run's workers. How many of them
--- count: what lies behind leaves nothing.
---@async
---@param eval table
---@param n integer
---@param at fun(k: integer): integer place of the k-th
---@return integer
local function run_jobs(eval, n, at)
  local progress, ended = eval.run.progress(eval.label, n), eval.stop and {}
  local function run(k)
    local job = job_at(eval, at(k))
    collector.pace(eval.run.effects.counts.asked)
    core.keep_time()
    job.rep = roll(eval, job.item)
    job.time = core.time()
    progress(job.rep)
    if ended then ended[k] = job else settle(eval, job) end
  end
  local function label_of(k) return label_at(eval, at(k)) end
  if not ended then
    task.map_flat(n, label_of, run, eval.run.workers)
    return n
  end
  return task.map_prefix(n, label_of, run, eval.run.workers, function(k)
    local job = ended[k]
    ended[k] = nil
    if not job then return false end
    settle(eval, job)
    return ends_with(eval, job)
  end)
end

--- Places of what failed, in order.
local function failed_places(eval, again_only)
  local out = {}
  for place, why in pairs(eval.failures) do
    if not again_only or AGAIN[why.kind] then out[#out + 1] = place end
  end
  return out
end

local function is_covered(eval, n_failed)
  local n = eval.decided
  if n_failed == n then return n == 0 end
  if eval.feedback then return n_failed <= n * FEEDBACK_SHARE end
  return n_failed <= math.max(1, n * FAILED_SHARE)
end

--- The run cannot go on: say how many failed and the most frequent reason. When some were
--- measured after all, it is too little to decide by.
local function raise_uncovered(eval, failed)
  local counts, first, most = {}, {}, nil
  for _, place in ipairs(failed) do
    local why = eval.failures[place]
    counts[why.kind] = (counts[why.kind] or 0) + 1
    first[why.kind] = first[why.kind] or why.message
  end
  for kind, n in pairs(counts) do
    if not most or n > counts[most] then most = kind end
  end
  error({
    kind = most, weather = true, fatal = true, retry = AGAIN[most] or false,
    too_little = #failed < eval.decided or nil,
    message = string.format("%s: %d of %d items failed: %s", eval.slot, #failed, eval.decided,
      tostring(first[most] or most)),
    hint = "nothing measured so far is lost: run the same command again when the cause is mended",
  }, 0)
end

--- A seal over other tries is one of another program.
local function refuse_seal(form, ...)
  error({ kind = "io", fatal = true, retry = false,
    message = form:format(...) .. ": this program does not do what the run did",
    hint = "the code or its items were changed; run without out_root to start a fork" }, 0)
end

local function read_seal(eval)
  local j = eval.run.journal
  local n = j:find("value", eval.slot, "seal")
  if not n then return nil end
  local seal = json.decode(assert(j:read(n)))
  if seal.n ~= eval.n then
    refuse_seal("%s was measured with %d tries and has %d now", eval.slot, seal.n, eval.n)
  end
  return seal
end

--- Take the sealed outcome: failed items and those behind the end are not started again.
--- Places of the others.
local function take_seal(eval, seal)
  local failed, live = {}, columns.numbers()
  eval.stop, eval.decided = nil, seal.decided
  for _, entry in ipairs(seal.failed) do
    local i = eval.ids:find(entry[1])
    if not i then refuse_seal("%s was an item of %s and is none now", entry[1], eval.slot) end
    failed[(i - 1) * eval.repeats + entry[2]] = entry[3]
  end
  for place = 1, eval.decided do
    local kind = failed[place]
    if kind then
      local job = job_at(eval, place)
      job.rep = { state = "failed", kind = kind, replies = {} }
      settle(eval, job)
    else
      live:add(place)
    end
  end
  return live
end

local function write_seal(eval)
  if eval.run.is_replay then eval.run.reached_end(eval.slot, "seal") end
  local failed = json.array {}
  for _, place in ipairs(failed_places(eval)) do
    local i, r = item_at(eval, place)
    failed[#failed + 1] = { eval.ids[i], r, eval.failures[place].kind }
  end
  local spent = effect.spent_of(core.locals())
  local seal = { n = eval.n, decided = eval.decided, failed = failed,
    spent = { calls = spent.calls, tokens = spent.tokens } }
  local ok, err = eval.run.journal:store("value", eval.slot, "seal", json.canonical(seal))
  if not ok then error(err, 0) end
  return seal
end

--- What was answered when the seal was made must be so again: else the program has changed.
local function check_sealed(eval, seal)
  local failed = failed_places(eval)
  if #failed == #seal.failed then return end
  local sealed = {}
  for _, entry in ipairs(seal.failed) do sealed[entry[1] .. "\n" .. entry[2]] = true end
  for _, place in ipairs(failed) do
    local i, r = item_at(eval, place)
    if not sealed[eval.ids[i] .. "\n" .. r] then
      local why = eval.failures[place]
      error({ kind = why.kind, fatal = true, retry = AGAIN[why.kind] or false,
        message = string.format("%s/%s fails now, but was answered when this evaluation was "
          .. "done: %s", eval.slot, label_at(eval, place), tostring(why.message)) }, 0)
    end
  end
end

--- Run what no seal speaks of, failed items twice when too many failed.
---@async
local function run_all(eval)
  eval.deadline_s = not eval.run.is_replay and eval.run.item_timeout_s or nil
  eval.decided = run_jobs(eval, eval.n, function(k) return k end)
  if is_covered(eval, #failed_places(eval)) then return end
  local again = failed_places(eval, true)
  run_jobs(eval, #again, function(k) return again[k] end)
  local failed = failed_places(eval)
  if not is_covered(eval, #failed) then raise_uncovered(eval, failed) end
end

--- Answers that are not stored are asked; then the outcome is sealed.
---@async
local function measure(eval)
  local seal = read_seal(eval)
  if seal then
    local live = take_seal(eval, seal)
    run_jobs(eval, #live, function(k) return live[k] end)
    check_sealed(eval, seal)
  else
    run_all(eval)
    seal = write_seal(eval)
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
    local ending <close> = plugin.about(item.id)
    eval.prepared[item.id] = env.prepare(item, eval.seed, eval.run.env_opt)
  end
end

local function ids_of(items)
  local ids, twice = lists.ids(items)
  if not ids then error(string.format("two items have the id '%s'", twice), 3) end
  return ids
end

--- What grows while the items are run.
local function begin(eval)
  eval.slot, eval.ids, eval.time = core.slot(), ids_of(eval.items), core.time()
  eval.n, eval.failures, eval.kept = #eval.ids * eval.repeats, {}, {}
  local kept = eval.kept
  eval.value = evaluation.start {
    ids = eval.ids, each = eval.repeats, skill = eval.skill, metric = eval.run.metric,
    trajectory = eval.feedback and function(id, rep) return kept[id .. "\n" .. (rep or 1)] end
      or nil,
  }
  if eval.stop then eval.prefix = evaluation.prefix_of(eval.value) end
  rows_of.begin(eval)
end

---@async
local function perform(eval)
  watch.on()
  prepare(eval)
  watch.off()
  begin(eval)
  measure(eval)
  core.set_time(eval.time)
  evaluation.reach(eval.value, #eval.ids)
  rows_of.write(eval)
  return eval.value
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
