--- What a run may spend, and what it has spent: one cap over both roles and all its lives.
---
--- Under a cap an intent (who, which model, the worst case) is on file before a request
--- goes out, so that a run which was killed knows what may have been paid. An intent whose
--- answer is on file counts with that answer's usage; one without counts at its worst case.
--- A cap fails closed: with a cap in money every model needs a price.
local json = require "rt.json"
local ledger = require "rt.ledger"
local raise = require "skillopt.raise"
local sessions = require "skillopt.run.sessions"

local M = {}

local Spending = {}
Spending.__index = Spending

-- Upper bounds, for the worst case of a request: a token has one byte at least; what the
-- protocol adds to a message and to a request; an image at the finest detail.
local TOKENS_A_MESSAGE <const> = 8
local TOKENS_A_REQUEST <const> = 64
local TOKENS_AN_IMAGE <const> = 8000

-- Errors after which nothing was paid: the server refused before it asked the model.
local UNPAID <const> = { rate_limit = true, auth = true, bad_request = true, too_long = true }

--------------------------------------------------------------------------- prices

--- One entry of `spend.prices`, "MODEL=INPUT/OUTPUT[/CACHED]" in dollars for a million
--- tokens: model and price, or nil. A model's name may hold `=` and `/`.
---@param text string
---@return string? model
---@return rt.ledger.price? price
function M.price(text)
  local model, numbers = text:match "^(.+)=([%d%./]+)$"
  local input, output, cached = (numbers or ""):match "^([%d.]+)/([%d.]+)/?([%d.]*)$"
  local price = { input = tonumber(input), output = tonumber(output),
    cached_input = tonumber(cached) }
  if not price.input or not price.output or cached ~= "" and not price.cached_input then
    return nil
  end
  return model, price
end

local function set_price(book, model, price)
  local ok, err = book:price(model, price)
  if not ok then error(err, 0) end
end

--- Models that cost nothing have a price too, unless one of their name is paid.
local function set_prices(book, entries, models)
  local is_paid = {}
  for _, name in ipairs(models.paid) do is_paid[name] = true end
  for _, name in ipairs(models.free) do
    if not is_paid[name] then set_price(book, name, { input = 0, output = 0 }) end
  end
  local seen = {}
  for _, text in ipairs(entries) do
    local model, price = M.price(text)
    if model and seen[model] then
      raise("config", string.format("spend.prices: %s has two prices", model), "leave one of them")
    end
    if model then seen[model] = true
    else
      raise("config", string.format("spend.prices: %q is no price", text),
        "write MODEL=INPUT/OUTPUT or MODEL=INPUT/OUTPUT/CACHED, in dollars for a million tokens")
    end
    set_price(book, model, price)
  end
end

--- The caps of a configuration.
local function caps_of(config)
  local caps, is_capped = {}, false
  for _, name in ipairs { "cost", "tokens", "calls" } do
    local value = config:get("spend." .. name)
    if math.type(value) then caps[name], is_capped = value, true end
  end
  return caps, is_capped
end

--- A ledger with the caps and prices of a configuration; raises when a price cannot be
--- read, or when money is capped and a model has none.
local function opened(config, models)
  local caps, is_capped = caps_of(config)
  local book = ledger.new(caps)
  set_prices(book, config:get "spend.prices" or {}, models)
  for _, model in ipairs(is_capped and models.paid or {}) do
    local ok, err = book:check(model)
    if not ok then error(err, 0) end
  end
  return book, caps, is_capped
end

--- A cost that lacks a model would be no cost: it is known when all have a price.
local function check_prices(self, models)
  for _, model in ipairs(models) do
    if not self.ledger:cost(model, {}) then self.unpriced[#self.unpriced + 1] = model end
  end
  local is_asked = self.caps.cost ~= nil or #(self.run.config:get "spend.prices" or {}) > 0
  self.has_prices = is_asked and #self.unpriced == 0
end

--- Raise what is wrong with the prices and caps, before anything is written or sent.
---@param config skillopt.Config
---@param models {paid: string[], free: string[]}
function M.check(config, models)
  opened(config, models)
end

------------------------------------------------------------------------ earlier lives

--- The newest state of each intent of a journal, by slot and key: how many requests went
--- out, how many of them cost nothing.
local function intents_of(journal)
  local found, order = {}, {}
  local n = journal:next("intent", 0)
  while n do
    local row = journal:row(n)
    local name = row.slot .. "\n" .. row.key
    if not found[name] then
      found[name] = { slot = row.slot, key = row.key, sent = 0 }
      order[#order + 1] = found[name]
    end
    local data = json.decode(row.data)
    local intent = found[name]
    if data.released then intent.sent = intent.sent - 1
    else intent.sent, intent.call, intent.worst = intent.sent + 1, data.call, data.worst end
    n = journal:next("intent", n)
  end
  return order, found
end

local function answer_at(journal, n)
  local bytes, err = journal:read(n)
  if not bytes then error(err, 0) end
  return json.decode(bytes)
end

--- Requests that went out: the last one has the answer, when there is one; the others, and
--- those without, count at their worst.
local function count_intent(self, journal, intent)
  local n = journal:find("effect", intent.slot, intent.key)
  for i = 1, intent.sent do
    local usage = n and i == intent.sent and answer_at(journal, n).usage
    self.ledger:add(intent.call, usage or intent.worst, { lost = not usage })
  end
end

local function is_call(answer)
  return answer.usage ~= nil or type(answer.value) == "table" and answer.value.error ~= nil
end

--- The answers without an intent: of a time without a cap, unless they were taken over from
--- the run this one is a fork of. Those are older than the fork, whose parent may be gone.
local function count_others(self, journal, intents)
  local is_fork = journal:find("open", "", "parent") ~= nil
  local began = is_fork and sessions.began(journal) or 0
  local n = journal:next("effect", 0)
  while n do
    local row = journal:row(n)
    if not intents[row.slot .. "\n" .. row.key] then
      local answer = json.decode(row.data)
      if is_call(answer) and answer.time >= began then
        self.ledger:add({ role = "earlier", stage = "earlier", model = self.dearest },
          answer.usage or {})
      end
    end
    n = journal:next("effect", n)
  end
end

--- The model whose calls cost most, at which calls count whose model is not known.
local function dearest_of(self, models)
  local one = { prompt_tokens = 1000, completion_tokens = 1000 }
  local best, most = models[1], -1
  for _, model in ipairs(models) do
    local cost = self.ledger:cost(model, one) or 0
    if cost > most then best, most = model, cost end
  end
  return best
end

----------------------------------------------------------------------------- one call

--- The worst that a request can cost, in tokens.
---@param request table the logical request
---@return rt.model.usage
function M.worst(request)
  local tokens = TOKENS_A_REQUEST + (request.tools and #json.encode(request.tools) or 0)
    + (type(request.format) == "table" and #json.encode(request.format) or 0)
  for _, message in ipairs(request.messages or {}) do
    tokens = tokens + TOKENS_A_MESSAGE
      + (message.tool_calls and #json.encode(message.tool_calls) or 0)
    for _, part in ipairs(message.content) do
      tokens = tokens + (part.image and TOKENS_AN_IMAGE or #part.text)
    end
  end
  return { prompt_tokens = tokens, completion_tokens = request.params.max_tokens }
end

--- Leave to send a request; nothing is asked of a run without a cap. The place is closed at
--- its worst case unless one of its methods was called.
local Leave = {}
Leave.__index = Leave

--- How the request ended: usage where it is known.
---@param reply table?
---@param err table?
function Leave:ended(reply, err)
  local usage = (reply or err or {}).usage
  if not usage and err and (UNPAID[err.kind] or err.is_unsent) then return self:unused() end
  self.intent:settle(usage)
end

--- Nothing was paid. Raises when that cannot be put on file.
function Leave:unused()
  self.intent:release()
  local ok, err = self.spending.journal:put("intent", self.slot, self.key,
    json.canonical { released = true })
  if not ok then error(err, 0) end
end

--- A request of which nobody says how it ended: its worst case counts.
function Leave:__close() self.intent:settle() end

local function nothing() end

local NO_LEAVE <const> = setmetatable({ ended = nothing, unused = nothing },
  { __close = nothing })

--- For calls outside of a run: nothing is counted and nothing refused.
M.none = { leave = function() return NO_LEAVE end }

--- Reserve and put on file what may be spent. Raises when the budget is used up.
---@async
---@param call rt.ledger.call
---@param request table
---@param place {slot: string, key: string} of the effect
---@return table leave
function Spending:leave(call, request, place)
  if not self.is_capped then return NO_LEAVE end
  local worst = M.worst(request)
  local intent, err = self.ledger:reserve(call, worst)
  if not intent then error(err, 0) end
  local leave = setmetatable({ spending = self, intent = intent, slot = place.slot,
    key = place.key }, Leave)
  local ok, why = self.journal:store("intent", place.slot, place.key,
    json.canonical { call = call, worst = worst })
  if not ok then
    intent:release()
    error(why, 0)
  end
  return leave
end

------------------------------------------------------------------------------ the run

--- Without a cap nobody counts as calls are made: what the answers cost that the program
--- received, those of the journal like new ones.
local function of_answers(self)
  local run = self.run
  local all = run.token_summary()._total
  local total = { tokens = all.total_tokens, calls = all.calls, lost = 0,
    cost = self.has_prices and 0.0 or nil }
  for model, usage in pairs(self.has_prices and run.model_usage() or {}) do
    total.cost = total.cost + (self.ledger:cost(model, usage) or 0)
  end
  return total
end

--- What all lives of the run have spent so far.
---@return {cost: number?, tokens: integer, calls: integer, lost: integer}
function Spending:total()
  if not self.is_capped then return of_answers(self) end
  local spent, lost = self.ledger:spent(), 0
  for _, row in ipairs(self.ledger:rows()) do lost = lost + row.lost end
  return { cost = self.has_prices and spent.cost or nil, tokens = spent.tokens,
    calls = spent.calls, lost = lost }
end

local function of(value, cap, form)
  return form:format(value) .. (cap and " of " .. form:format(cap) or "")
end

--- The total in a line, with the caps.
---@return string
function Spending:words()
  local total, caps = self:total(), self.caps
  local parts = { of(total.calls, caps.calls, "%d") .. " calls",
    of(total.tokens, caps.tokens, "%d") .. " tokens" }
  if total.cost then parts[3] = of(total.cost, caps.cost, "$%.4f") end
  local words = table.concat(parts, ", ")
  if total.lost == 0 then return words end
  return string.format("%s (%d %s lost and counted at the worst case)", words, total.lost,
    total.lost == 1 and "reply was" or "replies were")
end

--- Why prices were given and no cost is shown, or nil.
---@return string?
function Spending:remark()
  if self.has_prices or #(self.run.config:get "spend.prices" or {}) == 0 then return nil end
  return string.format("spend.prices has no price for %s: what the run costs is not shown",
    table.concat(self.unpriced, ", "))
end

--- The ledger of a run: its caps and prices from the configuration, what was spent before
--- from its journal.
---@param run table attached, with config, journal and effects
---@param models {paid: string[], free: string[]} that may be called
---@return table
function M.new(run, models)
  local book, caps, is_capped = opened(run.config, models)
  local self = setmetatable({ ledger = book, caps = caps, is_capped = is_capped,
    journal = run.journal, run = run, unpriced = {} }, Spending)
  check_prices(self, models.paid)
  if not is_capped or run.is_replay then return self end
  self.dearest = dearest_of(self, #models.paid > 0 and models.paid or models.free)
  local order, found = intents_of(run.journal)
  for _, intent in ipairs(order) do count_intent(self, run.journal, intent) end
  count_others(self, run.journal, found)
  return self
end

return M
