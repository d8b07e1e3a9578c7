---@meta

--- What the program says, and the complaints beside it. A stream that is closed is no
--- reason to end: the functions say so and go on.
---@class rt.stdout
local stdout = {}

--- Write to the standard output at once.
---@param text string any bytes
---@return boolean is_out
function stdout.write(text) end

--- Write to the standard error stream at once.
---@param text string any bytes
---@return boolean is_out
function stdout.error(text) end

--- Why some of what was written to the standard output is not there (a full disk); nil when
--- all is, or when the one who read it has gone.
---@return string?
function stdout.fault() end

--- Is the standard output a terminal?
---@return boolean
function stdout.is_terminal() end

--- Width of the terminal, 80 when there is none or it does not say.
---@return integer
function stdout.columns() end

--- Draw the line at the bottom of the terminal anew; "" takes it away. Whatever else is
--- written hides it first. For terminals that know escapes only.
---@param text string one line without controls, narrower than the terminal
function stdout.live(text) end

return stdout
