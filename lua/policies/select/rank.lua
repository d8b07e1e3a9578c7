--- When there are more edits than the rate allows, ask which matter most.
---
--- No call is made when all fit, or when the rate is 0. A reply that stays unusable takes
--- the first edits, and the patch says so. Edits left out are listed with their fate.
local item_of = require "skillopt.item"
local json = require "rt.json"
local patch = require "skillopt.patch"
local policy = require "skillopt.policy"

local MAX_TOKENS <const> = 16384

--- Places (1-based) the reply names, in its order: whole numbers in range, each once.
local function places(reply, n, rate)
  local out, seen = {}, {}
  local list = json.is_array(reply.selected_indices) and reply.selected_indices or {}
  for _, index in ipairs(list) do
    local is_place = math.type(index) == "integer" and index >= 0 and index < n
    if is_place and not seen[index] and #out < rate then
      seen[index] = true
      out[#out + 1] = index + 1
    end
  end
  return out
end

local function check(n)
  return function(reply)
    if type(reply) == "table" and #places(reply, n, n) > 0 then return true end
    local words = '"selected_indices" must list whole numbers from 0 to %d'
    return false, words:format(n - 1)
  end
end

--- The patch with the items at `kept`; the others are dropped.
local function choose(whole, kept, rate, note)
  local out = patch.empty(table.concat({ whole.reasoning, note }, "\n"), patch.kind(whole))
  local chosen, dropped = {}, json.array {}
  local items, selected = patch.items(whole), patch.items(out)
  for i, place in ipairs(kept) do
    chosen[place], selected[i] = true, items[place]
  end
  for place, item in ipairs(items) do
    if not chosen[place] then
      dropped[#dropped + 1] =
        patch.drop(place, item, "over_budget", ("the rate is %d"):format(rate))
    end
  end
  out.dropped, out.notes = dropped, whole.notes
  return out
end

local function first(rate)
  local out = {}
  for place = 1, rate do out[place] = place end
  return out
end

return policy.define {
  slot = "select",
  run = function(whole, rate, ctx)
    local n = #patch.items(whole)
    if n <= rate then return whole end
    if rate == 0 then return choose(whole, {}, 0, "The rate is 0: none was selected.") end
    local reply, err = ctx:ask {
      prompt = "ranking" .. item_of.kinds[patch.kind(whole)].prompt,
      inputs = {
        skill = ctx.skill, meta = ctx.step.meta, size = ctx.step.size,
        max_size = ctx.step.max_size,
        pool = patch.pool(whole), count = n, last = n - 1, rate = rate,
      },
      stage = "ranking", want = { "selected_indices" },
      max_tokens = MAX_TOKENS, check = check(n),
    }
    local kept = reply and places(reply, n, rate) or {}
    if #kept == 0 then
      local why = err and err.kind or "parse"
      local note = ("No usable ranking (%s): the first %d were taken."):format(why, rate)
      return choose(whole, first(rate), rate, note)
    end
    local out = choose(whole, kept, rate, ("Ranked: %d of %d selected."):format(#kept, n))
    out.ranking_details = reply
    return out
  end,
}
