---@meta

--- YAML 1.1 in, as the reference reads it: `017` is 15, `2:1:7` is 7267, `1_000` is
--- 1000, yes/no/on/off are booleans, `~` and nothing are `json.null`; `5e-1`, `1e5` and
--- dates are text. A key that is no text is taken as written (`1: a` has the key "1").
--- Aliases and `<<` work; a key that stands twice in a mapping, a document that unfolds
--- to more than a million values, several documents, unknown tags and integers beyond
--- 64 bits are errors.
---@class rt.yaml
local yaml = {}

---@class rt.yaml.decode_options
---@field name? string  what the text is, for messages: "a.yaml, line 3, column 7: ..."

--- Read the one document of a text. Arrays and empty objects carry the marks of
--- rt.json. The second result says where each key or item stands: "train.seed" -> 7,
--- items by number from 1 ("items.2.id"); paths above 256 bytes are left out. On error it
--- is err, kind "parse" or "limit".
---@param text string
---@param options? rt.yaml.decode_options
---@return any value  nil on error
---@return table<string, integer>|rt.err lines  where keys and items stand
function yaml.decode(text, options) end

return yaml
