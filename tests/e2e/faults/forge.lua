--- forge.lua FROM TO KIND SEED - write the journal FROM anew as TO with one byte of one row
--- of that kind changed, so that chain and head agree with the change. Of an answer a
--- letter of the target's text is changed; of the rest any byte. Prints what was changed.
local file = require "rt.file"
local journal = require "rt.journal"
local rng = require "rt.rng"
local stdout = require "rt.stdout"

local from_path, to_path, kind, seed = ...
local stream = rng.new(math.tointeger(tonumber(seed)))
local from = assert(journal.open(from_path, { read_only = true }))

local function letters_of(row)
  local out = {}
  if row.kind == "effect" then
    -- The target's answers are what the rollouts keep; an optimizer's may say a thing twice.
    if not row.slot:find "rollout/" and not row.slot:find "eval" then return out end
    local start = select(2, row.data:find('"text":"', 1, true))
    if not start then return out end
    local stop = row.data:find('[^\\]"', start + 1)
    for at in row.data:sub(1, stop):gmatch("()%a", start + 1) do
      if row.data:sub(at - 1, at - 1) ~= "\\" then out[#out + 1] = at end
    end
    return out
  end
  for at = 1, #row.data do out[at] = at end
  return out
end

local candidates, n = {}, from:next(kind, 0)
while n do
  if #letters_of(from:row(n)) > 0 then candidates[#candidates + 1] = n end
  n = from:next(kind, n)
end
local function draw(count) return stream:below(count) + 1 end
local chosen = candidates[draw(#candidates)]

file.remove(to_path)
file.remove((to_path:gsub("%.db$", ".head")))
local to = assert(journal.open(to_path))
for i = 1, from:last() do
  local row = from:row(i)
  local data = row.data
  if i == chosen then
    local places = letters_of(row)
    local at = places[draw(#places)]
    local byte = data:byte(at)
    local other = row.kind == "effect" and (byte == 0x78 and "y" or "x") or string.char(byte ~ 1)
    data = data:sub(1, at - 1) .. other .. data:sub(at + 1)
    stdout.write(("%s %s byte %d of %d\n"):format(row.slot, row.key:sub(1, 40), at, #data))
  end
  assert(to:put(row.kind, row.slot, row.key, data))
end
assert(to:close())
from:close()
return 0
