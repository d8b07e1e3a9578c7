--- rt.columns: long lists of numbers and texts; rt.spool: texts that wait on disk.
local columns = require "rt.columns"
local file = require "rt.file"
local spool = require "rt.spool"
local test = require "skillopt.test"
local support = test.support "tests/lua/support.lua"

test("columns.numbers keeps integers, floats and what is absent apart", function(t)
  local list = columns.numbers(4)
  list[1], list[2], list[3] = 1, 1.0, math.mininteger
  t.equal({ #list, math.type(list[1]), math.type(list[2]), list[3], list[4] },
    { 4, "integer", "float", math.mininteger })
  list[1] = nil
  t.equal(list[1], nil)
end)

test("numbers:add puts a number behind the last one", function(t)
  local list = columns.numbers()
  for i = 1, 1000 do t.equal(list:add(i * 0.5), i) end
  t.equal({ #list, list[1], list[1000], list[1001] }, { 1000, 0.5, 500.0 })
end)

test("a place that is none, and a value that is none, are refused", function(t)
  local list = columns.numbers(1)
  t.raises(function() list[2] = 1 end, "no place")
  t.raises(function() list[0] = 1 end, "no place")
  t.raises(function() list[1] = "x" end, "number or nil")
  t.raises(function() list:add "x" end, "number")
  t.raises(function() columns.numbers(-1) end, "from 0")
end)

test("columns.texts gives texts back by number and finds the first that is equal", function(t)
  local list = columns.texts()
  for i = 1, 3000 do list:add("id " .. i % 2000) end
  t.equal({ #list, list[1], list[3000], list[3001] }, { 3000, "id 1", "id 1000" })
  t.equal({ list:find "id 1000", list:find "id 0", list:find "id 2000" }, { 1000, 2000 })
  list:add "id 2000"
  t.equal(list:find "id 2000", 3001)
end)

test("texts may be empty and hold any byte", function(t)
  local list = columns.texts()
  t.equal({ list:find "", list:add "", list:add "a\0b", list:find "" }, { nil, 1, 2, 1 })
  t.equal({ list[1], list[2], list:find "a" }, { "", "a\0b" })
end)

test("a spool gives every text back, from memory and from its file", function(t)
  local s <close> = spool.new(support.folder())
  local places = {}
  for i = 1, 300 do places[i] = s:add(("x"):rep(i * 50) .. i) end
  for _, i in ipairs { 300, 1, 150, 299, 2 } do
    t.equal(s:read(places[i]), ("x"):rep(i * 50) .. i)
  end
  t.equal(s:read(s:add ""), "")
end)

test("a spool is read in order, backwards and anywhere while it grows", function(t)
  local s <close> = spool.new(support.folder())
  local places, texts = {}, {}
  local function add(n)
    local text = ("%06d "):format(#texts):rep(n // 7 + 1):sub(1, n)
    texts[#texts + 1], places[#places + 1] = text, s:add(text)
  end
  local function read(i) t.equal(s:read(places[i]), texts[i]) end
  add(1 << 20) -- all that waits goes to the file with it
  -- Sizes around what is read ahead, 64 KiB: texts that end before, at and behind its end.
  for n = 0, 40 do
    for _, size in ipairs { n, 4080 + n, 65516 + n, 131052 + n, 300 } do add(size) end
  end
  for i = 1, #texts do read(i) end
  for i = #texts, 1, -1 do read(i) end
  for i = 0, 2000 do read(i * 7919 % #texts + 1) end
  read(#texts - 1)
  for _ = 1, 400 do -- some of them behind the end of what was read ahead before
    add(9000)
    read(#texts - 150)
    read(#texts - 149)
    read(#texts)
  end
end)

test("a spool leaves no file behind", function(t)
  local folder = support.folder()
  local s = spool.new(folder)
  s:add(("x"):rep(3 << 20))
  t.equal(file.list(folder), {})
  s:close()
  s:close()
  t.raises(function() s:add "x" end, "closed")
end)

test("a spool whose file cannot be made is an error of the world", function(t)
  local s <close> = spool.new "build/tmp/no/such/folder"
  local at, err = s:add(("x"):rep(3 << 20))
  t.equal({ at, err.kind }, { nil, "io" })
end)
