---@meta

--- Child processes, for the library. A child gets the environment, the folder and the input
--- it is given and no more. When `run` returns, or its task is cancelled, every process that
--- came of it has ended. No more run at once than there are processors.
---@class rt.process
local process = {}

---@class rt.process.request
---@field argv string[]        a name without "/" is looked for in the PATH of `env`
---@field env string[]         NAME=value
---@field folder string        where it starts
---@field input? string        its stdin, default empty
---@field timeout_s? number    from its start, default 60
---@field output_max? integer  bytes of stdout and stderr together, default 1 MiB
---@field file_max? integer    bytes a file may grow to, default 64 MiB

---@class rt.process.answer
---@field state "exit"|"signal"|"timeout"|"output"
---@field code integer?  exit code or number of the signal, nil when it was ended by a limit
---@field stdout string
---@field stderr string

--- Run a child and wait for its end.
---@async
---@param request rt.process.request
---@return rt.process.answer?
---@return skillopt.Err? err  kind "process": it could not be started; `retry` when the
---                           machine had no room for it
function process.run(request) end

--- A private folder of this program for files that go with it; made when it is first asked
--- for, removed at the end (by the next program, when this one is killed).
---@return string? path
---@return skillopt.Err? err
function process.scratch() end

return process
