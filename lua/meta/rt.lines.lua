---@meta

--- Files that grow by whole lines: events and logs. Each `add` is one write, so a killed
--- process leaves at most one torn line at the end.
---@class rt.lines
local lines = {}

--- Open or make a file to add to; a torn last line is cut off. With `truncate` it starts
--- empty.
---@param path string
---@param options {truncate: boolean?}?
---@return rt.Lines? file
---@return skillopt.Err? err kind "io"
function lines.open(path, options) end

---@class rt.Lines
local Lines = {}

--- Add whole lines. Text that does not end with a newline raises; "" adds nothing.
---@param text string
---@return true? ok
---@return skillopt.Err? err kind "io"
function Lines:add(text) end

--- Close the file; twice is fine. Closing the variable does the same; `add` raises then.
function Lines:close() end

return lines
