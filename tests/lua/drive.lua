--- Runs an experiment with scripted models, for tests that need a process of their own:
--- `skillopt lua drive.lua OPTIONS RESULT`, both JSON files. Options: args (of `run`), go
--- (of `run.go`), log (a file that gets the slot of every call), kill_at (the call in which
--- the process kills itself), kill_in (slots, as a pattern: the process kills itself in the
--- `kill_at`-th call, or the first, whose slot has it), down_from (the call from which on
--- the network is down), zero (the target never knows an answer).
local cli = require "skillopt.cli"
local core = require "rt.task"
local file = require "rt.file"
local folder_of = require "skillopt.run.folder"
local json = require "rt.json"
local lines = require "rt.lines"
local opening = require "skillopt.config.open"
local run_of = require "skillopt.run"

local options_path, result_path = ...
local options = assert(json.decode(assert(file.read(options_path))))
local log = assert(lines.open(options.log))
local asked, notes, opened, met = 0, json.array {}, nil, 0

local function text_of(request)
  local out = {}
  for _, message in ipairs(request.messages) do
    for _, part in ipairs(message.content) do out[#out + 1] = part.text end
  end
  return table.concat(out, "\n")
end

-- The target knows what box n holds when its skill says how to open boxes like it.
local models = {}

function models.target(request)
  local text = text_of(request)
  local box = tonumber(text:match "box (%d+)")
  local knows = not options.zero and text:find(("Know kind %d."):format(box % 3), 1, true)
  return knows and "thing " .. box or "nothing"
end

-- The analyst proposes the rule for the first box that it sees; what lasts is remembered.
function models.optimizer(request)
  local box = tonumber(text_of(request):match "holds box (%d+)") or 0
  return json.encode { slow_update_content = ("Look at box %d twice."):format(box),
    meta_skill_content = "Short rules helped.", learning_rate = 1, batch_size = 1,
    patch = { reasoning = "r", edits = {
    { op = "append", content = ("- Know kind %d."):format(box % 3) } } } }
end

--- Is this the call in which the process is to end?
local function is_last()
  if not options.kill_in then return asked == options.kill_at end
  if core.slot():find(options.kill_in) then met = met + 1 end
  return met == (options.kill_at or 1)
end

local function ask(role)
  return function(_, request)
    asked = asked + 1
    log:add(core.slot() .. "\n")
    if is_last() then os.execute "kill -9 $PPID" end
    if options.down_from and asked >= options.down_from then
      error({ kind = "network", message = "the network is down", weather = true, fatal = true,
        retry = true }, 0)
    end
    local usage = { prompt_tokens = 1, completion_tokens = 1 }
    return { usage = usage, value = { text = models[role](request), finish = "stop", outcome = "ok",
      tool_calls = json.array {}, usage = usage } }
  end
end

--- The journal with another end.
local function unclosable(journal)
  return setmetatable({ close = function() return nil, { kind = "io", message = "disk full" } end },
    { __index = function(_, name)
      return function(_, ...) return journal[name](journal, ...) end
    end })
end

local open = folder_of.open
folder_of.open = function(...)
  opened = open(...)
  if options.close_fails then opened.journal = unclosable(opened.journal) end
  return opened
end

local attach = run_of.attach
run_of.attach = function(run, opt)
  attach(run, opt)
  run.say = function(event, data)
    if event == "note" then notes[#notes + 1] = data.message end
  end
  local endpoint = run.endpoint
  run.endpoint = function(role)
    local one = endpoint(role) -- as configured, so that a replay makes the same requests
    one.ask = ask(role)
    return one
  end
end

local function go()
  local line = assert(cli.parse("run", options.args))
  local config, err = opening.open(line)
  if not config then error(err, 0) end
  local run = run_of.prepare { config = config, file = line.file,
    folders = opening.folders(line.file),
    load = opening.request(line).load }
  local opt = { quiet = true }
  for name, value in pairs(options.go or {}) do opt[name] = value end
  return run_of.go(run, opt)
end

local ok, result = xpcall(go, function(err)
  if type(err) == "table" then
    return { kind = err.kind, message = err.message, hint = err.hint }
  end
  return { kind = "raised", message = debug.traceback(tostring(err)) }
end)
assert(file.write(result_path, json.encode {
  ok = ok, err = not ok and result or nil, notes = notes,
  path = opened and opened.path, mode = opened and opened.mode,
  parent = opened and opened.parents and opened.parents[1] and opened.parents[1].path,
  summary = ok and json.decode(json.encode(result.summary)) or nil,
}))
