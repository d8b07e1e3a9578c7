--- How Lua's collector works while items are rolled out. What an effect makes is garbage
--- soon, and what lives long is not looked at again: the collector of generations finds that
--- garbage at three quarters of what the incremental one costs, in no more memory.
---
--- All that lives is looked at when it has doubled; when much lives (thousands of items at
--- once), when a share has been added, so that a call in flight costs what it holds and not
--- twice that.
local M = {}

--- Growth after which all is looked at, in percent: of a heap of so many kilobytes or more,
--- the smallest first.
local GROWTH <const> = { { 0, 100 }, { 16384, 75 }, { 32768, 50 } }
--- Growth between two looks at what is new, in percent. More was tried: the new no longer
--- fits into the processor's caches.
local MINOR <const> = 20
--- From so many kilobytes on (thousands of items at once) most of what is new lives on for
--- a while: the incremental collector has less garbage in waiting then. Its pause in percent.
local LARGE_KB <const>, PAUSE <const> = 98304, 150
--- Calls between two looks.
local OFTEN <const> = 256

local calls, current = 0, nil

--- Growth after which all is looked at, in percent of a heap of that size.
---@param heap_kb number
---@return integer
function M.growth(heap_kb)
  local growth
  for _, step in ipairs(GROWTH) do
    if heap_kb >= step[1] then growth = step[2] end
  end
  return growth
end

--- To be called once an item: looks at the heap from time to time. What was once set stays
--- until the heap is larger: setting it may look at all that lives.
function M.pace()
  calls = calls + 1
  if calls % OFTEN ~= 0 then return end
  local heap_kb = collectgarbage "count"
  local growth = heap_kb < LARGE_KB and M.growth(heap_kb) or 0
  if current and growth >= current then return end
  current = growth
  if growth > 0 then
    collectgarbage("generational", MINOR, growth)
  else
    collectgarbage("incremental", PAUSE, 0, 0)
  end
end

return M
