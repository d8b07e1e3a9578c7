--- Digests of texts.
local test = require "skillopt.test"
local digest = require "rt.digest"
local vectors = test.support "tests/lua/vectors.lua"
local json = require "rt.json"

test("short gives the reference's name of a skill, every case of core_skill_hash", function(t)
  local book = vectors.book "core_skill_hash.json"
  for _, case in ipairs(book.cases) do
    t.equal(digest.short(case["in"]), case.out)
    book:same()
  end
  book:check(t)
end)

test("sha256 is the whole digest in lower-case hex", function(t)
  t.equal(digest.sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
  t.equal(digest.short("abc"), digest.sha256("abc"):sub(1, 16))
end)

test("canonical is the digest of the canonical JSON text", function(t)
  local many = {}
  for i = 1, 100 do many["name" .. i] = { i } end
  for _, value in ipairs { { b = 1.0, a = { "x", "\u{e9}\n" } }, {}, "text", 7, many } do
    t.equal(digest.canonical(value), digest.sha256(json.canonical(value)))
  end
  t.raises(function() digest.canonical { print } end, "cannot be written as JSON")
end)

test("a digest.stream is the digest of its pieces, taken once", function(t)
  local stream = digest.stream()
  for _, piece in ipairs { "a", "", "bc" } do stream:add(piece) end
  t.equal(stream:hex(), digest.sha256("abc"))
  t.raises(function() stream:add "d" end, "taken already")
end)
