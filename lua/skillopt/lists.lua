--- Lists whose entries are made when they are taken: items are kept as bytes and decoded
--- when used, and a choice of them keeps their places only.
---
--- A lazy list is read like any other (`list[i]`, `#list`, `ipairs`, `pairs`,
--- `table.move`); it cannot be written to, and an entry is new each time it is taken, so
--- what is changed in one is changed nowhere else.
local columns = require "rt.columns"
local json = require "rt.json"

local M = {}

--- What a lazy list is made of, hidden from its users: n, get(i), id(i) where ids are known
--- without the entries, ids (made on demand), bytes(i) where entries are kept as bytes.
local inside = setmetatable({}, { __mode = "k" })

local Lazy = { __name = "list", __metatable = "list" }

--- How many entries there are.
function Lazy.__len(list) return inside[list].n end

--- The i-th entry, made now.
function Lazy.__index(list, i)
  local own = inside[list]
  if math.type(i) == "integer" and i >= 1 and i <= own.n then return own.get(i) end
end

--- Misuse.
function Lazy.__newindex() error("this list cannot be changed: copy it first", 2) end

--- As a plain list.
function Lazy.__pairs(list) return ipairs(list) end

local function lazy(own)
  local list = setmetatable({}, Lazy)
  inside[list] = own
  return list
end

--- `n` entries that `get(i)` makes.
---@param n integer
---@param get fun(i: integer): any
---@param ids rt.Texts? ids of the entries, where they are known
---@param bytes (fun(i: integer): string)? the canonical JSON that `get` decodes
---@return any[]
function M.lazy(n, get, ids, bytes)
  return lazy { n = n, get = get, ids = ids, id = ids and function(i) return ids[i] end,
    bytes = bytes }
end

--- The canonical JSON of an entry, without decoding one that is kept in that form.
---@param list any[]
---@param i integer
---@return string
function M.canonical(list, i)
  local own = inside[list]
  if own and own.bytes then return own.bytes(i) end
  return json.canonical(list[i])
end

--- `n` entries of a lazy list: the i-th is its entry `at(i)`.
local function view(list, n, at)
  local own = inside[list]
  return lazy { n = n, get = function(i) return own.get(at(i)) end,
    id = own.id and function(i) return own.id(at(i)) end }
end

---@param list any
---@return boolean
function M.is_lazy(list) return inside[list] ~= nil end

--- Let the entries of a lazy list come from elsewhere; they stay what they are.
---@param list any[]
---@param get fun(i: integer): any
function M.move(list, get) inside[list].get, inside[list].bytes = get, nil end

--- The entries at these places, in their order: lazy when the list is.
---@param list any[]
---@param places integer[]|rt.Numbers
---@return any[]
function M.pick(list, places)
  if M.is_lazy(list) then
    return view(list, #places, function(i) return places[i] end)
  end
  local out = {}
  for i = 1, #places do out[i] = list[places[i]] end
  return out
end

--- Places `first` to `last` of the list, as a list of its own.
---@param list any[]
---@param first integer
---@param last integer
---@return any[]
function M.slice(list, first, last)
  last = math.min(last, #list)
  if not M.is_lazy(list) then return table.move(list, first, last, 1, {}) end
  if first == 1 and last == #list then return list end
  return view(list, math.max(last - first + 1, 0), function(i) return first + i - 1 end)
end

--- 1, 2, ... n.
---@param n integer
---@return integer[]
function M.places(n)
  local out = {}
  for i = 1, n do out[i] = i end
  return out
end

local function texts_of(list, id_of)
  local ids = columns.texts()
  for i = 1, #list do
    local id = id_of and id_of(i) or list[i].id
    if ids:find(id) then return nil, id end
    ids:add(id)
  end
  return ids
end

--- Ids of the items, in order; nil and an id that two of them have.
---@param list table[]
---@return rt.Texts? ids
---@return string? twice
function M.ids(list)
  local own = inside[list]
  if not own then return texts_of(list) end
  if not own.ids then
    local ids, twice = texts_of(list, own.id)
    if not ids then return nil, twice end
    own.ids = ids
  end
  return own.ids
end

--- A list in its order, shuffled: only its places are moved.
---@param list any[]
---@param random rt.Rng
---@return any[]
function M.shuffled(list, random)
  return M.pick(list, random:shuffle(M.places(#list)))
end

return M
