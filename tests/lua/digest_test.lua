--- Digests of texts.
local test = require "skillopt.test"
local digest = require "rt.digest"

test("short gives the reference's name of a skill, every case of core_skill_hash", function(t)
  local cases = test.vectors("core_skill_hash.json").cases
  t.equal(#cases, 125)
  for _, case in ipairs(cases) do t.equal(digest.short(case["in"]), case.out) end
end)

test("sha256 is the whole digest in lower-case hex", function(t)
  t.equal(digest.sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
  t.equal(digest.short("abc"), digest.sha256("abc"):sub(1, 16))
end)
