---@meta

--- Long lists of numbers and of texts, outside Lua's heap: a number takes 9 bytes, a text
--- its bytes and 8, and the collector does not walk over them.
---@class rt.columns
local columns = {}

--- A list of `n` places (default 0) without a number. `list[i]` is a number or nil and can
--- be set; integers stay integers, floats floats; `#list` counts all places.
---@param n integer?
---@return rt.Numbers
function columns.numbers(n) end

---@class rt.Numbers
---@field [integer] number?
local Numbers = {}

--- A number behind the last place.
---@param x number
---@return integer place
function Numbers:add(x) end

--- An empty list of texts. `list[i]` is a text, `#list` how many there are; texts are only
--- ever added.
---@return rt.Texts
function columns.texts() end

---@class rt.Texts
---@field [integer] string?
local Texts = {}

--- A text behind the last one.
---@param text string
---@return integer place
function Texts:add(text) end

--- Place of the first text that is equal, or nil.
---@param text string
---@return integer?
function Texts:find(text) end

return columns
