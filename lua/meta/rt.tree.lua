---@meta

--- The files of a folder as a value. None of these functions wait.
---@class rt.tree
local tree = {}

---@class rt.tree.entry
---@field path string     relative, steps between "/"
---@field kind "file"|"folder"|"link"
---@field mode integer?   permission bits; not of links
---@field size integer?   of files
---@field digest string?  of files, SHA-256 as hex
---@field target string?  of links

--- What is in the folder, sorted by path, after bringing it into the form that can be made
--- again: what is no file, folder or link that stays inside is removed, times are set to
--- one fixed time, owners may read and write.
---@param folder string
---@param options? {entries: integer?, bytes: integer?}  at most; default 10,000 and 64 MiB
---@return rt.tree.entry[]? entries
---@return string[]|skillopt.Err notes  what was removed and why; kind "limit": too much
function tree.scan(folder, options) end

--- Make one entry; what is in the place of a file or link is replaced unless it is a folder.
--- The folder above must be there. A path or link that leads outside raises.
---@param folder string
---@param entry rt.tree.entry  size and digest are not looked at
---@param bytes? string        of a file
---@return true? ok
---@return skillopt.Err? err
function tree.put(folder, entry, bytes) end

--- May a file of a tree have this path?
---@param text string
---@return boolean
function tree.is_path(text) end

return tree
