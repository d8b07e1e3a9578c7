---@meta

--- SHA-256 of texts.
---@class rt.digest
local digest = {}

--- The digest of `text` as 64 lower-case hex digits.
---@param text string
---@return string
function digest.sha256(text) end

--- The first 16 hex digits of the digest: how skills are named in records.
---@param text string
---@return string
function digest.short(text) end

--- The digest of `json.canonical(value)`, whose text is not made.
---@param value any
---@return string
function digest.canonical(value) end

--- The digest of a text that comes in pieces.
---@return rt.DigestStream
function digest.stream() end

---@class rt.DigestStream
local Stream = {}

--- Add a piece.
---@param text string
function Stream:add(text) end

--- The digest of all pieces as 64 hex digits. It can be taken once; `add` raises then.
---@return string
function Stream:hex() end

return digest
