---@meta

--- What somebody types, or a file or pipe in its place.
---@class rt.stdin
local stdin = {}

--- The next line without its line break; nil at the end. Nothing else runs meanwhile: for
--- commands that talk with a person.
---@return string? line
---@return skillopt.Err? err kind "cancelled" after an interrupt, "io", or "limit" beyond 64 KiB
function stdin.line() end

--- Is the standard input a terminal?
---@return boolean
function stdin.is_terminal() end

return stdin
