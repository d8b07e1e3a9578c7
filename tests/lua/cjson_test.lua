local cjson = require "skillopt.cjson"
local test = require "skillopt.test"

test("integers, arrays and null come back as they went", function(t)
  local text = '{"a":[],"b":1,"c":null,"d":[1,2.5]}'
  t.equal(cjson.encode(cjson.decode(text)), text)
  t.equal(cjson.decode("null") == cjson.null, true)
  t.equal(cjson.encode(cjson.empty_array), "[]")
end)

test("bad text raises with its place", function(t)
  t.raises(function() cjson.decode("{") end, "line 1")
end)
