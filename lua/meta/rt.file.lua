---@meta

--- Files and folders, read whole and written whole. Paths are bytes without a zero
--- byte; relative ones start at the working directory. None of these functions wait:
--- they are done when they return.
---@class rt.file
local file = {}

--- The whole content. More than `max` bytes (1 GiB by default) is an error of kind `limit`.
---@param path string
---@param options? { max?: integer }
---@return string? text
---@return skillopt.Err? err
function file.read(path, options) end

--- Replace the file in one step: a reader sees the old bytes or the new ones. The
--- permissions of the old file stay.
--- `sync`: on disk before it returns. `keep_equal`: a file with these bytes is left alone.
---@param path string
---@param text string
---@param options? { sync?: boolean, keep_equal?: boolean }
---@return true? ok
---@return skillopt.Err? err
function file.write(path, text, options) end

--- Up to `n` bytes from byte `at` on (counted from 0), fewer at the end of the file.
---@param path string
---@param at integer
---@param n integer
---@return string? bytes
---@return skillopt.Err? err
function file.read_part(path, at, n) end

--- As `write`, for a text that comes in pieces. Dropped before it is finished it leaves
--- the file as it was.
---@param path string
---@param options? { sync?: boolean, keep_equal?: boolean }
---@return rt.Draft? draft
---@return skillopt.Err? err
function file.draft(path, options) end

---@class rt.Draft
local Draft = {}

--- Add a piece.
---@param text string
---@return true? ok
---@return skillopt.Err? err
function Draft:add(text) end

--- Replace the file. The draft is over whatever comes of it; `add` raises then.
---@return true? ok
---@return skillopt.Err? err
function Draft:finish() end

--- Make the symbolic link `path`, or redirect it, in one step.
---@param path string
---@param target string
---@return true? ok
---@return skillopt.Err? err
function file.link(path, target) end

--- Make the folder and the ones above it; fine when it is there.
---@param path string
---@return true? ok
---@return skillopt.Err? err
function file.mkdir(path) end

--- Names in the folder, sorted by byte.
---@param path string
---@return string[]? names
---@return skillopt.Err? err
function file.list(path) end

--- Whether something is there, a dangling link included.
---@param path string
---@return boolean? exists
---@return skillopt.Err? err
function file.exists(path) end

--- What is there, links followed; `link` is one that leads nowhere. The size is 0 for
--- all but files.
---@param path string
---@return "none"|"file"|"folder"|"link"|"other"|nil kind
---@return integer|skillopt.Err size
function file.kind(path) end

--- Remove one file, link or empty folder. With `root`, remove `path` (relative to the
--- folder `root`) and everything below it, following no link; a path that leads out of
--- `root` raises. Fine when it is not there.
---@param path string
---@param options? { root?: string }
---@return true? ok
---@return skillopt.Err? err
function file.remove(path, options) end

--- The absolute path with links resolved; the end of it need not exist.
---@param path string
---@return string? path
---@return skillopt.Err? err
function file.absolute(path) end

--- `folder/name`, or `name` when that is absolute.
---@param folder string
---@param name string
---@return string path
function file.join(folder, name) end

--- A name for a file or a task made of any bytes: those outside A-Za-z0-9._- and a
--- leading dot are %XX; of an escaped name beyond 100 bytes the rest is 16 digits of the
--- whole's SHA-256; the empty text is `%`. `distinct` adds `~` and 8 digits, for a text
--- that differs from an earlier one by case only.
---@param text string
---@param options? { distinct?: boolean }
---@return string name
function file.label(text, options) end

return file
