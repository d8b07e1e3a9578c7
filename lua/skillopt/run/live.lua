--- The line at the bottom of a terminal while a run goes on: what is being measured, how far
--- it is, how fast, for how long still, what was spent, how many calls are on the way.
---
--- Nothing here is part of a run: it looks at counters and draws.
local console = require "skillopt.console"
local core = require "rt.task"
local flow = require "rt.flow"
local stdout = require "rt.stdout"
local visible = require "skillopt.visible"

local M = {}

--- Seconds between two drawings, and over which the rate is taken.
local TICK_S <const>, WINDOW_S <const> = 0.25, 10

local BAR <const>, NARROW <const> = 16, 50

--- What the terminal shows of an interrupt: it has to fit behind the line, or a piece of the
--- line stands in a row of its own and is not taken away with it.
local TYPED <const> = "^C"

local Live = {}
Live.__index = Live

--- Seconds as people read them.
---@param seconds number
---@return string
function M.duration(seconds)
  local s = math.max(0, seconds) // 1 | 0
  if s >= 3600 then return string.format("%d:%02d:%02d", s // 3600, s // 60 % 60, s % 60) end
  return string.format("%d:%02d", s // 60, s % 60)
end

--- A count as people read it: 950, 12k, 3.4M.
---@param n integer
---@return string
function M.count(n)
  if n < 10000 then return string.format("%d", n) end
  if n < 1000000 then return string.format("%dk", n // 1000) end
  return string.format("%.1fM", n / 1e6)
end

---------------------------------------------------------------------------- parts

local function bar(done, total)
  local full = total > 0 and BAR * done // total or 0
  return string.format("[%s%s]", ("#"):rep(full), ("-"):rep(BAR - full))
end

--- Calls a second over the last seconds; nil as long as that says nothing.
function Live:rate(now, calls)
  local seen = self.seen
  seen[#seen + 1] = { at = now, calls = calls }
  while #seen > 2 and seen[1].at < now - WINDOW_S do table.remove(seen, 1) end
  local seconds = now - seen[1].at
  return seconds > 0.5 and (calls - seen[1].calls) / seconds or nil
end

local function spent_tokens(run) return run.token_summary()._total.total_tokens end

local function flight(run)
  local view = run.limit_view "target" or run.limit_view "optimizer"
  if not view then return nil end
  local paused = view.paused_s > 0 and string.format(", paused %ds", view.paused_s // 1) or ""
  return string.format("%d/%d in flight%s", flow.flights(), view.window, paused)
end

--- What is being measured: parts in the order in which they matter.
local function measuring(d, now, is_narrow)
  local seconds = now - d.started
  local left = d.done > 0 and (d.total - d.done) * seconds / d.done
  return {
    is_narrow and string.format("%d/%d", d.done, d.total)
      or string.format("%s %d/%d", bar(d.done, d.total), d.done, d.total),
    d.marked > 0 and string.format("hard=%.4f", d.sum / d.marked),
    d.failed > 0 and "failed=" .. d.failed, d.no_answer > 0 and "no_answer=" .. d.no_answer,
    left and "ETA " .. M.duration(left),
  }
end

local function going_on(run, now, self)
  local calls = run.calls()
  local rate, left = self:rate(now, calls), (run.calls_expected or 0) - calls
  return {
    rate and string.format("%.1f calls/s", rate),
    string.format("%s calls, %s tokens", M.count(calls), M.count(spent_tokens(run))),
    flight(run), self.step,
    rate and rate > 0 and left > 0 and "run " .. M.duration(left / rate),
  }
end

--- As many parts as the width bears, the first ones first.
local function fitted(parts, width)
  local line = ""
  for _, part in ipairs(parts) do
    if part and #line + #part + 2 <= width then
      line = line == "" and part or line .. "  " .. part
    end
  end
  return line
end

local function add(list, more)
  for i = 1, 5 do list[#list + 1] = more[i] or false end
end

--- The line for a terminal of this width.
---@param columns integer
---@return string
function Live:line(columns)
  local now, d = flow.now(), self.open[#self.open]
  local parts = { d and d.label or self.step and "optimizer" or "starting" }
  if flow.is_stopping() then parts[1] = "stopping" end
  if d then add(parts, measuring(d, now, columns < NARROW)) end
  add(parts, going_on(self.run, now, self))
  local room = columns - 1 - #TYPED
  return visible.line(fitted(parts, room), room)
end

-------------------------------------------------------------------------- drawing

--- Draw it, but not more often than a tick.
function Live:draw()
  local now = flow.now()
  if self.drawn and now - self.drawn < TICK_S / 2 then return end
  self.drawn = now
  stdout.live(self:line(stdout.columns()))
end

--- An evaluation begins. `d`: label, done, total, sum, marked, failed, no_answer.
---@param d table
function Live:begin(d)
  d.started = flow.now()
  self.open[#self.open + 1] = d
end

--- An evaluation has ended, or its first pass.
---@param d table
function Live:finish(d)
  for i, one in ipairs(self.open) do
    if one == d then table.remove(self.open, i) end
  end
end

--- A line about a run, wherever it is drawn.
---@param run table
---@return table
function M.of(run)
  return setmetatable({ run = run, open = {}, seen = {} }, Live)
end

--- The live line of a run; nil where there is none: no terminal, a dumb one.
---@param run table
---@return table?
function M.new(run)
  return console.is_live() and M.of(run) or nil
end

local function tick(live)
  repeat
    live:draw()
  until not pcall(flow.tick, TICK_S)
end

--- `f(...)` with the line drawn all along; then it is taken away.
---@async
---@param live table? as `new` gives it
---@param f function
---@return any
function M.during(live, f, ...)
  if not live then return f(...) end
  local out = {}
  core.spawn("", out, 1, f, ...)
  core.spawn("", nil, 2, tick, live)
  core.join(1)
  core.cancel_behind(1)
  core.join(0)
  stdout.live ""
  return out[1]
end

return M
