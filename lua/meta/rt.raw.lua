---@meta

--- Walking a table in the order of its memory, for library code where order cannot be
--- seen; `pairs` and `next` sort. Frozen tables look empty here.
---@class rt.raw
local raw = {}

--- Lua's own `next`.
---@generic K, V
---@param t table<K, V>
---@param key K?
---@return K? key
---@return V value
function raw.next(t, key) end

--- Lua's own `pairs`.
---@generic K, V
---@param t table<K, V>
---@return fun(t: table<K, V>, key: K?): K?, V
---@return table<K, V>
---@return nil
function raw.pairs(t) end

--- `rawset` that reaches into a frozen table.
---@param t table
---@param key any
---@param value any
function raw.set(t, key, value) end

return raw
