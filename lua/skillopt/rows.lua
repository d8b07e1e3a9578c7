--- What an evaluation leaves behind for people: a row an item, its conversation, the
--- prompts of its first call.
local columns = require "rt.columns"
local digest = require "rt.digest"
local evaluation = require "skillopt.evaluation"
local file = require "rt.file"
local json = require "rt.json"
local leak = require "skillopt.leak"
local spool = require "rt.spool"
local task = require "skillopt.task"

local M = {}

--- Stable words for what went wrong; raw texts are in the log only.
M.WORDS = {
  network = "the connection to the model failed", timeout = "the model did not answer in time",
  rate_limit = "the model's rate limit was reached", server = "the model's server failed",
  parse = "the model's server sent an unreadable answer",
  process = "a child process could not be run",
  sandbox = "the sandbox failed", auth = "the model's server refused the login",
  bad_request = "the model's server refused the request", refused = "the model refused",
  filtered = "the reply was filtered", too_long = "the prompt was too long for the model",
  truncated = "the reply was cut", usage = "the environment used the program wrongly",
  config = "the configuration does not fit", data = "the item or its mark is faulty",
  io = "a file could not be read or written", limit = "a limit was reached",
  bug = "the environment raised an error",
}

local FORM <const> = { keys = { "id", "state", "hard", "soft", "task_type", "fail_reason",
  "predicted_answer", "n_turns" } }

local function task_type(eval, item)
  local env = eval.run.env
  if env.task_type then return env.task_type(item, eval.run.env_opt) end
  return type(item.task_type) == "string" and item.task_type or env.name
end

local function turns(rep)
  local n = 0
  for _, message in ipairs(rep.conversation or rep.replies) do
    if message.role == "assistant" or message.step then n = n + 1 end
  end
  return n
end

local function row_of(eval, job)
  local rep, item = job.rep, job.item
  -- Made with room for the fields that all rows have.
  local row = { id = nil, state = nil, hidden = nil, task_type = nil, n_turns = nil, hard = nil,
    soft = nil, predicted_answer = nil, fail_reason = nil, answer = nil }
  for name, value in pairs(rep.mark or {}) do row[name] = value end
  row.id, row.state = item.id, rep.state
  row.hidden = row.hidden or leak.row_hidden(eval.run.env, item, eval.run.env_opt)
  row.task_type = row.task_type or task_type(eval, item)
  if rep.state == "failed" then
    row.hard, row.soft = nil, nil
    row.kind = rep.kind
    row.fail_reason = M.WORDS[rep.kind] or M.WORDS.bug
    return row
  end
  row.n_turns = row.n_turns or turns(rep)
  if rep.state == "no_answer" then
    row.hard, row.soft = 0, 0
    row.fail_reason = "no answer: " .. (rep.reason or M.WORDS[rep.kind])
    row.predicted_answer = ""
    return row
  end
  row.hard, row.soft = rep.marks.hard, rep.marks.soft
  row.predicted_answer = row.predicted_answer or row.answer
  row.fail_reason = row.fail_reason or ""
  return row
end

--- A message as a file can hold it: images by their digest.
local function written(message)
  if type(message.content) ~= "table" then return message end
  local copy, parts = {}, json.array {}
  for name, value in pairs(message) do copy[name] = value end
  for i, part in ipairs(message.content) do
    parts[i] = part.image and { image = "sha256:" .. digest.sha256(part.image), type = part.type,
      bytes = #part.image } or part
  end
  copy.content = parts
  return copy
end

local function conversation_of(rep)
  local out = json.array {}
  if rep.conversation then
    for _, message in ipairs(rep.conversation) do out[#out + 1] = written(message) end
    return out
  end
  for i, reply in ipairs(rep.replies) do
    out[i] = { role = "assistant", content = reply.content, tool_calls = reply.tool_calls }
  end
  return out
end

local function add_feedback(eval, job, conversation)
  local env, rep = eval.run.env, job.rep
  if not eval.feedback or not env.feedback or rep.state ~= "ok" then return end
  local text = env.feedback(job.item, rep.mark, eval.run.env_opt)
  if text then conversation[#conversation + 1] = { role = "system", content = text } end
end

--- Fill in `job.row` and `job.conversation` once the item's state is known. What a failed
--- item said before it failed is not kept: when the run is started again that item is not,
--- and the files have to be the same.
---@param eval table
---@param job table
function M.finish(eval, job)
  job.row = row_of(eval, job)
  if job.rep.state == "failed" then
    job.conversation = json.array {}
    return
  end
  job.conversation = conversation_of(job.rep)
  add_feedback(eval, job, job.conversation)
  local first = job.rep.replies[1]
  job.system, job.user = first and first.system, first and first.user
end

--- The last part of a repeat's slot.
---@param id string
---@param r integer
---@return string
function M.label(id, r)
  return file.label(id) .. (r > 1 and "~" .. r or "")
end

--------------------------------------------------------------------- files

--- Labels with a capital in lower case: only with these another could be the same name on
--- a disk that does not tell case.
local function capitals(ids)
  local out = {}
  for i = 1, #ids do
    local label = file.label(ids[i])
    if label:find "%u" then out[label:lower()] = true end
  end
  return out
end

--- Items whose label differs from an earlier item's by case only, as a set.
local function twins(ids)
  local out, first, wanted = {}, {}, capitals(ids)
  for i = 1, next(wanted) and #ids or 0 do
    local label = file.label(ids[i])
    local lower = label:lower()
    if wanted[lower] then
      first[lower] = first[lower] or label
      if first[lower] ~= label then out[i] = true end
    end
  end
  return out
end

local function write_prediction(eval, job)
  local run, id = eval.run, job.item.id
  local name = M.label(id, job.r)
  if eval.twins[job.i] then
    name = file.label(id, { distinct = true }) .. (job.r > 1 and "~" .. job.r or "")
  end
  local folder = eval.slot .. "/predictions/" .. name
  run.write(folder .. "/conversation.json", json.encode(job.conversation, { indent = true }))
  if job.system then run.write(folder .. "/target_system_prompt.txt", job.system) end
  if job.user then run.write(folder .. "/target_user_prompt.txt", job.user) end
end

--- Before the first job.
---@param eval table
function M.begin(eval)
  local run = eval.run
  if not run.path then return end
  eval.spool, eval.rows = spool.new(run.scratch), columns.numbers(eval.n)
  eval.twins = run.predictions ~= "none" and twins(eval.ids) or nil
end

--- Keep a finished job's row until its turn comes, and write what else is asked for. What
--- is written of a job must not change when it is run again: a failed one has nothing.
---@param eval table
---@param job table
function M.keep(eval, job)
  if not eval.spool then return end
  local at, err = eval.spool:add(json.encode(job.row, FORM) .. "\n")
  if not at then error(err, 0) end
  eval.rows[job.place] = at
  local wanted = eval.run.predictions == "all"
    or (eval.run.predictions == "failed" and (job.row.hard or 0) < 1e-9)
  if wanted and job.rep.state ~= "failed" then write_prediction(eval, job) end
end

local EVENT <const> = { keys = { "event", "slot" } }

--- An event's text before and behind its slot, the first of its texts that is empty.
local function around_slot(state, hard, soft, kind)
  local text = json.encode({ event = "item", slot = "", state = state, hard = hard, soft = soft,
    kind = kind }, EVENT)
  return text:match '^(.-)""(.*)$'
end

--- Texts around a slot that are kept at a time.
local AROUND_MAX <const> = 1000

--- The two texts around a slot, made once for items with the same state and marks (1 and 1.0
--- are written differently).
local function around_slots()
  local heads, tails, n = {}, {}, 0
  return function(state, hard, soft, kind)
    local as = string.pack("zzzdzd", state, kind or "", math.type(hard) or "", hard or 0,
      math.type(soft) or "", soft or 0)
    if not heads[as] then
      if n == AROUND_MAX then heads, tails, n = {}, {}, 0 end
      heads[as], tails[as] = around_slot(state, hard, soft, kind)
      n = n + 1
    end
    return heads[as], tails[as]
  end
end

--- Final states as lines of the events. Many differ in nothing but the slot.
local function event_lines(value, slot)
  local next_state, around = evaluation.each_state(value), around_slots()
  return function()
    local id, r, state, hard, soft, kind = next_state()
    if not id then return nil end
    local head, tail = around(state, hard, soft, kind)
    return head .. json.encode(slot .. "/" .. M.label(id, r)) .. tail .. "\n"
  end
end

local function write_rows(eval)
  local draft <close> = eval.run.draft(eval.slot .. "/results.jsonl")
  for place = 1, eval.decided do
    local line, err = eval.spool:read(eval.rows[place])
    if not line then error(err, 0) end
    draft:add(line)
  end
  draft:finish()
end

--- Write `results.jsonl` below the evaluation's slot, and note the final states as events.
---@param eval table
function M.write(eval)
  local value, slot = eval.value, eval.slot
  task.event { lines = function() return event_lines(value, slot) end }
  if not eval.spool then return end
  write_rows(eval)
  eval.spool:close()
end

return M
