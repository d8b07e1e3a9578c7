---@meta

--- ZIP archives that are in memory, read only. What cannot be unpacked (encrypted, an
--- unknown method, a wrong checksum) is an error of the entry. No call waits.
---@class rt.archive
local archive = {}

--- Open an archive; its bytes stay in memory until it is closed.
---@param bytes string
---@return rt.Archive? archive
---@return skillopt.Err? err kind "data", or "limit" beyond a million entries
function archive.open(bytes) end

---@class rt.Archive
local Archive = {}

--- Names of the entries in the archive's order, as its maker wrote them: check them before
--- they become paths. A folder's own entry ends with "/".
---@return string[]
function Archive:names() end

--- The content of the entry that has this place in `names`.
---@param index integer counted from 1
---@param options { max: integer? }? `max`: most bytes, default 64 MiB
---@return string? bytes
---@return skillopt.Err? err kind "data", or "limit" when it has more
function Archive:read(index, options) end

--- Give up its memory; twice is fine. Closing the variable does the same.
function Archive:close() end

return archive
