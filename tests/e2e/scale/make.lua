--- make.lua FOLDER N - a split folder with N test items of 2 kB, one a line.
local file = require "rt.file"
local json = require "rt.json"
local lines = require "rt.lines"

local folder, count = ...

local function write(split, first, last)
  local at = ("%s/%s"):format(folder, split)
  assert(file.mkdir(at))
  local out <close> = assert(lines.open(at .. "/items.jsonl", { truncate = true }))
  local words = ("context words "):rep(130)
  for i = first, last do
    assert(out:add(json.encode { id = ("item_%07d"):format(i), answers = { "red" },
      question = ("Which colour has box %d? %s"):format(i, words) } .. "\n"))
  end
end

write("train", 1, 2)
write("val", 3, 4)
write("test", 5, 4 + math.tointeger(tonumber(count)))
