---@meta

--- Places at an endpoint, and when to try again.
---
--- The first call goes alone until one succeeded, then the window opens. It shrinks when
--- the server is busy or fails often and grows again with successes, up to `max`.
--- Retry-After pauses all; what headers say is left is kept to, for ten minutes at most: then
--- one call asks again. A free place goes to the task that is first in program order.
---@class rt.limit
local limit = {}

---@class rt.limit.options
---@field max integer? most calls at once, 1 to 1000000, default 64
---@field rpm number? requests a minute, 0 or absent: no such limit
---@field tpm number? tokens a minute, 0 or absent: no such limit

---@param options rt.limit.options
---@return rt.Limit
function limit.new(options) end

---@class rt.limit.try
---@field kind skillopt.ErrKind of the error that ended the last try
---@field attempt integer? tries so far that ended in a kind of the same class, default 1
---@field key string? names the call (its slot): delays are spread by it
---@field elapsed_s number? since the first try began
---@field retry_after_s number? what the server asked for, kept to the second
---@field max_attempts integer? tries of each class, the first included; default: 6 for
---       network, timeout, server, process and sandbox, 12 for rate_limit, 3 for parse

--- Seconds to wait before the next try; nil: give up, for there is no try left, the kind is
--- never tried again, or the delay would end later than half an hour after the first try.
---@param try rt.limit.try
---@return number? seconds
function limit.retry_delay(try) end

---@class rt.Limit
local Limit = {}

--- Wait for a place. A cancelled task leaves the line, or gives the place back.
---@async
---@param tokens number? expected use, for the tokens a minute
---@return rt.limit.Entry
function Limit:enter(tokens) end

---@class rt.limit.view
---@field in_flight integer
---@field window integer most calls at once now
---@field waiting integer
---@field is_alone boolean no call has succeeded yet
---@field paused_s number 0: not paused

--- How it stands, for display.
---@return rt.limit.view
function Limit:view() end

---@class rt.limit.Entry
local Entry = {}

---@class rt.limit.outcome
---@field outcome "ok"|"rate_limited"|"fault"|"neutral"|"unused" it answered; 429; 5xx,
---       time-out or network; nothing to learn; nothing was sent
---@field tokens number? used, default: as expected
---@field retry_after_s number?
---@field limits {requests: rt.limit.allowance?, tokens: rt.limit.allowance?}?

---@class rt.limit.allowance what headers say of one kind; absent: they do not say
---@field limit number?
---@field remaining number?
---@field reset_s number? until all of it is there again

--- Give the place back, saying how the call ended. Later calls do nothing. An entry that is
--- closed or collected without this gives its place back as `neutral`.
---@param outcome rt.limit.outcome
function Entry:leave(outcome) end

return limit
