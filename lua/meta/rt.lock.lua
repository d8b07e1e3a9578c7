---@meta

--- Who may work in a run folder.
---@class rt.lock
local lock = {}

--- Lock a file, or fail at once, saying who has it. It gives signs of life by itself.
---@param path string
---@param options {shared: boolean?}?
---@return rt.Lock? held
---@return string|skillopt.Err note words about a lock left behind, "" without; or the error, kind "io"
function lock.acquire(path, options) end

---@class rt.Lock
local Lock = {}

--- Give it back; twice is fine. Closing the variable does the same.
function Lock:release() end

return lock
