---@meta

--- The JSON object in a model's prose.
---
--- Text in think blocks is never looked at. The one object with a wanted key counts; if
--- there is none, the one array of objects (where allowed); if there is none, the one
--- object. Two that differ are ambiguous, the same twice is one. A faulty object is
--- repaired (raw line breaks, trailing commas, bare inner quotes, missing brackets,
--- single quotes, Python's words, needless backslashes) only when nothing else could be
--- meant. Nothing is taken from a reply that ends inside an object.
---@class rt.reply
local reply = {}

---@class rt.reply.options
---@field want? string[]  keys of which the object should have at least one (at most 32)
---@field array? boolean  a top-level array may be the result

---@class rt.reply.err: rt.err
---@field reason "none"|"ambiguous"|"malformed"|"truncated"|"too_deep"

--- Find it. Values are as from `json.decode`, but integers beyond 64 bits are floats.
---@param text string
---@param options? rt.reply.options
---@return any value  nil when there is none to use
---@return rt.reply.err? err  kind "parse"
function reply.extract(text, options) end

return reply
