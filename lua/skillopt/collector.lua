--- How Lua's collector works while items are rolled out. What an effect makes is garbage
--- soon, and what lives long is not looked at again: the collector of generations finds that
--- garbage at three quarters of what the incremental one costs, in no more memory.
---
--- All that lives is looked at when it has doubled; when much lives (thousands of items at
--- once), when a share has been added, so that a call in flight costs what it holds and not
--- twice that.
local M = {}

--- Spare kilobytes, and the least share of what lives that they must be.
local SPARE_KB <const>, LEAST <const> = 16384, 0.5
--- Growth between two looks at what is new, in percent. More was tried: the new no longer
--- fits into the processor's caches.
local MINOR <const> = 20
--- Calls between two looks.
local OFTEN <const> = 256

local calls = 0

--- Growth after which all is looked at, in percent of a heap of that size.
---@param heap_kb number
---@return integer
function M.growth(heap_kb)
  return math.floor(100 * math.min(math.max(SPARE_KB / heap_kb, LEAST), 1))
end

--- To be called once an item: looks at the heap from time to time.
function M.pace()
  calls = calls + 1
  if calls % OFTEN ~= 0 then return end
  collectgarbage("generational", MINOR, M.growth(collectgarbage "count"))
end

return M
