--- Random streams against CPython's `random.Random`.
local test = require "skillopt.test"
local rng = require "rt.rng"
local vectors = test.support "tests/lua/vectors.lua"

--- The 32-bit words of a decimal text, least significant first; the sign is dropped.
local function words_of(decimal)
  local digits = decimal:gsub("^-", "")
  local words = {}
  repeat
    local rest, quotient = 0, {}
    for digit in digits:gmatch("%d") do
      local value = rest * 10 + tonumber(digit)
      quotient[#quotient + 1] = string.format("%d", value >> 32)
      rest = value & 0xffffffff
    end
    words[#words + 1] = rest
    digits = table.concat(quotient):gsub("^0+", "")
  until digits == ""
  return words
end

local function stream_of(decimal)
  return rng.new(math.tointeger(decimal) or words_of(decimal))
end

local function range(n)
  local list = {}
  for i = 1, n do list[i] = i - 1 end
  return list
end

local function times(n, draw)
  local out = {}
  for i = 1, n do out[i] = draw(i) end
  return out
end

local function check_words(t, seed, want)
  local stream = stream_of(seed)
  t.equal(times(#want, function() return stream:bits(32) end), want)
end

local function check_floats(t, seed, want)
  local stream = stream_of(seed)
  t.equal(times(#want, function() return stream:random() end), want)
end

local function check_below(t, seed, bounds, want)
  local stream = stream_of(seed)
  t.equal(times(#bounds, function(i) return stream:below(bounds[i]) end), want)
end

local check = {}

function check.stream(t, input, out)
  check_words(t, input.seed, out.getrandbits32)
  check_floats(t, input.seed, out.random)
  check_below(t, input.seed, out.randbelow_ns, out.randbelow)
end

function check.getrandbits(t, input, out)
  local stream = stream_of(input.seed)
  for _, want in ipairs(out) do
    local words = words_of(want)
    t.equal(stream:bits(input.k), words[1] | (words[2] or 0) << 32)
  end
end

function check.shuffle_range(t, input, out)
  t.equal(stream_of(input.seed):shuffle(range(input.n)), out)
end

function check.shuffle_twice(t, input, out)
  local stream = stream_of(input.seed)
  t.equal({ stream:shuffle(range(input.n1)), stream:shuffle(range(input.n2)) }, out)
end

test("bits, below, random and shuffle equal every case of core_random", function(t)
  local book = vectors.book "core_random.json"
  for _, case in ipairs(book.cases) do
    check[case.fn](t, case["in"], case.out)
    book:same()
  end
  book:check(t)
end)

test("bits, below, random and shuffle equal every case of envs_mt19937", function(t)
  local cases = test.vectors("envs_mt19937.json").cases
  t.equal(#cases, 161)
  for _, case in ipairs(cases) do
    local seed, out = case["in"].seed, case.out
    for name, want in pairs(out) do
      local n = name:match("^shuffle_(%d+)$")
      if n then t.equal(stream_of(seed):shuffle(range(tonumber(n))), want) end
    end
    if out.random then
      check_words(t, seed, out.getrandbits32)
      check_floats(t, seed, out.random)
      check_below(t, seed, { 2, 3, 5, 6, 7, 10, 100, 1000 }, out.randbelow_2_3_5_6_7_10_100_1000)
    end
  end
end)

test("shuffle returns the list it was given", function(t)
  local list = { "a", "b", "c" }
  t.ok(rng.new(1):shuffle(list) == list, "another table came back")
end)

test("choice and sample equal CPython's", function(t)
  local letters = { "a", "b", "c", "d", "e", "f", "g", "h" }
  local stream = rng.new(7)
  t.equal(stream:choice(letters), "f")
  t.equal(stream:sample(letters, 3), { "c", "d", "f" })
  t.equal(rng.new(7):sample(range(1000), 6), { 331, 970, 154, 404, 666, 49 })
  t.equal(rng.new(7):sample({}, 0), {})
end)

test("from_text seeds with the words of the text's SHA-256", function(t)
  local words = {
    0xe3b0c442, 0x98fc1c14, 0x9afbf4c8, 0x996fb924,
    0x27ae41e4, 0x649b934c, 0xa495991b, 0x7852b855,
  }
  t.equal(rng.from_text(""):bits(64), rng.new(words):bits(64))
  t.ok(rng.from_text("a"):bits(64) ~= rng.from_text("b"):bits(64), "texts do not count")
end)

test("misuse of a stream raises", function(t)
  local stream = rng.new(1)
  t.raises(function() stream:below(0) end, "must be positive")
  t.raises(function() stream:bits(65) end, "must be from 0 to 64")
  t.raises(function() stream:choice {} end, "must not be empty")
  t.raises(function() stream:sample({ 1 }, 2) end, "must be from 0 to the length of the list")
  t.raises(function() rng.new {} end, "must have 1 to 4096 words")
  t.raises(function() rng.new { -1 } end, "words must be whole numbers")
  t.raises(function() rng.new(1.5) end, "number has no integer representation")
end)
