---@meta

--- Texts that wait on disk until their turn comes. The first MiB stays in memory; the rest
--- goes to a file without a name, of which nothing is left however the process ends.
---@class rt.spool
local spool = {}

--- An empty spool, whose file is made in `folder` once it is needed.
---@param folder string
---@return rt.Spool
function spool.new(folder) end

---@class rt.Spool
local Spool = {}

--- Add a text. The place it can be read from, any number of times.
---@param text string
---@return integer? place
---@return skillopt.Err? err kind "io"
function Spool:add(text) end

--- The text at a place that `add` gave.
---@param place integer
---@return string? text
---@return skillopt.Err? err kind "io"
function Spool:read(place) end

--- Give all of it up; twice is fine. Closing the variable does the same; the others raise
--- then.
function Spool:close() end

return spool
