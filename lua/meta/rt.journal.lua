---@meta

--- The rows of a run. Kinds: open source item body intent effect value decision. A row is
--- found by kind, slot and key; only `open` and `intent` rows may repeat a name.
---@class rt.journal
local journal = {}

--- Open or make a journal; without a path it lives in memory. Every row is verified.
---@param path string? its name ends in .db
---@param options {read_only: boolean?, accept_loss: boolean?}?
---@return rt.Journal? journal
---@return string|skillopt.Err note "", or that it is written in a slower way (network file
--- systems); err of kind "io": another format, a damaged or missing row (named)
function journal.open(path, options) end

---@class rt.Journal
local Journal = {}

--- Commit what is queued and close; twice is fine.
---@return true? ok
---@return skillopt.Err? err
function Journal:close() end

--- Number of the row with this name (the newest of those that repeat), nil when none.
---@param kind string
---@param slot string
---@param key string
---@return integer? n
function Journal:find(kind, slot, key) end

--- Number of the first row of the kind behind row `after` (0 to start), nil at the end.
---@param kind string
---@param after integer
---@return integer? n
function Journal:next(kind, after) end

--- Data of row `n`.
---@param n integer
---@return string? bytes
---@return skillopt.Err? err
function Journal:read(n) end

--- Data of row `n`, which is JSON, as `json.decode` gives it.
---@param n integer
---@return any value
---@return skillopt.Err? err
function Journal:decode(n) end

--- The whole row `n`.
---@param n integer
---@return {kind: string, slot: string, key: string, data: string}? row
---@return skillopt.Err? err
function Journal:row(n) end

--- Queue a row; it is committed before anything put after it.
---@param kind string
---@param slot string
---@param key string
---@param bytes string
---@return integer? n
---@return skillopt.Err? err
function Journal:put(kind, slot, key, bytes) end

--- Queue a row and wait until it is on disk; cancellation does not end the wait.
---@async
---@param kind string
---@param slot string
---@param key string
---@param bytes string
---@return true? ok
---@return skillopt.Err? err
function Journal:store(kind, slot, key, bytes) end

--- Queue a copy of row `n` of another journal.
---@param from rt.Journal
---@param n integer
---@return integer? n
---@return skillopt.Err? err
function Journal:copy(from, n) end

--- Number of the last row, queued ones included.
---@return integer
function Journal:last() end

--- Rows that were dropped when it was opened with `accept_loss`.
---@return integer
function Journal:lost() end

--- Digest of the whole committed content, 64 hex digits.
---@return string
function Journal:chain() end

--- How it is: "ok", "low" (the disk was full, what is in flight is still taken),
--- "read_only" (nothing is taken any more), why, and what to do.
---@return "ok"|"low"|"read_only" state
---@return string why
---@return string hint
function Journal:state() end

return journal
