---@meta

--- What calls cost, and leave to make the next one.
---
--- A call is reserved at its worst case before it is sent and settled after. A call that
--- does not fit under a cap waits until others are settled, first in program order first;
--- it is refused when there is none left to wait for. Sums do not depend on their order.
---@class rt.ledger
local ledger = {}

---@class rt.ledger.caps
---@field cost number? US dollars; absent or negative: no cap
---@field tokens integer?
---@field calls integer?

---@param caps rt.ledger.caps
---@return rt.Ledger
function ledger.new(caps) end

---@class rt.Ledger
local Ledger = {}

---@class rt.ledger.price US dollars for a million tokens
---@field input number
---@field output number
---@field cached_input number? default: as input

--- Set the price of a model.
---@param model string
---@param price rt.ledger.price
---@return true? ok
---@return skillopt.Err? err
function Ledger:price(model, price) end

--- May the model be called at all? Not without a price when the cost is capped.
---@param model string
---@return true? ok
---@return skillopt.Err? err kind "budget"
function Ledger:check(model) end

--- Cost of a call, rounded up to a billionth of a dollar; nil for a model without a price.
---@param model string
---@param usage rt.model.usage
---@return number? dollars
function Ledger:cost(model, usage) end

---@class rt.ledger.call
---@field role string
---@field stage string
---@field model string

--- Reserve a call at its worst case.
---@async
---@param call rt.ledger.call
---@param worst rt.model.usage
---@return rt.ledger.Intent? intent
---@return skillopt.Err? err kind "budget": used up, or no price
function Ledger:reserve(call, worst) end

--- Count a call of an earlier life of the run; never refused.
---@param call rt.ledger.call
---@param usage rt.model.usage
---@param options {lost: boolean?}? lost: its reply is not on file, usage is the worst case
function Ledger:add(call, usage, options) end

---@class rt.ledger.sum
---@field cost number US dollars
---@field tokens integer
---@field calls integer

--- What was settled, and what is reserved now.
---@return rt.ledger.sum spent
---@return rt.ledger.sum reserved
function Ledger:spent() end

--- Totals by role and stage, in that order.
---@return {role: string, stage: string, calls: integer, lost: integer, estimated: integer, unpriced: integer, prompt_tokens: integer, completion_tokens: integer, cost: number}[]
function Ledger:rows() end

--- A reserved call. Closed or collected without a word it counts at its worst case.
---@class rt.ledger.Intent
local Intent = {}

--- The call has ended; without usage (cut, timed out) its worst case counts. Twice is fine.
---@param usage rt.model.usage?
function Intent:settle(usage) end

--- The call cost nothing: it was not sent, or refused before the model saw it.
function Intent:release() end

return ledger
