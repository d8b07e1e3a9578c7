--- How much garbage may pile up before Lua's collector runs again: as much as lives, while
--- that is little; a share of it when much lives (thousands of items at once), so that a
--- call in flight costs what it holds and not twice that.
local M = {}

--- Spare kilobytes, and the least share of what lives that they must be.
local SPARE_KB <const>, LEAST <const> = 16384, 0.5
--- Calls between two looks.
local OFTEN <const> = 256

local calls = 0

--- The collector's pause for a heap of that size, in percent of it.
---@param heap_kb number
---@return integer
function M.pause(heap_kb)
  local share = math.min(math.max(SPARE_KB / heap_kb, LEAST), 1)
  return 100 + math.floor(100 * share)
end

--- To be called once an item: looks at the heap from time to time.
function M.pace()
  calls = calls + 1
  if calls % OFTEN ~= 0 then return end
  collectgarbage("incremental", M.pause(collectgarbage "count"), 0, 0)
end

return M
