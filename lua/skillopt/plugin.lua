--- Functions of the user's files, called by the library. What one raises, or answers against
--- its contract, ends the run as a mistake in that file: which function of which slot, where
--- in the run, which line, and how to go on.
---
--- Errors that have a kind already (weather, a cancelled task) pass through; a call that the
--- library refuses gets its line.
--- What a shipped environment or policy raises is a fault of the program and stays one.
local core = require "rt.task"
local exits = require "skillopt.exits"
local loader = require "skillopt.loader"

local M = {}

local SHIPPED <const> = loader.home .. "/lua/"
local OWN <const> = SHIPPED .. "skillopt/plugin.lua"

---@class skillopt.PluginCall
---@field who string what it is called, `policy.gate "mine"`
---@field call string how it is called, `run(candidate, current, best, run, opt)`
---@field f function
---@field path string the file it stands in
---@field line integer where it begins
---@field is_shipped boolean
---@field may_wait boolean

--- A function and what to say of it.
---@param who string
---@param call string
---@param f function
---@param may_wait boolean? may it call a model and what else waits? default true
---@return skillopt.PluginCall
function M.call(who, call, f, may_wait)
  local info = debug.getinfo(f, "S")
  local path = info.source:gsub("^@", "")
  return { who = who, call = call, f = f, path = path, line = info.linedefined,
    is_shipped = path:sub(1, #SHIPPED) == SHIPPED, may_wait = may_wait ~= false }
end

-------------------------------------------------------------------------- where

--- The item that a function without a task of its own is asked about.
local item

local forget <const> = setmetatable({}, { __close = function() item = nil end })

--- Say which item calls are about until what this answers is closed, however that ends.
---@param id string
---@return table scope to be kept as `local <name> <close>`
function M.about(id)
  item = id
  return forget
end

local function step_of(slot, run)
  local number = math.tointeger(tonumber(slot:match "^steps/step_(%d+)"))
  if not number then return nil end
  local plan = run and run.plan
  if not plan then return ("step %d"):format(number) end
  local per_epoch = plan.steps // plan.epochs
  return ("step %d of %d, epoch %d"):format(number, plan.steps, (number - 1) // per_epoch + 1)
end

--- Where in the run the calling task is, in words; "" outside of a run.
local function where()
  local slot = core.is_task() and core.slot() or ""
  local place = core.is_task() and core.locals().place
  local step, words = step_of(slot, place and place.run), {}
  if item then words[1] = "for the item " .. item end
  if step then words[#words + 1] = ("in %s (%s)"):format(step, slot)
  elseif slot ~= "" then words[#words + 1] = "in " .. slot end
  return table.concat(words, " ")
end

--- What to do about it: depends on the folder the run works in.
local function advice(call)
  local place = core.is_task() and core.locals().place
  local run = place and place.run
  if run and run.is_replay then
    return ("it was called as %s; a replay takes the file as the run has it"):format(call.call)
  end
  local goes_on = run and run.goes_on
  return ("it was called as %s; mend the file and give the same command again%s"):format(
    call.call, goes_on and ": " .. goes_on or "")
end

--------------------------------------------------------------------------- lines

--- The source that a message shows under this name, which is cut at its front when long.
local function source_of(shown)
  local tail = shown:match "^%.%.%.(.*)$"
  for _, source in ipairs(loader.sources()) do
    local path = source.path
    if path == shown or tail and path:sub(-#tail) == tail then return path end
  end
end

local function line_at(shown, line)
  local path = source_of(shown)
  return path and { path = path, line = line, is_ours = path:sub(1, #SHIPPED) == SHIPPED }
end

--- The known source lines of a traceback up to the guard's own, the innermost first.
local function lines_of(traceback)
  local out = {}
  for shown, line in (traceback or ""):gmatch "\n%s+([^\n]-):(%d+): in " do
    local at = line_at(shown, line)
    if at and at.path == OWN then break end
    out[#out + 1] = at
  end
  return out
end

--- The line that a message names, and the rest of the message.
local function named_line(message)
  local shown, line, rest = message:match "^([^\n]-):(%d+): (.*)$"
  local at = shown and line_at(shown, line)
  return at, at and rest or message
end

--- The lines of the user's files that led to `last`, as text below the message.
local function traceback_of(lines, last)
  local out = {}
  for _, at in ipairs(lines) do
    local is_last = last and at.path == last.path and at.line == last.line
    if not at.is_ours and not is_last then
      out[#out + 1] = ("  called from %s:%s"):format(at.path, at.line)
    end
  end
  return #out > 0 and table.concat(out, "\n") or nil
end

-------------------------------------------------------------------------- errors

--- A raised text with the calls that led to it.
local Raised = {}

--- The library's word on a call that cannot be (a prompt that is not there), as `err`, with
--- the calls that led to it.
local Refused = {}

local REFUSALS <const> = { usage = true, config = true, data = true }

local function with_traceback(raised)
  if type(raised) == "string" then
    return setmetatable({ message = raised, traceback = debug.traceback("", 2) }, Raised)
  elseif type(raised) == "table" and REFUSALS[raised.kind] and not raised.is_users then
    return setmetatable({ err = raised, traceback = debug.traceback("", 2) }, Refused)
  end
  return raised
end

local function log(call, raised)
  local place = core.is_task() and core.locals().place
  if not place or not place.run or not place.run.log then return end
  place.run.log { event = "plugin_failed", slot = core.slot(), who = call.who,
    message = raised.message, traceback = raised.traceback }
end

local function spaced(words) return words == "" and "" or " " .. words end

local function first_of_users(lines)
  for _, at in ipairs(lines) do
    if not at.is_ours then return at end
  end
end

local WAITS <const> = "it waits for a model, a program or a task, and this function only computes"

--- The error of a function that raised; nil when the fault is the program's: it came out of
--- a task of the library's own.
local function failed(call, raised)
  local lines = lines_of(raised.traceback)
  local at, words = named_line(raised.message)
  at = at or lines[1]
  if not call.may_wait and words:find("cannot wait here", 1, true) then
    at, words = first_of_users(lines), WAITS
  end
  local is_inner = at and at.is_ours
  if is_inner and getmetatable(raised) ~= Raised then return nil end
  log(call, raised)
  local hint = advice(call)
  if is_inner then
    hint = hint .. ("\n  it came up inside of skillopt, below a call of %s; when that call is "
      .. "right, please report it"):format(call.path)
  end
  return { kind = "config", retry = false, hint = hint, is_users = true,
    runaway = raised.runaway, traceback = traceback_of(lines, at),
    message = ("%s failed%s: %s:%s: %s"):format(call.who, spaced(where()),
      at and at.path or call.path, at and at.line or call.line, words) }
end

--- The same error, with the line of the user's that asked for what cannot be.
local function placed(call, refused)
  local out, lines = {}, lines_of(refused.traceback)
  local at = first_of_users(lines)
  for field, value in pairs(refused.err) do out[field] = value end
  out.is_users, out.traceback = true, traceback_of(lines, at)
  out.message = ("%s (%s%s, at %s:%s)"):format(tostring(out.message), call.who, spaced(where()),
    at and at.path or call.path, at and at.line or call.line)
  return out
end

local function said(call, raised)
  if getmetatable(raised) == Refused then return placed(call, raised) end
  if type(raised) == "string" then raised = { message = raised } end -- memory: no handler is asked
  if type(raised) ~= "table" or type(raised.message) ~= "string" then
    local what = type(raised) == "table" and "a table without a message" or tostring(raised)
    return failed(call, { message = "it raised " .. what })
  end
  local is_news = exits.is_kind(raised.kind) and raised.kind ~= "bug" and not raised.runaway
  return not is_news and failed(call, raised) or raised
end

local function finish(call, ok, ...)
  if ok then return ... end
  error(said(call, (...)), 0)
end

--- The function, whose errors say what the user has to know.
---@param call skillopt.PluginCall
---@return function
function M.guard(call)
  if call.is_shipped then return call.f end
  local f = call.f
  if not call.may_wait then
    return function(...) return finish(call, xpcall(core.still, with_traceback, f, ...)) end
  end
  return function(...) return finish(call, xpcall(f, with_traceback, ...)) end
end

--- Raise that a function answered what its contract does not have.
---@param call skillopt.PluginCall
---@param form string
---@param ... any
function M.wrong(call, form, ...)
  error({ kind = "config", retry = false, is_users = true, hint = advice(call),
    message = ("%s: %s%s (the function at %s:%d)"):format(call.who, form:format(...),
      spaced(where()), call.path, call.line) }, 0)
end

return M
