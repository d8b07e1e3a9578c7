--- The optimizer decides, from what the step has shown, how many of the proposals are
--- applied. A reply that stays unusable applies none, and the decision says so.
local item_of = require "skillopt.item"
local patch = require "skillopt.patch"
local policy = require "skillopt.policy"
local json = require "rt.json"

local MAX_TOKENS <const> = 16384

--- The number that a reply means: a whole number, also as text; below 0 is 0. nil when
--- there is none.
local function number_in(value)
  if type(value) == "string" then value = tonumber(value:match "[-+]?%d+") end
  local whole = math.type(value) and math.tointeger(value)
  return whole and math.max(whole, 0)
end

local function has_number(reply)
  return type(reply) == "table" and number_in(reply.learning_rate) ~= nil,
    '"learning_rate" must be a whole number of at least 0'
end

local function text_or_empty(value) return type(value) == "string" and value or "" end

--- The decision on record.
local function decision_of(reply, err, available)
  local raw = reply and number_in(reply.learning_rate) or 0
  local chosen = math.min(raw, available)
  return {
    learning_rate = chosen, raw_learning_rate = raw, available_update_items = available,
    clamped = chosen ~= raw, fallback = reply == nil,
    reasoning = reply and text_or_empty(reply.reasoning) or "",
    confidence = reply and text_or_empty(reply.confidence) or "",
    risk_notes = reply and item_of.texts(reply.risk_notes) or json.array {},
    error = err and err.kind,
  }
end

local function inputs_of(merged, ctx)
  local seen, items = ctx.step.seen, patch.items(merged)
  return {
    skill = ctx.skill, pool = patch.pool(merged), count = #items,
    kind = item_of.kinds[patch.kind(merged)].word, n = seen.n,
    hard = ("%.6f"):format(seen.hard), soft = ("%.6f"):format(seen.soft),
    memory = ctx.step.memory, meta = ctx.step.meta,
  }
end

return policy.define {
  slot = "rate",
  waits = true,
  control = "autonomous",
  run = function(merged, ctx)
    local available = #patch.items(merged)
    if available == 0 then return 0 end
    local reply, err = ctx:ask {
      prompt = "lr_autonomous", inputs = inputs_of(merged, ctx), stage = "lr_autonomous",
      want = { "learning_rate" }, max_tokens = MAX_TOKENS, check = has_number,
    }
    local decision = decision_of(reply, err, available)
    ctx:record("lr_decision", decision)
    return decision.learning_rate, decision
  end,
}
