--- An endpoint is one model at one address for one role: its parameters, its limits,
--- its quirks, and how a request gets there and back.
---
--- What is learnt while calling (a parameter the server does not take, the window of
--- the limiter) belongs to the endpoint and is the same for both roles when address,
--- key and model are.
local core = require "rt.task"
local digest = require "rt.digest"
local flow = require "rt.flow"
local limit = require "rt.limit"
local spending = require "skillopt.spending"

local M = {}

local Endpoint = {}
Endpoint.__index = Endpoint

-- Answers although they are errors: stored, final.
local ANSWERS = { refused = true, filtered = true, too_long = true, truncated = true }

--- A new endpoint.
--- Weather at the first call stops the run, for then nobody may be there at all; not so in
--- a run that was started again and has answers (`has_answers`): the calls that are left
--- may be just those that fail.
---@param options {role: string, backend: table, model: string, settings: table, log: fun(event: table), shared: table, has_answers: boolean?, spending: table?}
---@return table
function M.new(options)
  local backend, settings = options.backend, options.settings
  local address = table.concat({ backend.name, settings.base_url or "", settings.api_key or "",
    options.model }, "\n")
  local known = options.shared[address]
  if not known then
    known = {
      limit = limit.new { max = settings.max_in_flight or 64, rpm = settings.rpm,
        tpm = settings.tpm },
      quirks = backend.quirks and backend.quirks(settings, options.model) or {},
      changed = {}, -- parameters that are left out: the how manieth change that was
      n_changes = 0,
      answered = false,
    }
    options.shared[address] = known
  end
  return setmetatable({
    role = options.role, backend = backend, provider = backend.name, model = options.model,
    settings = settings, log = options.log, known = known,
    has_answers = options.has_answers or false, spending = options.spending or spending.none,
    max_tokens = settings.max_tokens or 16384,
  }, Endpoint)
end

--- How its limiter stands, for display.
---@return rt.limit.view
function Endpoint:view()
  return self.known.limit:view()
end

--- The parameters of a request, typed by the schema; part of its identity.
---@param wanted {max_tokens: integer, reasoning_effort: string?}
---@return table
function Endpoint:params(wanted)
  local s = self.settings
  local most, effort = wanted.max_tokens, wanted.reasoning_effort or s.reasoning_effort
  if s.max_tokens_cap then most = math.min(most, s.max_tokens_cap) end
  return {
    max_tokens = most,
    temperature = s.temperature,
    reasoning_effort = effort ~= "none" and effort or nil,
    thinking = s.thinking,
  }
end

--- The seed that goes to a model which takes one: a number of the place, not of time.
local function slot_seed(count)
  return tonumber(digest.sha256(core.slot() .. "\n" .. count):sub(1, 7), 16)
end

--- One attempt. Reply, or an error.
---@async
local function attempt(self, request, deadline_s)
  local known, backend = self.known, self.backend
  local protocol = backend.protocol
  local body, tokens = protocol.build(request, known.quirks)
  if not body then return nil, tokens end
  local answer, err
  if backend.handle then
    answer, err = backend.handle(body, self.settings)
  else
    answer, err = backend.send(body, self.settings, deadline_s)
  end
  if not answer then return nil, err end
  return protocol.parse(answer.status, answer.headers, answer.body, { prompt_tokens = tokens })
end

-- What the limiter learns from how a call ended.
local FAULTS = { network = "fault", timeout = "fault", server = "fault", parse = "fault",
  rate_limit = "rate_limited" }

-- Tries are counted by class, as rt.limit has them.
local CLASSES = { network = "transport", timeout = "transport", server = "transport",
  process = "transport", sandbox = "transport" }

local function outcome_of(reply, err)
  if reply then
    return { outcome = "ok", limits = reply.limits,
      tokens = (reply.usage.prompt_tokens or 0) + (reply.usage.completion_tokens or 0) }
  end
  local outcome = FAULTS[err.kind] or (ANSWERS[err.kind] and "ok") or "neutral"
  return { outcome = outcome, retry_after_s = err.retry_after_s, limits = err.limits }
end

-- A place in the limit, given back at the end unless it was handed on.
local Place = {}
Place.__index = Place

--- An error or a cancelled call says nothing about the server.
function Place:__close()
  if self.entry then self.entry:leave { outcome = "neutral" } end
end

--- Give it back, with how the call ended (rt.limit).
---@param outcome table
function Place:leave(outcome)
  self.entry:leave(outcome)
  self.entry = nil
end

--- The wait for a place and for the budget: it depends on what else is asked, so it is not
--- counted by the item's deadline.
local Line = {}
Line.__index = Line

--- The call's turn has come; twice is fine.
function Line:leave()
  if self.is_left then return end
  self.is_left = true
  core.queue(-1)
end

Line.__close = Line.leave

local function stand_in_line()
  core.queue(1)
  return setmetatable({}, Line)
end

--- One attempt with a place in the limit. Nothing new is sent once an interrupt came, or by
--- a task that was cancelled while its intent was put on file. An answer keeps its place
--- until it is stored, so that a crash costs no more calls than the limit has places.
---@async
local function send(self, request, options)
  local line <close> = stand_in_line()
  local place <close> = setmetatable({ entry = self.known.limit:enter() }, Place)
  local call = { role = self.role, stage = options.stage, model = self.model }
  local leave <close> = self.spending:leave(call, request, options.plane)
  line:leave()
  if flow.is_stopping() or core.stopped() then
    leave:unused()
    place:leave { outcome = "unused" }
    flow.hold()
  end
  options.plane:start()
  local reply, err = attempt(self, request, options.timeout_s or self.settings.timeout_s)
  leave:ended(reply, err)
  local outcome = outcome_of(reply, err)
  if outcome.outcome == "ok" then
    options.plane:keep(place.entry, outcome)
    place.entry = nil
  else
    place:leave(outcome)
  end
  return reply, err
end

--- A 400 that names a parameter: leave that parameter out from now on, once. A request
--- that was on its way when another one learnt it (`n_changes` were known) goes again.
local function adapt(self, err, n_changes)
  if err.kind ~= "bad_request" or not err.param then return false end
  local known = self.known
  if known.changed[err.param] then return known.changed[err.param] > n_changes end
  if not self.backend.protocol.adapt(known.quirks, err) then return false end
  known.n_changes = known.n_changes + 1
  known.changed[err.param] = known.n_changes
  self.log { event = "quirk", model = self.model, param = err.param, message = err.message }
  return true
end

--- Whose key was sent, or where one is looked for; nil when nothing is known of it.
local function key_words(s)
  if s.api_key then return s.key_from and "the key sent is that of " .. s.key_from end
  return s.key_variable
    and string.format("no key was sent: set %s in the environment or in .env", s.key_variable)
end

--- What to do about it: the error's own words, or who was asked; after a refused login also
--- with which key.
local function hint_of(self, err)
  local s = self.settings
  local words = err.hint or string.format("%s, model %s, as %s", s.base_url or self.provider,
    self.model, self.role)
  local key = err.kind == "auth" and key_words(s)
  return key and words .. "; " .. key or words
end

local function give_up(self, err)
  err.weather = err.retry
  err.fatal = not (self.known.answered or err.retry and self.has_answers) or nil
  err.hint = hint_of(self, err)
  error(err, 0)
end

local function stored_form(reply)
  return {
    value = { text = reply.text, reasoning = reply.reasoning, finish = reply.finish,
      outcome = reply.outcome, tool_calls = reply.tool_calls, usage = reply.usage,
      model = reply.model },
    usage = reply.usage,
  }
end

--- Nothing goes to a server that wants a login when there is none.
local function check_login(self)
  local missing = self.settings.missing_login
  if not missing then return end
  error({ kind = missing.kind, message = missing.message, hint = missing.hint, retry = false,
    fatal = true }, 0)
end

--- Ask until there is an answer or no try is left. Weather raises.
---@async
---@param request table the logical request
---@param options {stage: string?, timeout_s: number?, plane: table, count: integer}
---@return table answer `{value, usage}`
function Endpoint:ask(request, options)
  check_login(self)
  local started, tries = flow.now(), {}
  request.seed = self.backend.sends_seed and slot_seed(options.count) or nil
  while true do
    local n_changes = self.known.n_changes
    local reply, err = send(self, request, options)
    if reply then
      self.known.answered = true
      return stored_form(reply)
    end
    if ANSWERS[err.kind] then
      self.known.answered = true
      return { value = { error = { kind = err.kind, message = err.message } }, usage = err.usage }
    end
    -- Nothing is on the way: who ends the run waits for what is, perhaps in front of this
    -- task at the limit.
    options.plane:stop()
    if not adapt(self, err, n_changes) then
      local class = CLASSES[err.kind] or err.kind
      tries[class] = (tries[class] or 0) + 1
      local delay = limit.retry_delay { kind = err.kind, attempt = tries[class], key = core.slot(),
        retry_after_s = err.retry_after_s, elapsed_s = flow.now() - started,
        max_attempts = self.settings.max_attempts }
      if not delay then give_up(self, err) end
      self.log { event = "retry", slot = core.slot(), stage = options.stage, attempt = tries[class],
        kind = err.kind, message = err.message, delay_s = delay }
      flow.sleep(delay)
    end
  end
end

return M
