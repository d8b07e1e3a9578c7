--- How Lua's collector works while items are rolled out. What a replayed effect makes is
--- garbage soon, and what lives long is not looked at again: the collector of generations
--- finds that garbage at three quarters of what the incremental one costs, in no more memory.
---
--- It stands still for 3 ms to look at what is new and for 15 ms to look at all. While calls
--- are sent that is too long: hundreds of answers wait meanwhile, and what they make room for
--- leaves and comes back together. Then the incremental one works, which for these effects
--- costs no more.
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
local LARGE_KB <const>, LARGE_PAUSE <const> = 98304, 150
--- The same while calls are sent and less lives.
local LIVE_PAUSE <const> = 200
--- Items between two looks.
local OFTEN <const> = 256

local items, asked_before, is_large, mode, value = 0, 0, false, nil, nil

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

--- How to collect: the mode, and its growth or pause.
---@param heap_kb number
---@param is_live boolean are most answers new?
---@return "generational"|"incremental"
---@return integer percent
function M.mode(heap_kb, is_live)
  if heap_kb >= LARGE_KB then return "incremental", LARGE_PAUSE end
  if is_live then return "incremental", LIVE_PAUSE end
  return "generational", M.growth(heap_kb)
end

--- To be called once an item: looks at the heap from time to time. What was once set stays
--- until the heap is larger, or it is no longer sending that takes the time: setting it may
--- look at all that lives.
---@param asked integer answers so far that no journal had
function M.pace(asked)
  items = items + 1
  if items % OFTEN ~= 0 then return end
  local heap_kb, is_live = collectgarbage "count", 2 * (asked - asked_before) > OFTEN
  is_large, asked_before = is_large or heap_kb >= LARGE_KB, asked
  local new, percent = M.mode(is_large and LARGE_KB or heap_kb, is_live)
  if new == mode and percent >= value then return end
  mode, value = new, percent
  if mode == "generational" then
    collectgarbage(mode, MINOR, percent)
  else
    collectgarbage(mode, percent, 0, 0)
  end
end

return M
