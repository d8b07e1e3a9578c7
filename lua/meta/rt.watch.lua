---@meta

--- Ends user code that runs on without waiting: after `patience` seconds of CPU time from
--- one wait to the next it raises `{kind = "limit", runaway = true}` with its slot. While
--- user code runs, Lua's memory has a ceiling; above it "not enough memory" is raised.
---@class rt.watch
local watch = {}

--- Seconds of CPU time a task may take from one wait to the next (10).
---@param seconds number? a new value
---@return number before
function watch.patience(seconds) end

--- Bytes of Lua's memory (4 GiB, at most half of the machine's).
---@param bytes integer? a new value
---@return integer before
function watch.memory(bytes) end

--- From here on the calling task runs user code: it and the children it starts are watched.
function watch.on() end

--- From here on the calling task runs the library's code.
function watch.off() end

--- Files and folders this process has open, by descriptor.
---@return table<string, string> path
function watch.files() end

return watch
