---@meta

--- Tasks: coroutines with an owner and a slot, the path of labels from the root. For the
--- library; environments and policies use `task.map` and `ctx:scope`.
---
--- A parent ends after its children. Cancellation is deep and sticky: whatever a cancelled
--- task waits for from then on raises `cancelled`. Of several failing children the error of
--- the smallest one in order of spawning is the parent's; it cancels those behind it and
--- lets those before it end. Outside of a task every function but `count` and `is_task`
--- raises.
---@class rt.task
---@field cancelled skillopt.Err what a cancelled task raises, one table for all
local task = {}

--- Start `f(...)` as a child of the calling task; it runs once the caller waits.
--- An error that is no table reaches the parent as an err of kind `bug` with a traceback.
---@param label string rest of the child's slot, escaped already; "" for the parent's own
---@param results table? where its results go
---@param index integer above 0: the first result to `results[index]`; 0: all of them to
---       `results[1..]` and their number to `results.n`
---@param f function
---@param ... any
function task.spawn(label, results, index, f, ...) end

--- Wait until at most `n` children are alive. When none is left: raise what the smallest
--- failed child raised, or `cancelled`; the clock becomes the latest of the children that
--- ended well (with an error: that of the child which raised it). Cancellation does not
--- end the wait, it ends the children.
---@async
---@param n integer? 0 or more, default 0
---@return integer alive
function task.join(n) end

--- Wait until fewer than `n` children are alive, to start the next one. It raises no
--- child's error and leaves the clock alone.
---@async
---@param n integer above 0
function task.room(n) end

--- Should no more children be started: has one failed, or is the task cancelled?
---@return boolean
function task.stopped() end

--- Cancel the children whose index (see `spawn`) is greater.
---@param index integer
function task.cancel_behind(index) end

--- `f(...)`, in which nothing may wait: there waiting raises.
---@param f function
---@param ... any
---@return any ...
function task.still(f, ...) end

--- Slot of the calling task, "" for the root.
---@return string
function task.slot() end

--- The table of the calling task for the library, made on demand, gone with the task.
---@return table
function task.locals() end

--- The same of the `n`-th task above; nil above the root.
---@param n integer? default 1, the parent
---@return table?
function task.parent_locals(n) end

--- The virtual clock of the calling task: seconds since 1970, the completion time of the
--- last effect it received. A child starts with its parent's.
---@return number
function task.time() end

--- Move the clock forward; an earlier time leaves it.
---@param unix_s number
function task.set_time(unix_s) end

--- The clock of the calling task is not handed to its parent when it ends.
function task.keep_time() end

--- Cancel the calling task, and all below it, after so many seconds of real time, without
--- those in which its effects waited in line (`effect`, `queue`). A second
--- call moves the deadline. Once the program is stopping it is not over any more.
---@param seconds number above 0
function task.deadline(seconds) end

--- Take the deadline back.
---@return boolean is_late it was over before
function task.end_deadline() end

--- An effect begins (1) or has ended (-1) in the calling task. The deadline at or above it
--- stands while all its effects on the way wait in line.
---@param change 1|-1
function task.effect(change) end

--- An effect of the calling task waits in line, for a place or for the budget (1), or does no
--- more (-1).
---@param change 1|-1
function task.queue(change) end

--- Is the caller a task that may wait?
---@return boolean
function task.is_task() end

--- Live tasks of the process.
---@return integer
function task.count() end

--- A new signal, for one waiter at a time.
---@return rt.task.Signal
function task.signal() end

---@class rt.task.Signal
local Signal = {}

--- Wait for `raise`; one that came before is not lost, two count as one. Raises when
--- another task waits here already.
---@async
function Signal:wait() end

--- Wake the waiter, or the next one.
function Signal:raise() end

return task
