---@meta

--- Random streams that draw the same on every machine: MT19937 with the seeding, the
--- bounded draw, the shuffle and the sample of CPython's `random.Random`.
---@class rt.rng
local rng = {}

--- A stream of random numbers. It is state: two users of one stream see each other.
---@class rt.rng.stream
local stream = {}

--- A stream seeded with a whole number (only its absolute value counts) or with the
--- 32-bit words of a larger one, least significant first, without zero words at the end.
---@param seed integer|integer[]
---@return rt.rng.stream
function rng.new(seed) end

--- A stream seeded with the eight big-endian words of the SHA-256 of `text`.
---@param text string
---@return rt.rng.stream
function rng.from_text(text) end

--- A number of `k` random bits, k from 0 to 64; with 64 it may come out negative.
---@param k integer
---@return integer
function stream:bits(k) end

--- A whole number from 0 to n - 1.
---@param n integer positive
---@return integer
function stream:below(n) end

--- A float from 0 up to, but not including, 1.
---@return number
function stream:random() end

--- Put the list itself in random order; returns the same list.
---@generic T
---@param list T[]
---@return T[]
function stream:shuffle(list) end

--- One entry of a list that is not empty.
---@generic T
---@param list T[]
---@return T
function stream:choice(list) end

--- A new list of `k` entries from different places of `list`, in random order.
---@generic T
---@param list T[]
---@param k integer from 0 to #list
---@return T[]
function stream:sample(list, k) end

return rng
