local test = require "skillopt.test"
local reply = require "rt.reply"

local WANT = { want = { "patch", "edits" } }

test("reply.extract finds the object with a wanted key", function(t)
  t.equal(reply.extract('As {"a": 1}:\n```json\n{"edits": [], "n": 1.0}\n```', WANT),
    { edits = {}, n = 1.0 })
  t.equal(reply.extract '{"k": null}', { k = require("rt.json").null })
end)

test("reply.extract says why there is nothing to use", function(t)
  local function reason(text, options)
    local value, err = reply.extract(text, options)
    t.equal(value, nil)
    t.equal(err.kind, "parse")
    return err.reason
  end
  t.equal(reason "no change needed", "none")
  t.equal(reason('{"edits": [1]} {"edits": [2]}', WANT), "ambiguous")
  t.equal(reason('{"edits": [1] 2}', WANT), "malformed")
  t.equal(reason('{"edits": [1', WANT), "truncated")
  t.equal(reason('{"edits": ' .. ("["):rep(300), WANT), "too_deep")
end)

test("an array is a result only where it is allowed", function(t)
  t.equal(reply.extract('[{"op": "append"}, {"op": "delete"}]', { array = true }),
    { { op = "append" }, { op = "delete" } })
  local _, err = reply.extract '[{"op": "append"}, {"op": "delete"}]'
  t.equal(err.reason, "ambiguous")
end)

test("integers beyond 64 bits in a reply are floats", function(t)
  local value = reply.extract '{"n": 12345678901234567890123}'
  t.equal(value, { n = 12345678901234567890123.0 })
end)

test("wrong options of reply.extract raise", function(t)
  t.raises(function() reply.extract("", { wants = {} }) end, "did you mean 'want'?")
  t.raises(function() reply.extract("", { want = "edits" }) end, "list of keys")
  t.raises(function() reply.extract("", { want = { 1 } }) end, "list of keys")
end)
