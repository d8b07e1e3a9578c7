local test = require "skillopt.test"
local json = require "rt.json"

local function again(text, options) return json.encode(json.decode(text), options) end

test("json.decode gives numbers their types, and json.encode keeps them", function(t)
  t.equal(json.decode "[1, 1.0, -0, 1e2]", { 1, 1.0, 0, 100.0 })
  t.equal(again "[1,1.0,-0.0,1e2,1e-05]", "[1, 1.0, -0.0, 100.0, 1e-05]")
  t.equal(json.decode "9223372036854775808", 2.0 ^ 63)
  local value, err = json.decode "9223372036854775809"
  t.equal(value, nil)
  t.equal(err.message, "line 1, column 1: the number is too large")
  t.equal(json.decode("9223372036854775809", { allow_big = true }), 2.0 ^ 63)
end)

test("json.null is one true value that prints null", function(t)
  local value = json.decode '{"a": null}'
  t.ok(value.a == json.null)
  t.ok(json.null, "it must be true")
  t.equal(tostring(json.null), "null")
  t.equal(json.encode { json.null }, "[null]")
end)

test("empty arrays and objects keep what they are", function(t)
  t.equal(again '{"a": [], "b": {}, "c": [{}]}', '{"a": [], "b": {}, "c": [{}]}')
  t.equal(json.encode {}, "[]")
  t.equal(json.encode { a = json.object(), b = json.array() }, '{"a": {}, "b": []}')
end)

test("json.array and json.object mark a table and return it", function(t)
  local list = {}
  t.ok(json.object(list) == list)
  t.equal(json.encode(list), "{}")
  t.equal(json.encode(json.array(list)), "[]")
  t.raises(function() json.array(setmetatable({}, {})) end, "metatable of its own")
  t.raises(function() json.encode(json.array { a = 1 }) end, "the array has names")
  t.raises(function() json.encode(json.object { 1 }) end, "items without names")
end)

test("json.is_array and json.is_object tell what a value would be written as", function(t)
  t.ok(json.is_array {} and json.is_array { 1 } and json.is_array(json.decode "[]"))
  t.ok(json.is_object { a = 1 } and json.is_object(json.decode "{}"))
  t.ok(not json.is_object {} and not json.is_array { a = 1 } and not json.is_array "x")
  t.ok(not json.is_array { 1, nil, 3 } and not json.is_object { 1, a = 2 })
end)

test("names are sorted by byte, or as declared", function(t)
  local row = { soft = 0.5, id = "q1", hard = 1, B = 2 }
  t.equal(json.encode(row), '{"B": 2, "hard": 1, "id": "q1", "soft": 0.5}')
  t.equal(json.encode(row, { keys = { "id", "hard", "gone", "soft" } }),
    '{"id": "q1", "hard": 1, "soft": 0.5, "B": 2}')
end)

test("an order goes through lists, and to objects by their name", function(t)
  local keys = { "n", step = { "z", "a" }, ["*"] = { "y" } }
  local value = { { step = { { a = 1, z = 2 } }, n = 3, other = { x = 4, y = 5 } } }
  t.equal(json.encode(value, { keys = keys }),
    '[{"n": 3, "other": {"y": 5, "x": 4}, "step": [{"z": 2, "a": 1}]}]')
  t.raises(function() json.encode({}, { keys = { 1 } }) end, "option 'keys'")
  t.raises(function() json.encode({}, { keys = { a = "b" } }) end, "option 'keys'")
end)

test("json.encode indents as the artefact files are", function(t)
  t.equal(json.encode({ a = { 1, {} }, b = json.object() }, { indent = true }),
    '{\n  "a": [\n    1,\n    []\n  ],\n  "b": {}\n}')
end)

test("json.canonical has one form for equal values", function(t)
  t.equal(json.canonical { b = 1.0, a = { 0.5, "é\n" } }, '{"a":[0.5,"é\\n"],"b":1}')
  t.equal(json.canonical { 1e300, -0.0, 2 ^ 53 }, "[1e+300,0,9007199254740992]")
end)

test("what is no JSON raises and names the place", function(t)
  local function raises(value, words)
    t.raises(function() json.encode(value) end, words)
  end
  raises({ a = { { 1, 0 / 0 } } }, "a[1][2]: NaN cannot be written as JSON")
  raises({ a = { ["x y"] = 1 / 0 } }, 'a["x y"]: infinity cannot be written as JSON')
  raises({ 1, nil, 3 }, "the value: the array has holes")
  raises({ a = { 1, b = 2 } }, "a: the table has both items and names")
  raises({ [true] = 1 }, "a key is neither a name nor a number from 1")
  raises({ [0] = 1 }, "a key is neither a name nor a number from 1")
  raises({ print }, "[1]: a function cannot be written as JSON")
  raises({ "\xff" }, "[1]: the text is not valid UTF-8")
  raises({ ["\xff"] = 1 }, "a name is not valid UTF-8")
  t.raises(function() json.canonical { n = 0 / 0 } end, "n: NaN")
end)

test("a table that contains itself raises, one used twice does not", function(t)
  local loop = {}
  loop.self = { loop }
  t.raises(function() json.encode(loop) end, "self[1]: the table contains itself")
  local shared = { 1 }
  t.equal(json.encode { shared, shared }, "[[1], [1]]")
  local deep = {}
  for _ = 1, 200 do deep = { deep } end
  t.raises(function() json.encode(deep) end, "nesting too deep")
end)

test("the content of a frozen table is written", function(t)
  local frozen = setmetatable({}, { __frozen = { a = { 1 } } })
  t.equal(json.encode { frozen }, '[{"a": [1]}]')
  t.ok(json.is_object(frozen))
  local keys = setmetatable({}, { __frozen = { "b" } })
  t.equal(json.encode({ a = 1, b = 2 }, { keys = keys }), '{"b": 2, "a": 1}')
end)

test("json.decode names the place of a fault, and the text by its name", function(t)
  local value, err = json.decode('{"a": 1,\n "é": x}', { name = "items.json" })
  t.equal(value, nil)
  t.equal(err.kind, "parse")
  t.equal(err.message, "items.json, line 2, column 7: expected a value")
  t.equal(select(2, json.decode "[1,]").message, "line 1, column 4: expected a value")
end)

test("json.decode takes NaN, a BOM and invalid bytes only by option", function(t)
  t.equal(select(2, json.decode "[NaN]").kind, "parse")
  t.equal(json.decode("[NaN, -Infinity]", { allow_nan = true }), { 0 / 0, -1 / 0 })
  t.equal(select(2, json.decode "\u{FEFF}1").kind, "parse")
  t.equal(json.decode("\u{FEFF}1", { allow_bom = true }), 1)
  t.equal(select(2, json.decode '"\xff"').message, "line 1, column 2: invalid UTF-8")
  t.equal(json.decode('"\xff"', { fix_utf8 = true }), "\u{FFFD}")
  t.equal(json.decode('"\\ud800"'), "\u{FFFD}")
  t.equal(select(2, json.decode("[[1]]", { depth = 1 })).message,
    "line 1, column 2: nesting too deep")
  t.raises(function() json.decode("1", { alow_nan = true }) end, "mean 'allow_nan'?")
end)

test("json.format_number writes numbers as the reference does", function(t)
  t.equal(json.format_number(1.0), "1.0")
  t.equal(json.format_number(1e16), "1e+16")
  t.equal(json.format_number(1e-5), "1e-05")
  t.equal(json.format_number(-0.0), "-0.0")
  t.equal(json.format_number(7), "7")
  t.equal(json.format_number(0 / 0), "nan")
end)

test("json.round is half to even on the exact value", function(t)
  t.equal(json.round(2.5), 2)
  t.equal(json.round(3.5), 4)
  t.equal(json.round(-0.5), 0)
  t.equal(json.round(2.675, 2), 2.67)
  t.equal(json.round(7, 2), 7)
  t.raises(function() json.round(1 / 0) end, "no integer representation")
  t.raises(function() json.round(1.0, 23) end, "from 0 to 22")
end)

test("string.format and json.round agree with the reference's vectors", function(t)
  local text = test.read "tests/vectors/core_json_dump.json"
  for _, case in ipairs(json.decode(text, { allow_big = true }).cases) do
    if case.fn == "round" then
      t.equal(json.round(case["in"][1], case["in"][2]), case.out)
    elseif case.fn == "format_fixed" then
      t.equal(string.format("%." .. case["in"][2] .. "f", case["in"][1]), case.out)
    end
  end
end)

test("large documents survive decode and encode", function(t)
  local list = {}
  for i = 1, 2000 do list[i] = { id = "q" .. i, text = ("x"):rep(i % 50), n = i } end
  local text = json.encode(list)
  t.equal(json.decode(text), list)
  t.equal(json.encode(json.decode(text)), text)
end)

test("json.extent finds the end of a value without reading it", function(t)
  t.equal(json.extent('{"a":"}\\"]",[[1]]} x', 1), 19)
  t.equal(json.extent("[1,2]", 1), 6)
  t.equal(json.extent(' "\\\\" ', 2), 6)
  t.equal(json.extent("12, 3", 1), 3)
  for _, half in ipairs { "", "12", '"a', '"a\\', "[1", '{"a":"}' } do
    t.equal(json.extent(half, 1), nil, half)
  end
end)
