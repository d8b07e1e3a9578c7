--- last_slot.lua FOLDER - the slot of the last effect that a run stored: where it was when it
--- was killed.
local journal = require "rt.journal"
local stdout = require "rt.stdout"

local path = ...
local j = assert(journal.open(path .. "/journal.db", { read_only = true }))
local n = j:last()
while n > 0 do
  local row = assert(j:row(n))
  if row.kind == "effect" then
    stdout.write(row.slot .. "\n")
    break
  end
  n = n - 1
end
j:close()
return 0
