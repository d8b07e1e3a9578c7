--- What a run writes: derived files, decisions, events, the log. A replay that only looks
--- compares instead.
local digest = require "rt.digest"
local file = require "rt.file"
local flow = require "rt.flow"
local json = require "rt.json"
local lines = require "rt.lines"
local record = require "skillopt.record"
local stdout = require "rt.stdout"
local task = require "skillopt.task"

local M = {}

---@class skillopt.Draft
---@field add fun(self: skillopt.Draft, text: string)
---@field finish fun(self: skillopt.Draft)

local function checked(ok, err)
  if not ok then error(err, 0) end
end

--- Raises what the file answers; dropped unless it was finished.
local function writing_draft(inner)
  return setmetatable({
    add = function(_, text) checked(inner:add(text)) end,
    finish = function() checked(inner:finish()) end,
  }, { __close = function() local _ <close> = inner end })
end

--- Only its digest is taken.
local function comparing_draft(run, name)
  local stream = digest.stream()
  return setmetatable({
    add = function(_, text) stream:add(text) end,
    finish = function() run.compare(name, stream:hex()) end,
  }, { __close = function() end })
end

local function make_writer(run)
  local made = {}
  local function folder_for(path)
    local folder = path:match "^(.*)/[^/]*$"
    if folder and not made[folder] then
      local ok, err = file.mkdir(folder)
      if not ok then error(err, 0) end
      made[folder] = true
    end
  end
  --- Write a derived file; in a replay that only looks, compare instead.
  function run.write(name, text, opt)
    if not run.path then return end
    if run.compare then return run.compare(name, digest.sha256(text), text) end
    local path = run.path .. "/" .. name
    folder_for(path)
    local ok, err = file.write(path, text, { sync = opt and opt.sync, keep_equal = true })
    if not ok then error(err, 0) end
  end

  --- The same for a text that comes in pieces; only where files are written at all.
  ---@return skillopt.Draft
  function run.draft(name)
    local path = run.path .. "/" .. name
    if run.compare then return comparing_draft(run, name) end
    folder_for(path)
    local inner, err = file.draft(path, { keep_equal = true })
    if not inner then error(err, 0) end
    return writing_draft(inner)
  end
end

local function differs(slot, name)
  error({ kind = "io", retry = false, message = string.format("%s/%s is not what the journal "
    .. "has on record: this program does not do what the run did", slot, name),
    hint = "the code, a prompt or the program was changed, or something in them depends on "
      .. "order or time; run without out_root to start a fork" }, 0)
end

local function make_record(run)
  local compared = 0

  --- Decisions found equal to those on record.
  function run.decisions_compared() return compared end

  --- Put a decision on record, or compare it with the one that is there.
  function run.decide(name, value)
    local slot = task.slot()
    local id = digest.sha256(json.canonical(record.comparable(value)))
    local n = run.journal:find("decision", slot, name)
    if n then
      local stored, err = run.journal:read(n)
      if not stored then error(err, 0) end
      if stored ~= id then differs(slot, name) end
      compared = compared + 1
    elseif run.is_replay then
      run.reached_end(slot, name)
    else
      local ok, err = run.journal:put("decision", slot, name, id)
      if not ok then error(err, 0) end
    end
    task.event { event = "decision", slot = slot, name = name, digest = id:sub(1, 16) }
  end

  --- The same, and write it as a file.
  function run.record(name, value)
    run.decide(name, value)
    local slot = task.slot()
    run.write((slot == "" and "" or slot .. "/") .. name .. ".json", record.file_text(name, value))
  end
end

--- Bytes of events written at once.
local EVENTS_AT_ONCE <const> = 1 << 16

local EVENT_FORM <const> = { keys = { "event", "slot" } }

--- Lines of events one after the other; one event may stand for many (`lines` gives them).
local function each_line(events, f)
  for _, event in ipairs(events) do
    if event.lines then
      for line in event.lines() do f(line) end
    else
      f(json.encode(event, EVENT_FORM) .. "\n")
    end
  end
end

local function make_events(run)
  local out, err, stream
  if run.path and not run.compare then
    out, err = lines.open(run.path .. "/events.jsonl", { truncate = true })
    if not out then error(err, 0) end
  end
  if run.compare then stream = digest.stream() end
  local text, size = {}, 0
  local function put()
    local block = table.concat(text)
    text, size = {}, 0
    if stream then stream:add(block) end
    if out then checked(out:add(block)) end
  end
  --- Write the events noted since the last call; for the root task.
  function run.flush_events()
    each_line(task.take_events(), function(line)
      text[#text + 1], size = line, size + #line
      if size >= EVENTS_AT_ONCE then put() end
    end)
    put()
  end
  function run.close_events()
    run.flush_events()
    if out then out:close() end
    if stream then run.compare("events.jsonl", stream:hex()) end
  end
end

local function make_log(run)
  local out, has_complained
  --- The log is no part of the result: that it cannot be written is said once, and the
  --- run goes on.
  local function complain(err)
    if has_complained then return end
    has_complained = true
    stdout.error(string.format("skillopt: %s; what happens on the way is not logged\n",
      err.message))
  end
  --- A line in log.jsonl: what happened on the way, not part of what must be equal.
  function run.log(event)
    if not run.path or run.compare or has_complained then return end
    local err, ok
    if not out then out, err = lines.open(run.path .. "/log.jsonl") end
    if not out then return complain(err) end
    local line = { time = math.floor(flow.wall() * 1000) / 1000 }
    for k, v in pairs(event) do line[k] = v end
    ok, err = out:add(run.scrub(json.encode(line, { keys = { "time", "event" } })) .. "\n")
    if not ok then complain(err) end
  end
end

--- Give a run what writes its files: `log`, `write`, `draft`, `decide`, `record`,
--- `flush_events`, `close_events`, `decisions_compared`.
---@param run table
function M.attach(run)
  make_log(run)
  make_writer(run)
  make_record(run)
  make_events(run)
end

return M
