local test = require "skillopt.test"
local json = require "rt.json"
local yaml = require "rt.yaml"

test("yaml.decode gives plain tables and the line of each key and item", function(t)
  local value, lines = yaml.decode [[
train:
  seed: 042
  sizes: [1,
    2.5]
name: ~
]]
  t.equal(value, { train = { seed = 34, sizes = { 1, 2.5 } }, name = json.null })
  t.equal(lines, { train = 1, ["train.seed"] = 2, ["train.sizes"] = 3,
    ["train.sizes.1"] = 3, ["train.sizes.2"] = 4, name = 5 })
end)

test("empty containers keep what they are", function(t)
  local value = yaml.decode "a: {}\nb: []\nc:\n"
  t.equal(json.encode(value), '{"a": {}, "b": [], "c": null}')
  t.equal((yaml.decode ""), json.null)
end)

test("the traps of YAML 1.1 have the reference's reading", function(t)
  local value = yaml.decode [[
a: 2:1:7
b: off
c: 1_000
d: 5e-1
e: "no"
f: 1
]]
  t.equal(value, { a = 7267, b = false, c = 1000, d = "5e-1", e = "no", f = 1 })
end)

test("a key that stands twice is an error with both lines", function(t)
  local value, err = yaml.decode("train:\n  seed: 1\n  epochs: 2\n  seed: 3\n", { name = "x.yaml" })
  t.equal({ value, err.kind, err.message },
    { nil, "parse", "x.yaml, line 4: the key 'seed' stands in line 2 already" })
end)

test("a key << that stands twice is one too: several mappings are a list", function(t)
  local _, err = yaml.decode("a: &a {x: 1}\nb: &b {y: 2}\nc:\n  <<: *a\n  <<: *b\n")
  t.equal(err.message, "line 5: the key '<<' stands in line 4 already")
  local value = yaml.decode("a: &a {x: 1}\nb: &b {y: 2, x: 3}\nc:\n  <<: [*a, *b]\n  z: {<<: *b}\n")
  t.equal(value.c, { x = 1, y = 2, z = { y = 2, x = 3 } })
  t.equal(yaml.decode("{\"<<\": 1}"), { ["<<"] = 1 })
end)

test("yaml.decode names the text and the place of a fault", function(t)
  local value, err = yaml.decode("a: 1\nb: [1 }", { name = "x.yaml" })
  t.equal(value, nil)
  t.equal(err.kind, "parse")
  t.equal(err.message, "x.yaml, line 2, column 7: did not find expected ',' or ']'")
  t.raises(function() yaml.decode("", { nam = "x" }) end, "did you mean 'name'?")
end)

test("paths that are too long have no line", function(t)
  local _, lines = yaml.decode("{a: 1, " .. ("k"):rep(300) .. ": {b: 2}}")
  t.equal(lines, { a = 1 })
end)
