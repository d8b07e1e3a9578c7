---@meta

--- JSON in and out. Text is UTF-8 on both sides.
---
--- A JSON null is `json.null`. Decoded arrays carry the mark of `json.array`, so that
--- an empty one stays an array; an empty decoded object carries that of `json.object`.
--- Of equal names in one object the last value counts. An integer beyond 64 bits
--- becomes a float when that is exact and is an error otherwise. A lone surrogate
--- escape becomes U+FFFD.
---@class rt.json
local json = {}

--- The one null: true in conditions, equal only to itself, prints "null".
---@type userdata
json.null = nil

---@class rt.json.decode_options
---@field allow_nan? boolean  take NaN, Infinity, numbers too large for a float
---@field allow_bom? boolean  take a byte order mark before the text
---@field allow_big? boolean  an integer beyond 64 bits becomes the nearest float
---@field fix_utf8? boolean   invalid bytes become U+FFFD; without it they are an error
---@field depth? integer      deepest nesting, 1 to 200 (default 200)
---@field name? string        leads messages: "items.json, line 3, column 7: ..."

--- Read one value that is the whole text but for blanks.
---@param text string
---@param options? rt.json.decode_options
---@return any value  nil on error
---@return rt.err? err  kind "parse" or "limit"; "line 3, column 7: ..."
function json.decode(text, options) end

--- Where the value that begins at byte `at` ends: the place behind it; nil when the text
--- ends before that can be told. The value is not read: only its quotes and brackets are.
---@param text string
---@param at integer
---@return integer?
function json.extent(text, at) end

--- Order of names: the items come first, in this order, the rest sorted by byte. A
--- field is the order of the object under that name, `["*"]` that of every other
--- object. An order goes through arrays to their items.
---@alias rt.json.keys table

---@class rt.json.encode_options
---@field indent? boolean  two blanks a level, as artefact files are
---@field keys? rt.json.keys  `{ "id", "hard", step = { "n" } }`

--- Write a value as one line (`{"a": 1, "b": [1.0, 2]}`) or indented, no newline at the
--- end. A mark decides what a table is; without one an empty table or one with the keys
--- 1..n is an array, one with names only an object. All else raises and names the
--- place: holes, mixed keys, functions, cycles, nesting above 200, NaN, infinity,
--- invalid UTF-8.
---@param value any
---@param options? rt.json.encode_options
---@return string
function json.encode(value, options) end

--- The form that digests are taken of: no blanks, names sorted by byte, whole floats as
--- integers (1.0 is 1), others shortest. Raises as `encode` does.
---@param value any
---@return string
function json.canonical(value) end

--- Mark a table (a new one when absent) as an array and return it.
---@generic T: table
---@param t? T
---@return T
function json.array(t) end

--- Mark a table (a new one when absent) as an object and return it.
---@generic T: table
---@param t? T
---@return T
function json.object(t) end

--- Would the value be written as an array?
---@param value any
---@return boolean
function json.is_array(value) end

--- Would the value be written as an object?
---@param value any
---@return boolean
function json.is_object(value) end

--- A number as the reference writes it: shortest text that reads back equal ("1.0",
--- "1e-05", "1e+16", "-0.0", "nan", "inf"); integers without fraction.
---@param x number
---@return string
function json.format_number(x) end

--- Round to `digits` behind the point, half to even on the exact binary value. Without
--- digits (or with 0) the result is an integer; it raises when that does not fit.
---@param x number
---@param digits? integer  0 to 22
---@return number
function json.round(x, digits) end

return json
