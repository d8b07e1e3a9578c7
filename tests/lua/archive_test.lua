--- ZIP archives through rt.archive.
local archive = require "rt.archive"
local file = require "rt.file"
local test = require "skillopt.test"
local zip = test.support "tests/lua/alfworld_zip.lua"

local function small()
  return zip.make { { name = "a/one.txt", bytes = "first" }, { name = "two.txt", bytes = "" } }
end

test("archive:names and archive:read give what is in an archive", function(t)
  local a <close> = assert(archive.open(small()))
  t.equal(a:names(), { "a/one.txt", "two.txt" })
  t.equal({ a:read(1), a:read(2) }, { "first", "" })
end)

test("archive:read unpacks", function(t)
  local a <close> = assert(archive.open(assert(file.read "tests/fuzz/corpus/fuzz_archive/two.zip")))
  t.equal(a:names(), { "a.txt", "b.txt" })
  t.equal(a:read(2), "first first first first first")
end)

test("archive:read has a limit and says which entry was too large", function(t)
  local a <close> = assert(archive.open(small()))
  t.equal(a:read(1, { max = 5 }), "first")
  local bytes, err = a:read(1, { max = 4 })
  t.equal({ bytes, err.kind }, { nil, "limit" })
  t.equal(err.message, "a/one.txt in the archive: it has more than 4 bytes")
end)

test("archive.open refuses other bytes", function(t)
  local a, err = archive.open "<html>not found</html>"
  t.equal({ a, err.kind }, { nil, "data" })
  t.raises(function() archive.open {} end, "string expected")
end)

test("a closed archive and an entry that is not there raise", function(t)
  local a = assert(archive.open(small()))
  t.raises(function() a:read(3) end, "no such entry")
  t.raises(function() a:read(1, { most = 1 }) end, "unknown option")
  a:close()
  a:close()
  t.raises(function() a:names() end, "closed")
end)

test("an archive keeps its bytes", function(t)
  local all = {}
  for i = 1, 200 do all[i] = assert(archive.open(small())) end
  collectgarbage()
  for i = 1, 200 do t.equal(all[i]:read(1), "first") end
end)
