--- Structured concurrency: nothing outlives the call that started it.
---
--- A task's slot is the path of labels from the root; what a task does is filed under
--- it. Slots come from the program's text and data, never from arrival.
local core = require "rt.task"
local file = require "rt.file"
local options = require "skillopt.options"

local M = {}

-- Kinds that no environment and no policy can catch (see lua/meta/ctx.lua).
local UNCATCHABLE = {
  network = true, timeout = true, rate_limit = true, server = true, parse = true,
  process = true, sandbox = true, cancelled = true, budget = true,
}

--- Must this raised value pass through the user's pcall? What ends the whole run must, and
--- what ends code that ran on. A `parse` error is weather only when it comes from a call,
--- which marks it with `weather`.
---@param err any
---@return boolean
function M.is_uncatchable(err)
  if type(err) ~= "table" then return false end
  if err.fatal or err.at_end or err.runaway then return true end
  if err.kind == "parse" then return err.weather == true end
  return UNCATCHABLE[err.kind] == true
end

local escaped = setmetatable({}, { __mode = "v" }) -- escaped labels by text

--- A label as a path: `/` divides it, every part is escaped.
local function escape(label)
  local known = escaped[label]
  if known then return known end
  local parts = {}
  for part in (label .. "/"):gmatch "([^/]*)/" do parts[#parts + 1] = file.label(part) end
  local path = table.concat(parts, "/")
  escaped[label] = path
  return path
end

--- Labels whose slots lie within each other would let two tasks have one slot.
local function check_nesting(used, label)
  local other = used.within[label]
  for at in label:gmatch "()/" do
    local outer = label:sub(1, at - 1)
    if used.count[outer] then other = outer end
    used.within[outer] = label
  end
  if other then
    error(string.format("the labels '%s' and '%s' lie within each other: give one another name",
      label, other), 4)
  end
end

--- The label to use for the n-th child group of that name under this task.
local function unique(label)
  local locals = core.locals()
  local used = locals.labels
  if not used then
    used = { count = {}, within = {} }
    locals.labels = used
  end
  local n = (used.count[label] or 0) + 1
  if n == 1 then check_nesting(used, label) end
  used.count[label] = n
  return n == 1 and escape(label) or escape(label) .. "~" .. n
end

--- What a child needs of its parent: who it works for.
local function start(place, fn, ...)
  core.locals().place = place
  return fn(...)
end

local function collecting(errors, fn, item, i)
  local ok, value = pcall(fn, item, i)
  if ok then return value end
  if M.is_uncatchable(value) then error(value, 0) end
  errors[i] = type(value) == "table" and value or { kind = "bug", message = tostring(value) }
end

local function part_of(key, item, i, seen)
  if not key then return tostring(i) end
  local part = file.label(tostring(key(item, i)))
  if seen[part] then
    error(string.format("two items of a map have the key '%s'", part), 3)
  end
  seen[part] = true
  return part
end

local MAP_OPTIONS = { limit = true, label = true, key = true, errors = true }

local function add_spent(sums, own)
  if not own then return sums end
  sums = sums or { calls = 0, tokens = 0 }
  sums.calls, sums.tokens = sums.calls + own.calls, sums.tokens + own.tokens
  return sums
end

--- Take over what one child leaves: events, replies, spending.
local function inherit(locals, own)
  for _, name in ipairs { "events", "replies" } do
    if own[name] then
      locals[name] = locals[name] or {}
      table.move(own[name], 1, #own[name], #locals[name] + 1, locals[name])
    end
  end
  locals.spent = add_spent(locals.spent, own.spent)
end

--- What ended children leave, until the parent may take it over: the parent's own must not
--- change while others still look at it. Of a child that leaves nothing but spending
--- nothing is kept.
local function new_estate() return { spent = nil, kept = {} } end

local function leave(estate, i, own)
  estate.spent = add_spent(estate.spent, own.spent)
  if own.events or own.replies then
    estate.kept[i] = { events = own.events, replies = own.replies }
  end
end

--- In the order of the children.
local function take_over(locals, estate)
  for _, own in pairs(estate.kept) do inherit(locals, own) end
  locals.spent = add_spent(locals.spent, estate.spent)
end

--- Spawn `fn(i)` for 1 to n, wait, and take over what the children leave.
---@async
local function run_children(n, label_of, limit, results, fn)
  local place, estate = core.locals().place, new_estate()
  local function body(i)
    core.locals().place = place
    local out = fn(i)
    leave(estate, i, core.locals())
    return out
  end
  for i = 1, n do
    core.room(limit)
    if core.stopped() then break end
    core.spawn(label_of(i), results, i, body, i)
  end
  core.join(0)
  take_over(core.locals(), estate)
end

--- See lua/meta/ctx.lua.
---@async
---@param list any[]
---@param fn function
---@param opt skillopt.MapOptions?
---@return any[] results
---@return table<integer, skillopt.Err> errors
function M.map(list, fn, opt)
  opt = options.check(opt, MAP_OPTIONS, "task.map")
  local limit = opt.limit or math.maxinteger
  if math.type(limit) ~= "integer" or limit < 1 then
    error("task.map: limit must be 1 or more", 2)
  end
  if opt.errors and opt.errors ~= "raise" and opt.errors ~= "collect" then
    error("task.map: errors must be 'raise' or 'collect'", 2)
  end
  local parts, seen = {}, {}
  for i = 1, #list do parts[i] = part_of(opt.key, list[i], i, seen) end
  local base = unique(opt.label or "map")
  local results, errors = { n = #list }, {}
  run_children(#list, function(i) return base .. "/" .. parts[i] end, limit, results, function(i)
    if opt.errors == "collect" then return collecting(errors, fn, list[i], i) end
    return fn(list[i], i)
  end)
  return results, errors
end

--- For the library: children 1 to `n` whose slots are `<slot>/<label_of(i)>`, labels escaped
--- and distinct already; asked again they have the same slots. A child is made when its
--- turn comes, and nothing is kept of one that has ended but what it leaves.
---@async
---@param n integer
---@param label_of fun(i: integer): string
---@param fn fun(i: integer)
---@param limit integer
function M.map_flat(n, label_of, fn, limit)
  run_children(n, label_of, limit, nil, fn)
end

--- A child of `map_prefix`: what it ends with is for the parent to look at.
local function run_apart(state, i)
  local child = { locals = core.locals() }
  core.keep_time()
  child.locals.place = state.place
  local ok, err = pcall(state.fn, i)
  child.is_ok, child.err, child.time = ok, err, core.time()
  state.children[i] = child
  if not ok then state.fault = math.min(state.fault, i) end
end

--- Look at what has ended, in order: does the map end there?
local function look(state, ends)
  local child = state.children[state.seen + 1]
  while child and not state.last do
    state.seen = state.seen + 1
    state.children[state.seen] = nil
    leave(state.estate, state.seen, child.locals)
    if not child.is_ok or ends(state.seen) then state.last, state.last_child = state.seen, child end
    child = state.children[state.seen + 1]
  end
  local last = state.last or state.fault
  if last < math.maxinteger then core.cancel_behind(last) end
end

--- Wait for the children, looking whenever one has ended.
---@async
local function look_to_end(state, ends)
  local alive = core.join(math.maxinteger)
  while alive > 0 do
    look(state, ends)
    alive = core.join(alive - 1)
  end
  look(state, ends)
end

--- Take over what the children leave that count; raise what the last of them raised.
local function settle(state)
  local last = state.last_child
  take_over(core.locals(), state.estate)
  if not last or last.is_ok then return end
  core.set_time(last.time)
  error(last.err, 0)
end

--- For the library: as `map_flat`, but perhaps only a prefix counts. `ends(i)` is asked in
--- this task for each i in order, once the children up to i have ended; true ends the map
--- there. What lies behind is cancelled and leaves nothing: no event, reply, spending or
--- error. The clocks of the children are for the caller to look at.
---@async
---@param n integer
---@param label_of fun(i: integer): string
---@param fn fun(i: integer)
---@param limit integer
---@param ends fun(index: integer): boolean
---@return integer count children that count
function M.map_prefix(n, label_of, fn, limit, ends)
  local state = { children = {}, seen = 0, fault = math.maxinteger, place = core.locals().place,
    fn = fn, estate = new_estate() }
  for i = 1, n do
    core.room(limit)
    look(state, ends)
    if state.last or i > state.fault or core.stopped() then break end
    core.spawn(label_of(i), nil, i, run_apart, state, i)
  end
  look_to_end(state, ends)
  settle(state)
  return state.seen
end

--- Run `f(...)` as a child task whose slot is `<slot>/<label>`.
---@async
---@param label string
---@param f function
---@return any ...
function M.scope(label, f, ...)
  local place, out, child = core.locals().place, {}, {}
  core.spawn(unique(label), out, 0, function(...)
    child = core.locals()
    return start(place, f, ...)
  end, ...)
  local ok, err = pcall(core.join, 0)
  inherit(core.locals(), child) -- what was received is received, whatever came of it
  if not ok then error(err, 0) end
  return table.unpack(out, 1, out.n or 0)
end

--- Who the calling task works for (set by the runtime), inherited by its children.
---@return table?
function M.place()
  return core.locals().place
end

--- Set the place of the calling task.
---@param place table
function M.set_place(place)
  core.locals().place = place
end

--- Note an event of this task; the root's are written in program order.
---@param event table
function M.event(event)
  local locals = core.locals()
  locals.events = locals.events or {}
  locals.events[#locals.events + 1] = event
end

--- Take the events noted so far by this task and its ended children.
---@return table[]
function M.take_events()
  local locals = core.locals()
  local events = locals.events or {}
  locals.events = nil
  return events
end

M.slot = core.slot
M.still = core.still
M.time = core.time

return M
