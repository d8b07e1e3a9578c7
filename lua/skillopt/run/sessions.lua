--- How long a run was at work before this process: each start is on record in the journal
--- with its time, and ended with the last answer that was stored before the next start.
local json = require "rt.json"

local M = {}

--- The starts on record, as `{n = row, time = seconds}`.
local function starts(journal)
  local out, n = {}, journal:next("open", 0)
  while n do
    local row = assert(journal:row(n))
    if row.key == "time" then out[#out + 1] = { n = n, time = json.decode(row.data).time } end
    n = journal:next("open", n)
  end
  return out
end

--- When the last answer between two rows was stored; nil when there is none.
local function last_answer(journal, first, behind)
  for n = behind - 1, first + 1, -1 do
    local row = assert(journal:row(n))
    if row.kind == "effect" then return json.decode(row.data).time end
  end
end

--- Note that the run is started.
---@param journal table
---@param time number wall clock
---@return integer? n
---@return skillopt.Err? err
function M.note(journal, time)
  return journal:put("open", "", "time", json.canonical { time = time })
end

--- When the run was started first, to the millisecond as answers have their time; nil when
--- it never was.
---@param journal table
---@return number?
function M.began(journal)
  local first = starts(journal)[1]
  return first and math.floor(first.time * 1000) / 1000
end

--- Seconds at work in the starts on record. The last one is that of this process and does
--- not count, unless it only reads.
---@param journal table
---@param is_reader boolean? a replay
---@return number
function M.seconds(journal, is_reader)
  local list, sum = starts(journal), 0.0
  for i = 1, is_reader and #list or #list - 1 do
    local behind = list[i + 1] and list[i + 1].n or journal:last() + 1
    local finished = last_answer(journal, list[i].n, behind)
    if finished then sum = sum + math.max(0, finished - list[i].time) end
  end
  return sum
end

return M
