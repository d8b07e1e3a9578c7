---@meta

--- What the program runs with.
---@class rt.version
local version = {}

--- The libraries in use and their versions, always in the same order. They are those of
--- this machine, which need not be the ones the program was built with.
---@return {name: string, version: string}[]
function version.libraries() end

return version
