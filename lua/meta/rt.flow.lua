---@meta

--- Real time, stopping, and stored answers in another order. For the library: a run's own
--- clock is the task's (see rt.task).
---@class rt.flow
local flow = {}

--- Seconds from an arbitrary start; never goes back.
---@return number
function flow.now() end

--- Seconds since 1970 on the machine's clock.
---@return number
function flow.wall() end

--- Wait; cancellation ends it.
---@async
---@param seconds number 0 or more
function flow.sleep(seconds) end

--- As sleep, for a task that only looks at others: a program in which all others wait for
--- what cannot come does not go on because of it.
---@async
---@param seconds number 0 or more
function flow.tick(seconds) end

--- Has an interrupt come? From then on nothing new may be sent.
---@return boolean
function flow.is_stopping() end

--- Wait until the task is cancelled: what a task does that must not send.
---@async
function flow.hold() end

--- Count what is on the way: 1 before something is sent, -1 when its answer is stored. Once
--- an interrupt came and the count is 0, or 30 seconds later, all tasks are cancelled.
---@param change integer
function flow.flight(change) end

--- What is on the way now.
---@return integer
function flow.flights() end

--- Draw from this seed which of the deferred tasks goes on next.
---@param seed integer
function flow.disorder(seed) end

--- Wait until nothing else can go on and the task is drawn among all that defer.
---@async
function flow.defer() end

return flow
