--- Effects: what a run cannot recompute. Each is answered by the journal when its
--- answer is there, by the world otherwise; the answer is stored before the program
--- sees it, so a run that is started again does the same.
---
--- Within a task an effect is its digest and how often that digest was asked there. A
--- parent's answer is taken when slot, digest and count are equal.
local core = require "rt.task"
local flow = require "rt.flow"
local json = require "rt.json"
local raw = require "rt.raw"
local text_of = require "rt.text"

local M = {}

---@class skillopt.Effects
---@field journal table the run's
---@field parents table[] journals of the runs this one is a fork of, the nearest first
---@field is_replay boolean nothing is asked of the world
---@field disorder boolean stored answers are delivered in another order
---@field fault skillopt.Err? why the run is being stopped
---@field counts {asked: integer, stored: integer, copied: integer}

--- The effects of a run.
---@param options {journal: table, parents: table[]?, is_replay: boolean?, disorder: integer?, scrub: (fun(text: string): string)?}
---@return skillopt.Effects
function M.new(options)
  if options.disorder then flow.disorder(options.disorder) end
  return {
    journal = options.journal,
    parents = options.parents or {},
    is_replay = options.is_replay or false,
    disorder = options.disorder ~= nil,
    scrub = options.scrub or function(text) return text end,
    counts = { asked = 0, stored = 0, copied = 0 },
  }
end

--- Seconds between two looks at whether all that is on the way has come in.
local LOOK_S <const> = 0.05

local function fault_of(journal)
  local state, message, hint = journal:state()
  if state == "ok" then return nil end
  return { kind = "io", fatal = true, retry = false, message = message,
    hint = (hint ~= "" and hint .. "; " or "") .. "what was answered is on file" }
end

--- Nothing new is asked, what is on the way comes in, then the run stops with this error.
--- No item's state and no branch of the user's code.
---@async
---@param effects skillopt.Effects
---@param err skillopt.Err
function M.stop(effects, err)
  err.fatal = true
  effects.fault = effects.fault or err
  while flow.flights() > 0 do flow.sleep(LOOK_S) end
  error(effects.fault, 0)
end

--- Stop when the journal takes no more or has its last room, or when something else that
--- the run needs to go on has failed.
local function stop_at_fault(effects)
  local err = effects.fault or fault_of(effects.journal)
  if err then M.stop(effects, err) end
end

-- A call on the way: counted from sending to storing, so that an interrupt waits for
-- what was paid for and for nothing else.
local Plane = {}
Plane.__index = Plane

--- Before it is sent; nothing new is, once the run has to stop.
function Plane:start()
  if not self.is_up then
    stop_at_fault(self.effects)
    flow.flight(1)
  end
  self.is_up = true
end

--- Keep a place in the limit until the answer is stored.
function Plane:keep(entry, outcome)
  self.entry, self.outcome = entry, outcome
end

--- After it is stored, or given up; twice is fine.
function Plane:stop()
  if self.entry then self.entry:leave(self.outcome) end
  self.entry = nil
  if self.is_up then flow.flight(-1) end
  self.is_up = false
end

--- At the end of the effect.
function Plane:__close()
  core.effect(-1)
  self:stop()
end

--- Digest and count within the calling task, kept under the digest.
local function key_of(digest)
  local locals = core.locals()
  local n = (locals[digest] or 0) + 1
  locals[digest] = n
  return n == 1 and digest or digest .. "#" .. n, n
end

local function damaged(slot, err)
  return { kind = "io", message = string.format("the stored answer of %s cannot be read: %s",
    slot, err.message), hint = "restore the run folder from a copy" }
end

--- The number of a queued row, or the journal's error raised.
local function queued(n, err)
  if not n then error(err, 0) end
  return n
end

local function put_bodies(effects, bodies)
  for _, body in ipairs(bodies) do
    if not effects.journal:find("body", "", body.key) then
      queued(effects.journal:put("body", "", body.key, effects.scrub(body.bytes)))
    end
  end
end

--- The bodies a parent's answer stands on, before the answer itself.
local function copy_bodies(effects, parent, n)
  local bytes = parent:read(n)
  local answer = bytes and json.decode(bytes)
  for _, key in ipairs(answer and answer.bodies or {}) do
    local body = not effects.journal:find("body", "", key) and parent:find("body", "", key)
    if body then queued(effects.journal:copy(parent, body)) end
  end
end

--- The first parent that has the answer, and its row there.
local function in_parents(effects, slot, key)
  for _, parent in ipairs(effects.parents) do
    local n = parent:find("effect", slot, key)
    if n then return parent, n end
  end
end

local function from_journal(effects, slot, key, bodies, of)
  local n = effects.journal:find("effect", slot, key)
  if n then
    effects.counts.stored = effects.counts.stored + 1
    return n
  end
  local parent
  parent, n = in_parents(effects, slot, key)
  if not parent then return nil end
  effects.counts.copied = effects.counts.copied + 1
  if bodies then put_bodies(effects, bodies(of)) else copy_bodies(effects, parent, n) end
  return queued(effects.journal:copy(parent, n))
end

local function read(effects, n, slot)
  local answer, err = effects.journal:decode(n)
  if not answer then error(damaged(slot, err), 0) end
  return answer
end

--- Add to what this task has received; `ctx.spent` sums over the task and those above.
local function receive(answer)
  core.set_time(answer.time)
  local spent = M.spent_of(core.locals())
  local usage = answer.usage
  spent.calls = spent.calls + 1
  if usage then
    spent.tokens = spent.tokens + (usage.prompt_tokens or 0) + (usage.completion_tokens or 0)
  end
  return answer.value
end

--- The task's own sum `{calls, tokens}`, made on demand.
---@param locals table
---@return {calls: integer, tokens: integer}
function M.spent_of(locals)
  local spent = locals.spent
  if not spent then
    spent = { calls = 0, tokens = 0 }
    locals.spent = spent
  end
  return spent
end

--- Sum over the calling task and those above it.
---@return {calls: integer, tokens: integer}
function M.spent()
  local sum = { calls = 0, tokens = 0 }
  local up, locals = 0, core.locals()
  while locals do
    if locals.spent then
      sum.calls = sum.calls + locals.spent.calls
      sum.tokens = sum.tokens + locals.spent.tokens
    end
    up = up + 1
    locals = core.parent_locals(up)
  end
  return sum
end

--- Make the texts of an answer valid UTF-8 without secrets, in place: before JSON writes
--- them, since it spells some characters of a secret differently.
local function clean(effects, value)
  if type(value) == "string" then return effects.scrub(text_of.fix(value)) end
  if type(value) ~= "table" then return value end
  for k, v in raw.next, value do value[k] = clean(effects, v) end
  return value
end

local function keys_of(bodies)
  local keys = json.array {}
  for i, body in ipairs(bodies) do keys[i] = body.key end
  return keys
end

local function store(effects, slot, key, answer, bodies)
  put_bodies(effects, bodies or {})
  put_bodies(effects, answer.bodies or {})
  answer.bodies = answer.bodies and keys_of(answer.bodies)
  local bytes = json.canonical(clean(effects, answer))
  local ok, err = effects.journal:store("effect", slot, key, bytes)
  if not ok then
    err.fatal = true
    error(err, 0)
  end
  return json.decode(bytes)
end

--- Perform an effect. `ask(plane, count, of)` waits and returns `{value, usage?}` (plain
--- JSON data), with `bodies` that the answer stands on where there are any, and is called
--- only when no answer is stored; what it raises is stored nowhere.
--- It calls plane:start() when it sends, plane:stop() when it has to send again, and hands
--- the place its answer has in a limit to plane:keep(). `plane.slot` and `plane.key` name
--- the effect in the journal.
---@async
---@param effects skillopt.Effects
---@param digest string of the logical request
---@param ask fun(plane: table, count: integer, of: any): table
---@param bodies (fun(of: any): {key: string, bytes: string}[])? message bodies to keep beside
---  the answer; called when it is new
---@param of any what those two are about
---@return any value
function M.perform(effects, digest, ask, bodies, of)
  local slot = core.slot()
  local key, count = key_of(digest)
  local n = from_journal(effects, slot, key, bodies, of)
  if n then
    if effects.disorder then flow.defer() end
    return receive(read(effects, n, slot))
  end
  if effects.is_replay then
    error({ kind = "io", at_end = true, retry = false, message = string.format(
      "the journal has no answer for %s (%s)", slot, key:sub(1, 12)),
      hint = "the program asks for something that the run did not ask" }, 0)
  end
  effects.counts.asked = effects.counts.asked + 1
  local plane <close> = setmetatable({ effects = effects, slot = slot, key = key }, Plane)
  core.effect(1)
  local answer = ask(plane, count, of)
  answer.time = math.floor(flow.wall() * 1000) / 1000
  return receive(store(effects, slot, key, answer, bodies and bodies(of)))
end

return M
